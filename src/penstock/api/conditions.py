"""Conditional requests (RFC 9110, section 13): `ETag`, `If-Match`, `If-None-Match`."""

from __future__ import annotations

import re
from collections.abc import Callable

from starlette.datastructures import Headers

from penstock.errors import Problem, ResourceError

_TAG = re.compile(r'(W/)?"([\x21\x23-\x7e\x80-\xff]*)"')
_ANY = "*"


def etag(version: int) -> dict[str, str]:
    """Return the header that names the version of a resource."""
    return {"etag": f'"{version}"'}


def allowed(headers: Headers) -> Callable[[int], bool]:
    """Return the test that the version of a resource must pass before it is changed."""
    wanted = _tags(headers, "if-match", weak=False)
    unwanted = _tags(headers, "if-none-match", weak=True)

    def allows(version: int) -> bool:
        return (wanted is None or _named(wanted, version)) and not (
            unwanted is not None and _named(unwanted, version)
        )

    return allows


def is_known(headers: Headers, version: int) -> bool:
    """Tell whether the client has this version already."""
    known = _tags(headers, "if-none-match", weak=True)
    return known is not None and _named(known, version)


def _named(tags: frozenset[str], version: int) -> bool:
    return _ANY in tags or str(version) in tags


def _tags(headers: Headers, name: str, *, weak: bool) -> frozenset[str] | None:
    """Return the tags of a header; weak ones only where they count."""
    given = headers.getlist(name)
    if not given:
        return None
    parts = [part.strip() for text in given for part in text.split(",")]
    if parts == [_ANY]:
        return frozenset(parts)
    found = [_TAG.fullmatch(part) for part in parts if part]
    if not found or None in found:
        raise ResourceError([Problem(name, 'must be * or ETags in quotes, such as "17"')])
    return frozenset(match[2] for match in found if match and (weak or not match[1]))
