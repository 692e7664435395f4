"""The Registry Service: versions and schemas, over real HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.api.registry import RECORD, Client, clearing, registry

covers = pytest.mark.covers
G = "/schemaGroups/g1/schemas"
S = f"{G}/s1"
ELSEWHERE = "https://example.com/s.avsc"


def record(**defaults: int | None) -> str:
    """An Avro schema with fields that have a default, or none."""
    fields = [
        f'{{"name":"{name}","type":"int"' + ("}" if default is None else f',"default":{default}}}')
        for name, default in defaults.items()
    ]
    return f'{{"type":"record","name":"A","fields":[{",".join(fields)}]}}'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with registry(tmp_path_factory.mktemp("data")) as running:
        yield running


@pytest.fixture
def client(server: Client) -> Client:
    return clearing(server)


@pytest.fixture
def three(client: Client) -> Client:
    """A schema with three versions."""
    client.make_schema("s1", description="d")
    assert client.post(S, record(x=1)).status == 201
    assert client.post(S, record(x=1, y=2), {"registry-description": ""}).status == 201
    return client


def file_with(*ids: str, format_: str = "AcmeIDL/2") -> dict[str, Any]:
    """A document with one schema in versions of some ids."""
    versions = {id_: {"schema": f"text {id_}"} for id_ in ids}
    schema = {"format": format_, "versions": versions}
    return {"schemaGroups": {"g1": {"schemas": {"s1": schema}}}}


@covers("REG-023")
@pytest.mark.parametrize("document", [file_with(""), file_with("a", "A")])
def test_version_ids_are_unique_and_not_empty(client: Client, document: dict[str, Any]) -> None:
    assert client.post("/", document).status == 400
    assert client.get("/schemaGroups/g1").status == 404


@covers("REG-024")
def test_file_may_choose_any_version_ids(client: Client) -> None:
    client.post("/", file_with("1", "2.0", "v3-rc1"))

    assert set(client.get(f"{S}/versions").document) == {"1", "2.0", "v3-rc1"}


@covers("REG-028", "REG-144", "REG-145", "REG-149")
def test_new_version_inherits_and_becomes_the_latest(client: Client) -> None:
    client.make_schema("s1", name="n", description="d")
    client.put(S, RECORD)

    made = client.post(f"{S}?epoch=2", record(x=1), {"registry-description": ""})

    address = f"{client.base}{S}/versions/2"
    assert made.status == 201
    assert (made.headers["registry-version"], made.headers["registry-epoch"]) == ("2", "1")
    assert made.headers["content-location"] == made.headers["registry-self"] == address
    assert made.headers["location"] == f"{client.base}{S}"
    assert (made.headers["registry-name"], "registry-description" in made.headers) == ("n", False)
    assert client.get(f"{S}/versions/1?meta").document["description"] == "d"
    assert client.get(f"{S}?meta").document["versionsCount"] == 2


@covers("REG-141", "REG-142", "REG-193")
def test_versions_are_listed_with_or_without_documents(three: Client) -> None:
    plain = three.get(f"{S}/versions").document
    full = three.get(f"{S}/versions?inline").document

    assert {key: each["id"] for key, each in plain.items()} == {"1": "1", "2": "2", "3": "3"}
    for key, each in plain.items():
        assert {"name", "epoch"} <= set(each)
        assert each["versionId"] == key
        assert each["self"] == f"{three.base}{S}/versions/{key}"
        assert "schema" not in each
        assert full[key]["schema"]["name"] == "A"


@covers("REG-146", "REG-147")
@pytest.mark.parametrize(
    ("query", "headers", "status"),
    [
        ("", {"registry-version": "7"}, 400),
        ("", {"registry-id": "other"}, 400),
        ("", {"registry-epoch": "7"}, 409),
        ("?epoch=7", {}, 409),
        ("?epoch=1", {"registry-epoch": "2"}, 400),
        ("", {"registry-schemauri": ELSEWHERE}, 400),
        ("", {"registry-self": "odd", "registry-id": "s1", "registry-epoch": "1"}, 201),
    ],
)
def test_new_version_must_match(
    client: Client, query: str, headers: dict[str, str], status: int
) -> None:
    client.make_schema("s1")

    assert client.post(f"{S}{query}", record(x=1), headers).status == status
    assert client.get(f"{S}?meta").document["versionsCount"] == (2 if status == 201 else 1)


@covers("REG-148")
def test_address_is_inherited_by_a_new_version_without_a_body(client: Client) -> None:
    client.make_schema("s0")
    client.add_schema("s1", {"registry-schemauri": ELSEWHERE}, None)

    made = client.post(S, None)

    assert (made.status, made.headers["registry-schemauri"]) == (201, ELSEWHERE)
    assert client.post(f"{G}/s0", None).status == 400


@covers("REG-150")
def test_old_version_is_still_served(three: Client) -> None:
    found = three.get(f"{S}/versions/1")

    assert (found.status, found.body) == (200, RECORD.encode())
    assert found.headers["registry-id"] == "s1"
    assert found.headers["registry-version"] == "1"
    assert three.get(f"{S}/version/1").body == found.body


@covers("REG-150")
def test_version_elsewhere_redirects(client: Client) -> None:
    client.make_schema("s1")
    client.post(S, None, {"registry-schemauri": ELSEWHERE})

    found = client.get(f"{S}/versions/2")

    assert (found.status, found.headers["location"]) == (307, ELSEWHERE)
    assert client.get(f"{S}/versions/1").status == 200


@covers("REG-151")
def test_metadata_of_a_version_is_json(three: Client) -> None:
    found = three.get(f"{S}/versions/1?meta").document

    assert {"id": "1", "name": "s1", "epoch": 1}.items() <= found.items()
    assert "schema" not in found


@covers("REG-152", "REG-155", "REG-027")
def test_update_of_an_old_version_leaves_the_latest_alone(three: Client) -> None:
    latest = three.get(S)

    reply = three.put(f"{S}/versions/1", RECORD + " ", {"registry-description": ""})

    assert (reply.status, reply.headers["registry-epoch"]) == (200, "2")
    assert reply.headers["registry-name"] == "s1"
    assert "description" not in three.get(f"{S}/versions/1?meta").document
    assert (three.get(S).body, three.get(S).headers) == (latest.body, latest.headers)


@covers("REG-157")
def test_version_is_deleted(three: Client) -> None:
    stale = three.delete(f"{S}/versions/1?epoch=7")
    gone = three.delete(f"{S}/versions/1?epoch=1")

    assert (stale.status, gone.status) == (409, 200)
    assert (gone.body, gone.headers["registry-version"]) == (RECORD.encode(), "1")
    assert gone.headers["content-location"] == f"{three.base}{S}/versions/1"
    assert three.get(f"{S}/versions/1").status == 404
    assert three.get(f"{S}?meta").document["versionsCount"] == 2


@covers("REG-158", "REG-159")
def test_listed_versions_are_deleted_all_or_none(three: Client) -> None:
    for wrong in ({"id": "none"}, {"id": "2", "epoch": 9}):
        assert three.delete(f"{S}/versions", [{"id": "1"}, wrong]).status in (404, 409)
    before = set(three.get(f"{S}/versions").document)
    gone = three.delete(f"{S}/versions", [{"id": "1"}, {"id": "2", "epoch": 1}])

    assert before == {"1", "2", "3"}
    assert {key: each["id"] for key, each in gone.document.items()} == {"1": "1", "2": "2"}
    assert set(three.get(f"{S}/versions").document) == {"3"}


@covers("REG-160", "REG-190")
def test_largest_of_the_remaining_versions_becomes_the_latest(client: Client) -> None:
    client.post("/", file_with("9", "10", "11"))

    first = client.get(S).body
    client.delete(f"{S}/versions/11")

    assert (first, client.get(S).body) == (b"text 11", b"text 10")


@covers("REG-161")
def test_last_version_cannot_be_deleted(three: Client) -> None:
    reply = three.delete(f"{S}/versions", [{"id": each} for each in ("1", "2", "3")])
    three.delete(f"{S}/versions")

    assert reply.status == 400
    assert three.delete(f"{S}/versions/3").status == 400
    assert three.get(S).status == 200


@covers("REG-162")
def test_deletion_without_a_body_leaves_the_latest_version(three: Client) -> None:
    three.delete(f"{S}/versions")

    assert set(three.get(f"{S}/versions").document) == {"3"}


@covers("REG-190")
@pytest.mark.parametrize(
    ("ids", "latest"),
    [(("9", "10"), "10"), (("1.0", "2.0", "10.0"), "10.0"), (("2.0", "1.10"), "1.10")],
)
def test_latest_is_the_greatest_after_padding(
    client: Client, ids: tuple[str, ...], latest: str
) -> None:
    client.post("/", file_with(*ids))

    assert client.get(S).headers["registry-version"] == latest


@pytest.mark.parametrize(("ids", "following"), [(("1.0",), "100"), (("v3-rc1",), "1000000")])
def test_next_version_sorts_above_all(client: Client, ids: tuple[str, ...], following: str) -> None:
    client.post("/", file_with(*ids))

    assert client.post(S, "x").headers["registry-version"] == following


@covers("REG-012", "REG-194")
@pytest.mark.parametrize("format_", ["Protobuf/3", "Avro/1.8.2"])
def test_versions_share_one_format(client: Client, format_: str) -> None:
    client.make_schema("s1")

    reply = client.post(S, record(x=1), {"registry-format": format_})

    assert (reply.status, reply.paths[0]) == (400, "format")
    assert client.post(S, record(x=1), {"registry-format": "Avro/1.9"}).status == 201


@covers("REG-183")
def test_group_takes_schemas_of_different_formats(client: Client) -> None:
    client.make_schema("s1")

    assert client.add_schema("s2", {"registry-format": "AcmeIDL/2"}, "x").status == 201


@covers("REG-184")
def test_schema_outside_of_a_group_does_not_exist(client: Client) -> None:
    client.post("/", {"schemas": {"s1": {"format": "Avro/1.9", "schema": {"type": "int"}}}})

    assert client.get("/schemas/s1").status == 404
    assert client.post("/schemas", RECORD, {"registry-format": "Avro/1.9"}).status == 404
    assert "schemas" not in client.get("/").document


@covers("REG-185")
def test_schema_has_at_least_one_version(client: Client) -> None:
    client.make_schema("s1")

    assert client.get(f"{S}?meta").document["versionsCount"] == 1
    assert client.delete(f"{S}/versions/1").status == 400


@covers("REG-186", "REG-187")
def test_incompatible_version_is_refused_and_is_fine_as_another_schema(client: Client) -> None:
    client.make_schema("s1")

    refused = client.post(S, record(x=None))

    assert refused.status == 409
    assert refused.paths == ["schema.A.x"]
    assert "version 1" in refused.document["detail"]
    assert client.get(f"{S}?meta").document["versionsCount"] == 1
    assert client.add_schema("s2", {}, record(x=None)).status == 201


@covers("REG-186", "REG-188")
def test_version_is_compared_with_all_earlier_ones(client: Client) -> None:
    client.make_schema("s1")
    assert client.post(S, record(x=1)).status == 201

    refused = client.post(S, record(x=None))

    assert refused.status == 409
    assert refused.document["detail"].count("version 1") == 1
    assert "version 2" not in refused.document["detail"]


@covers("REG-186")
def test_update_is_compared_with_earlier_versions_too(three: Client) -> None:
    assert three.put(f"{S}/versions/2", record(x=None)).status == 409
    assert three.put(f"{S}/versions/2", record(x=3)).status == 200


@covers("REG-191", "REG-192", "REG-207", "REG-009")
@pytest.mark.parametrize(
    ("format_", "status"),
    [("", 400), ("Avro", 400), ("XSD/9", 400), ("Avro/1.9", 201), ("AcmeIDL/2", 201)],
)
def test_schema_format_has_name_and_version(client: Client, format_: str, status: int) -> None:
    client.created("/schemaGroups", {"id": "g1"})

    reply = client.add_schema("s1", {"registry-format": format_})

    assert reply.status == status
    assert status == 201 or reply.paths == ["format"]


@covers("REG-192", "REG-199")
@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("JSONSchema/draft-07", "JsonSchema/draft-07"),
        ("jsonschema/draft/2020-12", "JsonSchema/draft/2020-12"),
        ("avro/1.11.0", "Avro/1.11.0"),
    ],
)
def test_format_is_kept_in_its_defined_spelling(client: Client, given: str, kept: str) -> None:
    client.created("/schemaGroups", {"id": "g1"})
    body = '{"type": "string"}' if "chema" in kept else RECORD

    assert client.add_schema("s1", {"registry-format": given}, body).status == 201
    assert client.get(S).headers["registry-format"] == kept


@covers("REG-195")
@pytest.mark.parametrize("version", [{"schema": "x", "schemaurl": ELSEWHERE}, {}])
def test_version_has_a_document_or_its_address(client: Client, version: dict[str, str]) -> None:
    schema = {"format": "AcmeIDL/2", "versions": {"1": version}}
    reply = client.post("/", {"schemaGroups": {"g1": {"schemas": {"s1": schema}}}})

    assert reply.status == 400
    assert reply.paths[0].startswith("schemaGroups.g1.schemas.s1.versions.1.schema")


@covers("REG-197")
@pytest.mark.parametrize("own", ["#/schemaGroups/g1/schemas/s0", "{base}/schemaGroups/g1"])
def test_version_does_not_point_into_the_same_registry(client: Client, own: str) -> None:
    client.make_schema("s0")
    header = {"registry-schemauri": own.format(base=client.base)}

    reply = client.add_schema("s1", header, None)

    assert (reply.status, reply.paths) == (400, ["schemaurl"])


@covers("REG-198")
def test_json_schema_is_shown_as_an_object(client: Client) -> None:
    client.created("/schemaGroups", {"id": "g1"})
    body = '{ "type":"string" }'

    client.add_schema("s1", {"registry-format": "JsonSchema/draft-07"}, body)

    assert client.get(S).body == body.encode()
    assert client.get(f"{S}?inline").document["schema"] == {"type": "string"}


@covers("REG-199")
@pytest.mark.parametrize(
    ("format_", "stated", "status"),
    [
        ("draft-07", "http://json-schema.org/draft-07/schema#", 201),
        ("draft/2019-09", "https://json-schema.org/draft/2019-09/schema", 201),
        ("draft/2020-12", "https://json-schema.org/draft/2020-12/schema", 201),
        ("draft-07", "https://json-schema.org/draft/2020-12/schema", 400),
    ],
)
def test_json_schema_states_the_draft_of_its_format(
    client: Client, format_: str, stated: str, status: int
) -> None:
    client.created("/schemaGroups", {"id": "g1"})
    header = {"registry-format": f"JsonSchema/{format_}"}

    reply = client.add_schema("s1", header, f'{{"$schema": "{stated}"}}')

    assert reply.status == status
    assert status == 201 or reply.paths == ["schema/$schema"]


@covers("REG-201", "REG-205", "REG-203")
@pytest.mark.parametrize(
    ("format_", "text", "media_type"),
    [
        (
            "XSD/1.0",
            '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"/>\n',
            "application/xml",
        ),
        ("Protobuf/3", 'syntax = "proto3";\nmessage A { float m = 1; }\n', "text/plain"),
        ("Protobuf/2", 'syntax = "proto2";\nmessage A { optional int32 m = 1; }', "text/plain"),
        ("Avro/1.8.2", RECORD, "application/json"),
    ],
)
def test_document_comes_back_byte_for_byte(
    client: Client, format_: str, text: str, media_type: str
) -> None:
    client.created("/schemaGroups", {"id": "g1"})
    headers = {"registry-id": "s1", "registry-format": format_}

    assert client.post(G, text, headers).status == 201
    found = client.get(S)
    assert found.body == text.encode()
    assert found.headers["content-type"] == media_type


@pytest.mark.parametrize("format_", ["Avro/1.9", "JsonSchema/draft-07"])
def test_document_that_is_not_in_its_format_is_refused(client: Client, format_: str) -> None:
    client.created("/schemaGroups", {"id": "g1"})

    for body in ("{", '{"type": 7}'):
        reply = client.add_schema("s1", {"registry-format": format_}, body)
        assert reply.status == 400
        assert all(path.startswith("schema") for path in reply.paths)
