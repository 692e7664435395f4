"""Attribute values as header texts: plain with percent signs in 1.0, JSON in 0.2 (HTTP 3.1.3.2)."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote, unquote_to_bytes

import msgspec

from penstock.errors import EventError, Problem

# quote() keeps letters, digits and "_.-~" by itself.
_KEPT = "!#$&'()*+,/:;<=>?@[\\]^`{|}"
_KEPT_IN_JSON = _KEPT + ' "'
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*+)"', re.DOTALL)
_BALANCED = re.compile(rf"(?:[^\"]|{_QUOTED.pattern})*+", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_STRAY = re.compile("%(?![0-9A-Fa-f]{2})")


def encode(text: str) -> str:
    """Return the text with all percent-encoded that 1.0 wants encoded."""
    return quote(text, safe=_KEPT)


def encode_json(value: object) -> str:
    """Return the value as JSON, percent-encoded outside printable ASCII, as 0.2 wants it."""
    return quote(msgspec.json.encode(value), safe=_KEPT_IN_JSON)


def decode(name: str, value: bytes) -> str:
    """Return the text that a 1.0 header of the attribute carries; EventError if it has none."""
    text = _ascii(name, value)
    if '"' in text:
        text = _unquoted(name, text)
    return _percent_decoded(name, text) if "%" in text else text


def decode_json(name: str, value: bytes) -> Any:  # noqa: ANN401 - any JSON value
    """Return what a 0.2 header of that attribute carries: JSON, or else a plain text."""
    text = _percent_decoded(name, _ascii(name, value))
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return decode(name, value)


def _ascii(name: str, value: bytes) -> str:
    try:
        return value.decode("ascii").strip()
    except UnicodeDecodeError as exc:
        raise _refused(name, "has bytes outside ASCII: percent-encode them") from exc


def _unquoted(name: str, text: str) -> str:
    if _BALANCED.fullmatch(text) is None:
        raise _refused(name, "has a quote that is not closed")
    return _QUOTED.sub(lambda match: _ESCAPE.sub(r"\1", match[1]), text)


def _percent_decoded(name: str, text: str) -> str:
    if _STRAY.search(text):
        raise _refused(name, "has a percent sign that encodes nothing: write it as %25")
    try:
        return unquote_to_bytes(text).decode()
    except UnicodeDecodeError as exc:
        raise _refused(name, "has percent-encoded bytes that are not UTF-8") from exc


def _refused(name: str, message: str) -> EventError:
    return EventError([Problem(name, message)])
