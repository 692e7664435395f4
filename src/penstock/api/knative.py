"""Knative resources over HTTP, in the way of the Kubernetes API."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from penstock.api import knative_discovery, knative_openapi, knative_proto, knative_status
from penstock.api.knative_objects import Objects
from penstock.api.resource import Call, call, json
from penstock.control import Control
from penstock.errors import NotFoundError, PenstockError

_LOG = logging.getLogger("penstock.api")
_PATHS = (
    "/version",
    "/openapi/{rest:path}",
    "/api",
    "/api/{rest:path}",
    "/apis",
    "/apis/{rest:path}",
)


def routes(control: Control, changed: Callable[[], None]) -> Sequence[Route]:
    """Return the routes of all objects, and of all that clients ask about them first.

    `changed` is called when streams may have come or gone.
    """
    app = _Kubernetes(control, changed)
    return [Route(path, app) for path in _PATHS]


class _Kubernetes:
    """An ASGI application that answers like a Kubernetes API server."""

    def __init__(self, control: Control, changed: Callable[[], None]) -> None:
        self._url = control.url
        self._objects = Objects(control, changed)
        self._resources = control.knative

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            made = await call(Request(scope, receive), self._url)
        except ClientDisconnect:
            return
        except PenstockError as exc:
            response = knative_status.refusal(knative_status.status(exc))
        else:
            response = await run_in_threadpool(self._answer, scope["method"], made)
        await response(scope, receive, send)

    def _answer(self, method: str, made: Call) -> Response:
        method = "GET" if method == "HEAD" else method
        try:
            found = self._discovered(made) if method == "GET" else None
            return found or self._objects.answer(method, made)
        except PenstockError as exc:
            return knative_status.refusal(knative_status.status(exc))
        except Exception:  # noqa: BLE001 - a client of Kubernetes expects a Status even then
            _LOG.exception("%s %s failed", method, made.path)
            message = "this is a fault of the server; its log says more"
            return knative_status.refusal(knative_status.failure(500, "InternalError", message))

    def _discovered(self, made: Call) -> Response | None:
        """Return what there is to say about kinds; None where the path is about objects."""
        first, *rest = made.path.strip("/").split("/")
        if first == "version":
            return json(knative_discovery.version())
        if first == "openapi":
            return self._openapi(rest, made)
        if not rest or rest == [""]:
            return self._groups(made, is_core=first == "api")
        if len(rest) > (1 if first == "api" else 2):
            return None
        kinds = self._resources.kinds()
        if first == "api":
            found = knative_discovery.resources("", rest[0], kinds)
        elif len(rest) == 1:
            found = knative_discovery.group(rest[0], kinds)
        else:
            found = knative_discovery.resources(rest[0], rest[1], kinds)
        return json(_expected(found, made.path))

    def _groups(self, made: Call, *, is_core: bool) -> Response:
        kinds = self._resources.kinds()
        version = knative_discovery.is_aggregated(made.headers.get("accept", ""))
        if version is None:
            host = made.base.partition("://")[2]
            return json(
                knative_discovery.core(host) if is_core else knative_discovery.groups(kinds)
            )
        response = json(knative_discovery.aggregated(kinds, version, is_core=is_core))
        response.headers["content-type"] = (
            f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList"
        )
        return response

    def _openapi(self, rest: Sequence[str], made: Call) -> Response:
        kinds = self._resources.kinds()
        if list(rest) == ["v2"]:
            document = knative_openapi.v2(kinds)
            if "proto-openapi" not in made.headers.get("accept", ""):
                return json(document)
            body = knative_proto.encoded(document)
            return Response(body, media_type=knative_proto.MEDIA_TYPE)
        if rest[0] != "v3":
            raise NotFoundError(f"there is nothing at {made.path}", address=made.path)
        if len(rest) == 1:
            return json(knative_openapi.index(kinds))
        return json(_expected(knative_openapi.v3("/".join(rest[1:]), kinds), made.path))


def _expected(found: Mapping[str, Any] | None, path: str) -> Mapping[str, Any]:
    if found is None:
        raise NotFoundError(f"there is nothing at {path}", address=path)
    return found
