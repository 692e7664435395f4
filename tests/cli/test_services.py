from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.client import Client, Service
from penstock.config import Settings
from penstock.errors import NotFoundError
from tests.cli.command import Done, finish, run, start

pytestmark = pytest.mark.network

PLACE = "https://events.example.com/subscriptions"


@pytest.fixture
def catalogue(server: Settings) -> Iterator[Client]:
    """A client of the API, which knows no service but itself when a test starts."""
    with Client(server.address) as made:
        yield made
        for one in made.services():
            if one.name != "penstock":
                made.delete_service(one.id)


def command(client: Client, *arguments: str, stdin: str | None = None) -> Done:
    return run("services", *arguments, "--url", client.url, stdin=stdin)


def a_service(name: str = "widgets", **more: object) -> Service:
    document = {
        "name": name,
        "specversions": ["1.0"],
        "subscriptionurl": PLACE,
        "protocols": ["HTTP"],
        **more,
    }
    return Service.read(document)


def test_created_service_has_all_that_was_asked_for(catalogue: Client) -> None:
    done = command(
        catalogue,
        *("create", "--name", "widgets", "--subscription-url", PLACE, "--type", "a", "--type", "b"),
        *("--protocol", "KAFKA", "--specversion", "0.2", "--config", "interval=Integer"),
        *("--description", "All about widgets", "--docs-url", "https://example.com/docs"),
        *("--auth-scope", "widgets.read"),
    )

    made = catalogue.service(done.out.strip())
    assert made == Service(
        id=made.id,
        discversion=1,
        updated=made.updated,
        url=made.url,
        name="widgets",
        description="All about widgets",
        docsurl="https://example.com/docs",
        specversions=("0.2",),
        subscriptionurl=PLACE,
        subscriptionconfig={"interval": "Integer"},
        authscope="widgets.read",
        protocols=("KAFKA",),
        events=({"type": "a"}, {"type": "b"}),
    )


def test_service_is_created_from_a_document(catalogue: Client, tmp_path: Path) -> None:
    file = tmp_path / "service.json"
    file.write_text(json.dumps(a_service(epoch=5).document()))

    done = command(catalogue, "create", "--file", str(file), "--json")

    assert json.loads(done.out)["epoch"] == 5


def test_refused_service_names_every_problem(catalogue: Client) -> None:
    done = command(
        catalogue, "create", "--name", "x", "--subscription-url", "/here", "--config", "a=Float"
    )

    assert done.code == 1
    assert [line.split(":")[1].strip() for line in done.err.splitlines()] == [
        "subscriptionurl",
        "subscriptionconfig.a",
    ]


@pytest.mark.parametrize(
    "options", [(), ("--name", "x", "--file", "y"), ("--config", "interval")], ids=str
)
def test_options_that_make_no_sense_are_wrong_usage(
    catalogue: Client, options: tuple[str, ...]
) -> None:
    assert command(catalogue, "create", *options).code == 2


def test_list_shows_each_on_its_line(catalogue: Client) -> None:
    made = catalogue.create_service(a_service(events=[{"type": "a"}, {"type": "b"}]))

    lines = command(catalogue, "list").out.splitlines()

    assert lines[0].split() == ["NAME", "PROTOCOLS", "EVENTS", "ID"]
    assert lines[1].split()[:4] == ["penstock", "HTTP", "not", "declared"]
    assert lines[2].split() == ["widgets", "HTTP", "a,", "b", made.id]


@pytest.mark.parametrize("which", ["id", "name"])
def test_show_finds_by_id_and_by_name(catalogue: Client, which: str) -> None:
    made = catalogue.create_service(a_service())
    wanted = made.id.upper() if which == "id" else "WIDGETS"

    text = command(catalogue, "show", wanted).out
    document = json.loads(command(catalogue, "show", wanted, "--json").out)

    assert f"id               {made.id}\n" in text
    assert document == made.document()


def test_import_keeps_ids_and_goes_on_after_a_refusal(catalogue: Client) -> None:
    one = a_service("one", id=str(uuid.uuid4()), discversion=7, updated="2018-04-05T17:31:00Z")
    wrong = {"id": "x", "name": "wrong"}
    other = a_service("other", id=str(uuid.uuid4()))
    documents = json.dumps([one.document(), wrong, other.document()])

    done = command(catalogue, "import", "-", stdin=documents)

    assert done.code == 1
    assert done.out == f"imported {one.id} one\nimported {other.id} other\n"
    assert "not imported: wrong\n  error: " in done.err
    assert catalogue.service(one.id).discversion == 7


def test_what_was_listed_can_be_imported_elsewhere(catalogue: Client, tmp_path: Path) -> None:
    made = catalogue.create_service(a_service(epoch=5))
    file = tmp_path / "all.json"
    file.write_text(command(catalogue, "list", "--json").out)
    catalogue.delete_service(made.id)

    command(catalogue, "import", str(file))

    assert catalogue.service(made.id) == made


def test_update_changes_what_is_given_and_nothing_else(catalogue: Client) -> None:
    made = catalogue.create_service(a_service(epoch=5, authscope="widgets.read"))

    done = command(catalogue, "update", "widgets", "--description", "new", "--json")

    changed = {"description": "new", "discversion": 2, "updated": json.loads(done.out)["updated"]}
    assert json.loads(done.out) == made.document() | changed


def test_update_from_a_file_replaces_everything(catalogue: Client, tmp_path: Path) -> None:
    made = catalogue.create_service(a_service(epoch=5))
    file = tmp_path / "service.json"
    file.write_text(json.dumps(a_service("gadgets").document()))

    command(catalogue, "update", made.id, "--file", str(file))

    found = catalogue.service(made.id)
    assert (found.name, found.discversion, found.more) == ("gadgets", 2, {})


def test_update_with_an_old_version_is_refused(catalogue: Client, tmp_path: Path) -> None:
    made = catalogue.create_service(a_service())
    file = tmp_path / "service.json"
    file.write_text(json.dumps(a_service(discversion=9).document()))

    done = command(catalogue, "update", made.id, "--file", str(file))

    assert done.code == 1
    assert "discversion is 1, not 9" in done.err
    assert catalogue.service(made.id) == made


def test_delete_removes_all_that_are_named(catalogue: Client) -> None:
    one, other = (catalogue.create_service(a_service(name)) for name in ("one", "other"))

    done = command(catalogue, "delete", "ONE", other.id)

    assert done.out == f"deleted {one.id} one\ndeleted {other.id} other\n"
    with pytest.raises(NotFoundError):
        catalogue.service(one.id)


def test_server_itself_cannot_be_deleted(catalogue: Client) -> None:
    done = command(catalogue, "delete", "penstock")

    assert done.code == 1
    assert "the server itself" in done.err


@pytest.mark.parametrize("text", ["5", "{", "[1]"])
def test_file_without_services_is_refused(catalogue: Client, text: str) -> None:
    done = command(catalogue, "import", "-", stdin=text)

    assert done.code == 1
    assert "holds neither" in done.err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("penstock serv", ["services"]),
        ("penstock services im", ["import"]),
        ("penstock services create --sub", ["--subscription-url"]),
    ],
)
def test_shell_completes_commands_and_options(words: str, expected: list[str]) -> None:
    asked = {"_PENSTOCK_COMPLETE": "complete_bash", "COMP_WORDS": words}

    done = finish(start(**asked, COMP_CWORD=str(words.count(" "))))

    assert done.out.split() == expected
