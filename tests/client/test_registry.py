from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from penstock.client import REGISTRY_YAML, AsyncClient, Client, CloudEvent, Judged, Mode, event
from penstock.config import Settings
from penstock.errors import ConflictError, EventError, NotFoundError, ResourceError

pytestmark = pytest.mark.network

SCHEMAS = "schemaGroups/g/schemas"
FORMAT = {"format": "JsonSchema/draft-07"}
DEFINITION: dict[str, Any] = {
    "format": "CloudEvents/1.0",
    "metadata": {"attributes": {"type": {"value": "t"}, "subject": {"required": True}}},
}
TYPES = ("endpoints", "definitionGroups", "schemaGroups")


@pytest.fixture
def empty(server: Settings) -> Iterator[Client]:
    """A client of a registry that is empty when a test starts."""
    with Client(server.address) as made:
        made.import_registry({}, replace=True)
        yield made


def test_schema_lives_from_create_to_delete(empty: Client) -> None:
    group = empty.create_registry_group("schemaGroups", {"id": "g"})
    made = empty.create_registry_resource(SCHEMAS, b'{"type": "object"}', {"id": "s", **FORMAT})
    address = f"{SCHEMAS}/s"

    second = empty.add_registry_version(address, b"{}", {"description": "über 100 %"})

    assert group["schemasCount"] == 0
    assert (made.content, made.attributes["version"]) == (b'{"type": "object"}', "1")
    assert second.attributes["description"] == "über 100 %"
    assert empty.registry_document(address) == second
    assert empty.registry_document(f"{address}/versions/1").content == made.content
    assert [one["id"] for one in empty.registry_entities(f"{address}/versions")] == ["1", "2"]
    assert empty.registry_entity(address)["versionsCount"] == 2
    changed = empty.update_registry_version(address, b"{} ", {"description": ""}, "text/plain")
    assert "description" not in changed.attributes
    empty.delete_registry_entity(address, epoch=2)
    with pytest.raises(NotFoundError):
        empty.registry_document(address)


def test_group_is_changed_only_in_the_state_that_was_read(empty: Client) -> None:
    made = empty.create_registry_group("schemaGroups", {"id": "g"})

    changed = empty.update_registry_group("schemaGroups/g", {**made, "description": "new"})

    assert changed["description"] == "new"
    with pytest.raises(ConflictError, match="epoch is 2, not 1"):
        empty.update_registry_group("schemaGroups/g", {"epoch": made["epoch"]})


def test_pages_are_followed(empty: Client) -> None:
    empty.import_registry({"schemaGroups": {f"g,{number}": {} for number in range(7)}})

    found = [one["id"] for one in empty.registry_entities("schemaGroups", limit=3)]

    assert found == [f"g,{number}" for number in range(7)]


def test_document_that_is_elsewhere_is_not_followed(empty: Client) -> None:
    empty.create_registry_group("schemaGroups", {"id": "g"})
    attributes = {"id": "s", "schemaUri": "https://example.com/s.json", **FORMAT}

    empty.create_registry_resource(SCHEMAS, b"", attributes)

    assert empty.registry_document(f"{SCHEMAS}/s").elsewhere == "https://example.com/s.json"


def test_id_with_a_slash_is_reached_where_it_is_encoded(empty: Client) -> None:
    empty.create_registry_group("schemaGroups", {"id": "a/ü"})

    assert empty.registry_entity("schemaGroups/a%2Fü")["id"] == "a/ü"


@pytest.mark.covers("REG-174", "REG-181")
def test_export_can_be_imported_again(empty: Client) -> None:
    document = {"definitionGroups": {"g": {"definitions": {"d": DEFINITION}}}}
    first = empty.import_registry(document)
    exported, as_yaml = empty.export_registry(), empty.export_registry(REGISTRY_YAML)

    again = empty.import_registry(as_yaml, REGISTRY_YAML, replace=True, strict=True)

    assert (first.changes, again.changes) == (2, 0)
    assert empty.export_registry() == exported


def test_dry_run_changes_nothing(empty: Client) -> None:
    told = empty.import_registry({"schemaGroups": {"g": {}}}, dry_run=True)

    assert told.created == ("/schemaGroups/g",)
    assert empty.registry()["schemaGroupsCount"] == 0


def test_problems_of_an_import_come_back_with_their_paths(empty: Client) -> None:
    with pytest.raises(ResourceError) as caught:
        empty.import_registry({"endpoints": {"e": {}, "f": {"usage": "x"}}})

    assert [at.path for at in caught.value.problems] == ["endpoints.e.usage", "endpoints.f.usage"]


def test_changes_that_break_readers_come_back_with_their_paths(empty: Client) -> None:
    empty.create_registry_group("schemaGroups", {"id": "g"})
    empty.create_registry_resource(SCHEMAS, b'{"type": "object"}', {"id": "s", **FORMAT})

    with pytest.raises(ConflictError) as caught:
        empty.add_registry_version(f"{SCHEMAS}/s", b'{"type": "object", "required": ["a"]}')

    assert [at.path for at in caught.value.problems] == ["schema/required"]


def test_model_is_changed_and_used_at_once(empty: Client) -> None:
    before = empty.registry_model()
    kind = {"singular": "team", "plural": "teams", "resources": []}

    empty.change_registry_model({"groups": [*before["groups"], kind]})
    made = empty.create_registry_group("teams", {"id": "blue"})
    empty.delete_registry_entity("teams/blue")

    assert made["id"] == "blue"
    assert empty.change_registry_model(before) == before


@pytest.mark.parametrize("mode", [Mode.BINARY, Mode.STRUCTURED])
def test_event_is_judged(empty: Client, mode: Mode) -> None:
    empty.import_registry({"definitionGroups": {"g": {"definitions": {"d": DEFINITION}}}})

    bad = empty.validate(event(type="t", source="/s"), mode)
    good = empty.validate(event(type="t", source="/s", subject="x"), mode)

    assert ([at["path"] for at in bad.problems], good.problems) == (["subject"], ())
    assert bad.known
    assert bad.definition.endswith("/registry/definitionGroups/g/definitions/d")


def test_batch_is_judged_event_by_event(empty: Client) -> None:
    empty.import_registry({"definitionGroups": {"g": {"definitions": {"d": DEFINITION}}}})

    found = empty.validate_batch([event(type="t", source="/s"), event(type="other", source="/s")])

    assert [len(one.problems) for one in found.events] == [1, 0]
    assert [at["path"] for at in found.problems] == ["[0].subject"]


def test_what_is_no_event_raises(empty: Client) -> None:
    with pytest.raises(EventError):
        empty.validate(CloudEvent("1", "/s", "t", time="yesterday"), Mode.STRUCTURED)


def test_registry_can_be_awaited(empty: Client) -> None:
    async def run() -> tuple[list[str], Judged]:
        async with AsyncClient(empty.url) as client:
            await client.import_registry({"schemaGroups": {"a": {}, "b": {}}})
            ids = [one["id"] async for one in client.registry_entities("schemaGroups", limit=1)]
            return ids, await client.validate(event(type="t", source="/s"))

    ids, judged = asyncio.run(run())

    assert (ids, judged.known) == (["a", "b"], False)
