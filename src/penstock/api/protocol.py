"""HTTP/1.1 as uvicorn speaks it, except that an offered upgrade does not cost the body."""

from __future__ import annotations

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_OFFER = frozenset({b"upgrade", b"connection", b"http2-settings"})
_BROKEN = "Invalid HTTP request received."


class Protocol(HttpToolsProtocol):
    """Declines every upgrade (RFC 9110 7.8) and reads the request as if none had been offered.

    Java's own client offers h2c with each first request. The parser takes what follows such an
    offer for another protocol, so an event would be stored without its data.
    """

    def data_received(self, data: bytes) -> None:
        self._unset_keepalive_if_required()
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as exc:
            self._decline(data[exc.args[0] :])
        except httptools.HttpParserError:
            self.send_400_response(_BROKEN)

    def on_headers_complete(self) -> None:
        if not self.parser.should_upgrade():
            super().on_headers_complete()

    def on_message_complete(self) -> None:
        if not self.parser.should_upgrade():
            super().on_message_complete()

    def _decline(self, rest: bytes) -> None:
        method = self.parser.get_method()
        if method == b"CONNECT":
            self.send_400_response(_BROKEN)
            return
        kept = (name + b": " + value for name, value in self.headers if name not in _OFFER)
        lines = (method + b" " + self.url + b" HTTP/1.1", *kept, b"", rest)
        self.parser = httptools.HttpRequestParser(self)
        self.data_received(b"\r\n".join(lines))
