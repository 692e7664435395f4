"""Objects of the Knative API, as commands reach them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote, urlencode

import msgspec
import typer

from penstock.errors import (
    ConflictError,
    NotFoundError,
    PenstockError,
    Problem,
    ResourceError,
    StoreError,
)

if TYPE_CHECKING:
    from penstock.client import Client
    from penstock.client.answer import Answer

Json = dict[str, Any]

_REFUSED = frozenset(range(400, 600))
_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
_APPLY = "application/apply-patch+yaml"


@dataclass(frozen=True, slots=True)
class Where:
    """Which namespace is meant."""

    namespace: Annotated[
        str, typer.Option("--namespace", "-n", help="Namespace of the objects.", metavar="NAME")
    ] = "default"


class Kind(msgspec.Struct, frozen=True):
    """A kind of objects, and where it lives."""

    group: str
    version: str
    plural: str
    kind: str
    names: tuple[str, ...] = ()
    namespaced: bool = True

    @property
    def title(self) -> str:
        return f"{self.kind.lower()}.{self.group}" if self.group else self.kind.lower()

    def path(self, namespace: str, name: str = "") -> str:
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        space = f"/namespaces/{quote(namespace, safe='')}" if self.namespaced and namespace else ""
        return f"{root}{space}/{self.plural}" + (f"/{quote(name, safe='')}" if name else "")


class Objects:
    """The objects of a server."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._known: list[Kind] = []

    def kind(self, word: str) -> Kind:
        """Return the kind that a person means: by its plural, singular or short name."""
        wanted = word.lower()
        found = [one for one in self._kinds() if wanted in one.names]
        if not found:
            known = ", ".join(sorted(one.plural for one in self._kinds()))
            raise NotFoundError(f"there is no kind {word!r}; known are {known}", address=word)
        return found[0]

    def kind_of(self, document: Mapping[str, Any]) -> Kind:
        """Return the kind of a manifest; one that the server does not know yet is assumed."""
        group, _, version = str(document["apiVersion"]).rpartition("/")
        called = str(document["kind"])
        for one in self._kinds():
            if (one.group, one.kind) == (group, called):
                return one
        return Kind(group, version, f"{called.lower()}s", called)

    def get(self, kind: Kind, namespace: str, name: str) -> Json | None:
        """Return an object; None where there is none."""
        try:
            return self._send("GET", kind.path(namespace, name))[1]
        except NotFoundError:
            return None

    def table(self, kind: Kind, namespace: str, name: str, **query: str) -> Json:
        """Return objects as a table."""
        asked = urlencode({"includeObject": "Object", **query})
        path = f"{kind.path(namespace, name)}?{asked}"
        return self._send("GET", path, (("accept", _TABLE),))[1]

    def apply(self, kind: Kind, namespace: str, document: Json, *, force: bool) -> str:
        """Apply a manifest; return what became of it."""
        name = str(document["metadata"]["name"])
        before = self.get(kind, namespace, name)
        query = urlencode({"fieldManager": "penstock", "force": str(force).lower()})
        path = f"{kind.path(namespace, name)}?{query}"
        body = msgspec.json.encode(document)
        status, made = self._send("PATCH", path, (("content-type", _APPLY),), body)
        if status == 201:  # noqa: PLR2004 - RFC 9110
            return "created"
        is_same = before is not None and _version(before) == _version(made)
        # A kind that was not known before may have been learned from this one.
        self._known = [] if kind not in self._known else self._known
        return "unchanged" if is_same else "configured"

    def delete(self, kind: Kind, namespace: str, name: str) -> None:
        self._send("DELETE", kind.path(namespace, name))

    def _kinds(self) -> list[Kind]:
        if not self._known:
            accept = (("accept", _AGGREGATED),)
            for path in ("/api", "/apis"):
                self._known += _discovered(self._send("GET", path, accept)[1])
        return self._known

    def _send(
        self, method: str, path: str, headers: tuple[tuple[str, str], ...] = (), body: bytes = b""
    ) -> tuple[int, Json]:
        from penstock.client.call import Call

        return self._client.send(Call(method, path, _read, headers, body, accepted=_REFUSED))


def _version(found: Json) -> str:
    return str(found["metadata"]["resourceVersion"])


def _discovered(document: Json) -> Iterator[Kind]:
    for group in document["items"]:
        for version in group["versions"]:
            for one in version["resources"]:
                plural, singular = one["resource"], one["singularResource"]
                name = group["metadata"]["name"]
                names = (plural, singular, f"{plural}.{name}", *one.get("shortNames", ()))
                is_namespaced = one["scope"] == "Namespaced"
                kind = one["responseKind"]["kind"]
                yield Kind(name, version["version"], plural, kind, names, is_namespaced)


def _read(answer: Answer) -> tuple[int, Json]:
    document = msgspec.json.decode(answer.body, type=Json)
    if answer.succeeded:
        return answer.status, document
    raise _refusal(answer.status, document)


def _refusal(status: int, document: Json) -> PenstockError:
    text = str(document.get("message") or f"the server answered {status}")
    causes = document.get("details", {}).get("causes") or ()
    problems = [Problem(one.get("field", ""), one.get("message", "")) for one in causes]
    match status:
        case 404:
            return NotFoundError(text, address="")
        case 409:
            return ConflictError(text, address="")
        case 503:
            return StoreError(text, address="")
    return ResourceError(problems or [Problem("", text)])
