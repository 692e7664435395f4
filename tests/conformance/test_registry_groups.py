"""The Registry Service: attributes, model, collections and groups, over real HTTP."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.events.values import parse_timestamp
from tests.api.registry import Client, clearing, registry
from tests.api.served import serving

covers = pytest.mark.covers


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with registry(tmp_path_factory.mktemp("data")) as running:
        yield running


@pytest.fixture
def client(server: Client) -> Client:
    return clearing(server)


@covers("REG-001")
def test_unknown_flag_is_ignored(client: Client) -> None:
    client.make_endpoint("e1")

    assert client.get("/endpoints?unknownflag=1").document == client.get("/endpoints").document


@covers("REG-004")
@pytest.mark.parametrize("path", ["/schemaGroups", "/endpoints"])
def test_extension_attribute_of_a_group_comes_back(client: Client, path: str) -> None:
    made = client.created(path, {"id": "x", "usage": "consumer", "acmeOwner": {"a": [1, "b"]}})

    assert made["acmeOwner"] == {"a": [1, "b"]}
    assert client.get(f"{path}/x").document["acmeOwner"] == {"a": [1, "b"]}


@covers("REG-004")
def test_extension_attribute_of_resource_version_and_registry_comes_back(client: Client) -> None:
    client.make_schema("s1", acmeowner="x")
    client.post("/", {"acmeTeam": "blue"})

    assert client.get("/schemaGroups/g1/schemas/s1?meta").document["acmeowner"] == "x"
    assert client.get("/schemaGroups/g1/schemas/s1/versions/1?meta").document["acmeowner"] == "x"
    assert client.get("/").document["acmeTeam"] == "blue"


@covers("REG-006")
@pytest.mark.parametrize(
    ("more", "path"),
    [
        ({"acmeOwner": "x", "AcmeOwner": "y"}, "AcmeOwner"),
        ({"name": "x", "Name": "y"}, "Name"),
        ({"Name": "y"}, "Name"),
        ({"Usage": "consumer"}, "Usage"),
    ],
)
def test_names_that_differ_only_by_case_are_refused(
    client: Client, more: dict[str, Any], path: str
) -> None:
    reply = client.post("/endpoints", {"id": "x", "usage": "consumer", **more})

    assert reply.status == 400
    assert reply.paths == [path]
    assert client.get("/endpoints/x").status == 404


@covers("REG-007")
def test_json_spells_attributes_as_the_specification_does(client: Client) -> None:
    client.make_schema("s1")

    assert {"versionId", "createdOn", "modifiedOn", "versionsUrl"} <= set(
        client.get("/schemaGroups/g1/schemas/s1?meta").document
    )
    assert {"specVersion", "endpointsUrl"} <= set(client.get("/").document)


@covers("REG-008")
@pytest.mark.parametrize("header", ["registry-name", "Registry-Name", "REGISTRY-NAME"])
def test_headers_are_matched_without_case(client: Client, header: str) -> None:
    client.make_schema("s1", {header: "x"})

    assert client.get("/schemaGroups/g1/schemas/s1").headers["registry-name"] == "x"


@covers("REG-009", "REG-210")
@pytest.mark.parametrize(
    ("format_", "status"), [("CloudEvents/1.0", 201), ("", 400), ("/1.0", 400)]
)
def test_format_has_a_name_and_a_version(client: Client, format_: str, status: int) -> None:
    reply = client.post("/definitionGroups", {"id": "d", "format": format_})

    assert reply.status == status
    assert status == 201 or reply.paths == ["format"]


@covers("REG-010", "REG-011", "REG-212")
@pytest.mark.parametrize("format_", ["CloudEvents", "MQTT/5.0"])
def test_definition_has_the_format_of_its_group(client: Client, format_: str) -> None:
    client.created("/definitionGroups", {"id": "d", "format": "CloudEvents/1.0"})

    reply = client.post("/definitionGroups/d/definitions", {"format": format_, "metadata": {}})

    assert reply.status == 400
    assert reply.paths == ["format"]


@covers("REG-011")
@pytest.mark.parametrize(("format_", "status"), [("Avro/1.9", 201), ("XSD/1.0", 400)])
def test_schema_fits_the_format_of_its_group(client: Client, format_: str, status: int) -> None:
    client.created("/schemaGroups", {"id": "g1", "format": "Avro"})

    assert client.add_schema("s1", {"registry-format": format_}).status == status


@covers("REG-013")
@pytest.mark.parametrize("id_", ["", 7, "a\x00b", "x" * 121])
def test_id_is_a_short_text_that_is_not_empty(client: Client, id_: object) -> None:
    reply = client.post("/endpoints", {"id": id_, "usage": "consumer"})

    assert (reply.status, reply.paths) == (400, ["id"])


@covers("REG-014", "REG-088")
def test_id_never_changes(client: Client) -> None:
    client.make_endpoint("e1", name="old")

    reply = client.put("/endpoints/e1", {"id": "e2", "usage": "consumer", "name": "new"})

    assert (reply.status, reply.paths) == (400, ["id"])
    assert client.get("/endpoints/e1").document["name"] == "old"
    assert client.put("/endpoints/e1", {"id": "e1", "usage": "consumer"}).status == 200


@covers("REG-015")
def test_ids_differ_by_more_than_case_within_their_parent(client: Client) -> None:
    client.make_endpoint("abc")
    client.make_schema("s1")

    assert client.post("/endpoints", {"id": "ABC", "usage": "consumer"}).status == 409
    assert client.add_schema("S1").status == 409
    assert client.get("/endpoints/ABC").status == 404
    client.created("/schemaGroups", {"id": "g2"})
    assert client.add_schema("S1", group="g2").status == 201


@covers("REG-016")
def test_registry_keeps_its_id_across_restarts(tmp_path: Path) -> None:
    with serving(tmp_path) as first:
        id_ = Client(first).get("/").document["id"]
    with serving(tmp_path) as second:
        again = Client(second).get("/").document["id"]

    assert id_
    assert again == id_


@covers("REG-017", "REG-019", "REG-031", "REG-033", "REG-286")
def test_empty_texts_are_the_same_as_missing_ones(client: Client) -> None:
    names = ("name", "description", "createdBy", "modifiedBy", "channel")
    made = client.make_endpoint("e1", **dict.fromkeys(names, ""))

    assert made["name"] == "e1"
    assert not {"description", "createdBy", "modifiedBy", "channel"} & set(made)
    assert None not in made.values()


@covers("REG-020", "REG-022")
@pytest.mark.parametrize("tags", [{}, {"owner": "John", "verified": ""}])
def test_tags_are_pairs_of_texts(client: Client, tags: dict[str, str]) -> None:
    assert client.make_endpoint("e1", tags=tags)["tags"] == tags


@covers("REG-020", "REG-021")
@pytest.mark.parametrize(
    ("tags", "path"),
    [
        ({"a": 1}, "tags.a"),
        ([], "tags"),
        ({"": "x"}, "tags."),
        ({"-a": "x"}, "tags.-a"),
        ({"a b": "x"}, "tags.a b"),
        ({"a" * 64: "x"}, f"tags.{'a' * 64}"),
    ],
)
def test_bad_tag_is_refused(client: Client, tags: object, path: str) -> None:
    reply = client.post("/endpoints", {"usage": "consumer", "tags": tags})

    assert (reply.status, reply.paths) == (400, [path])


@covers("REG-020")
def test_tag_that_is_there_twice_is_refused(client: Client) -> None:
    reply = client.post("/schemaGroups", '{"id": "x", "tags": {"a": "1", "a": "2"}}')

    assert reply.status == 400
    assert client.get("/schemaGroups/x").status == 404


@covers("REG-021")
@pytest.mark.parametrize("name", ["a.b-c_1", "a" * 63, "9"])
def test_tag_name_may_have_letters_digits_and_three_signs(client: Client, name: str) -> None:
    assert client.make_endpoint("e1", tags={name: "x"})["tags"] == {name: "x"}


@covers("REG-025")
@pytest.mark.parametrize("epoch", [-1, "x", 1.5, True])
def test_epoch_is_a_whole_number(client: Client, epoch: object) -> None:
    reply = client.post("/endpoints", {"usage": "consumer", "epoch": epoch})

    assert (reply.status, reply.paths) == (400, ["epoch"])


@covers("REG-026", "REG-027", "REG-086", "REG-091")
def test_each_update_of_a_group_raises_its_epoch(client: Client) -> None:
    client.make_endpoint("e1")

    epochs = [
        client.put("/endpoints/e1", {"usage": "consumer", "name": name}).document["epoch"]
        for name in ("a", "b", "b")
    ]

    assert epochs == [2, 3, 4]
    assert client.get("/endpoints/e1").document["name"] == "b"


@covers("REG-029")
def test_epoch_in_a_new_group_has_no_effect(client: Client) -> None:
    assert client.make_endpoint("e1", epoch=77)["epoch"] == 1


@covers("REG-030")
def test_self_is_the_list_with_the_id(client: Client) -> None:
    made = client.make_endpoint("a b/ü")

    assert made["self"] == f"{client.base}/endpoints/a%20b%2F%C3%BC"
    assert client.follow(made["self"]).document == made


@covers("REG-032", "REG-034")
def test_times_are_kept_and_moved(client: Client) -> None:
    first = client.make_endpoint("e1")

    second = client.put("/endpoints/e1", {"usage": "consumer"}).document

    created, modified = (parse_timestamp(second[name]) for name in ("createdOn", "modifiedOn"))
    assert created
    assert modified
    assert second["createdOn"] == first["createdOn"]
    assert first["modifiedOn"] != second["modifiedOn"]
    assert modified >= created


@covers("REG-035")
@pytest.mark.parametrize("docs", ["/d/x", "https://h/d", "x?y"])
def test_docs_may_be_relative_or_http(client: Client, docs: str) -> None:
    assert client.make_endpoint("e1", docs=docs)["docs"] == docs


@covers("REG-035")
@pytest.mark.parametrize("docs", ["", "ftp://h/d", "a b", 1])
def test_other_docs_are_refused(client: Client, docs: object) -> None:
    reply = client.post("/endpoints", {"usage": "consumer", "docs": docs})

    assert (reply.status, reply.paths) == (400, ["docs"])


@covers("REG-037", "REG-042")
def test_every_kind_of_path_answers(client: Client) -> None:
    client.make_schema("s1")
    schema = "/schemaGroups/g1/schemas/s1"
    paths = ["/", "/model", "/schemaGroups", "/schemaGroups/g1", "/schemaGroups/g1/schemas"]

    for path in (*paths, f"{schema}?meta", f"{schema}/versions", f"{schema}/versions/1?meta"):
        reply = client.get(path)
        assert reply.status == 200
        assert reply.headers["content-type"] == "application/json; charset=utf-8"
        assert int(reply.headers["content-length"]) == len(reply.body)
    assert client.get(schema).status == client.get(f"{schema}/versions/1").status == 200


@covers("REG-038")
def test_paths_have_plural_names(client: Client) -> None:
    client.make_endpoint("e1")

    assert client.get("/endpoints/e1/definitions").status == 200
    assert client.get("/endpoint/e1").status == 404


@covers("REG-039", "REG-040", "REG-059", "REG-066")
def test_every_address_has_the_prefix_and_answers(client: Client) -> None:
    client.make_schema("s1")
    client.make_endpoint("e1")
    text = client.get("/?inline").body.decode()
    addresses = set(re.findall(r'"(http://[^"]+)"', text))

    assert len(addresses) > 8
    assert all(each.startswith(f"{client.base}/") for each in addresses)
    assert {client.follow(each).status for each in addresses} == {200}


@covers("REG-041")
@pytest.mark.parametrize(
    "path",
    ["/nosuch", "/endpoints/nosuch", "/schemaGroups/g1/nosuch", "/schemaGroups/g1/schemas/nosuch"],
)
def test_unknown_names_are_not_found(client: Client, path: str) -> None:
    client.make_schema("s1")

    assert client.get(path).status == 404
    assert client.get("/schemaGroups/g1/schemas/s1/versions/nosuch").status == 404


@covers("REG-077", "REG-081", "REG-083", "REG-084", "REG-287")
def test_group_is_created_shown_and_listed(client: Client) -> None:
    reply = client.post("/endpoints", {"id": "e1", "name": "n", "usage": "consumer"})

    made = reply.document
    assert reply.status == 201
    assert reply.headers["location"] == f"{client.base}/endpoints/e1"
    assert client.follow(reply.headers["location"]).document == made
    assert made["definitionsUrl"] == f"{client.base}/endpoints/e1/definitions"
    assert (made["id"], made["name"], made["epoch"], made["definitionsCount"]) == ("e1", "n", 1, 0)
    assert client.get("/endpoints").document == {"e1": made}


@covers("REG-082")
def test_group_without_an_id_gets_one(client: Client) -> None:
    ids = {client.created("/endpoints", {"usage": "consumer"})["id"] for _ in range(3)}

    assert len(ids) == 3
    assert "" not in ids


@covers("REG-087")
def test_attribute_that_an_update_leaves_out_is_gone(client: Client) -> None:
    client.make_endpoint("e1", description="d")

    assert "description" not in client.put("/endpoints/e1", {"usage": "consumer"}).document


@covers("REG-089")
@pytest.mark.parametrize(("query", "body"), [("?epoch=7", {}), ("", {"epoch": 7})])
def test_stale_epoch_changes_nothing(client: Client, query: str, body: dict[str, Any]) -> None:
    before = client.make_endpoint("e1")

    reply = client.put(f"/endpoints/e1{query}", {"usage": "producer", **body})

    assert reply.status == 409
    assert client.get("/endpoints/e1").document == before
    assert client.put("/endpoints/e1?epoch=1", {"usage": "consumer", "epoch": 1}).status == 200


@covers("REG-090")
def test_update_of_a_group_leaves_its_resources_alone(client: Client) -> None:
    client.make_definition("d1")

    client.put("/definitionGroups/dg1", {"definitions": {}, "definitionsCount": 0})

    assert client.get("/definitionGroups/dg1").document["definitionsCount"] == 1


@covers("REG-092", "REG-094", "REG-095")
def test_deleted_group_is_shown_once_more_and_takes_its_resources_along(client: Client) -> None:
    client.make_schema("s1")

    reply = client.delete("/schemaGroups/g1")

    assert reply.status == 200
    assert {"id", "name", "epoch"} <= set(reply.document)
    assert client.get("/schemaGroups/g1").status == 404
    client.created("/schemaGroups", {"id": "g1"})
    assert client.get("/schemaGroups/g1/schemas/s1").status == 404
    assert client.get("/schemaGroups/g1/schemas/s1/versions/1").status == 404


@covers("REG-093")
def test_group_is_not_deleted_with_a_stale_epoch(client: Client) -> None:
    client.make_endpoint("e1")

    assert client.delete("/endpoints/e1?epoch=9").status == 409
    assert client.get("/endpoints/e1").status == 200
    assert client.delete("/endpoints/e1?epoch=1").status == 200


@covers("REG-096", "REG-099")
def test_listed_groups_are_deleted(client: Client) -> None:
    for id_ in ("a", "b", "c"):
        client.make_endpoint(id_)

    reply = client.delete("/endpoints", [{"id": "a"}, {"id": "b", "epoch": 1}])

    assert reply.status == 200
    assert set(reply.document) == {"a", "b"}
    assert reply.document["a"]["id"] == "a"
    assert set(client.get("/endpoints").document) == {"c"}


@covers("REG-097", "REG-098")
@pytest.mark.parametrize("wrong", [{"id": "b", "epoch": 5}, {"id": "none"}])
def test_one_wrong_entry_keeps_all_groups(client: Client, wrong: dict[str, Any]) -> None:
    for id_ in ("a", "b"):
        client.make_endpoint(id_)

    reply = client.delete("/endpoints", [{"id": "a"}, wrong])

    assert reply.status in (404, 409)
    assert set(client.get("/endpoints").document) == {"a", "b"}


@covers("REG-100")
def test_deletion_without_a_body_deletes_all_groups_of_the_type(client: Client) -> None:
    client.make_endpoint("a")
    client.make_endpoint("b")
    client.make_schema("s1")

    client.delete("/endpoints")

    root = client.get("/").document
    assert (root["endpointsCount"], root["schemaGroupsCount"]) == (0, 1)


def test_empty_list_deletes_nothing(client: Client) -> None:
    client.make_endpoint("a")

    assert client.delete("/endpoints", []).document == {}
    assert client.get("/endpoints/a").status == 200


def test_unknown_id_is_not_created_by_an_update(client: Client) -> None:
    assert client.put("/endpoints/none", {"usage": "consumer"}).status == 404
