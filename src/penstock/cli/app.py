"""The command `penstock` and everything below it."""

from __future__ import annotations

from typing import Annotated

import typer

import penstock
from penstock.cli import (
    apply,
    dead,
    delete,
    describe,
    doctor,
    get,
    publish,
    registry,
    registry_events,
    registry_files,
    services,
    subscribe,
    subscriptions,
    triggers,
    up,
)
from penstock.cli import filter as filter_
from penstock.cli.flags import flags
from penstock.cli.group import Commands
from penstock.cli.options import examples, spread

_CODES = "Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 130 interrupted."


def _group(text: str) -> typer.Typer:
    return typer.Typer(help=text, no_args_is_help=True, rich_markup_mode="rich")


app = typer.Typer(
    name="penstock",
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=_CODES,
)


def _version(wanted: bool) -> None:  # noqa: FBT001 - a callback of the library
    if wanted:
        typer.echo(f"penstock {penstock.__version__}")
        raise typer.Exit


@app.callback()
def top(
    *,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """An open event platform: publish events, keep them, deliver them to subscribers."""


app.command(
    epilog=examples(
        "penstock up",
        "penstock up --port 9000 --data /var/lib/penstock",
        "PENSTOCK_LOG_FORMAT=json penstock up --config penstock.toml",
    )
)(spread(up.up, flags()))
app.command("serve-api", hidden=True)(up.serve_api)
app.command("serve-pipeline", hidden=True)(up.serve_pipeline)
app.command(
    epilog=examples(
        """penstock publish --type com.example.order --data '{"amount": 5}'""",
        "penstock publish --type com.example.photo --data @photo.jpg --content-type image/jpeg",
        "penstock publish --file events.ndjson --rate 1000",
    )
)(spread(publish.publish))
app.command(
    epilog=examples(
        "penstock subscribe",
        "penstock subscribe --type com.example.order --once --timeout 10",
        "penstock subscribe --prefix source=/shop/ --json | jq .data",
    )
)(spread(subscribe.subscribe))

_subscriptions = _group("Create, list, show, change, pause and delete subscriptions.")
app.add_typer(_subscriptions, name="subscriptions")
_subscriptions.command(
    "list",
    epilog=examples("penstock subscriptions list", "penstock subscriptions list --type a --json"),
)(spread(subscriptions.list_))
_subscriptions.command(epilog=examples("penstock subscriptions show ID"))(
    spread(subscriptions.show)
)
_subscriptions.command(epilog=examples("penstock subscriptions status ID"))(
    spread(subscriptions.status)
)
_subscriptions.command(
    epilog=examples(
        "penstock subscriptions create --sink http://127.0.0.1:9000/ --type com.example.order",
        "penstock subscriptions create --file subscription.json",
    )
)(spread(subscriptions.create))
_subscriptions.command(
    epilog=examples(
        "penstock subscriptions update ID --type com.example.order --unset retry",
        "penstock subscriptions update ID --file subscription.json",
    )
)(spread(subscriptions.update))
_subscriptions.command(epilog=examples("penstock subscriptions pause ID"))(
    spread(subscriptions.pause)
)
_subscriptions.command(epilog=examples("penstock subscriptions resume ID"))(
    spread(subscriptions.resume)
)
_subscriptions.command(epilog=examples("penstock subscriptions delete ID"))(
    spread(subscriptions.delete)
)

_services = _group("Look up which services emit what; make services known, change and remove them.")
app.add_typer(_services, name="services")
_services.command(
    "list", epilog=examples("penstock services list", "penstock services list --json > all.json")
)(spread(services.list_))
_services.command(epilog=examples("penstock services show penstock"))(spread(services.show))
_services.command(
    epilog=examples(
        "penstock services create --name widgets --type com.example.widget.create"
        " --subscription-url https://events.example.com/subscriptions",
        "penstock services create --file service.json",
    )
)(spread(services.create))
_services.command("import", epilog=examples("penstock services import all.json"))(
    spread(services.import_)
)
_services.command(
    epilog=examples(
        'penstock services update widgets --description "All about widgets"',
        "penstock services update widgets --file service.json",
    )
)(spread(services.update))
_services.command(epilog=examples("penstock services delete widgets"))(spread(services.delete))

_triggers = _group("Create, list, show and delete the triggers of brokers.")
app.add_typer(_triggers, name="triggers")
_triggers.command("list", epilog=examples("penstock triggers list -n shop"))(spread(triggers.list_))
_triggers.command(epilog=examples("penstock triggers show orders"))(spread(triggers.show))
_triggers.command(
    epilog=examples(
        "penstock triggers create orders --subscriber http://127.0.0.1:9000/"
        " --attribute type=com.example.order"
    )
)(spread(triggers.create))
_triggers.command("delete", epilog=examples("penstock triggers delete orders"))(
    spread(triggers.delete_)
)

app.command(
    epilog=examples("penstock apply -f broker.yaml", "penstock apply -f manifests/ -n shop")
)(spread(apply.apply))
app.command(
    epilog=examples(
        "penstock get brokers",
        "penstock get triggers -n shop -l team=orders",
        "penstock get triggers orders --json",
    )
)(spread(get.get))
app.command(epilog=examples("penstock describe trigger orders"))(spread(describe.describe))
app.command(epilog=examples("penstock delete trigger orders", "penstock delete -f broker.yaml"))(
    spread(delete.delete)
)

_registry = _group("Look at schemas, definitions and endpoints; keep them as files; check events.")
app.add_typer(_registry, name="registry")
_registry.command(
    epilog=examples("penstock registry groups", "penstock registry groups schemaGroups --json")
)(spread(registry.groups))
_registry.command(
    "list", epilog=examples("penstock registry list", "penstock registry list schemaGroups/shop")
)(spread(registry.list_))
_registry.command(
    epilog=examples(
        "penstock registry show schemaGroups/shop/schemas/order",
        "penstock registry show schemaGroups/shop/schemas/order/versions/1 --meta",
    )
)(spread(registry.show))
_registry.command(
    epilog=examples(
        "penstock registry add schemaGroups/shop/schemas/order order.json"
        " --format JsonSchema/draft-07",
        "penstock registry add definitionGroups/shop/definitions/order definition.json",
    )
)(spread(registry.add))
_registry.command(epilog=examples("penstock registry versions schemaGroups/shop/schemas/order"))(
    spread(registry.versions)
)
_registry.command(
    epilog=examples(
        "penstock registry delete schemaGroups/shop/schemas/order",
        "penstock registry delete schemaGroups/shop --yes",
    )
)(spread(registry.delete))
_registry.command(
    "import",
    epilog=examples(
        "penstock registry import shop.cereg.yaml",
        "penstock registry import *.cereg --dry-run",
    ),
)(spread(registry_files.import_))
_registry.command(
    epilog=examples("penstock registry export shop.cereg", "penstock registry export --yaml")
)(spread(registry_files.export))
_registry.command(epilog=examples("penstock registry validate shop.cereg.yaml"))(
    spread(registry_files.validate)
)
_registry.command(
    epilog=examples(
        "penstock registry diff shop.cereg.yaml",
        "penstock registry diff old.cereg new.cereg --exit-code",
    )
)(spread(registry_files.diff))
_registry.command(
    epilog=examples(
        "penstock registry apply shop.cereg.yaml", "penstock registry apply *.cereg --yes"
    )
)(spread(registry_files.apply))
_registry.command(
    epilog=examples(
        "penstock registry check-event event.json",
        "penstock registry check-event events.ndjson --registry shop.cereg.yaml",
    )
)(spread(registry_events.check_event))
_registry.command(
    epilog=examples(
        "penstock registry make-event definitionGroups/shop/definitions/created --set shop=7"
    )
)(spread(registry_events.make_event))
_registry.command(epilog=examples("penstock registry model", "penstock registry model model.json"))(
    spread(registry.model)
)

_dead = _group("Look at deliveries that were given up; send them again or throw them away.")
app.add_typer(_dead, name="dead")
_dead.command("list", epilog=examples("penstock dead list --limit 10"))(spread(dead.list_))
_dead.command(epilog=examples("penstock dead show 17"))(spread(dead.show))
_dead.command(epilog=examples("penstock dead retry 17 18", "penstock dead retry --all --route ID"))(
    spread(dead.retry)
)
_dead.command(epilog=examples("penstock dead delete 17"))(spread(dead.delete))

_filter = _group("Check filters, and try them on events.")
app.add_typer(_filter, name="filter")
_filter.command(
    epilog=examples(
        """penstock filter check '{"prefix": {"type": "com.example."}}'""",
        "penstock filter check --sql \"type = 'com.example.order' AND EXISTS subject\"",
        "penstock filter check @filters.json --json",
    )
)(spread(filter_.check))
_filter.command(
    "test",
    epilog=examples(
        """penstock filter test '{"exact": {"type": "com.example.order"}}' --event event.json""",
        'penstock filter test --sql "priority > 3" --event -',
    ),
)(spread(filter_.try_))

app.command(epilog=examples("penstock doctor", "penstock doctor --data /var/lib/penstock --json"))(
    spread(doctor.doctor, flags("host", "port", "data"))
)
