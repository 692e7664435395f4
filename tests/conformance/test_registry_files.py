"""The Registry Service: references, files, import and export, over real HTTP."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import yaml

from tests.api.registry import EVENT, RECORD, Client, clearing, registry
from tests.api.served import Reply
from tests.conformance.registry_examples import COMPACT, DOCUMENTS, SCHEMA, SPLIT, VERSIONS

covers = pytest.mark.covers
JSON, YAML = "application/cloudevents-registry+json", "application/cloudevents-registry+yaml"
TELEMETRY = "com.example.telemetry"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with registry(tmp_path_factory.mktemp("data")) as running:
        yield running


@pytest.fixture
def client(server: Client) -> Client:
    return clearing(server)


def bring(client: Client, document: Any, media_type: str = JSON, flags: str = "") -> Reply:  # noqa: ANN401
    body = document if isinstance(document, bytes | str) else json.dumps(document)
    return client.post(f"/{flags}", body, {"content-type": media_type})


def export(client: Client, media_type: str = JSON) -> Any:  # noqa: ANN401
    reply = client.get("/", accept=media_type)
    assert reply.headers["content-type"] == media_type
    return yaml.safe_load(reply.body) if media_type == YAML else reply.document


def resolve(client: Client, reference: str) -> Reply:
    return client.get(f"/?resolve={quote(reference, safe='')}")


def shown_again(given: Any, shown: Any) -> bool:  # noqa: ANN401
    """Whether a document has all that another has, in the defined spellings."""
    if isinstance(given, Mapping):
        return all(
            name in shown and shown_again(value, shown[name])
            for name, value in given.items()
            if not name.endswith("Url") and name not in ("specversion", "$schema", "id")
        )
    spelled = {"datetime": "timestamp", "Protobuf/3.0": "Protobuf/3"}
    return bool(shown == (spelled.get(given, given) if isinstance(given, str) else given))


@covers("REG-164", "REG-165", "REG-178")
@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("media_type", [JSON, YAML])
def test_example_is_taken_and_shown_again(client: Client, name: str, media_type: str) -> None:
    document = DOCUMENTS[name]
    printed = yaml.safe_dump(document) if media_type == YAML else json.dumps(document)

    reply = bring(client, printed, media_type)

    assert reply.status == 200, reply.body
    assert shown_again(document, export(client, media_type))


@covers("REG-164")
def test_compact_example_is_readable_entity_by_entity(client: Client) -> None:
    bring(client, COMPACT)

    definition = client.get(f"/endpoints/{TELEMETRY}/definitions/{TELEMETRY}").document
    assert client.get(f"/endpoints/{TELEMETRY}").document["definitionsCount"] == 1
    assert definition["schema"].startswith("syntax")
    assert definition["schemaformat"] == "Protobuf/3"


@covers("REG-165", "REG-166", "REG-170")
def test_split_example_resolves_from_endpoint_to_schema(client: Client) -> None:
    bring(client, SPLIT)
    (group,) = client.get(f"/endpoints/{TELEMETRY}").document["definitionGroups"]

    found = resolve(client, group).document
    definition = resolve(client, f"{group}/definitions/{TELEMETRY}").document["value"]
    schema = resolve(client, definition["schemaurl"]).document

    assert (found["kind"], found["value"]["id"]) == (
        "definitionGroup",
        "com.example.telemetryEvents",
    )
    assert schema["value"]["schema"].startswith('syntax = "proto3"')


@covers("REG-167")
@pytest.mark.parametrize("path", ["/definitionGroups/dg1", "/definitiongroups/dg1/definitions/d1"])
def test_deep_link_is_the_address_of_the_object(client: Client, path: str) -> None:
    client.make_definition("d1")

    assert client.follow(f"{client.base}{path}").status == 200
    assert resolve(client, f"{client.base}{path}").status == 200


@covers("REG-169")
@pytest.mark.parametrize("id_", ["a/b", "a~b", "a b", "ü%", "urn:x:y"])
def test_pointers_and_paths_are_escaped(client: Client, id_: str) -> None:
    client.created("/definitionGroups", {"id": id_, "description": "here"})
    pointer = quote(id_.replace("~", "~0").replace("/", "~1"))

    found = resolve(client, f"#/definitionGroups/{pointer}").document

    assert found["value"]["description"] == "here"
    assert client.get(f"/definitionGroups/{quote(id_, safe='')}").document["id"] == id_


@covers("REG-204", "REG-206")
@pytest.mark.parametrize(
    "reference",
    [
        "#/schemaGroups/g1/schemas/s1:A",
        "#/schemaGroups/g1/schemas/s1/versions/1:A",
        "{base}/schemaGroups/g1/schemas/s1#A",
    ],
)
def test_suffix_chooses_a_record(client: Client, reference: str) -> None:
    client.make_schema("s1")

    found = resolve(client, reference.format(base=client.base)).document

    assert (found["kind"], found["record"]) == ("schema", "A")


@covers("REG-200")
def test_pointer_goes_on_into_a_json_schema(client: Client) -> None:
    client.created("/schemaGroups", {"id": "g1"})
    schema = {"definitions": {"A": {"type": "string"}}}
    client.add_schema("s1", {"registry-format": "JsonSchema/draft-07"}, schema)
    root = "#/schemaGroups/g1/schemas/s1"

    deep = resolve(client, f"{root}/schema/definitions/A").document
    whole = resolve(client, root).document

    assert deep["value"] == {"type": "string"}
    assert whole["value"]["schema"] == schema


@covers("REG-200")
def test_link_goes_on_into_a_json_schema(client: Client) -> None:
    client.created("/schemaGroups", {"id": "g1"})
    schema = {"definitions": {"A": {"type": "string"}}}
    client.add_schema("s1", {"registry-format": "JsonSchema/draft-07"}, schema)

    for start in (f"{client.base}/schemaGroups/g1/schemas/s1#", "#/schemaGroups/g1/schemas/s1:"):
        assert resolve(client, f"{start}/definitions/A").document["value"] == {"type": "string"}
        assert resolve(client, f"{start}/definitions/B").status == 404


@covers("REG-202")
@pytest.mark.parametrize(("name", "status"), [("a", 201), ("none", 400)])
def test_xpath_chooses_an_element(client: Client, name: str, status: int) -> None:
    client.created("/schemaGroups", {"id": "g1"})
    elements = "".join(f'<xs:element name="{each}" type="xs:string"/>' for each in "ab")
    text = f'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">{elements}</xs:schema>'
    client.add_schema("s1", {"registry-format": "XSD/1.0", "content-type": "text/xml"}, text)
    reference = f"#/schemaGroups/g1/schemas/s1://xs:element[@name='{name}']"
    client.created("/definitionGroups", {"id": "dg1"})

    found = resolve(client, reference).document
    reply = client.post(
        "/definitionGroups/dg1/definitions",
        {**EVENT, "schemaformat": "XSD/1.0", "schemaurl": quote(reference, safe="#/:[]@'")},
    )

    assert found["record"] == name
    assert reply.status == status


@pytest.mark.parametrize(
    ("reference", "step"),
    [
        ("#/nosuch/a", "nosuch"),
        ("#/schemaGroups/none", "none"),
        ("#/schemaGroups/g1/schemas/none", "none"),
        ("#/schemaGroups/g1/schemas/s1/versions/9", "9"),
        ("#/schemaGroups/g1/schemas/s1/none/x", "none"),
        ("#schemaGroups", "pointer"),
        ("#/", "name an object"),
    ],
)
def test_dangling_reference_names_the_missing_step(
    client: Client, reference: str, step: str
) -> None:
    client.make_schema("s1")

    reply = resolve(client, reference)

    assert reply.status == 404
    assert step in reply.document["detail"]


def test_foreign_reference_is_not_followed(client: Client) -> None:
    assert resolve(client, "https://elsewhere.example/x#/y").status == 415


@covers("REG-215", "REG-214")
def test_borrowed_definition_shows_its_target(client: Client) -> None:
    client.make_definition("d1", description="d", schemaformat="Acme/1", schema="x")
    client.created("/definitionGroups", {"id": "b"})
    target = "#/definitionGroups/dg1/definitions/d1"

    made = client.post("/definitionGroups/b/definitions", {"id": "d1", "uri": target})

    found = client.get("/definitionGroups/b/definitions/d1").document
    assert made.status == 201
    assert found["uri"] == target
    assert (found["metadata"], found["schema"]) == (EVENT["metadata"], "x")
    assert found["format"] == "CloudEvents/1.0"


@covers("REG-214")
def test_borrowed_definition_has_the_format_of_its_new_group(client: Client) -> None:
    client.make_definition("d1")
    client.created("/definitionGroups", {"id": "b", "format": "AMQP/1.0"})
    target = "#/definitionGroups/dg1/definitions/d1"

    reply = client.post("/definitionGroups/b/definitions", {"uri": target})

    assert (reply.status, reply.paths) == (400, ["format"])


def test_definition_cannot_borrow_from_nothing_or_in_circles(client: Client) -> None:
    client.make_definition("d1")
    path, target = "/definitionGroups/dg1/definitions", "#/definitionGroups/dg1/definitions"
    client.created(path, {"id": "d2", "uri": f"{target}/d1"})

    nothing = client.post(path, {"uri": f"{target}/none"})
    circle = client.put(f"{path}/d1", {"uri": f"{target}/d2"})

    assert (nothing.status, nothing.paths) == (400, ["uri"])
    assert (circle.status, circle.paths) == (400, ["uri"])
    assert "itself" in circle.document["detail"]
    assert client.get(f"{path}/d1").document["metadata"] == EVENT["metadata"]


def test_borrowed_definition_outlives_its_target(client: Client) -> None:
    client.make_definition("d1")
    path = "/definitionGroups/dg1/definitions"
    client.created(path, {"id": "d2", "uri": "#/definitionGroups/dg1/definitions/d1"})

    client.delete(f"{path}/d1")

    assert "metadata" not in client.get(f"{path}/d2").document


@covers("REG-174", "REG-175", "REG-176")
@pytest.mark.parametrize("media_type", [JSON, YAML])
def test_export_names_its_schema_and_version(client: Client, media_type: str) -> None:
    found = export(client, media_type)

    assert (found["$schema"], found["specversion"]) == (SCHEMA, "0.5-wip")


@covers("REG-177")
@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        ("[]", JSON),
        ("- a", YAML),
        ("a: 1\n---\nb: 2", YAML),
        ("7", JSON),
        ("{", JSON),
        ("{a", YAML),
    ],
)
def test_file_is_one_object(client: Client, body: str, media_type: str) -> None:
    assert bring(client, body, media_type).status == 400


def test_file_of_another_kind_is_refused(client: Client) -> None:
    assert bring(client, "x", "text/csv").status == 415


@pytest.mark.parametrize(
    "body",
    [
        "acme: {a: 1, a: 2}",
        "acme: &a [*a]",
        "acme: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nd: [*c,*c,*c,*c]",
        "acme: !!python/object:os.system x",
        "acme: !!binary AAAA",
    ],
)
def test_yaml_that_is_no_plain_document_is_refused(client: Client, body: str) -> None:
    assert bring(client, body, YAML).status == 400


@covers("REG-179")
def test_collection_elsewhere_is_a_reference(client: Client) -> None:
    reply = bring(client, {"schemaGroupsUrl": "https://h/schemagroups", "endpoints": {}})

    assert reply.status == 200
    assert [each["path"] for each in reply.document["warnings"]] == ["schemaGroupsUrl"]
    assert client.get("/").document["schemaGroupsCount"] == 0


@covers("REG-179")
def test_wrong_count_is_refused(client: Client) -> None:
    wrong = copy.deepcopy(SPLIT)
    wrong["schemaGroups"][TELEMETRY]["schemasCount"] = 5

    reply = bring(client, wrong)

    assert (reply.status, reply.paths) == (400, [f"schemaGroups.{TELEMETRY}.schemasCount"])
    assert client.get("/").document["endpointsCount"] == 0


@covers("REG-180")
def test_order_of_collections_has_no_meaning(client: Client) -> None:
    bring(client, SPLIT)
    first = export(client)
    clearing(client)

    bring(client, dict(reversed(SPLIT.items())))

    assert export(client) == first


@covers("REG-002", "REG-003", "REG-181")
@pytest.mark.parametrize("media_type", [JSON, YAML])
def test_export_then_import_gives_the_same_registry(
    client: Client, tmp_path: Path, media_type: str
) -> None:
    bring(client, {**SPLIT, "acmeTeam": "blue", "name": "n"})
    client.make_schema("s1", acmeowner="x", description="d")
    client.post("/schemaGroups/g1/schemas/s1", RECORD, {"registry-description": ""})
    client.add_schema("s2", {"registry-format": "Acme/1", "content-type": "x/y"}, b"\xff")
    client.add_schema("s3", {"registry-schemauri": "https://h/s"}, None)
    client.make_definition("d1", tags={"a": "b"})
    client.post("/definitionGroups/dg1/definitions/d1", EVENT)
    file = client.get("/", accept=media_type)

    with registry(tmp_path) as other:
        reply = bring(other, file.body, media_type)
        again = other.get("/", accept=media_type)
        documents = other.get("/schemaGroups/g1/schemas/s2").body
        repeated = bring(other, file.body, media_type).document

    assert reply.status == 200
    assert yaml.safe_load(again.body) == yaml.safe_load(file.body)
    assert documents == b"\xff"
    assert (repeated["created"], repeated["updated"]) == ([], [])


@covers("REG-003")
def test_imported_entities_are_served_one_by_one(client: Client) -> None:
    bring(client, SPLIT)

    inline = client.get("/?inline").document

    definition = inline["definitionGroups"]["com.example.telemetryEvents"]["definitions"][TELEMETRY]
    given = SPLIT["definitionGroups"]["com.example.telemetryEvents"]["definitions"][TELEMETRY]
    assert definition["description"] == given["description"]
    assert definition["schemaurl"] == given["schemaurl"]


def test_import_tells_what_changed(client: Client) -> None:
    first = bring(client, VERSIONS).document
    changed = copy.deepcopy(VERSIONS)
    changed["schemaGroups"][TELEMETRY]["description"] = "new"
    second = bring(client, changed).document

    group = f"/schemaGroups/{TELEMETRY}"
    versions = [f"{group}/schemas/com.example.telemetrydata/versions/{n}.0" for n in (1, 2, 3)]
    assert first["created"] == [group, *versions]
    assert {each["path"].rpartition(".versions.")[2] for each in first["warnings"]} == {
        "1.0.schema",
        "2.0.schema",
        "3.0.schema",
    }
    assert (second["created"], second["updated"], second["unchanged"]) == ([], [group], 3)


def test_one_wrong_entity_keeps_the_whole_document_out(client: Client) -> None:
    wrong = copy.deepcopy(SPLIT)
    wrong["endpoints"][TELEMETRY]["usage"] = "sender"
    wrong["schemaGroups"][TELEMETRY]["tags"] = []

    reply = bring(client, wrong)

    assert reply.status == 400
    assert set(reply.paths) == {f"endpoints.{TELEMETRY}.usage", f"schemaGroups.{TELEMETRY}.tags"}
    root = client.get("/").document
    assert {root[f"{each}Count"] for each in ("endpoints", "definitionGroups", "schemaGroups")} == {
        0
    }


def test_incompatible_version_in_a_document_is_a_conflict(client: Client) -> None:
    client.make_schema("s1")
    newer = RECORD.replace("[]", '[{"name":"x","type":"int"}]')
    schema = {"format": "Avro/1.9", "versions": {"2": {"schema": json.loads(newer)}}}

    reply = bring(client, {"schemaGroups": {"g1": {"schemas": {"s1": schema}}}})

    assert (reply.status, reply.paths) == (
        409,
        ["schemaGroups.g1.schemas.s1.versions.2.schema.A.x"],
    )
    assert client.get("/schemaGroups/g1/schemas/s1?meta").document["versionsCount"] == 1


def test_strict_import_takes_no_doubtful_document(client: Client) -> None:
    strict = bring(client, VERSIONS, flags="?check=strict")

    assert strict.status == 400
    assert client.get("/").document["schemaGroupsCount"] == 0


def test_replacing_import_deletes_what_the_document_lacks(client: Client) -> None:
    client.make_endpoint("e0")
    bring(client, SPLIT)
    less = copy.deepcopy(SPLIT)
    less["schemaGroups"][TELEMETRY] = {"id": TELEMETRY}

    rehearsed = bring(client, less, flags="?replace&dryrun").document
    before = client.get("/endpoints/e0").status
    done = bring(client, less, flags="?replace").document

    schema = f"/schemaGroups/{TELEMETRY}/schemas/com.example.telemetrydata"
    assert before == 200
    assert rehearsed["deleted"] == done["deleted"] == [schema, "/endpoints/e0"]
    assert client.get(schema).status == client.get("/endpoints/e0").status == 404
    assert bring(client, less, flags="?replace").document["deleted"] == []


def test_spelling_of_examples_is_understood(client: Client) -> None:
    reply = bring(
        client, {"specVersion": "0.1", "endpointsURL": "https://h/e", "endpointsCount": 0}
    )

    assert reply.status == 200
    assert bring(client, {"specversion": "9"}).paths == ["specversion"]
