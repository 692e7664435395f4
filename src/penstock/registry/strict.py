"""JSON and YAML read strictly: no name twice in one object, and nothing that JSON has not."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Hashable
from typing import Any

import msgspec
import yaml

from penstock.errors import FormatError

_DEEPEST = 100


def json_value(body: bytes) -> object:
    """Return the value of a JSON text, or raise FormatError."""
    try:
        found = msgspec.json.decode(body)
        # The fast decoder takes the last of two members with the same name; this one tells.
        json.loads(body, object_pairs_hook=_unique)
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as exc:
        raise FormatError(f"the document is not JSON: {exc}", format="json") from exc
    except RecursionError as exc:
        raise FormatError("the JSON is nested too deeply", format="json") from exc
    return found


def yaml_value(body: bytes) -> object:
    """Return the value of a single YAML document, or raise FormatError."""
    try:
        found: Any = yaml.load(body.decode(), Loader=_Loader)  # noqa: S506 - a safe loader
        # Without aliases a document has fewer nodes than bytes; with them it may be endless.
        _walk(found, [len(body) + 1], 0)
    except UnicodeDecodeError as exc:
        raise FormatError(f"the document is not UTF-8: {exc.reason}", format="yaml") from exc
    except yaml.YAMLError as exc:
        where = getattr(exc, "problem_mark", None)
        line = f" in line {where.line + 1}" if where is not None else ""
        reason = getattr(exc, "problem", None) or str(exc).splitlines()[0]
        raise FormatError(f"the document is not YAML: {reason}{line}", format="yaml") from exc
    except (RecursionError, ValueError) as exc:
        raise FormatError(f"the document is not plain YAML: {exc}", format="yaml") from exc
    return found


def yaml_text(value: object) -> str:
    """Return a JSON value as a YAML document."""
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True)
    return text


_TAG = "tag:yaml.org,2002:"
_MERGE = f"{_TAG}merge"
_NO_TEXT = frozenset({f"{_TAG}{name}" for name in ("bool", "int", "float", "null")})


class _Loader(yaml.CSafeLoader):
    """Takes plain values for what they are in JSON, names for texts, and no name twice."""

    def construct_mapping(
        self,
        node: yaml.MappingNode,
        deep: bool = False,  # noqa: FBT001, FBT002
    ) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for name, _ in node.value:
            if not isinstance(name, yaml.ScalarNode) or name.tag == _MERGE:
                continue
            if name.tag in _NO_TEXT:
                name.tag = f"{_TAG}str"
            if name.value in seen:
                message = f"the key {name.value!r} is there twice"
                raise yaml.constructor.ConstructorError(None, None, message, name.start_mark)
            seen.add(name.value)
        found: dict[Hashable, Any] = super().construct_mapping(node, deep)
        return found


# Version 1.1 of YAML reads `no`, `010`, `1:30` and dates as something else than their texts.
_PLAIN = (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ("~", "n", "N", "")),
    ("int", r"-?(?:0|[1-9][0-9]*)", "-0123456789"),
    (
        "float",
        r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)",
        "-0123456789",
    ),
    ("merge", "<<", "<"),
)
_Loader.yaml_implicit_resolvers = {}


class _Dumper(yaml.CSafeDumper):
    """Quotes what some reader of YAML, ours or an older one, would take for a number or a date."""


for _name, _form, _first in _PLAIN:
    _Loader.add_implicit_resolver(f"{_TAG}{_name}", re.compile(f"(?:{_form})\\Z"), list(_first))
    _Dumper.add_implicit_resolver(f"{_TAG}{_name}", re.compile(f"(?:{_form})\\Z"), list(_first))


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {twice!r} is there twice in one object")
    return found


def _walk(value: object, left: list[int], depth: int) -> None:
    left[0] -= 1
    if left[0] < 0 or depth > _DEEPEST:
        message = "the YAML is nested too deeply, or its aliases make too much of it"
        raise FormatError(message, format="yaml")
    if isinstance(value, dict):
        for name, one in value.items():
            if not isinstance(name, str):
                raise FormatError(f"the key {name!r} is no string: quote it", format="yaml")
            _walk(one, left, depth + 1)
    elif isinstance(value, list):
        for one in value:
            _walk(one, left, depth + 1)
    elif not _is_plain(value):
        raise FormatError(f"{value!r:.40} is no JSON value", format="yaml")


def _is_plain(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, str | int | bool)
