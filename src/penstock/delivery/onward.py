"""Replies: events in the answers of sinks, and how they are sent on."""

from __future__ import annotations

import logging

import msgspec

from penstock.bindings import http
from penstock.delivery.shipping import message
from penstock.errors import PenstockError
from penstock.events.event import CloudEvent
from penstock.ports import Onward, Request, Response

_LOG = logging.getLogger("penstock.delivery")
_OK = 200


def reply(response: Response, destination: str) -> CloudEvent | None:
    """Return the event in an answer: only a 200 has one, a malformed one is none (KA-10, KA-11)."""
    if response.status != _OK or not response.headers:
        return None
    headers = [(key.encode(), value.encode()) for key, value in response.headers]
    try:
        return http.read_reply(headers, response.body)
    except PenstockError as exc:
        _LOG.warning("the reply of %s is dropped: %s", destination, exc)
        return None


def following(request: Request, event: CloudEvent) -> Request:
    """Return the request that sends a reply on; it asks for no reply itself (KA-09)."""
    headers, body = message(event)
    return Request(request.reply_to, headers, body, request.timeout, wants_error=True)


def joined(response: Response, event: CloudEvent, answer: Response) -> Response:
    """Return the answer of a sink with what became of its reply: both are one attempt (KN-095)."""
    elapsed = response.elapsed + answer.elapsed
    return msgspec.structs.replace(response, onward=Onward(event, answer), elapsed=elapsed)
