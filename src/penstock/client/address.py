"""Where the server is."""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import urlsplit

from penstock.errors import Problem, ResourceError

DEFAULT = "http://127.0.0.1:8080"
VARIABLE = "PENSTOCK_URL"
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


def base(url: str | None, environment: Mapping[str, str] = os.environ) -> str:
    """Return the address of the server without a slash at its end, or raise ResourceError."""
    text = (url or environment.get(VARIABLE) or DEFAULT).rstrip("/")
    try:
        parts = urlsplit(text)
        valid = parts.scheme in {"http", "https"} and bool(parts.hostname)
        valid = valid and not (parts.query or parts.fragment) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        hint = f"{text!r} is no address of a server: use one like {DEFAULT}"
        raise ResourceError([Problem("url", hint)])
    return text


def is_local(url: str) -> bool:
    """Tell whether the server is on this machine, where no proxy belongs in between."""
    return urlsplit(url).hostname in _LOOPBACK
