from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from penstock.client import Client, read_events
from penstock.config import Settings
from tests.cli.command import Done, run

pytestmark = pytest.mark.network

SCHEMA = "schemaGroups/shop/schemas/order"
FORMAT = ("--format", "JsonSchema/draft-07")
DEFINITION: dict[str, Any] = {
    "format": "CloudEvents/1.0",
    "metadata": {"attributes": {"type": {"value": "t"}, "subject": {"required": True}}},
}
SHOP: dict[str, Any] = {
    "schemaGroups": {
        "shop": {
            "schemas": {
                "order": {
                    "format": "JsonSchema/draft-07",
                    "versions": {"1": {"schema": {"type": "object"}}},
                }
            }
        }
    },
    "definitionGroups": {"shop": {"definitions": {"order": DEFINITION}}},
}
EVENT = {"specversion": "1.0", "id": "1", "source": "/s", "type": "t"}


@pytest.fixture
def empty(server: Settings) -> Iterator[Client]:
    """A client of a registry that is empty when a test starts."""
    with Client(server.address) as made:
        made.import_registry({}, replace=True)
        yield made


@pytest.fixture
def shop(tmp_path: Path) -> str:
    """A registry file."""
    return written(tmp_path / "shop.cereg", SHOP)


def written(path: Path, document: object) -> str:
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return str(path)


def command(client: Client, *arguments: str, stdin: str | None = None) -> Done:
    return run("registry", *arguments, "--url", client.url, stdin=stdin)


def test_schema_is_added_shown_and_deleted(empty: Client, tmp_path: Path) -> None:
    file = written(tmp_path / "order.json", '{"type":  "object"}')

    first = command(empty, "add", SCHEMA, file, *FORMAT, "--description", "An order")
    second = command(empty, "add", SCHEMA, "-", stdin="{}")

    assert (first.out, second.out) == (
        f"added {SCHEMA}/versions/1\n",
        f"added {SCHEMA}/versions/2\n",
    )
    assert command(empty, "show", f"{SCHEMA}/versions/1").out == '{"type":  "object"}\n'
    assert command(empty, "show", SCHEMA).out == "{}\n"
    listed = command(empty, "list").out.split("\n")
    assert listed[1].split() == [SCHEMA, "JsonSchema/draft-07", "2", "An", "order"]
    assert command(empty, "versions", SCHEMA).out.split("\n")[1].split()[:2] == ["1", "1"]
    assert command(empty, "delete", SCHEMA).out == f"deleted {SCHEMA}\n"
    assert command(empty, "show", SCHEMA).code == 1


def test_attributes_are_shown_without_the_document(empty: Client) -> None:
    command(empty, "add", SCHEMA, "-", *FORMAT, "--name", "Order", stdin="{}")

    shown = command(empty, "show", SCHEMA, "--meta").out
    whole = json.loads(command(empty, "show", SCHEMA, "--json").out)

    assert "name           Order" in shown
    assert whole["versions"]["1"]["schema"] == {}


def test_definition_is_added_from_its_document(empty: Client) -> None:
    place = "definitionGroups/shop/definitions/order"

    done = command(empty, "add", place, "-", "--json", stdin=json.dumps(DEFINITION))

    assert json.loads(done.out)["id"] == "order"
    assert json.loads(command(empty, "show", place).out)["format"] == "CloudEvents/1.0"


def test_document_that_is_elsewhere_is_named(empty: Client) -> None:
    empty.create_registry_group("schemaGroups", {"id": "shop"})
    attributes = {"id": "order", "format": "Avro/1.9", "schemaUri": "https://example.com/s"}
    empty.create_registry_resource("schemaGroups/shop/schemas", b"", attributes)

    done = command(empty, "show", SCHEMA)

    assert (done.out, "only knows where" in done.err) == ("https://example.com/s\n", True)


def test_groups_are_listed_with_what_they_hold(empty: Client) -> None:
    empty.import_registry(SHOP)

    rows = [line.split() for line in command(empty, "groups").out.splitlines()]
    one = json.loads(command(empty, "groups", "schemaGroups", "--json").out)

    assert rows[1:] == [
        ["schemaGroups/shop", "1", "schemas"],
        ["definitionGroups/shop", "1", "definitions"],
    ]
    assert [group["id"] for group in one] == ["shop"]
    assert "but schemaGroups, definitionGroups" in command(empty, "groups", "nothing").err


@pytest.mark.parametrize(
    ("address", "count"),
    [
        ((), 2),
        (("schemaGroups",), 1),
        (("schemaGroups/shop",), 1),
        (("schemaGroups/shop/schemas",), 1),
    ],
)
def test_list_is_narrowed_by_an_address(
    empty: Client, address: tuple[str, ...], count: int
) -> None:
    empty.import_registry(SHOP)

    assert len(json.loads(command(empty, "list", *address, "--json").out)) == count


def test_long_list_says_that_there_is_more(empty: Client) -> None:
    empty.import_registry(SHOP)

    done = command(empty, "list", "--limit", "1")

    assert len(done.out.splitlines()) == 2
    assert "there are more" in done.err


def test_group_that_is_not_empty_is_deleted_only_on_demand(empty: Client) -> None:
    empty.import_registry(SHOP)

    refused = command(empty, "delete", "schemaGroups/shop")
    done = command(empty, "delete", "schemaGroups/shop", "--yes", "--json")

    assert (refused.code, "give --yes" in refused.err) == (1, True)
    assert json.loads(done.out) == {"deleted": ["schemaGroups/shop"]}


@pytest.mark.parametrize("arguments", [("show", "x"), ("add", "a/b", "-"), ("versions", "a//b/c")])
def test_address_of_another_form_is_a_usage_error(
    empty: Client, arguments: tuple[str, ...]
) -> None:
    done = command(empty, *arguments, stdin="")

    assert (done.code, "is not of the form" in done.err) == (2, True)


def test_incompatible_version_is_refused_with_the_change(empty: Client) -> None:
    command(empty, "add", SCHEMA, "-", *FORMAT, stdin='{"type": "object"}')

    done = command(empty, "add", SCHEMA, "-", stdin='{"type": "object", "required": ["a"]}')

    assert done.code == 1
    assert "error: schema/required: incompatible with version 1" in done.err


def test_model_is_shown_and_changed(empty: Client) -> None:
    shown = command(empty, "model").out
    found = json.loads(command(empty, "model", "--json").out)

    done = command(empty, "model", "-", "--json", stdin=json.dumps(found))

    assert shown.splitlines()[1].split() == [
        *("schemaGroups", "schemaGroup", "schemas", "schema", "all")
    ]
    assert json.loads(done.out) == found
    assert command(empty, "model", "-", stdin="[").code == 1


@pytest.mark.covers("REG-172", "REG-173")
def test_files_are_imported_and_exported_in_both_kinds(empty: Client, tmp_path: Path) -> None:
    plain = written(tmp_path / "a.cereg", {"schemaGroups": {"no": {}}})
    yaml = [
        written(tmp_path / "b.cereg.yaml", "schemaGroups:\n  010: {}\n"),
        written(tmp_path / "c.cereg.yml", "endpoints:\n  1.10: {usage: consumer}\n"),
    ]

    done = command(empty, "import", plain, *yaml)
    files = [tmp_path / f"out{end}" for end in (".cereg", ".cereg.yaml", ".cereg.yml")]
    codes = [command(empty, "export", str(file)).code for file in files]

    assert done.out.splitlines()[-1] == "3 created, 0 updated, 0 deleted; 0 stay as they are"
    assert codes == [0, 0, 0]
    again = [command(empty, "diff", str(file)).out for file in files]
    assert again == ["no differences\n"] * 3
    assert json.loads(files[0].read_text())["schemaGroups"].keys() == {"no", "010"}
    assert '"schemaGroups"' not in files[1].read_text()
    assert files[1].read_text() == files[2].read_text() == command(empty, "export", "--yaml").out


def test_dry_run_of_an_import_changes_nothing(empty: Client, shop: str) -> None:
    done = command(empty, "import", shop, "--dry-run")

    assert "+ /schemaGroups/shop" in done.out
    assert "would be 4 created" in done.out
    assert command(empty, "list", "--json").out == "[]\n"


def test_import_reads_standard_input(empty: Client) -> None:
    done = command(empty, "import", "-", "--json", stdin="schemaGroups: {a: {}}")

    assert json.loads(done.out)["created"] == ["/schemaGroups/a"]


def test_import_warns_and_strict_refuses(empty: Client, tmp_path: Path) -> None:
    doubtful = {**DEFINITION, "schemaformat": "Avro/1.9", "schemaurl": "#/schemaGroups/x/schemas/y"}
    file = written(
        tmp_path / "x.cereg", {"definitionGroups": {"g": {"definitions": {"d": doubtful}}}}
    )

    strict = command(empty, "import", file, "--strict")
    loose = command(empty, "import", file)

    path = "definitionGroups.g.definitions.d.schemaurl"
    assert (strict.code, loose.code) == (1, 0)
    assert f"error: {path}: leads nowhere" in strict.err
    assert f"warning: {path}: leads nowhere" in loose.err


def test_apply_makes_the_registry_equal_to_the_file(empty: Client, shop: str) -> None:
    empty.import_registry({"endpoints": {"e": {"usage": "consumer"}}})

    done = command(empty, "apply", shop, "--yes")

    assert "- /endpoints/e" in done.out
    assert "4 created, 0 updated, 1 deleted" in done.out
    assert command(empty, "diff", shop).out == "no differences\n"
    assert "0 created, 0 updated, 0 deleted" in command(empty, "apply", shop).out


@pytest.mark.parametrize("file", ["-", "shop"])
def test_apply_asks_nobody_where_nobody_is(empty: Client, shop: str, file: str) -> None:
    done = command(empty, "apply", shop if file == "shop" else "-", stdin=json.dumps(SHOP))

    assert (done.code, "give --yes" in done.err) == (2, True)
    assert "+ /schemaGroups/shop" in done.out
    assert command(empty, "list", "--json").out == "[]\n"


def test_diff_shows_each_change(empty: Client, shop: str, tmp_path: Path) -> None:
    empty.import_registry({**SHOP, "endpoints": {"e": {"usage": "consumer"}}})
    changed = json.loads(json.dumps(SHOP))
    changed["schemaGroups"]["shop"]["description"] = "new"
    changed["schemaGroups"]["more"] = {}
    file = written(tmp_path / "new.cereg", changed)

    lines = command(empty, "diff", file, "--exit-code")

    assert lines.code == 1
    assert lines.out.splitlines() == [
        "- /endpoints/e",
        "+ /schemaGroups/more",
        "~ /schemaGroups/shop",
        '    description: nothing → "new"',
    ]
    assert command(empty, "diff", shop, shop, "--exit-code").code == 0


def test_files_are_compared_without_a_server(shop: str, tmp_path: Path) -> None:
    other = written(tmp_path / "other.cereg.yaml", "schemaGroups: {shop: {}}")

    done = run("registry", "diff", shop, other, "--json")

    assert [one["what"] for one in json.loads(done.out)] == ["deleted"] * 4


def test_good_file_is_valid_without_a_server(shop: str) -> None:
    done = run("registry", "validate", shop)
    told = json.loads(run("registry", "validate", shop, "--json").out)

    assert (done.code, done.out) == (0, "valid: 4 entities\n")
    assert told == {"valid": True, "entities": 4, "warnings": []}


def test_everything_wrong_in_files_is_told_with_the_file(shop: str, tmp_path: Path) -> None:
    bad = written(tmp_path / "bad.cereg", {"endpoints": {"e.1": {}, "f": {"usage": "x"}}})

    done = run("registry", "validate", shop, bad)
    told = json.loads(run("registry", "validate", shop, bad, "--json").out)

    assert done.code == 1
    assert f"error: {bad}: endpoints.e.1.usage: must be one of" in done.err
    assert [one["path"] for one in told["problems"]] == [
        f"{bad}: endpoints.e.1.usage",
        f"{bad}: endpoints.f.usage",
    ]


@pytest.mark.parametrize("text", ["[", "- a", "a: 1\na: 2", '{"a": 1, "a": 2}'])
def test_file_that_is_no_document_is_refused_with_its_name(tmp_path: Path, text: str) -> None:
    file = written(tmp_path / "x.cereg.yaml", text)

    done = run("registry", "validate", file)

    assert (done.code, file in done.err) == (1, True)


def test_versions_that_break_readers_are_found_without_a_server(tmp_path: Path) -> None:
    versions = {"1": {"schema": {"type": "object"}}, "2": {"schema": {"type": "array"}}}
    schema = {"format": "JsonSchema/draft-07", "versions": versions}
    file = written(tmp_path / "x.cereg", {"schemaGroups": {"g": {"schemas": {"s": schema}}}})

    done = run("registry", "validate", file)

    assert done.code == 1
    assert f"error: {file}: schemaGroups.g.schemas.s." in done.err
    assert "schema/type: incompatible with version 1" in done.err


@pytest.mark.parametrize("offline", [True, False])
def test_events_are_checked_with_a_server_and_without(
    empty: Client,
    shop: str,
    offline: bool,  # noqa: FBT001
) -> None:
    empty.import_registry(SHOP)
    events = [EVENT, {**EVENT, "subject": "x"}, {**EVENT, "type": "other"}]
    extra = ("--registry", shop) if offline else ("--url", empty.url)

    done = run("registry", "check-event", "-", *extra, stdin=json.dumps(events))
    told = run("registry", "check-event", "-", *extra, "--json", stdin=json.dumps(events))

    assert done.code == 1
    assert done.out.splitlines() == [
        "wrong  t  1",
        "  subject: is required by the definition",
        "good  t  1",
        "unknown  other  1",
    ]
    lines = [json.loads(line) for line in told.out.splitlines()]
    assert [len(line["problems"]) for line in lines] == [1, 0, 0]


def test_good_events_end_well(shop: str) -> None:
    text = json.dumps({**EVENT, "subject": "x"})

    done = run("registry", "check-event", "-", "--registry", shop, stdin=text)

    assert (done.code, done.out) == (0, "good  t  1\n")


def test_what_is_no_event_is_told(shop: str) -> None:
    done = run("registry", "check-event", "-", "--registry", shop, stdin='{"id": "1"}')

    assert (done.code, "error:" in done.err) == (1, True)


@pytest.mark.covers("REG-227", "REG-228", "REG-241")
def test_event_is_made_from_a_definition_and_fits_it(empty: Client) -> None:
    attributes = {
        "type": {"value": "t"},
        "source": {"type": "uritemplate", "value": "/shops/{shop}"},
        "subject": {"required": True},
    }
    made = {**DEFINITION, "schemaurl": "https://shop.example/order.json"}
    made |= {"schemaformat": "JsonSchema/draft-07", "metadata": {"attributes": attributes}}
    empty.import_registry({"definitionGroups": {"shop": {"definitions": {"order": made}}}})
    path, given = "definitionGroups/shop/definitions/order", ("--set", "shop=7")

    done = command(empty, "make-event", path, *given, "--set", "subject=x", "--data", '{"a": 1}')
    refused = command(empty, "make-event", path, *given)

    found = json.loads(done.out)
    assert (found["source"], found["subject"], found["data"]) == ("/shops/7", "x", {"a": 1})
    assert found["dataschema"] == "https://shop.example/order.json"
    age = datetime.now(UTC) - datetime.fromisoformat(found["time"])
    assert abs(age.total_seconds()) < 60
    [event] = read_events(done.out.encode())
    assert list(empty.validate(event).problems) == []
    assert (refused.code, "subject: is required" in refused.err) == (1, True)
