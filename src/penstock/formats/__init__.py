"""Event formats: whole events as bytes, each format loaded on first use."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points

from penstock.errors import UnsupportedError
from penstock.formats.base import Format

FORMATS: Mapping[str, str] = {
    "json": "penstock.formats.json:JsonFormat",
}


@lru_cache(maxsize=32)
def load(name: str) -> Format:
    """Return the format of that name, ours or one that joined by the entry point group."""
    target = FORMATS.get(name)
    if target is not None:
        module, _, attribute = target.partition(":")
        found = getattr(importlib.import_module(module), attribute)
        return found()  # type: ignore[no-any-return]
    if name not in _strangers():
        raise UnsupportedError(f"the event format {name!r} is not known here", what=name)
    return _strangers()[name].load()()  # type: ignore[no-any-return]


@lru_cache(maxsize=1)
def _strangers() -> Mapping[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group="penstock.formats")}


__all__ = ["FORMATS", "Format", "load"]
