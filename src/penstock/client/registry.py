"""The requests to the registry; addresses are those below it, like `schemaGroups/g/schemas/s`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, unquote, urlencode

import msgspec

from penstock.bindings import http
from penstock.bindings.base import Message, Mode
from penstock.client.answer import Answer
from penstock.client.call import Call, Page, following
from penstock.errors import EventError
from penstock.events import CloudEvent

REGISTRY_JSON = "application/cloudevents-registry+json"
REGISTRY_YAML = "application/cloudevents-registry+yaml"

Json = dict[str, Any]
_ROOT = "/registry"
_JSON = (("content-type", "application/json"),)
_PAGE = 500
_PREFIX = "registry-"
_SAFE = "/%!$&'()*+,;=:@~"
# All that a header carries as it is; the rest is percent-encoded.
_PLAIN = "".join(chr(code) for code in range(0x20, 0x7F) if chr(code) != "%")


class Stored(msgspec.Struct, frozen=True):
    """A document of the registry, byte for byte, with its attributes."""

    content: bytes
    media_type: str
    attributes: Mapping[str, str]
    """By names in lower case, such as `id`, `version`, `epoch` and `format`."""
    elsewhere: str = ""
    """Where the document is, if the registry only knows its address."""


class Imported(msgspec.Struct, frozen=True):
    """What an import changed, by address."""

    created: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    unchanged: int = 0
    warnings: tuple[Mapping[str, str], ...] = ()

    @property
    def changes(self) -> int:
        return len(self.created) + len(self.updated) + len(self.deleted)


class Judged(msgspec.Struct, frozen=True):
    """What the registry says of an event, or of all events of a batch."""

    problems: tuple[Mapping[str, str], ...]
    known: bool
    definition: str = ""
    unchecked: str = ""
    events: tuple[Judged, ...] = ()


def registry(inline: bool = False) -> Call[Json]:  # noqa: FBT001, FBT002 - a flag of the API
    """Return the registry itself, or all of it."""
    return Call("GET", f"{_ROOT}/{'?inline' if inline else ''}", _object)


def registry_model() -> Call[Json]:
    """Return the types of groups and resources."""
    return Call("GET", f"{_ROOT}/model", _object)


def change_registry_model(model: Mapping[str, Any]) -> Call[Json]:
    """Replace the types of groups and resources."""
    return Call("PUT", f"{_ROOT}/model", _object, _JSON, msgspec.json.encode(model))


def registry_entities(address: str, limit: int = _PAGE) -> Call[Page[Json]]:
    """Yield the groups, resources or versions of a collection; `limit` is how many at a time."""
    return _listing(f"{_at(address)}?{urlencode({'limit': limit})}")


def registry_entity(
    address: str,
    inline: bool = False,  # noqa: FBT001, FBT002
) -> Call[Json]:
    """Return the attributes of a group, resource or version, or those of all inside it as well."""
    return Call("GET", f"{_at(address)}?{'inline' if inline else 'meta'}", _object)


def registry_effective(address: str) -> Call[Json]:
    """Return a definition or an endpoint with all that is implied written out."""
    return Call("GET", f"{_at(address)}?meta&effective", _object)


def registry_document(address: str) -> Call[Stored]:
    """Return the document of a resource or version."""
    return Call("GET", _at(address), _stored, accepted=frozenset({HTTPStatus.TEMPORARY_REDIRECT}))


def create_registry_group(type: str, group: Mapping[str, Any]) -> Call[Json]:  # noqa: A002
    """Create a group, also with resources inside; `type` is a plural, such as `schemaGroups`."""
    return Call("POST", _at(type), _object, _JSON, msgspec.json.encode(group))


def update_registry_group(address: str, group: Mapping[str, Any]) -> Call[Json]:
    """Replace the attributes of a group; an `epoch` that is not current is a conflict."""
    return Call("PUT", _at(address), _object, _JSON, msgspec.json.encode(group))


def create_registry_resource(
    address: str,
    content: bytes,
    attributes: Mapping[str, str] | None = None,
    media_type: str = "application/json",
) -> Call[Stored]:
    """Create a resource in a collection; `attributes` has its `id`, `format`, `name` and so on."""
    headers = (*_headers(attributes or {}), ("content-type", media_type))
    return Call("POST", _at(address), _stored, headers, content)


def add_registry_version(
    address: str,
    content: bytes,
    attributes: Mapping[str, str] | None = None,
    media_type: str = "application/json",
) -> Call[Stored]:
    """Add a version to a resource; attributes that are not given stay, empty ones go."""
    return create_registry_resource(address, content, attributes, media_type)


def update_registry_version(
    address: str,
    content: bytes,
    attributes: Mapping[str, str] | None = None,
    media_type: str = "application/json",
) -> Call[Stored]:
    """Replace a version, or the latest of a resource; attributes that are not given stay."""
    headers = (*_headers(attributes or {}), ("content-type", media_type))
    return Call("PUT", _at(address), _stored, headers, content)


def delete_registry_entity(address: str, epoch: int | None = None) -> Call[None]:
    """Delete a group, a resource or a version, with all that is inside."""
    query = "" if epoch is None else f"?epoch={epoch}"
    return Call("DELETE", f"{_at(address)}{query}", _nothing)


def import_registry(
    document: bytes | Mapping[str, Any],
    media_type: str = REGISTRY_JSON,
    *,
    replace: bool = False,
    dry_run: bool = False,
    strict: bool = False,
) -> Call[Imported]:
    """Bring a document into the registry: all of it or nothing.

    `replace` makes the registry equal to the document, `dry_run` only tells what would change, and
    `strict` refuses what is otherwise warned of.
    """
    body = document if isinstance(document, bytes) else msgspec.json.encode(document)
    flags = {"replace": replace, "dryrun": dry_run, "check=strict": strict}
    query = "&".join(name for name, wanted in flags.items() if wanted)
    path = f"{_ROOT}/?{query}" if query else f"{_ROOT}/"
    return Call("POST", path, _imported, (("content-type", media_type),), body)


def export_registry(media_type: str = REGISTRY_JSON) -> Call[bytes]:
    """Return the whole registry as a file in JSON or YAML."""
    return Call("GET", f"{_ROOT}/", _body, (("accept", media_type),))


def validate(event: CloudEvent, mode: Mode = Mode.BINARY) -> Call[Judged]:
    """Check an event against the registry; nothing is published."""
    return _checked(http.write(event, mode))


def validate_batch(events: Sequence[CloudEvent]) -> Call[Judged]:
    """Check events against the registry; `events` of the answer has each by itself."""
    return _checked(http.write_batch(events))


def _checked(message: Message) -> Call[Judged]:
    headers = tuple((name.decode(), value.decode()) for name, value in message.headers)
    return Call("POST", "/validate", _judged, headers, message.body, EventError)


def _at(address: str) -> str:
    return f"{_ROOT}/{quote(address.strip('/'), safe=_SAFE)}"


def _headers(attributes: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (f"{_PREFIX}{name}", quote(value, safe=_PLAIN)) for name, value in attributes.items()
    )


def _listing(path: str) -> Call[Page[Json]]:
    def read(answer: Answer) -> Page[Json]:
        after = following(path, answer)
        items = tuple(msgspec.json.decode(answer.body, type=dict[str, Json]).values())
        return Page(items, None if after is None else _listing(after))

    return Call("GET", path, read)


def _stored(answer: Answer) -> Stored:
    own = {
        name.removeprefix(_PREFIX): unquote(value)
        for name, value in answer.headers.items()
        if name.startswith(_PREFIX)
    }
    is_elsewhere = answer.status == HTTPStatus.TEMPORARY_REDIRECT
    elsewhere = answer.headers.get("location", "") if is_elsewhere else ""
    return Stored(answer.body, answer.headers.get("content-type", ""), own, elsewhere)


def _object(answer: Answer) -> Json:
    return msgspec.json.decode(answer.body, type=Json)


def _imported(answer: Answer) -> Imported:
    return msgspec.json.decode(answer.body, type=Imported)


def _judged(answer: Answer) -> Judged:
    return msgspec.json.decode(answer.body, type=Judged)


def _body(answer: Answer) -> bytes:
    return answer.body


def _nothing(_answer: Answer) -> None:
    return None
