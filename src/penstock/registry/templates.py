"""Placeholders in values: URI templates of level 1 (RFC 6570)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from penstock.events.values import is_uri_reference

_PLACEHOLDER = re.compile(r"\{([A-Za-z0-9_]+)\}")
# Level 1 never expands to these (RA-82).
_ANYTHING = r"[^/?#]+"


def placeholders(text: str) -> tuple[str, ...]:
    """Return the names of the placeholders in a text."""
    return tuple(_PLACEHOLDER.findall(text))


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its placeholders replaced."""
    return _PLACEHOLDER.sub(lambda found: values[found[1]], text)


def fault(text: str) -> str | None:
    """Return what keeps a text from being a URI template of level 1."""
    rest = _PLACEHOLDER.sub("x", text)
    if "{" in rest or "}" in rest:
        return "must have placeholders of letters, digits and _ in braces, like {name}"
    if not is_uri_reference(rest):
        return "must be a URI template (RFC 6570 level 1)"
    return None


def pattern(text: str) -> re.Pattern[str]:
    """Return what matches every text the template stands for; each placeholder is a group."""
    parts: list[str] = []
    seen: set[str] = set()
    end = 0
    for found in _PLACEHOLDER.finditer(text):
        parts.append(re.escape(text[end : found.start()]))
        name = f"p_{found[1]}"
        parts.append(f"(?P={name})" if name in seen else f"(?P<{name}>{_ANYTHING})")
        seen.add(name)
        end = found.end()
    return re.compile("".join(parts) + re.escape(text[end:]))


def bindings(template: str, text: str) -> Mapping[str, str] | None:
    """Return what the placeholders stand for in a text, or None where it does not match."""
    found = pattern(template).fullmatch(text)
    if found is None:
        return None
    return {name.removeprefix("p_"): value for name, value in found.groupdict().items()}
