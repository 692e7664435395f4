"""The Registry Service: resources as documents with headers, over real HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.api.registry import EVENT, RECORD, Client, clearing, registry

covers = pytest.mark.covers
G = "/schemaGroups/g1/schemas"
S = f"{G}/s1"
D = "/definitionGroups/dg1/definitions/d1"
ELSEWHERE = "https://example.com/s.avsc"
WIDER = '{"type":"record","name":"A","fields":[{"name":"x","type":"int","default":1}]}'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with registry(tmp_path_factory.mktemp("data")) as running:
        yield running


@pytest.fixture
def client(server: Client) -> Client:
    return clearing(server)


@covers("REG-101", "REG-102", "REG-103")
def test_list_of_resources_has_their_metadata(client: Client) -> None:
    client.make_schema("s1")

    entry = client.get(G).document["s1"]

    expected = {"id": "s1", "name": "s1", "versionId": "1", "epoch": 1, "format": "Avro/1.9"}
    assert expected.items() <= entry.items()
    assert entry["self"] == f"{client.base}{S}/versions/1"
    assert (entry["versionsUrl"], entry["versionsCount"]) == (f"{client.base}{S}/versions", 1)
    assert client.follow(entry["self"]).body == client.get(S).body


@covers("REG-104", "REG-105")
def test_inline_adds_versions_and_documents(client: Client) -> None:
    client.make_schema("s1")

    plain, *bodies = (
        client.get(f"{G}{q}").document for q in ("", "?inline", "?inline=", "?inline=versions")
    )

    assert bodies[0] == bodies[1] == bodies[2]
    entry = bodies[0]["s1"]
    assert (
        entry["schema"]
        == entry["versions"]["1"]["schema"]
        == {"type": "record", "name": "A", "fields": []}
    )
    assert not {"schema", "schemaBase64", "versions"} & set(plain["s1"])


@covers("REG-105")
def test_document_that_is_no_text_is_shown_in_base64(client: Client) -> None:
    client.make_schema("s1")
    client.add_schema("s2", {"registry-format": "AcmeIDL/2", "content-type": "x/y"}, b"\xff\x00")

    entry = client.get(f"{G}?inline").document["s2"]

    assert entry["schemaBase64"] == "/wA="
    assert "schema" not in entry
    assert client.get(f"{G}/s2").body == b"\xff\x00"


@covers("REG-106", "REG-110", "REG-117", "REG-196")
def test_document_elsewhere_is_referred_to(client: Client) -> None:
    client.make_schema("s0")

    made = client.add_schema("s1", {"registry-schemaURI": ELSEWHERE}, None)

    entry = client.get(G).document["s1"]
    found = client.get(S)
    assert made.status == 201
    assert entry["schemaUri"] == entry["schemaurl"] == ELSEWHERE
    assert (found.status, found.body) == (307, b"")
    assert found.headers["location"] == found.headers["registry-schemauri"] == ELSEWHERE
    assert client.get(f"{S}?meta").status == 200


@covers("REG-110", "REG-127")
def test_document_and_address_exclude_each_other(client: Client) -> None:
    client.make_schema("s1")

    created = client.add_schema("s2", {"registry-schemauri": ELSEWHERE})
    updated = client.put(S, RECORD, {"registry-schemauri": ELSEWHERE})

    assert (created.status, updated.status) == (400, 400)
    assert client.get(S).body == RECORD.encode()
    assert client.get(f"{G}/s2").status == 404


@covers("REG-109", "REG-111", "REG-112", "REG-113", "REG-114")
def test_created_resource_is_described_by_headers(client: Client) -> None:
    client.created("/schemaGroups", {"id": "g1"})
    made = client.post(G, RECORD, {"registry-id": "s1", "registry-type": "Avro/1.9"})

    address = f"{client.base}{S}/versions/1"
    assert made.body == RECORD.encode()
    assert made.headers["location"] == f"{client.base}{S}"
    assert made.headers["content-location"] == made.headers["registry-self"] == address
    expected = {"id": "s1", "name": "s1", "version": "1", "epoch": "1", "type": "Avro/1.9"}
    assert {made.headers[f"registry-{name}"] for name in expected} == set(expected.values())
    assert client.follow(made.headers["location"]).body == client.follow(address).body == made.body


def test_resource_without_an_id_gets_one(client: Client) -> None:
    client.make_schema("s1")

    made = client.post(G, RECORD, {"registry-format": "Avro/1.9"})

    assert made.status == 201
    assert client.follow(made.headers["location"]).body == RECORD.encode()


@covers("REG-115", "REG-116", "REG-189")
def test_resource_is_an_alias_of_its_latest_version(client: Client) -> None:
    client.make_schema("s1")
    client.post(S, WIDER)

    alias, version = client.get(S), client.get(f"{S}/versions/2")

    assert alias.body == version.body == WIDER.encode()
    assert described(alias.headers) == described(version.headers)
    assert alias.headers["content-location"] == alias.headers["registry-self"]


@pytest.mark.parametrize("header", ["Registry-description: ä%b", "Registry-acme: 1"])
def test_header_brings_text_of_any_kind_back(client: Client, header: str) -> None:
    name, _, text = header.partition(": ")
    client.make_schema("s1", {name: text.replace("%", "%25").replace("ä", "%C3%A4")})

    assert client.get(f"{S}?meta").document[name.lower()[9:]] == text


@covers("REG-118")
@pytest.mark.parametrize("query", ["?inline", "?inline=versions", "?inline&meta"])
def test_inline_on_a_resource_is_json_with_versions(client: Client, query: str) -> None:
    client.make_schema("s1")

    found = client.get(f"{S}{query}").document

    assert set(found["versions"]) == {"1"}
    assert found == client.get(f"{G}?inline").document["s1"]


@covers("REG-119")
def test_metadata_of_a_resource_is_json(client: Client) -> None:
    client.make_schema("s1")

    found = client.get(f"{S}?meta").document

    assert {"id", "name", "versionId", "epoch", "self", "versionsUrl", "versionsCount"} <= set(
        found
    )
    assert "schema" not in found


@covers("REG-120", "REG-121", "REG-129", "REG-024", "REG-026")
def test_update_changes_the_latest_version_in_place(client: Client) -> None:
    client.make_schema("s1", name="n", description="d")

    reply = client.put(S, WIDER, {"registry-name": "m"})

    meta = client.get(f"{S}?meta").document
    assert (reply.status, reply.body) == (200, WIDER.encode())
    assert (reply.headers["registry-version"], reply.headers["registry-epoch"]) == ("1", "2")
    assert reply.headers["content-location"] == f"{client.base}{S}/versions/1"
    assert (meta["name"], meta["description"], meta["versionsCount"]) == ("m", "d", 1)
    assert client.get(S).body == WIDER.encode()


@covers("REG-122")
def test_empty_header_deletes_its_attribute(client: Client) -> None:
    client.make_schema("s1", name="n", description="d")

    client.put(S, RECORD, {"registry-description": "", "registry-name": ""})

    meta = client.get(f"{S}?meta").document
    assert "description" not in meta
    assert meta["name"] == "s1"


@pytest.mark.parametrize("header", ["registry-format", "registry-id", "registry-epoch"])
def test_required_attribute_cannot_be_deleted(client: Client, header: str) -> None:
    client.make_schema("s1")

    assert client.put(S, RECORD, {header: ""}).status == 400


@covers("REG-123", "REG-124", "REG-125", "REG-153")
@pytest.mark.parametrize(
    ("query", "headers", "status"),
    [
        ("", {"registry-id": "other"}, 400),
        ("", {"registry-version": "2"}, 400),
        ("", {"registry-versionid": "2"}, 400),
        ("", {"registry-epoch": "7"}, 409),
        ("", {"registry-epoch": "x"}, 400),
        ("?epoch=7", {}, 409),
        ("?epoch=x", {}, 400),
        ("?epoch=1", {"registry-epoch": "2"}, 400),
        ("", {"registry-type": "Avro/1.9", "registry-format": "Avro/1.8"}, 400),
        ("", {"registry-tags": "a"}, 400),
    ],
)
@pytest.mark.parametrize("path", [S, f"{S}/versions/1"])
def test_header_that_does_not_match_changes_nothing(
    client: Client, path: str, query: str, headers: dict[str, str], status: int
) -> None:
    client.make_schema("s1")

    reply = client.put(f"{path}{query}", WIDER, headers)

    assert reply.status == status
    assert (client.get(path).body, client.get(path).headers["registry-epoch"]) == (
        RECORD.encode(),
        "1",
    )


@covers("REG-125", "REG-126")
def test_header_that_matches_is_fine_and_self_is_ignored(client: Client) -> None:
    client.make_schema("s1")
    right = {"registry-id": "s1", "registry-version": "1", "registry-epoch": "1"}

    reply = client.put(f"{S}?epoch=1", WIDER, {**right, "registry-self": "nonsense"})

    assert reply.status == 200
    assert reply.headers["registry-self"] == f"{client.base}{S}/versions/1"


@covers("REG-128", "REG-148")
def test_empty_body_erases_a_document_that_may_be_empty(client: Client) -> None:
    types = [{"singular": "note", "plural": "notes", "versions": 0}]
    client.put("/model", {"groups": [{"singular": "box", "plural": "boxes", "resources": types}]})
    client.created("/boxes", {"id": "b"})
    client.post("/boxes/b/notes", "text", {"registry-id": "n"})

    newer = client.post("/boxes/b/notes/n", None)
    updated = client.put("/boxes/b/notes/n/versions/1", None)

    assert (newer.status, newer.body) == (201, b"")
    assert (updated.status, client.get("/boxes/b/notes/n/versions/1").body) == (200, b"")


def test_schema_and_definition_cannot_be_empty(client: Client) -> None:
    client.make_schema("s1")
    client.make_definition("d1")

    assert client.put(S, None).paths == ["schema"]
    assert client.put(D, None).paths == ["metadata"]


def test_address_that_stays_needs_no_body_and_goes_with_one(client: Client) -> None:
    client.make_schema("s0")
    client.add_schema("s1", {"registry-schemauri": ELSEWHERE}, None)

    kept = client.put(S, None, {"registry-name": "n"})
    replaced = client.put(S, RECORD)

    assert kept.headers["registry-schemauri"] == ELSEWHERE
    assert "registry-schemauri" not in replaced.headers
    assert client.get(S).status == 200
    assert client.put(S, None, {"registry-schemauri": ELSEWHERE}).status == 200
    assert client.get(S).status == 307


@covers("REG-130")
def test_shared_attributes_are_in_headers_and_body(client: Client) -> None:
    client.make_definition("d1", name="n", description="d")

    found = client.get(D)

    for name in ("id", "name", "description", "format"):
        assert found.headers[f"registry-{name}"] == found.document[name]


@covers("REG-131")
def test_attribute_in_the_body_alone_is_taken(client: Client) -> None:
    client.make_definition("d1", name="n", description="d")

    reply = client.put(D, {**EVENT, "name": "m"})

    assert reply.headers["registry-name"] == reply.document["name"] == "m"
    assert reply.headers["registry-description"] == "d"


@covers("REG-132", "REG-154")
@pytest.mark.parametrize("path", [D, f"{D}/versions/1"])
def test_header_and_body_that_differ_are_refused(client: Client, path: str) -> None:
    client.make_definition("d1", name="n")

    reply = client.put(path, {**EVENT, "name": "b"}, {"registry-name": "a"})

    assert (reply.status, reply.paths) == (400, ["name"])
    assert client.get(D).document["name"] == "n"


@covers("REG-133", "REG-135", "REG-156")
@pytest.mark.parametrize("path", [S, f"{S}/versions/1"])
def test_metadata_is_updated_without_the_document(client: Client, path: str) -> None:
    client.make_schema("s1", description="d")

    reply = client.put(f"{path}?meta&epoch=1", {"name": "m", "tags": {"a": "b"}, "self": "odd"})

    assert reply.status == 200
    assert (reply.document["name"], reply.document["epoch"]) == ("m", 2)
    assert (reply.document["tags"], reply.document["format"]) == ({"a": "b"}, "Avro/1.9")
    assert "description" not in reply.document
    assert client.get(path).body == RECORD.encode()
    assert client.get(f"{S}?meta").document["versionsCount"] == 1


@covers("REG-134", "REG-156")
@pytest.mark.parametrize(
    ("query", "body", "status"),
    [
        ("", {"id": "other"}, 400),
        ("", {"versionId": "2"}, 400),
        ("", {"epoch": 2}, 409),
        ("&epoch=2", {}, 409),
        ("&epoch=1", {"epoch": 2}, 400),
        ("", {"epoch": 1, "versionId": "1"}, 200),
    ],
)
@pytest.mark.parametrize("path", [S, f"{S}/versions/1"])
def test_metadata_must_match(
    client: Client, path: str, query: str, body: dict[str, Any], status: int
) -> None:
    client.make_schema("s1")

    assert client.put(f"{path}?meta{query}", body).status == status
    assert client.get(f"{S}?meta").document["epoch"] == (2 if status == 200 else 1)


@covers("REG-136")
def test_deleted_resource_is_described_once_more(client: Client) -> None:
    client.make_schema("s1")

    gone = client.delete(f"{S}?epoch=1")

    assert (gone.status, gone.body) == (200, RECORD.encode())
    assert gone.headers["content-location"] == f"{client.base}{S}/versions/1"
    assert gone.headers["registry-id"] == "s1"
    assert client.get(S).status == client.get(f"{S}/versions/1").status == 404


@covers("REG-137")
def test_resource_is_not_deleted_with_a_stale_epoch(client: Client) -> None:
    client.make_schema("s1")

    assert client.delete(f"{S}?epoch=9").status == 409
    assert client.get(S).status == 200


@covers("REG-138", "REG-139")
def test_listed_resources_are_deleted_all_or_none(client: Client) -> None:
    for id_ in ("a", "b", "c"):
        client.make_schema(id_)

    for wrong in ({"id": "none"}, {"id": "b", "epoch": 9}, {"epoch": 1}):
        assert client.delete(G, [{"id": "a"}, wrong]).status in (400, 404, 409)
    before = set(client.get(G).document)
    gone = client.delete(G, [{"id": "a"}, {"id": "b", "epoch": 1}])

    assert before == {"a", "b", "c"}
    assert {key: each["id"] for key, each in gone.document.items()} == {"a": "a", "b": "b"}
    assert set(client.get(G).document) == {"c"}


@covers("REG-140")
def test_deletion_without_a_body_empties_the_group(client: Client) -> None:
    client.make_schema("a")
    client.make_schema("b")

    client.delete(G)

    assert client.get("/schemaGroups/g1").document["schemasCount"] == 0
    assert client.get(f"{G}/a").status == 404


def described(headers: Any) -> dict[str, str]:  # noqa: ANN401 - any mapping
    return {name: value for name, value in headers.items() if name.startswith("registry-")}
