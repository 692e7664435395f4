"""One path with its methods: everything beside publishing is served through this."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlencode

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, QueryParams
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from penstock.api import problems
from penstock.errors import FormatError, LimitError, Problem, ResourceError, UnsupportedError

_MOST_BYTES = 1 << 20
_JSON = "application/json"
_HOST = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class Call:
    """A request whose body has been read."""

    path: str
    names: Mapping[str, str]
    """What the placeholders of the path stand for."""
    query: QueryParams
    headers: Headers
    body: bytes
    base: str
    """The address of the server as the client knows it, without a slash at the end."""

    def document(self) -> object:
        """Return the JSON value in the body; a missing media type counts as JSON."""
        media_type = self.headers.get("content-type", _JSON)
        if media_type.partition(";")[0].strip().lower() != _JSON:
            raise UnsupportedError(f"send {_JSON}, not {media_type!r}", what=media_type)
        if not self.body.strip():
            raise FormatError("the body is empty; a JSON object is expected", format="json")
        try:
            return msgspec.json.decode(self.body)
        except msgspec.DecodeError as exc:
            raise FormatError(f"the body is not JSON: {exc}", format="json") from exc
        except RecursionError as exc:
            raise FormatError("the JSON is nested too deeply", format="json") from exc

    def number(self, name: str, default: int | None, least: int, most: int) -> int | None:
        """Return a whole number from the query."""
        text = self.query.get(name)
        if text is None:
            return default
        if text.isascii() and text.isdigit() and len(text) < 20 and int(text) >= least:  # noqa: PLR2004
            return min(int(text), most)
        raise ResourceError([Problem(name, f"must be a whole number from {least} on")])

    def link(self, **changes: object) -> tuple[str, str]:
        """Return the header that leads to the next page."""
        query = {**dict(self.query), **{name: str(value) for name, value in changes.items()}}
        return "link", f'<{self.base}{quote(self.path)}?{urlencode(query)}>; rel="next"'


Handler = Callable[[Call], Response]


class Resource:
    """An ASGI application that knows the methods of one path; handlers may block."""

    def __init__(self, base: str, **handlers: Handler) -> None:
        self._base = base
        self._handlers = dict(handlers)
        self._allow = ",".join((*handlers, "OPTIONS"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._response(Request(scope, receive))
        if response is not None:
            await response(scope, receive, send)

    async def _response(self, request: Request) -> Response | None:
        if request.method == "OPTIONS":
            return Response(headers={"allow": self._allow})
        method = "GET" if request.method == "HEAD" else request.method
        handler = self._handlers.get(method)
        if handler is None:
            detail = f"{request.method} is not known here; known are {self._allow}"
            return reply(problems.plain(405, detail, (("allow", self._allow),)))
        try:
            body = await _body(request)
        except ClientDisconnect:
            return None
        return await run_in_threadpool(handler, self._call(request, body))

    def _call(self, request: Request, body: bytes) -> Call:
        return Call(
            request.scope["path"],
            request.path_params,
            request.query_params,
            request.headers,
            body,
            self._base or _base(request),
        )


def _base(request: Request) -> str:
    """Return the address by which the client reached us, as far as it says so sensibly."""
    named = request.headers.get("host", "")
    host, port = request.scope.get("server") or ("localhost", 80)
    return f"{request.scope['scheme']}://{named if _HOST.fullmatch(named) else f'{host}:{port}'}"


async def _body(request: Request) -> bytes:
    parts, size = [], 0
    async for part in request.stream():
        parts.append(part)
        size += len(part)
        if size > _MOST_BYTES:
            raise LimitError(f"a document may have {_MOST_BYTES} bytes", limit="document")
    return b"".join(parts)


def json(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a response with a JSON body."""
    return Response(msgspec.json.encode(value), status, headers, media_type=_JSON)


def reply(answer: problems.Answer) -> Response:
    """Return a problem document as a response."""
    return Response(answer.body, answer.status, dict(answer.headers))
