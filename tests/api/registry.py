"""Talking to the registry of a running server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from penstock.registry import kinds
from tests.api.served import Reply, Served, serving

JSON = {"content-type": "application/json"}
RECORD = '{"type": "record", "name": "A",  "fields": []}'
EVENT: dict[str, Any] = {"format": "CloudEvents/1.0", "metadata": {"attributes": {}}}

Body = bytes | str | dict[str, Any] | list[Any] | None


@dataclass(frozen=True, slots=True)
class Client:
    """Requests below the prefix of the registry."""

    served: Served

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.served.port}/registry"

    def send(
        self, method: str, path: str, body: Body = None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        usual = JSON if isinstance(body, dict | list) else {}
        return self.served.request(method, f"/registry{path}", body, {**usual, **(headers or {})})

    def get(self, path: str, **headers: str) -> Reply:
        return self.send("GET", path, None, headers)

    def follow(self, address: str) -> Reply:
        """Read an absolute address of this server."""
        parts = urlsplit(address)
        query = f"?{parts.query}" if parts.query else ""
        return self.served.get(f"{parts.path}{query}")

    def post(self, path: str, body: Body, headers: Mapping[str, str] | None = None) -> Reply:
        return self.send("POST", path, body, headers)

    def put(self, path: str, body: Body, headers: Mapping[str, str] | None = None) -> Reply:
        return self.send("PUT", path, body, headers)

    def delete(self, path: str, body: Body = None) -> Reply:
        return self.send("DELETE", path, body)

    def created(self, path: str, body: Body, headers: Mapping[str, str] | None = None) -> Any:  # noqa: ANN401
        """Create something and return its document."""
        reply = self.post(path, body, headers)
        assert reply.status == 201, reply.body
        return reply.document

    def make_endpoint(self, id_: str, **more: object) -> Any:  # noqa: ANN401
        return self.created("/endpoints", {"id": id_, "usage": "consumer", **more})

    def make_definition(self, id_: str, **more: object) -> Any:  # noqa: ANN401
        """Create a definition in the group dg1, which is made where it is missing."""
        if self.get("/definitionGroups/dg1").status != 200:
            self.created("/definitionGroups", {"id": "dg1"})
        return self.created("/definitionGroups/dg1/definitions", {"id": id_, **EVENT, **more})

    def add_schema(
        self,
        id_: str,
        headers: Mapping[str, str] | None = None,
        body: Body = RECORD,
        group: str = "g1",
    ) -> Reply:
        """Try to create a schema."""
        usual = {"registry-id": id_, "registry-format": "Avro/1.9", **JSON}
        return self.post(f"/schemaGroups/{group}/schemas", body, usual | dict(headers or {}))

    def make_schema(
        self, id_: str, headers: Mapping[str, str] | None = None, **attributes: str
    ) -> Reply:
        """Create a schema in the group g1, which is made where it is missing."""
        if self.get("/schemaGroups/g1").status != 200:
            self.created("/schemaGroups", {"id": "g1"})
        more = {f"registry-{name}": value for name, value in attributes.items()}
        reply = self.add_schema(id_, {**more, **(headers or {})})
        assert reply.status == 201, reply.body
        return reply


@contextmanager
def registry(data: Path, **settings: Any) -> Iterator[Client]:  # noqa: ANN401 - any setting
    """Run a server and yield a client of its registry."""
    with serving(data, **settings) as running:
        yield Client(running)


def clearing(client: Client) -> Client:
    """Return a client of a registry in which nothing is left of earlier tests."""
    root = client.get("/?model").document
    for type_ in root["model"]["groups"]:
        if root[f"{type_['plural']}Count"]:
            reply = client.delete(f"/{type_['plural']}")
            assert reply.status == 200, reply.body
    if root["model"] != kinds.MODEL.document():
        client.put("/model", kinds.MODEL.document())
    return client
