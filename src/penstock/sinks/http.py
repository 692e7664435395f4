"""Delivery over HTTP."""

from __future__ import annotations

import time
from datetime import timedelta
from functools import lru_cache

from pyreqwest.client import Client, ClientBuilder
from pyreqwest.exceptions import (
    BuilderError,
    ConnectError,
    PyreqwestError,
    RequestTimeoutError,
)

from penstock.ports import Request, Response

_LARGEST_REPLY = 1 << 20
_CONNECT_SECONDS = 10.0


class HttpSink:
    """Sends each message as one request; keeps connections alive and follows no redirect."""

    def __init__(self) -> None:
        self._client: Client | None = None

    async def send(self, request: Request) -> Response:
        """Return the answer; no answer at all has status 0 and says why."""
        started = time.monotonic()
        method = str(request.settings.get("method", "POST"))
        try:
            built = (
                self._opened()
                .request(method, request.uri)
                .headers(request.headers)
                .timeout(_seconds(request.timeout))
                .body_bytes(request.body)
                .build_streamed()
            )
            # Streamed: the body of an answer is read only where a reply may be in it, and bounded.
            async with built as answer:
                body = b""
                if request.wants_body and answer.status == 200:  # noqa: PLR2004 - KA-10
                    body = bytes(await answer.body_reader.read(_LARGEST_REPLY + 1) or b"")
                headers = tuple(answer.headers.items()) if _telling(request, answer.status) else ()
                return Response(answer.status, headers, body, elapsed=time.monotonic() - started)
        except PyreqwestError as exc:
            return Response(0, error=_reason(exc), elapsed=time.monotonic() - started)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()
            self._client = None

    def _opened(self) -> Client:
        # Opened on first use: an executor unpickles the sink before it forks its event loop.
        if self._client is None:
            self._client = (
                ClientBuilder()
                .user_agent("penstock")
                .follow_redirects(enable=False)
                .http1_lower_case_headers()
                .connect_timeout(_seconds(_CONNECT_SECONDS))
                .pool_idle_timeout(_seconds(60.0))
                .pool_max_idle_per_host(256)
                .no_proxy()
                .build()
            )
        return self._client


def _telling(request: Request, status: int) -> bool:
    return request.wants_body or status in (429, 503)


@lru_cache(maxsize=64)
def _seconds(value: float) -> timedelta:
    return timedelta(seconds=value)


def _reason(error: PyreqwestError) -> str:
    match error:
        case ConnectError():
            return "the sink cannot be reached: connection failed"
        case RequestTimeoutError():
            return "the sink did not answer in time"
        case BuilderError():
            return f"the request cannot be made: {error}"
    return f"the connection broke: {error}"
