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
from pyreqwest.http import HeaderMap
from pyreqwest.response import Response as Answer

from penstock.ports import Request, Response

_LARGEST_REPLY = 1 << 20
_LARGEST_QUOTE = 1 << 10
_OK, _REFUSED = 200, 400
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
                headers = _headers(answer.headers) if _telling(request, answer.status) else ()
                body = await _body(request, answer)
                if len(body) > _LARGEST_REPLY:
                    # What was cut off is no reply; the delivery is complete all the same (KA-11).
                    headers, body = (), b""
                return Response(answer.status, headers, body, elapsed=time.monotonic() - started)
        except PyreqwestError as exc:
            return Response(0, error=_reason(exc), elapsed=time.monotonic() - started)
        except ValueError as exc:
            # So the client refuses an address, a method or a header that cannot be sent.
            # Its first words name no value, for that may be a secret.
            return Response(0, error=f"the request cannot be made: {str(exc).partition(':')[0]}")

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


async def _body(request: Request, answer: Answer) -> bytes:
    """Return of a body what somebody wants to know: a reply (KA-10), or why it was refused."""
    if request.wants_body and answer.status == _OK:
        return bytes(await answer.body_reader.read(_LARGEST_REPLY + 1) or b"")
    if not request.wants_error or answer.status < _REFUSED:
        return b""
    return bytes(await answer.body_reader.read(_LARGEST_QUOTE) or b"")


def _headers(found: HeaderMap) -> tuple[tuple[str, str], ...]:
    try:
        return tuple(found.items())
    except ValueError:
        # One value that is not ASCII must not make a failure of an answer.
        return tuple(pair for name in dict.fromkeys(found) for pair in _readable(found, name))


def _readable(found: HeaderMap, name: str) -> list[tuple[str, str]]:
    try:
        return [(name, value) for value in found.getall(name)]
    except ValueError:
        return []


def _telling(request: Request, status: int) -> bool:
    return request.wants_body or status in (429, 503)


@lru_cache(maxsize=64)
def _seconds(value: float) -> timedelta:
    return timedelta(seconds=value)


def _reason(error: PyreqwestError) -> str:
    match error:
        case ConnectError():
            return f"the sink cannot be reached: {_root(error)}"
        case RequestTimeoutError():
            return "the sink did not answer in time"
        case BuilderError():
            return f"the request cannot be made: {_root(error)}"
    return f"the connection broke: {_root(error)}"


def _root(error: PyreqwestError) -> str:
    """Return the innermost cause: the outer ones only say that there is one."""
    match error.args:
        case (_, {"causes": [*_, {"message": str(message)}]}):
            return message
    return str(error)
