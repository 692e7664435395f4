"""The ASGI application: publishing first, then everything else."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from penstock.api import (
    dead,
    discovery,
    health,
    index,
    knative,
    metrics,
    openapi,
    openapi_operations,
    openapi_publish,
    openapi_registry,
    openapi_services,
    openapi_subscriptions,
    permissions,
    problems,
    registry,
    registry_quick,
    subscriptions,
    validate,
)
from penstock.api.backlog import Backlog
from penstock.api.commit import GroupCommit, Resolve
from penstock.api.events import Ingest
from penstock.api.resource import reply
from penstock.api.streams import Streams, is_address
from penstock.control import Control
from penstock.errors import PenstockError
from penstock.telemetry import Telemetry

_LOG = logging.getLogger("penstock.api")
_REFRESH_SECONDS = 0.5

Router = Callable[[Control], Sequence[BaseRoute]]
ROUTERS: tuple[Router, ...] = (
    index.routes,
    health.routes,
    subscriptions.routes,
    discovery.routes,
    registry.routes,
    validate.routes,
    dead.routes,
    permissions.routes,
)
"""Every room of the API adds its routes here."""

FRAGMENTS: tuple[Callable[[], openapi.Fragment], ...] = (
    openapi_publish.fragment,
    openapi_subscriptions.fragment,
    openapi_services.fragment,
    openapi_registry.fragment,
    validate.fragment,
    openapi_operations.dead_letters,
    permissions.fragment,
    openapi_operations.server,
)
"""And here what it adds to the OpenAPI document; a test compares the two."""


class Api:
    """Penstock over HTTP."""

    def __init__(self, control: Control) -> None:
        telemetry = Telemetry()
        self._control = control
        self._streams = Streams(control.store)
        self._backlog = Backlog(control.log, control.ledger, control.limits.backlog_events)
        self._commits = GroupCommit(control.log, telemetry)
        self._ingest = Ingest(self._commits, self._backlog, control.limits, telemetry)
        self._registry = registry_quick.Quick(control)
        routes = [route for router in ROUTERS for route in router(control)]
        described = openapi.routes(control, FRAGMENTS)
        # Kubernetes describes itself, in a document of its own.
        objects = knative.routes(control, self._streams.refresh)
        measured = metrics.routes(control, telemetry)
        self._rest = _starlette([*routes, *objects, *described, *measured])

    def stream_at(self, url: bytes) -> str | None:
        """Return the stream that takes events at an address, if it is known without asking."""
        return self._streams.by_url.get(url)

    def document_at(self, url: bytes, headers: Sequence[tuple[bytes, bytes]]) -> bytes | None:
        """Return header lines and body of a document of the registry, if that takes no time."""
        return self._registry.document_at(url, headers)

    def take(
        self, stream: str, headers: Sequence[tuple[bytes, bytes]], body: bytes, resolve: Resolve
    ) -> bool:
        """Store a request that is all there; False leaves it to `__call__`."""
        return self._ingest.take(stream, headers, body, resolve)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            path = scope["path"]
            stream = self._streams.by_path.get(path)
            if stream is None and is_address(path):
                stream = await asyncio.to_thread(self._streams.find, path)
            if stream is not None:
                await self._ingest(stream, scope, receive, send)
            else:
                await self._rest(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._live(receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        try:
            await asyncio.to_thread(self._prepare)
        except PenstockError as exc:
            await send({"type": "lifespan.startup.failed", "message": str(exc)})
            return
        self._commits.start()
        refreshing = asyncio.create_task(self._keep_fresh())
        await send({"type": "lifespan.startup.complete"})
        await receive()
        refreshing.cancel()
        await self._commits.close()
        await send({"type": "lifespan.shutdown.complete"})

    def _prepare(self) -> None:
        self._streams.create_default()
        if self._control.address:
            self._control.knative.prepare(self._control.address)
        self._streams.refresh()
        self._backlog.refresh()

    async def _keep_fresh(self) -> None:
        while True:
            await asyncio.sleep(_REFRESH_SECONDS)
            try:
                await asyncio.to_thread(self._refresh)
            except PenstockError as exc:
                _LOG.warning("streams and backlog could not be read: %s", exc)

    def _refresh(self) -> None:
        self._streams.refresh()
        self._backlog.refresh()


def _starlette(routes: Sequence[BaseRoute]) -> ASGIApp:
    app = Starlette(
        routes=routes,
        exception_handlers={PenstockError: _refused, HTTPException: _refused, Exception: _failed},
    )
    # A path with one slash too many is unknown; senders must not be redirected (CE-123).
    app.router.redirect_slashes = False
    return app


def _refused(request: Request, exc: Exception) -> Response:
    if isinstance(exc, PenstockError):
        return reply(problems.answer(exc))
    status = exc.status_code if isinstance(exc, HTTPException) else 500
    detail = f"there is nothing at {request.scope['path']}" if status == 404 else str(exc)  # noqa: PLR2004
    return reply(problems.plain(status, detail))


def _failed(_request: Request, _exc: Exception) -> Response:
    return reply(problems.plain(500, "this is a fault of the server; its log says more"))
