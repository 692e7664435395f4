"""One path with its methods: everything beside publishing is served through this."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
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
MERGE_PATCH = "application/merge-patch+json"
_DEEPEST = 200
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

    def document(self, *media_types: str) -> object:
        """Return the JSON value in the body; a missing media type counts as JSON."""
        media_type = self.headers.get("content-type", _JSON)
        if media_type.partition(";")[0].strip().lower() not in (*media_types, _JSON):
            known = " or ".join((*media_types, _JSON))
            raise UnsupportedError(f"send {known}, not {media_type!r}", what=media_type)
        if not self.body.strip():
            raise FormatError("the body is empty; a JSON object is expected", format="json")
        try:
            found = msgspec.json.decode(self.body)
        except msgspec.DecodeError as exc:
            raise FormatError(f"the body is not JSON: {exc}", format="json") from exc
        except RecursionError as exc:
            raise FormatError("the JSON is nested too deeply", format="json") from exc
        # What just fits here would not fit where the stack is deeper: never store it.
        if self.body.count(b"{") + self.body.count(b"[") > _DEEPEST and _is_deep(found):
            raise FormatError("the JSON is nested too deeply", format="json")
        return found

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

    def __init__(self, base: str, *, most: int = _MOST_BYTES, **handlers: Handler) -> None:
        self._base = base
        self._most = most
        self._handlers = dict(handlers)
        self._allow = ",".join((*handlers, "OPTIONS"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._response(Request(scope, receive))
        if response is not None:
            await response(scope, receive, send)

    async def _response(self, request: Request) -> Response | None:
        if request.method == "OPTIONS":
            return Response(headers=self._offer())
        method = "GET" if request.method == "HEAD" else request.method
        handler = self._handlers.get(method)
        if handler is None:
            detail = f"{request.method} is not known here; known are {self._allow}"
            return reply(problems.plain(405, detail, (("allow", self._allow),)))
        try:
            made = await call(request, self._base, self._most)
        except ClientDisconnect:
            return None
        return await run_in_threadpool(handler, made)

    def _offer(self) -> dict[str, str]:
        patches = {"accept-patch": MERGE_PATCH} if "PATCH" in self._handlers else {}
        return {"allow": self._allow, **patches}


def _is_deep(value: object) -> bool:
    level = [value]
    for _ in range(_DEEPEST):
        level = [child for each in level for child in _children(each)]
        if not level:
            return False
    return True


def _children(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


async def call(request: Request, base: str, most: int = _MOST_BYTES) -> Call:
    """Return a request with its body; `base` is our address, where it is configured."""
    return Call(
        request.scope["path"],
        request.path_params,
        request.query_params,
        request.headers,
        await _body(request, most),
        base or base_of(request.scope),
    )


def base_of(scope: Scope) -> str:
    """Return the address by which the client reached us, as far as it says so sensibly."""
    host, port = scope.get("server") or ("localhost", 80)
    return host_of(scope["headers"], scope["scheme"]) or f"{scope['scheme']}://{host}:{port}"


def host_of(headers: Sequence[tuple[bytes, bytes]], scheme: str = "http") -> str:
    """Return the address that a client names in its headers, or nothing if it makes no sense."""
    named = next((one.decode("latin-1") for name, one in headers if name == b"host"), "")
    return f"{scheme}://{named}" if _HOST.fullmatch(named) else ""


async def _body(request: Request, most: int) -> bytes:
    parts, size = [], 0
    async for part in request.stream():
        parts.append(part)
        size += len(part)
        if size > most:
            raise LimitError(f"a document may have {most} bytes", limit="document")
    return b"".join(parts)


def json(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a response with a JSON body."""
    return Response(msgspec.json.encode(value), status, headers, media_type=_JSON)


def reply(answer: problems.Answer) -> Response:
    """Return a problem document as a response."""
    return Response(answer.body, answer.status, dict(answer.headers))
