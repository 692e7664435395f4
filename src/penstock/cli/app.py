"""The command `penstock` and everything below it."""

from __future__ import annotations

from typing import Annotated

import typer

import penstock
from penstock.cli import dead, doctor, publish, subscribe, subscriptions, up
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

_subscriptions = _group("Create, list, show and delete subscriptions.")
app.add_typer(_subscriptions, name="subscriptions")
_subscriptions.command(
    "list", epilog=examples("penstock subscriptions list", "penstock subscriptions list --json")
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
_subscriptions.command(epilog=examples("penstock subscriptions delete ID"))(
    spread(subscriptions.delete)
)

_dead = _group("Look at deliveries that were given up; send them again or throw them away.")
app.add_typer(_dead, name="dead")
_dead.command("list", epilog=examples("penstock dead list --limit 10"))(spread(dead.list_))
_dead.command(epilog=examples("penstock dead show 17"))(spread(dead.show))
_dead.command(epilog=examples("penstock dead retry 17 18", "penstock dead retry --all --route ID"))(
    spread(dead.retry)
)
_dead.command(epilog=examples("penstock dead delete 17"))(spread(dead.delete))

app.command(epilog=examples("penstock doctor", "penstock doctor --data /var/lib/penstock --json"))(
    spread(doctor.doctor, flags("host", "port", "data"))
)
