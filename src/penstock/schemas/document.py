"""JSON documents as schemas and data bring them: read strictly, and never too deep."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import msgspec

from penstock.errors import Problem, ResourceError
from penstock.schemas.base import document_text, refuse, refuse_large

# The JSON Schema engine reads no deeper than 255 levels, and Python's stack ends near 1,000.
DEEPEST = 200

Json = Any

_decode = msgspec.json.Decoder().decode


def read_document(document: object) -> Json:
    """Return a schema document as plain JSON, from bytes, text or a JSON value."""
    if isinstance(document, (str, bytes, bytearray, memoryview)):
        document = _parse(document_text(document))
    problems: list[Problem] = []
    plain = _plain(document, "", 0, problems)
    if problems:
        raise ResourceError(problems)
    return plain


def read_data(data: bytes) -> Json:
    """Return event data as plain JSON, or raise ResourceError."""
    try:
        return _decode(data)
    except msgspec.MsgspecError as exc:
        raise refuse("", f"the data is not JSON: {exc}") from exc
    except UnicodeDecodeError as exc:
        raise refuse("", f"the data is not UTF-8: {exc.reason}, byte {exc.start}") from exc
    except RecursionError as exc:
        raise refuse("", "the data is nested too deeply") from exc


def pointer(parts: Sequence[str | int]) -> str:
    """Return the JSON Pointer of a path, empty for the document itself."""
    return "".join(f"/{escape(str(part))}" for part in parts)


def escape(part: str) -> str:
    """Return one reference token of a JSON Pointer."""
    return part.replace("~", "~0").replace("/", "~1")


def unescape(token: str) -> str:
    """Return the name that a reference token of a JSON Pointer stands for."""
    return token.replace("~1", "/").replace("~0", "~")


def _parse(text: str) -> object:
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as exc:
        message = f"the schema is not JSON: {exc.msg}"
        raise refuse(f"line {exc.lineno}, column {exc.colno}", message) from exc
    except RecursionError as exc:
        raise refuse("", f"the schema is nested deeper than {DEEPEST} levels") from exc
    except ValueError as exc:
        raise refuse("", f"the schema is not JSON: {exc}") from exc


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise refuse("", f"the key {key!r} appears twice in one object")
        found[key] = value
    return found


def _no_constant(name: str) -> NoReturn:
    raise refuse("", f"{name} is not a JSON number")


def _plain(value: object, path: str, depth: int, problems: list[Problem]) -> Json:
    if depth > DEEPEST:
        raise refuse("", f"the schema is nested deeper than {DEEPEST} levels")
    if isinstance(value, Mapping):
        return _plain_object(value, path, depth, problems)
    if isinstance(value, (list, tuple)):
        refuse_large(len(value))
        below = enumerate(value)
        return [_plain(item, f"{path}/{at}", depth + 1, problems) for at, item in below]
    fault = _scalar_fault(value)
    if fault:
        problems.append(Problem(path, fault))
    return value


def _plain_object(
    value: Mapping[Any, object], path: str, depth: int, problems: list[Problem]
) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for key, item in value.items():
        fault = _scalar_fault(key) if isinstance(key, str) else f"the key {key!r} is not a string"
        if fault:
            problems.append(Problem(path, fault))
            continue
        found[key] = _plain(item, f"{path}/{escape(key)}", depth + 1, problems)
    return found


def _scalar_fault(value: object) -> str | None:
    match value:
        case None | bool():
            return None
        case int():
            # A schema has no use for more, and Python prints no longer ones.
            return None if value.bit_length() <= 4096 else "the number is too large"  # noqa: PLR2004
        case float():
            return None if math.isfinite(value) else "the number is not finite"
        case str():
            return _text_fault(value)
    return f"{type(value).__name__} is not a JSON value"


def _text_fault(text: str) -> str | None:
    try:
        text.encode()
    except UnicodeEncodeError:
        return "the text has a lone surrogate, which is no text"
    return None
