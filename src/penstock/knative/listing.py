"""Lists of objects as they stood at one version, page by page."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence

import msgspec

from penstock.errors import ConflictError, ExpiredError, FormatError
from penstock.knative.draft import decoded
from penstock.knative.kinds import OBJECT, Kind
from penstock.knative.meta import Object
from penstock.knative.selectors import Matches
from penstock.ports import Document, ResourceStore

_PAGE = 1000


class Query(msgspec.Struct, frozen=True):
    """Which objects are meant."""

    kind: Kind
    namespace: str
    matches: Matches
    """By labels and fields."""

    @property
    def prefix(self) -> str:
        return self.kind.prefix(self.namespace)


class Listing(msgspec.Struct, frozen=True):
    """Some objects, the version at which they stood so, and how to get the rest."""

    items: Sequence[Object]
    version: int
    token: str = ""
    remaining: int = 0


class _Token(msgspec.Struct, frozen=True):
    version: int
    after: str


def listing(store: ResourceStore, query: Query, limit: int | None, token: str) -> Listing:
    """Return the objects of a query; a token leads on at the version of the first page."""
    at = _read(token) if token else None
    version, documents = _documents(store, query.prefix, at)
    found = [one for one in map(decoded, documents) if query.matches(one)]
    if limit is None or len(found) <= limit:
        return Listing(found, version)
    metadata = found[limit - 1]["metadata"]
    last = query.kind.key(metadata.get("namespace", ""), metadata["name"])
    return Listing(found[:limit], version, _write(_Token(version, last)), len(found) - limit)


def snapshot(store: ResourceStore, prefix: str, version: int) -> list[Document]:
    """Return all objects as they stood at a version, or raise ExpiredError."""
    try:
        documents, _ = store.changes(OBJECT, 0, version)
    except ConflictError as exc:
        raise expired(version) from exc
    found = [one for one in documents if one.key.startswith(prefix)]
    return sorted(found, key=lambda one: one.key)


def expired(version: int) -> ExpiredError:
    msg = f"The resourceVersion {version} is too old: it is forgotten; list anew"
    return ExpiredError(msg, address=str(version))


def _documents(store: ResourceStore, prefix: str, at: _Token | None) -> tuple[int, list[Document]]:
    if at is not None:
        found = snapshot(store, prefix, at.version)
        return at.version, [one for one in found if one.key > at.after]
    version = store.version()
    page = store.page(OBJECT, prefix, _PAGE)
    whole = len(page) < _PAGE or not page[-1].key.startswith(prefix)
    # One page that nobody wrote beside is a snapshot, and much cheaper than a real one.
    if whole and store.version() == version:
        return version, [one for one in page if one.key.startswith(prefix)]
    return version, snapshot(store, prefix, version)


def _write(token: _Token) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(token)).decode()


def _read(text: str) -> _Token:
    try:
        body = base64.b64decode(text.encode(), altchars=b"-_", validate=True)
        return msgspec.json.decode(body, type=_Token)
    except (binascii.Error, msgspec.MsgspecError, UnicodeDecodeError, ValueError) as exc:
        raise FormatError("continue key is not valid", format="kubernetes") from exc
