"""The CloudEvents types: what is a value of each, one parse and one print per type."""

from __future__ import annotations

import base64
import binascii
import enum
import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

INTEGER_MIN = -(2**31)
INTEGER_MAX = 2**31 - 1

_FEBRUARY = 2
_LEAP_DAY = 29


class Kind(enum.StrEnum):
    """A type of the CloudEvents type system; `MEDIA_TYPE` is a String with a grammar."""

    BOOLEAN = "Boolean"
    INTEGER = "Integer"
    STRING = "String"
    BINARY = "Binary"
    URI = "URI"
    URI_REFERENCE = "URI-reference"
    TIMESTAMP = "Timestamp"
    MEDIA_TYPE = "media type"


# Controls, surrogates and the 66 noncharacters (CloudEvents 1.0, Type System).
_BANNED = re.compile(
    "[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef"
    + "".join(chr(plane << 16 | low) for plane in range(17) for low in (0xFFFE, 0xFFFF))
    + "]"
)

_ENCODED = "%[0-9A-Fa-f]{2}"
_PLAIN = r"A-Za-z0-9\-._~!$&'()*+,;="
_SCHEME = r"[A-Za-z][A-Za-z0-9+\-.]*+"
_AUTHORITY = (
    rf"(?:(?:[{_PLAIN}:]|{_ENCODED})*@)?"
    rf"(?:\[(?:(?P<ip>[0-9A-Fa-f:.]+)|[vV][0-9A-Fa-f]+\.[{_PLAIN}:]+)\]|(?:[{_PLAIN}]|{_ENCODED})*+)"
    r"(?::[0-9]*)?"
)
_SEGMENTS = rf"(?:[{_PLAIN}:@/]|{_ENCODED})*+"
_QUERY = rf"(?:\?(?:[{_PLAIN}:@/?]|{_ENCODED})*+)?(?:\#(?:[{_PLAIN}:@/?]|{_ENCODED})*+)?"
# After an authority the path is empty or starts with a slash; without one, not with two.
_AFTER_SCHEME = rf"(?://{_AUTHORITY}(?=[/?#]|\Z)|(?!//)){_SEGMENTS}{_QUERY}"
_URI = re.compile(rf"{_SCHEME}:{_AFTER_SCHEME}")
_RELATIVE = re.compile(rf"(?![^/?#]*:){_AFTER_SCHEME}")

_TIMESTAMP = re.compile(
    r"(?P<year>[0-9]{4})-(?:"
    r"(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    r"|02-(?:0[1-9]|1[0-9]|2[0-8]|(?P<leap>29)))"
    r"[Tt](?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|(?P<second>60))(?:\.[0-9]+)?"
    r"(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,9})")

_WORD = r"[A-Za-z0-9!#$%&'*+\-.^_`{|}~]+"
_QUOTED = r'"(?:[ !#-\[\]-~]|\\[ -~])*"'
_MEDIA_TYPE = re.compile(rf"{_WORD}/{_WORD}(?: *;(?: *{_WORD}=(?:{_WORD}|{_QUOTED}))?)* *")


def is_string(text: str) -> bool:
    """Say whether the text has only characters that a CloudEvents String may have."""
    return (text.isascii() and text.isprintable()) or _BANNED.search(text) is None


def is_uri(text: str) -> bool:
    """Say whether the text is a URI with a scheme; a fragment is let through (RFC 3986 3)."""
    return _has_good_host(_URI.fullmatch(text))


def is_uri_reference(text: str) -> bool:
    """Say whether the text is a URI or a relative reference (RFC 3986 4.1)."""
    return _has_good_host(_URI.fullmatch(text) or _RELATIVE.fullmatch(text))


def _has_good_host(match: re.Match[str] | None) -> bool:
    if match is None:
        return False
    address = match["ip"]
    if address is None:
        return True
    try:
        ipaddress.IPv6Address(address)
    except ValueError:
        return False
    return True


def is_timestamp(text: str) -> bool:
    """Say whether the text is an RFC 3339 date and time that exists in the calendar."""
    match = _TIMESTAMP.fullmatch(text)
    return match is not None and (match["leap"] is None or _is_leap_year(int(match["year"])))


def _is_leap_year(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def is_media_type(text: str) -> bool:
    """Say whether the text is a media type with its parameters (RFC 2046)."""
    return _MEDIA_TYPE.fullmatch(text) is not None


def parse_boolean(text: str) -> bool | None:
    """Return the truth value that `true` or `false` stands for, else None."""
    return {"true": True, "false": False}.get(text)


def parse_integer(text: str) -> int | None:
    """Return the number, or None when the text is no Integer or beyond 32 bits."""
    number = int(text) if _INTEGER.fullmatch(text) else None
    return number if number is not None and INTEGER_MIN <= number <= INTEGER_MAX else None


def parse_binary(text: str) -> bytes | None:
    """Return the bytes that the base64 text stands for (RFC 4648 4), else None."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def parse_timestamp(text: str) -> datetime | None:
    """Return the moment, or None when it is no Timestamp; a leap second counts as the next one."""
    match = _TIMESTAMP.fullmatch(text)
    if match is None or not is_timestamp(text):
        return None
    if match["second"] is None:
        return _moment(text)
    start = match.start("second")
    before = _moment(f"{text[:start]}59{text[start + 2 :]}")
    return None if before is None else before + timedelta(seconds=1)


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.upper())
    except ValueError:  # the year 0000 is legal in RFC 3339 and unknown to datetime
        return None


def canonical(value: bool | int | str | bytes) -> str:  # noqa: FBT001 - a value, not a flag
    """Return the canonical string of a value (CloudEvents 1.0, Type System)."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


_TEXT_CHECKS: Mapping[Kind, Callable[[str], bool]] = {
    Kind.BOOLEAN: lambda text: parse_boolean(text) is not None,
    Kind.INTEGER: lambda text: parse_integer(text) is not None,
    Kind.STRING: is_string,
    Kind.BINARY: lambda text: parse_binary(text) is not None,
    Kind.URI: is_uri,
    Kind.URI_REFERENCE: is_uri_reference,
    Kind.TIMESTAMP: is_timestamp,
    Kind.MEDIA_TYPE: is_media_type,
}
_HINTS: Mapping[Kind, str] = {
    Kind.BOOLEAN: "use true or false",
    Kind.INTEGER: f"use a whole number from {INTEGER_MIN} to {INTEGER_MAX}",
    Kind.BINARY: "use base64, RFC 4648",
    Kind.URI: "use an absolute URI, RFC 3986",
    Kind.URI_REFERENCE: "see RFC 3986",
    Kind.TIMESTAMP: "use RFC 3339, like 2018-04-05T17:31:00Z",
    Kind.MEDIA_TYPE: "use RFC 2046, like application/json",
}


def fault(kind: Kind, value: object) -> str | None:
    """Return what keeps the value, native or as canonical string, from being of that type."""
    if isinstance(value, str):
        return _text_fault(kind, value)
    if isinstance(value, bool):
        return None if kind is Kind.BOOLEAN else f"must be of type {kind}, not a Boolean"
    if isinstance(value, int):
        return _integer_fault(kind, value)
    if isinstance(value, bytes) and kind is Kind.BINARY:
        return None
    return f"must be of type {kind}, not {_described(value)}"


def _integer_fault(kind: Kind, value: int) -> str | None:
    if kind is not Kind.INTEGER:
        return f"must be of type {kind}, not an Integer"
    if INTEGER_MIN <= value <= INTEGER_MAX:
        return None
    return f"is beyond the 32 bits of an Integer: {_HINTS[kind]}"


def _text_fault(kind: Kind, text: str) -> str | None:
    banned = None if is_string(text) else _BANNED.search(text)
    if banned:
        return f"has the character U+{ord(banned[0]):04X}, which no String may have"
    if _TEXT_CHECKS[kind](text):
        return None
    return f"is not of type {kind}: {_HINTS[kind]}"


def _described(value: object) -> str:
    names = {dict: "a map", list: "a list", float: "a fraction", bytes: "bytes"}
    return names.get(type(value), f"a {type(value).__name__}")
