"""The Registry Service: its model, its collections, and what is inlined, over real HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.registry import EVENT, Client, clearing, registry

covers = pytest.mark.covers
SCHEMAS = {"singular": "schemaGroup", "plural": "schemaGroups"}
SCHEMA = {"singular": "schema", "plural": "schemas", "versions": 0}
TEAMS = {
    "singular": "team",
    "plural": "teams",
    "resources": [{"singular": "charter", "plural": "charters", "versions": 3}],
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with registry(tmp_path_factory.mktemp("data")) as running:
        yield running


@pytest.fixture
def client(server: Client) -> Client:
    return clearing(server)


@pytest.fixture
def filled(client: Client) -> Client:
    """A registry with something in each of its collections."""
    client.make_schema("s1")
    client.make_definition("d1")
    client.make_endpoint("e1", definitions={"x": EVENT})
    return client


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A registry whose answers are small."""
    with registry(tmp_path_factory.mktemp("data"), registry_bytes=2048) as running:
        running.created("/schemaGroups", {"id": "g1"})
        assert running.add_schema("s1", {"registry-format": "Acme/1"}, "x" * 600).status == 201
        for _ in range(4):
            assert running.post("/schemaGroups/g1/schemas/s1", "y" * 600).status == 201
            running.created("/schemaGroups", {"description": "x" * 200})
        yield running


@covers("REG-043", "REG-046", "REG-047", "REG-048", "REG-050", "REG-051", "REG-052")
def test_model_lists_types_by_both_names(client: Client) -> None:
    groups = client.get("/model").document["groups"]

    assert len({each["singular"] for each in groups}) == 3
    assert len({each["plural"] for each in groups}) == 3
    for group in groups:
        (resource,) = group["resources"]
        assert resource["singular"]
        assert resource["plural"]


@covers("REG-044", "REG-068")
def test_model_is_a_part_of_the_registry_when_asked_for(client: Client) -> None:
    assert client.get("/?model").document["model"] == client.get("/model").document
    assert "model" not in client.get("/").document


@covers("REG-053", "REG-182", "REG-208", "REG-274")
def test_model_has_the_three_registries(client: Client) -> None:
    found = {
        (group["singular"], group["plural"]): [
            (each["singular"], each["plural"], each["versions"]) for each in group["resources"]
        ]
        for group in client.get("/model").document["groups"]
    }

    assert found == {
        ("schemaGroup", "schemaGroups"): [("schema", "schemas", 0)],
        ("definitionGroup", "definitionGroups"): [("definition", "definitions", 1)],
        ("endpoint", "endpoints"): [("definition", "definitions", 1)],
    }


@covers("REG-045", "REG-049")
def test_schemas_of_a_model_are_references(client: Client) -> None:
    model = {
        "schema": "/all.json",
        "groups": [{**SCHEMAS, "schema": "g.json", "resources": [SCHEMA]}],
    }

    assert client.put("/model", model).document == model
    assert client.get("/model").document == model
    assert client.put("/model", {"schema": "a b", "groups": []}).paths == ["schema"]


@covers("REG-047", "REG-048", "REG-051", "REG-052")
@pytest.mark.parametrize(
    ("groups", "paths"),
    [
        ([TEAMS, {"singular": "team", "plural": "x"}], ["groups[1].singular"]),
        ([TEAMS, {"singular": "x", "plural": "Teams"}], ["groups[1].plural"]),
        ([{"plural": "x"}], ["groups[0].singular"]),
        ([{"singular": "x"}], ["groups[0].plural"]),
        (
            [{"singular": "x", "plural": "xs", "resources": [{"versions": "a"}]}],
            [f"groups[0].resources[0].{each}" for each in ("versions", "singular", "plural")],
        ),
        ([{"singular": "x", "plural": "id"}], ["groups[0].plural"]),
        ([{"singular": "x", "plural": "a/b"}], ["groups[0].plural"]),
    ],
)
def test_wrong_model_is_refused_with_every_fault(
    client: Client, groups: list[Any], paths: list[str]
) -> None:
    before = client.get("/model").document

    reply = client.put("/model", {"groups": groups})

    assert (reply.status, reply.paths) == (400, paths)
    assert client.get("/model").document == before


def test_type_of_which_there_are_groups_cannot_leave_the_model(filled: Client) -> None:
    reply = filled.put("/model", {"groups": [{**SCHEMAS, "resources": [SCHEMA]}]})

    assert reply.status == 400
    assert filled.get("/endpoints/e1").status == 200


def test_wrapped_model_and_unlimited_versions_in_either_spelling_are_read(client: Client) -> None:
    unlimited = {**SCHEMA, "versions": -1, "mutable": True}

    reply = client.put("/model", {"model": {"groups": [{**SCHEMAS, "resources": [unlimited]}]}})

    (group,) = reply.document["groups"]
    assert group["resources"] == [{**SCHEMA, "mutable": True}]


def test_other_methods_on_the_model_are_not_allowed(client: Client) -> None:
    reply = client.delete("/model")

    assert reply.status == 405
    assert reply.headers["allow"] == "GET,PUT,OPTIONS"


@covers("REG-054", "REG-055", "REG-056")
def test_types_of_a_user_work_at_once_and_keep_so_many_versions(client: Client) -> None:
    client.put("/model", {"groups": [TEAMS]})
    client.created("/teams", {"id": "blue"})
    made = client.post("/teams/blue/charters", b"\xff\x00", {"registry-id": "c"})

    for text in ("2", "3", "4", "5"):
        assert client.post("/teams/blue/charters/c", text).status == 201

    assert made.status == 201
    assert list(client.get("/teams/blue/charters/c/versions").document) == ["3", "4", "5"]
    assert client.get("/teams/blue/charters/c/versions/2").status == 404
    assert client.get("/").document["teamsCount"] == 1


@covers("REG-056", "REG-213")
def test_definition_keeps_one_version(client: Client) -> None:
    client.make_definition("d1")

    reply = client.post("/definitionGroups/dg1/definitions/d1", EVENT)

    assert reply.headers["registry-version"] == "2"
    assert list(client.get("/definitionGroups/dg1/definitions/d1/versions").document) == ["2"]
    assert client.get("/definitionGroups/dg1/definitions/d1?meta").document["versionsCount"] == 1


@covers("REG-163")
def test_registry_of_schemas_alone_has_nothing_else(client: Client) -> None:
    client.put("/model", {"groups": [{**SCHEMAS, "resources": [SCHEMA]}]})

    assert client.get("/endpoints").status == 404
    assert [each["plural"] for each in client.get("/model").document["groups"]] == ["schemaGroups"]
    assert client.make_schema("s1").status == 201


@covers("REG-057", "REG-058", "REG-060", "REG-067")
def test_registry_shows_its_collections_by_address_and_size(filled: Client) -> None:
    root = filled.get("/").document

    assert root["id"]
    assert root["specVersion"] == "0.5-wip"
    assert root["self"] == f"{filled.base}/"
    for plural in ("endpoints", "definitionGroups", "schemaGroups"):
        assert root[f"{plural}Url"] == f"{filled.base}/{plural}"
        assert root[f"{plural}Count"] == len(filled.follow(root[f"{plural}Url"]).document) == 1
        assert plural not in root


@covers("REG-061", "REG-062")
def test_only_the_named_collection_is_inlined(filled: Client) -> None:
    root = filled.get("/?inline=endpoints").document

    assert {key: each["id"] for key, each in root["endpoints"].items()} == {"e1": "e1"}
    assert "schemaGroups" not in root
    assert "definitions" not in root["endpoints"]["e1"]


@covers("REG-064")
def test_collection_behind_its_address_moves_on(filled: Client) -> None:
    before = filled.get("/?inline=endpoints").document

    filled.make_endpoint("e2")

    assert set(filled.follow(before["endpointsUrl"]).document) == {"e1", "e2"}
    assert set(before["endpoints"]) == {"e1"}


@covers("REG-065")
def test_empty_collection_has_size_0(client: Client) -> None:
    root = client.get("/?inline").document

    assert (root["endpointsCount"], root["endpoints"]) == (0, {})


@covers("REG-059", "REG-060", "REG-066")
def test_collections_of_groups_and_resources_follow_the_same_rules(filled: Client) -> None:
    inline = filled.get("/?inline").document
    endpoint, group = inline["endpoints"]["e1"], inline["definitionGroups"]["dg1"]
    schemas = inline["schemaGroups"]["g1"]
    schema = schemas["schemas"]["s1"]

    for owner, plural in (
        (endpoint, "definitions"),
        (group, "definitions"),
        (schemas, "schemas"),
        (schema, "versions"),
        (endpoint["definitions"]["x"], "versions"),
    ):
        assert owner[f"{plural}Count"] == len(owner[plural]) == 1
        assert set(filled.follow(owner[f"{plural}Url"]).document) == set(owner[plural])


@covers("REG-069", "REG-070", "REG-074")
@pytest.mark.parametrize("query", ["?inline", "?inline="])
def test_everything_is_inlined_as_it_is_by_itself(filled: Client, query: str) -> None:
    root = filled.get(f"/{query}").document

    assert root["schemaGroups"]["g1"] == filled.get("/schemaGroups/g1?inline").document
    schema = root["schemaGroups"]["g1"]["schemas"]["s1"]
    assert schema == filled.get("/schemaGroups/g1/schemas/s1?inline").document
    assert schema["versions"] == filled.get("/schemaGroups/g1/schemas/s1/versions?inline").document
    assert schema["schema"] == {"type": "record", "name": "A", "fields": []}


@covers("REG-071")
def test_path_inlines_so_deep_and_no_deeper(filled: Client) -> None:
    two = filled.get("/?inline=endpoints.definitions").document["endpoints"]["e1"]
    three = filled.get("/?inline=schemaGroups.schemas.versions").document["schemaGroups"]["g1"]

    assert "versions" not in two["definitions"]["x"]
    assert set(three["schemas"]["s1"]["versions"]) == {"1"}


@covers("REG-072", "REG-073")
def test_paths_may_be_listed_or_repeated_and_join_the_model(filled: Client) -> None:
    listed = filled.get("/?inline=endpoints,schemaGroups&model").document
    repeated = filled.get("/?model&inline=endpoints&inline=schemaGroups").document

    assert listed == repeated
    assert {"endpoints", "schemaGroups", "model"} <= set(listed)


@covers("REG-075", "REG-080", "REG-108")
@pytest.mark.parametrize(
    "path",
    [
        "/?inline",
        "/schemaGroups?inline",
        "/schemaGroups/g1?inline",
        "/schemaGroups/g1/schemas?inline",
    ],
)
def test_more_than_fits_is_refused_whole(narrow: Client, path: str) -> None:
    reply = narrow.get(path)

    assert reply.status == 406
    assert reply.document["title"] == "Not Acceptable"
    assert "2048" in reply.document["detail"]


@covers("REG-075")
def test_what_does_not_fit_can_be_read_in_pages(narrow: Client) -> None:
    seen, path = set(), "/registry/schemaGroups?limit=2"
    while path:
        reply = narrow.served.get(path)
        assert reply.status == 200
        seen |= set(reply.document)
        link = reply.headers.get("link", "")
        path = link.partition("<")[2].partition(">")[0].removeprefix(narrow.base[:-9])

    assert len(seen) == narrow.get("/").document["schemaGroupsCount"] == 5


@covers("REG-076")
@pytest.mark.parametrize(
    "path",
    [
        "/?inline=nosuch",
        "/?inline=endpoints.schemas",
        "/endpoints?inline=versions",
        "/endpoints/e1?inline=definitions.x",
        "/schemaGroups/g1/schemas?inline=schemas",
    ],
)
def test_unknown_name_in_inline_is_an_error(filled: Client, path: str) -> None:
    reply = filled.get(path)

    assert (reply.status, reply.paths) == (400, ["inline"])


@covers("REG-078", "REG-085")
@pytest.mark.parametrize("value", ["", "=", "=schemas.versions"])
def test_groups_inline_their_resources(filled: Client, value: str) -> None:
    listed = filled.get(f"/schemaGroups?inline{value}").document
    single = filled.get(f"/schemaGroups/g1?inline{value}").document

    assert listed == {"g1": single}
    assert set(single["schemas"]["s1"]["versions"]) == {"1"}
    without = filled.get("/schemaGroups?inline=schemas").document["g1"]["schemas"]["s1"]
    assert "versions" not in without


@covers("REG-079", "REG-107", "REG-143")
@pytest.mark.parametrize(
    "path", ["/endpoints", "/teams/t/charters", "/teams/t/charters/c/versions"]
)
def test_pages_lead_to_the_next_until_the_last(client: Client, path: str) -> None:
    client.put("/model", {"groups": [*client.get("/model").document["groups"], TEAMS]})
    client.created("/teams", {"id": "t"})
    for number in range(3):
        client.make_endpoint(f"e{number}")
        client.post("/teams/t/charters", "x", {"registry-id": f"c{number or ''}"})
    for _ in range(2):
        client.post("/teams/t/charters/c", "y")

    first = client.get(f"{path}?limit=2")
    address, _, rest = first.headers["link"].removeprefix("<").partition(">")
    last = client.follow(address)

    assert rest == ";rel=next;count=3"
    assert (len(first.document), len(last.document)) == (2, 1)
    assert not set(first.document) & set(last.document)
    assert "link" not in last.headers


def test_page_size_must_be_a_number(client: Client) -> None:
    assert client.get("/endpoints?limit=0").paths == ["limit"]


def test_lists_are_the_same_after_a_restart(tmp_path: Path) -> None:
    with registry(tmp_path) as first:
        first.make_schema("s1")
        first.put("/model", {"groups": [*first.get("/model").document["groups"], TEAMS]})
        before = first.get("/schemaGroups/g1/schemas/s1")
    with registry(tmp_path) as second:
        after = second.get("/schemaGroups/g1/schemas/s1")

        assert after.body == before.body
        assert second.get("/teams").status == 200
