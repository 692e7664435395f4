"""Values of message properties: the types of message metadata and what is a value of each."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping

from penstock.events.values import Kind, fault, is_timestamp, parse_binary
from penstock.registry import templates

TYPES = (
    "var",
    "boolean",
    "string",
    "symbol",
    "binary",
    "timestamp",
    "duration",
    "uritemplate",
    "uri",
    "urireference",
    "number",
    "integer",
)
NOW = "01-01-0000T00:00:00Z"
"""The moment that stands for the time at which a message is made."""
_NOWS = (NOW, "0000-01-01T00:00:00Z")
_SYMBOL = re.compile(r"[A-Za-z0-9_]+")
_WIRE_SYMBOL = re.compile(r"[\x21-\x7e]+")
_DURATION = re.compile(
    r"P(?=[0-9T])(?:[0-9]+W|(?:[0-9]+Y)?(?:[0-9]+M)?(?:[0-9]+D)?"
    r"(?:T(?=[0-9])(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+(?:\.[0-9]+)?S)?)?)"
)
_WHOLE = re.compile(r"-?[0-9]{1,19}")
_SIXTY_FOUR = 1 << 63


def canonical_type(name: str) -> str:
    """Return the defined name of a type; an example calls timestamps otherwise (RA-11)."""
    return "timestamp" if name == "datetime" else name


def is_now(value: object) -> bool:
    return value in _NOWS


def problem(type_: str, value: object, *, wire: bool, braces: bool) -> str | None:
    """Return what keeps a value from being of a type.

    `wire` stands for AMQP and MQTT, whose symbols and numbers are wider (RA-76); where `braces`
    is set, placeholders in a text stand for any value.
    """
    if braces and isinstance(value, str) and templates.placeholders(value):
        return templates.fault(value) if type_ == "uritemplate" else None
    if type_ == "symbol":
        return _symbol(value, wire=wire)
    if type_ == "integer" and wire:
        return _whole(value)
    return _CHECKS[type_](value)


def _symbol(value: object, *, wire: bool) -> str | None:
    if wire:
        good = isinstance(value, str) and _WIRE_SYMBOL.fullmatch(value)
        return None if good else "must be ASCII text without spaces"
    good = isinstance(value, str) and _SYMBOL.fullmatch(value)
    return None if good else "must be a symbol: letters, digits and _"


def _whole(value: object) -> str | None:
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    good = isinstance(text, str) and _WHOLE.fullmatch(text) and abs(int(text)) < _SIXTY_FOUR
    return None if good else "must be a whole number"


def _number(value: object) -> str | None:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return "must be a number"
    good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return None if good else "must be a number"


def _timestamp(value: object) -> str | None:
    if value in _NOWS or (isinstance(value, str) and is_timestamp(value)):
        return None
    return "must be a timestamp (RFC 3339)"


def _duration(value: object) -> str | None:
    good = isinstance(value, str) and _DURATION.fullmatch(value)
    return None if good else "must be a duration (RFC 3339 appendix A), like PT30S"


def _binary(value: object) -> str | None:
    good = isinstance(value, str) and parse_binary(value) is not None
    return None if good else "must be base64 (RFC 4648)"


def _template(value: object) -> str | None:
    return templates.fault(value) if isinstance(value, str) else "must be a string"


_CHECKS: Mapping[str, Callable[[object], str | None]] = {
    "var": lambda _value: None,
    "boolean": lambda value: fault(Kind.BOOLEAN, value),
    "string": lambda value: fault(Kind.STRING, value),
    "binary": _binary,
    "timestamp": _timestamp,
    "duration": _duration,
    "uritemplate": _template,
    "uri": lambda value: fault(Kind.URI, value),
    "urireference": lambda value: fault(Kind.URI_REFERENCE, value),
    "number": _number,
    "integer": lambda value: fault(Kind.INTEGER, value),
}
