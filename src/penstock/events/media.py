"""What a media type says about data: is it JSON, is it text, in which characters."""

from __future__ import annotations

import enum
import re
from functools import lru_cache

JSON = "application/json"


class DataForm(enum.IntEnum):
    """How the data of an event came in, where its content type does not already say so."""

    BYTES = 0
    JSON = 1
    TEXT = 2


_TEXT_TYPES = frozenset(
    {
        "application/ecmascript",
        "application/javascript",
        "application/x-www-form-urlencoded",
        "application/xml",
    }
)
_JSON_SEQUENCES = frozenset({"application/json-seq", "application/geo+json-seq"})
_CODECS = {
    "utf-8": "utf-8",
    "utf8": "utf-8",
    "us-ascii": "ascii",
    "iso-8859-1": "latin-1",
    "windows-1252": "cp1252",
    "utf-16": "utf-16",
    "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
}
_CHARSET = re.compile(r';\s*charset="?([^\s;"]+)', re.IGNORECASE)


def essence(media_type: str) -> str:
    """Return the media type in lower case and without its parameters."""
    return media_type.partition(";")[0].strip().lower()


@lru_cache(maxsize=256)
def is_json(media_type: str) -> bool:
    """Say whether the subtype is `json` or ends in `+json` (JSON format 3.1.1)."""
    return essence(media_type).endswith(("/json", "+json"))


@lru_cache(maxsize=256)
def is_json_sequence(media_type: str) -> bool:
    """Say whether 0.2 knows the type to hold JSON although its name does not end so."""
    return essence(media_type) in _JSON_SEQUENCES


@lru_cache(maxsize=256)
def is_text(media_type: str) -> bool:
    """Say whether data of that type is known to be text."""
    name = essence(media_type)
    return (
        name.startswith("text/")
        or name.endswith("+xml")
        or name in _TEXT_TYPES
        or name in _JSON_SEQUENCES
        or is_json(media_type)
    )


@lru_cache(maxsize=256)
def codec(media_type: str) -> str | None:
    """Return the Python codec of the `charset` parameter, UTF-8 without one, None if unknown."""
    match = _CHARSET.search(media_type)
    return _CODECS.get(match[1].lower()) if match else "utf-8"


def is_utf8(data: bytes) -> bool:
    """Say whether the bytes are UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
