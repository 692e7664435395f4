"""Namespaces, and what is in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from penstock.knative.draft import Draft
from penstock.knative.kinds import BROKER, CHANNEL, OBJECT, Kind
from penstock.knative.meta import Object, metadata, name, with_metadata
from penstock.ports import ResourceStore
from penstock.routing import STREAM, Stream, StreamKind

_KINDS = {StreamKind.BROKER: BROKER, StreamKind.CHANNEL: CHANNEL}


def a_namespace(found: Object) -> Object:
    """Return a Namespace with what a cluster adds to it."""
    labels = {"kubernetes.io/metadata.name": name(found), **(metadata(found).get("labels") or {})}
    return {**with_metadata(found, labels=labels), "status": {"phase": "Active"}}


def content(draft: Draft, kinds: Iterable[Kind], space: str) -> Iterator[tuple[Kind, Object]]:
    """Yield all objects in a namespace."""
    for kind in kinds:
        if kind.namespaced:
            yield from ((kind, found) for found in draft.scan(kind, space))


def streams_without_object(store: ResourceStore) -> Iterator[tuple[Kind, str, str]]:
    """Yield the kind, namespace and name of every stream that no object shows yet."""
    after = ""
    while page := store.page(STREAM, after):
        for document in page:
            stream = msgspec.json.decode(document.body, type=Stream)
            kind = _KINDS[stream.kind]
            if store.get(OBJECT, kind.key(stream.namespace, stream.name)) is None:
                yield kind, stream.namespace, stream.name
        after = page[-1].key
