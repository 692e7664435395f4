"""Objects over HTTP: each method at a collection, an object, or its status."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from starlette.responses import Response, StreamingResponse

from penstock.api import knative_body, knative_status, knative_table
from penstock.api.knative_address import Address, address
from penstock.api.knative_query import Asked
from penstock.api.knative_watch import Listener, lines
from penstock.api.resource import Call, json
from penstock.control import Control
from penstock.errors import FormatError, NotFoundError, PenstockError, Problem, ResourceError
from penstock.knative import patch
from penstock.knative.kinds import BROKER, CHANNEL, NAMESPACE, Kind
from penstock.knative.meta import name, uid
from penstock.knative.resources import Place
from penstock.knative.watch import ERROR, Event

_LEARNING = {"POST", "PATCH"}
_STREAMING = (BROKER, CHANNEL, NAMESPACE)


class Objects:
    """All objects, and what can be done to them."""

    def __init__(self, control: Control, changed: Callable[[], None]) -> None:
        self._control = control
        self._resources = control.knative
        self._changed = changed
        self._base = control.address

    def answer(self, method: str, call: Call) -> Response:
        """Return the answer to a request; errors become Status objects."""
        found = address(call.path)
        kind: Kind | None = None
        try:
            self._prepare(call)
            kind = self._kind(found, method, call)
            response = self._method(kind, found, method)(Asked(call, kind, found, self._base))
        except PenstockError as exc:
            called = found.name or _name_in(call.body)
            about = knative_status.About(kind, called)
            return knative_status.refusal(knative_status.status(exc, about))
        if method != "GET" and kind in _STREAMING:
            self._changed()
        return response

    def _prepare(self, call: Call) -> None:
        # Where no address is configured, the first one that a client uses is ours for this run.
        if not self._base:
            self._base = call.base
            self._resources.prepare(self._base)

    def _kind(self, found: Address, method: str, call: Call) -> Kind:
        kind = self._resources.kind(found.group, found.plural)
        if kind is None and method in _LEARNING and found.group and found.namespace:
            kind = _learned(found, call)
        is_other = kind is not None and kind.known and kind.version != found.version
        if kind is None or is_other:
            msg = "the server could not find the requested resource"
            raise NotFoundError(msg, address=call.path)
        return kind

    def _method(self, kind: Kind, found: Address, method: str) -> Callable[[Asked], Response]:
        known: Mapping[str, Callable[[Asked], Response]]
        if found.part == "status":
            known = {"GET": self._get}
            if not kind.controlled:
                known = {**known, "PUT": self._replace, "PATCH": self._patch}
        elif found.part:
            raise NotFoundError("there is no such part of an object", address=found.part)
        elif found.name:
            known = {
                "GET": self._get,
                "PUT": self._replace,
                "PATCH": self._patch,
                "DELETE": self._delete,
            }
        else:
            known = {"GET": self._list, "POST": self._create, "DELETE": self._delete_many}
        return known.get(method) or _not_allowed(method, known)

    def _create(self, asked: Asked) -> Response:
        document = knative_body.document(asked.call.body, asked.media_type)
        space = asked.place.namespace
        if asked.kind.namespaced and not space:
            given = document.get("metadata") if isinstance(document, Mapping) else None
            space = str((given or {}).get("namespace") or "default")
        place = Place(asked.kind, space)
        return json(self._resources.create(place, document, asked.options()), 201)

    def _get(self, asked: Asked) -> Response:
        found = self._resources.get(asked.place)
        if asked.wants_table:
            return json(self._table(asked, [found]))
        return json(found)

    def _list(self, asked: Asked) -> Response:
        if asked.flag("watch"):
            return self._watch(asked)
        limit = asked.call.number("limit", None, 0, 1 << 31) or None
        page = self._resources.listing(asked.query(), limit, asked.call.query.get("continue", ""))
        metadata: dict[str, Any] = {"resourceVersion": str(page.version)}
        if page.token:
            metadata |= {"continue": page.token, "remainingItemCount": page.remaining}
        if asked.wants_table:
            return json({**self._table(asked, page.items), "metadata": metadata})
        head = {"kind": f"{asked.kind.kind}List", "apiVersion": asked.kind.api_version}
        return json({**head, "metadata": metadata, "items": page.items})

    def _watch(self, asked: Asked) -> Response:
        watch = self._resources.watch(asked.query(), asked.since())
        wants_initial = asked.flag("sendInitialEvents")
        listener = Listener(
            asked.kind,
            asked.seconds(),
            bookmarks=asked.flag("allowWatchBookmarks"),
            initial_end=wants_initial,
            shown=lambda event: self._shown(asked, event),
        )
        return StreamingResponse(lines(watch, listener), media_type="application/json")

    def _shown(self, asked: Asked, event: Event) -> object:
        if not asked.wants_table or event.type == ERROR:
            return event.object
        return self._table(asked, [event.object])

    def _replace(self, asked: Asked) -> Response:
        document = knative_body.document(asked.call.body, asked.media_type)
        return json(self._resources.replace(asked.place, document, asked.options()))

    def _patch(self, asked: Asked) -> Response:
        media = asked.media_type
        if media in (patch.APPLY, "application/apply-patch+json"):
            return self._apply(asked)
        document = knative_body.from_json(asked.call.body)
        return json(self._resources.patch(asked.place, media, document, asked.options()))

    def _apply(self, asked: Asked) -> Response:
        if not asked.call.query.get("fieldManager"):
            detail = "Required value: is required for apply patch"
            raise ResourceError([Problem("fieldManager", detail)])
        document = knative_body.from_yaml(asked.call.body)
        made, is_new = self._resources.apply(asked.place, document, asked.options())
        return json(made, 201 if is_new else 200)

    def _delete(self, asked: Asked) -> Response:
        found, is_gone = self._resources.delete(asked.place, asked.deletion())
        if is_gone:
            return json(knative_status.deleted(asked.kind, name(found), uid(found)))
        return json(found)

    def _delete_many(self, asked: Asked) -> Response:
        found = self._resources.delete_many(asked.query(), asked.deletion())
        head = {"kind": f"{asked.kind.kind}List", "apiVersion": asked.kind.api_version}
        return json({**head, "metadata": {}, "items": found})

    def _table(self, asked: Asked, found: Any) -> dict[str, Any]:  # noqa: ANN401
        include = asked.call.query.get("includeObject", "Metadata")
        now = self._control.clock.now()
        return knative_table.table(asked.kind, found, now, include)


def _not_allowed(method: str, known: Mapping[str, object]) -> Callable[[Asked], Response]:
    message = f"{method} is not known here; known are {', '.join(known)}"
    document = knative_status.failure(405, "MethodNotAllowed", message)

    def refuse(_asked: Asked) -> Response:
        return json(document, 405, {"allow": ", ".join(known)})

    return refuse


def _learned(found: Address, call: Call) -> Kind | None:
    """Return the kind of an object that is the first of its kind, as the object itself says."""
    try:
        document = knative_body.from_yaml(call.body)
    except FormatError:
        return None
    kind = document.get("kind") if isinstance(document, Mapping) else None
    made = Kind(found.group, found.version, found.plural, str(kind or ""))
    return None if any(made.problems()) else made


def _name_in(body: bytes) -> str:
    try:
        document = knative_body.from_yaml(body) if body else None
    except FormatError:
        return ""
    given = document.get("metadata") if isinstance(document, Mapping) else None
    return str(given.get("name") or "") if isinstance(given, Mapping) else ""
