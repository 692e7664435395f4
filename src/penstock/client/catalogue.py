"""The requests to the catalogue of services."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from penstock.client.answer import Answer
from penstock.client.call import Call
from penstock.client.service import Service

_PATH = "/services"
_JSON = (("content-type", "application/json"),)


def services() -> Call[tuple[Service, ...]]:
    """Return all services, by name; the server itself is one of them."""
    return Call("GET", _PATH, _all)


def service(id: str) -> Call[Service]:  # noqa: A002
    """Return one service."""
    return Call("GET", f"{_PATH}/{quote(id, safe='')}", _one)


def service_named(name: str) -> Call[Service]:
    """Return the service of a name, whatever the case of its letters."""
    return Call("GET", f"{_PATH}?{urlencode({'name': name})}", _one)


def create_service(service: Service | Mapping[str, Any]) -> Call[Service]:
    """Make a service known, given as such or as JSON document; one with an id is imported."""
    return Call("POST", _PATH, _one, _JSON, _body(service))


def update_service(
    id: str,  # noqa: A002
    service: Service | Mapping[str, Any],
) -> Call[Service]:
    """Replace a service; a `discversion` or `updated` that is not current is a conflict."""
    return replace(create_service(service), method="PUT", path=f"{_PATH}/{quote(id, safe='')}")


def delete_service(id: str) -> Call[Service]:  # noqa: A002
    """Remove a service from the catalogue and return what it was."""
    return replace(service(id), method="DELETE")


def _body(service: Service | Mapping[str, Any]) -> bytes:
    document = service.document() if isinstance(service, Service) else service
    return msgspec.json.encode(document)


def _one(answer: Answer) -> Service:
    return Service.read(msgspec.json.decode(answer.body, type=dict[str, Any]))


def _all(answer: Answer) -> tuple[Service, ...]:
    return tuple(map(Service.read, msgspec.json.decode(answer.body, type=list[dict[str, Any]])))
