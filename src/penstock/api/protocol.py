"""HTTP/1.1 as uvicorn speaks it, with a short way for what is published most."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from penstock.api import problems
from penstock.api.app import Api
from penstock.errors import PenstockError

_OFFER = frozenset({b"upgrade", b"connection", b"http2-settings"})
_OK = b"HTTP/1.1 200 OK"
_BROKEN = "Invalid HTTP request received."
_SMALL = 65_536
_REGISTRY = b"/registry/"
_WITH_BODY = frozenset({b"content-length", b"transfer-encoding", b"expect"})
_DIGITS = 5


class Protocol(HttpToolsProtocol):
    """Speaks HTTP/1.1, in two ways other than uvicorn.

    A small request to a known stream goes straight to the application, without the task and the
    messages of ASGI: they take longer than reading and storing the event, and without them twice as
    many come through. Whatever is out of the ordinary about it goes the usual way. So do requests
    for a document of the registry, which is read in less time than those messages take.

    An offered upgrade is declined (RFC 9110 7.8) and the request read as if none had been offered.
    Java's own client offers h2c with each first request, and the parser takes what follows such an
    offer for another protocol, so an event would be stored without its data.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - uvicorn's own
        super().__init__(*arguments, **options)
        if not isinstance(self.config.app, Api):
            raise TypeError(self.config.app)
        self._api = self.config.app
        self._stream: str | None = None
        self._document: bytes | None = None
        self._body = b""

    def data_received(self, data: bytes) -> None:
        self._unset_keepalive_if_required()
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as exc:
            self._decline(data[exc.args[0] :])
        except httptools.HttpParserError:
            self.send_400_response(_BROKEN)

    def on_headers_complete(self) -> None:
        if self.parser.should_upgrade():
            return
        self._stream = self._quick_stream()
        self._document = self._quick_document() if self._stream is None else None
        self._body = b""
        if self._stream is None and self._document is None:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if self._stream is None:
            super().on_body(body)
        else:
            self._body += body

    def on_message_complete(self) -> None:
        if self.parser.should_upgrade():
            return
        document, self._document = self._document, None
        if document is not None:
            pending = _Pending(self)
            self.cycle = pending  # type: ignore[assignment]
            pending.show(document)
            return
        stream, self._stream = self._stream, None
        if stream is not None:
            pending = _Pending(self)
            if self._api.take(stream, self.headers, self._body, pending.resolve):
                self.cycle = pending  # type: ignore[assignment]
                return
            super().on_headers_complete()
            super().on_body(self._body)
        super().on_message_complete()

    def _quick_stream(self) -> str | None:
        """Return the stream of a request that can go the short way."""
        parser = self.parser
        stream = self._api.stream_at(self.url)
        busy = bool(self.cycle) and not self.cycle.response_complete
        if stream is None or busy or self.expect_100_continue:
            return None
        usual = parser.get_method() == b"POST" and parser.get_http_version() == "1.1"
        if not usual or not parser.should_keep_alive():
            return None
        for name, value in self.headers:
            if name == b"content-length":
                return stream if len(value) <= _DIGITS and int(value) <= _SMALL else None
        return None

    def _quick_document(self) -> bytes | None:
        """Return a document of the registry whose request can go the short way."""
        parser = self.parser
        if not self.url.startswith(_REGISTRY) or parser.get_method() != b"GET":
            return None
        busy = bool(self.cycle) and not self.cycle.response_complete
        if busy or parser.get_http_version() != "1.1" or not parser.should_keep_alive():
            return None
        if any(name in _WITH_BODY for name, _ in self.headers):
            return None
        return self._api.document_at(self.url, self.headers)

    def _decline(self, rest: bytes) -> None:
        method = self.parser.get_method()
        if method == b"CONNECT":
            self.send_400_response(_BROKEN)
            return
        kept = (name + b": " + value for name, value in self.headers if name not in _OFFER)
        lines = (method + b" " + self.url + b" HTTP/1.1", *kept, b"", rest)
        self.parser = httptools.HttpRequestParser(self)
        self.data_received(b"\r\n".join(lines))


class _Nobody:
    def set(self) -> None:
        """Do nothing, for nobody waits for this event."""


class _Pending:
    """A request that waits to be durable, in the place where uvicorn keeps its own kind."""

    __slots__ = ("_protocol", "disconnected", "keep_alive", "response_complete")

    message_event = _Nobody()

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        self.disconnected = False
        self.keep_alive = True
        self.response_complete = False

    def resolve(self, error: PenstockError | None) -> None:
        """Answer that the events are stored, or why not."""
        self._answer(lambda lines: _accepted(lines) if error is None else _refused(lines, error))

    def show(self, document: bytes) -> None:
        """Answer with a document that has its header lines before it."""
        self._answer(lambda lines: b"\r\n".join((_OK, *lines, document)))

    def _answer(self, printed: Callable[[list[bytes]], bytes]) -> None:
        self.response_complete = True
        protocol = self._protocol
        transport = protocol.transport
        if self.disconnected or transport.is_closing():
            return
        lines = [name + b": " + value for name, value in protocol.server_state.default_headers]
        if not self.keep_alive:
            lines.append(b"connection: close")
        transport.write(printed(lines))
        if not self.keep_alive:
            transport.close()
        protocol.on_response_complete()


def _accepted(lines: list[bytes]) -> bytes:
    return b"\r\n".join((b"HTTP/1.1 202 Accepted", *lines, b"content-length: 0\r\n\r\n"))


def _refused(lines: list[bytes], error: PenstockError) -> bytes:
    answer = problems.answer(error)
    own = (f"{name}: {value}".encode("latin-1") for name, value in answer.headers)
    status = f"HTTP/1.1 {answer.status} ".encode()
    return b"\r\n".join((status, *lines, *own, b"", answer.body))
