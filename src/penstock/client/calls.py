"""Every request of the client, written once for the synchronous and the asynchronous one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from penstock.bindings import http
from penstock.bindings.base import Message, Mode
from penstock.client.answer import Answer
from penstock.client.call import Call, Page, following
from penstock.client.models import DeadLetter, Readiness, Retried, Status, Subscription
from penstock.errors import EventError, Problem, ResourceError
from penstock.events import CloudEvent

T = TypeVar("T")


class _Missing(msgspec.Struct, frozen=True):
    missing: tuple[dict[str, str], ...] = ()


_JSON = (("content-type", "application/json"),)
_PAGE = 500


def publish(event: CloudEvent, broker: str | None = None, mode: Mode = Mode.BINARY) -> Call[str]:
    """Publish an event and return its id once it is durable."""
    _refuse(event.problems())
    return _published(http.write(event, mode), broker, event.id)


def publish_batch(events: Sequence[CloudEvent], broker: str | None = None) -> Call[list[str]]:
    """Publish all the events or none, and return their ids once they are durable."""
    for index, event in enumerate(events):
        _refuse([Problem(f"[{index}].{at.path}", at.message) for at in event.problems()])
    return _published(http.write_batch(events), broker, [event.id for event in events])


def create_subscription(
    subscription: Subscription | Mapping[str, Any], broker: str | None = None
) -> Call[Subscription]:
    """Create a subscription, given as such or as JSON document; return it as the server made it."""
    body = msgspec.json.encode(_document(subscription))
    return Call("POST", _subscriptions(broker), _subscription, _JSON, body)


def subscription(id: str, broker: str | None = None) -> Call[Subscription]:  # noqa: A002
    """Return one subscription."""
    return Call("GET", f"{_subscriptions(broker)}/{_segment(id)}", _subscription)


def subscriptions(
    broker: str | None = None,
    limit: int = _PAGE,
    sink: str | None = None,
    type: str | None = None,  # noqa: A002 - the word of the specification
    protocol: str | None = None,
) -> Call[Page[Subscription]]:
    """Yield subscriptions, all or those with some properties; `limit` is how many at a time."""
    query = _query(limit=limit, sink=sink, type=type, protocol=protocol)
    return _listing(f"{_subscriptions(broker)}?{query}", tuple[Subscription, ...])


def update_subscription(
    subscription: Subscription | Mapping[str, Any], broker: str | None = None
) -> Call[Subscription]:
    """Replace the subscription of that id; PreconditionError if it has changed since it was read.

    A JSON document, which has no version, replaces whatever is there.
    """
    document = _document(subscription)
    id_ = document.get("id")
    if not isinstance(id_, str) or not id_:
        raise ResourceError([Problem("id", "is required: which subscription is to be replaced?")])
    tag = subscription.etag if isinstance(subscription, Subscription) else ""
    path = f"{_subscriptions(broker)}/{_segment(id_)}"
    headers = (*_JSON, *_if_match(tag))
    return Call("PUT", path, _subscription, headers, msgspec.json.encode(document))


def patch_subscription(
    id: str,  # noqa: A002
    changes: Mapping[str, Any],
    broker: str | None = None,
    etag: str = "",
) -> Call[Subscription]:
    """Change some properties by a JSON merge patch: None removes one, the others stay."""
    path = f"{_subscriptions(broker)}/{_segment(id)}"
    headers = (("content-type", "application/merge-patch+json"), *_if_match(etag))
    return Call("PATCH", path, _subscription, headers, msgspec.json.encode(changes))


def delete_subscription(
    id: str,  # noqa: A002
    broker: str | None = None,
    etag: str = "",
) -> Call[Subscription]:
    """Delete a subscription and return what it was."""
    return replace(subscription(id, broker), method="DELETE", headers=_if_match(etag))


def pause_subscription(id: str, broker: str | None = None) -> Call[Subscription]:  # noqa: A002
    """Start no more deliveries; events wait until the subscription is resumed."""
    return _told(id, broker, "pause")


def resume_subscription(id: str, broker: str | None = None) -> Call[Subscription]:  # noqa: A002
    """Deliver what waited, and what comes from now on."""
    return _told(id, broker, "resume")


def subscription_status(id: str, broker: str | None = None) -> Call[Status]:  # noqa: A002
    """Return how the deliveries of a subscription go."""
    return Call("GET", f"{_subscriptions(broker)}/{_segment(id)}/status", _as(Status))


def dead_letters(
    route: str | None = None, before: int | None = None, limit: int = _PAGE
) -> Call[Page[DeadLetter]]:
    """Yield dead letters, the newest first; `limit` is how many are asked for at a time."""
    query = _query(limit=limit, before=before, route=route)
    return _listing(f"/dead?{query}", tuple[DeadLetter, ...])


def dead_letter(number: int) -> Call[DeadLetter]:
    """Return one dead letter with its event."""
    return Call("GET", f"/dead/{number}", _as(DeadLetter))


def retry_dead_letters(numbers: Sequence[int]) -> Call[Retried]:
    """Have dead letters delivered again; at most 1000 at once."""
    body = msgspec.json.encode({"numbers": list(numbers)})
    return Call("POST", "/dead/retry", _as(Retried), _JSON, body)


def delete_dead_letter(number: int) -> Call[None]:
    """Throw a dead letter away."""
    return Call("DELETE", f"/dead/{number}", lambda _: None)


def readiness() -> Call[Readiness]:
    """Return whether everything behind the API is ready."""
    return Call("GET", "/readyz", _readiness, accepted=frozenset({503}))


def _published(message: Message, broker: str | None, result: T) -> Call[T]:
    headers = tuple(
        (name.decode("ascii"), value.decode("ascii")) for name, value in message.headers
    )
    return Call(
        "POST",
        "/events" if broker is None else _broker(broker),
        lambda _: result,
        headers,
        message.body,
        EventError,
    )


def _document(subscription: Subscription | Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(subscription, Subscription):
        return dict(subscription)
    document: dict[str, Any] = msgspec.to_builtins(subscription)
    document.pop("etag", None)
    # The protocol has to be named even where it is the default.
    return document | {"protocol": subscription.protocol}


def _subscription(answer: Answer) -> Subscription:
    found = msgspec.json.decode(answer.body, type=Subscription)
    return msgspec.structs.replace(found, etag=answer.headers.get("etag", ""))


def _if_match(tag: str) -> tuple[tuple[str, str], ...]:
    return (("if-match", tag),) if tag else ()


def _told(id_: str, broker: str | None, word: str) -> Call[Subscription]:
    return Call("POST", f"{_subscriptions(broker)}/{_segment(id_)}/{word}", _subscription)


def _query(**wanted: object) -> str:
    return urlencode({name: value for name, value in wanted.items() if value is not None})


def _listing(path: str, kind: type[tuple[T, ...]]) -> Call[Page[T]]:
    def read(answer: Answer) -> Page[T]:
        after = following(path, answer)
        items = msgspec.json.decode(answer.body, type=kind)
        return Page(items, None if after is None else _listing(after, kind))

    return Call("GET", path, read)


def _as(kind: type[T]) -> Callable[[Answer], T]:
    return lambda answer: msgspec.json.decode(answer.body, type=kind)


def _readiness(answer: Answer) -> Readiness:
    found = msgspec.json.decode(answer.body, type=_Missing).missing
    lines = tuple(f"{one.get('what', '')}: {one.get('why', '')}" for one in found)
    return Readiness(answer.status == HTTPStatus.OK, lines)


def _subscriptions(broker: str | None) -> str:
    return "/subscriptions" if broker is None else f"{_broker(broker)}/subscriptions"


def _broker(broker: str) -> str:
    namespace, slash, name = broker.partition("/")
    if not (namespace and slash and name) or "/" in name:
        raise ResourceError([Problem("broker", f"{broker!r} is not of the form namespace/name")])
    return f"/brokers/{_segment(namespace)}/{_segment(name)}"


def _segment(text: str) -> str:
    return quote(text, safe="")


def _refuse(problems: Sequence[Problem]) -> None:
    if problems:
        raise EventError(problems)
