"""The quick yes: most events are valid in an obvious way, and every event passes here."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from penstock.events.extensions import KNOWN
from penstock.events.values import (
    INTEGER_MAX,
    INTEGER_MIN,
    Kind,
    is_media_type,
    is_string,
    is_timestamp,
    is_uri,
    is_uri_reference,
)

if TYPE_CHECKING:
    from penstock.events.event import CloudEvent

_IN_BOTH = {"specversion", "id", "source", "type", "time", "data"}
_RESERVED = _IN_BOTH | {"subject", "datacontenttype", "dataschema"}
_RESERVED_IN_0_2 = _IN_BOTH | {"contenttype", "schemaurl"}
_NAME = re.compile("[a-z0-9]+")
_NAME_IN_0_2 = re.compile("[a-z][a-z0-9]*")
# The usual shape: UTC, in this century, and a day that every month has.
is_common_time = re.compile(
    r"20[0-9][0-9]-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
    r"T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?Z"
).fullmatch


class Passed(set[str]):
    """Texts that passed a check before: producers repeat theirs in every event.

    Only short texts are kept, and a full set is emptied, so that no stranger fills the memory.
    """

    size = 4096
    length = 256

    def __init__(self, check: Callable[[str], bool]) -> None:
        super().__init__()
        self._check = check

    def admits(self, text: str) -> bool:
        """Say whether the text passes the check, and remember it if so."""
        if not text or not self._check(text):
            return False
        if len(text) <= self.length:
            if len(self) >= self.size:
                self.clear()
            self.add(text)
        return True


def _takes_any_text(name: str) -> bool:
    known = KNOWN.get(name)
    return (
        (known is None or known.kind is Kind.STRING)
        and _NAME.fullmatch(name) is not None
        and name not in _RESERVED
    )


def _takes_any_text_in_0_2(name: str) -> bool:
    return _NAME_IN_0_2.fullmatch(name) is not None and name not in _RESERVED_IN_0_2


_sources = Passed(is_uri_reference)
_types = Passed(is_string)
_media_types = Passed(is_media_type)
_schemas = Passed(is_uri)
names = Passed(_takes_any_text)
names_in_0_2 = Passed(_takes_any_text_in_0_2)


def is_plain(event: CloudEvent) -> bool:
    """Say whether the event is obviously valid; False means that it needs a closer look.

    Printable in Python's sense has neither controls nor surrogates nor noncharacters.
    """
    time, subject = event.time, event.subject
    media_type, schema = event.datacontenttype, event.dataschema
    new = event.specversion == "1.0"
    try:
        return (
            (new or (event.specversion == "0.2" and subject is None))
            and (event.source in _sources or _sources.admits(event.source))
            and (event.type in _types or _types.admits(event.type))
            and (
                media_type is None or media_type in _media_types or _media_types.admits(media_type)
            )
            and event.id != ""
            and event.id.isprintable()
            and (time is None or is_common_time(time) is not None or is_timestamp(time))
            and (subject is None or (subject != "" and subject.isprintable()))
            and (schema is None or schema in _schemas or _schemas.admits(schema))
            and (
                not event.extensions or are_plain(event.extensions, names if new else names_in_0_2)
            )
        )
    except (AttributeError, TypeError):  # a field holds what is no text
        return False


def are_plain(extensions: Mapping[str, object], known: Passed) -> bool:
    """Say whether all names are known to be good for any text, and the values are obvious."""
    for name, value in extensions.items():
        if name not in known and not known.admits(name):
            return False
        if isinstance(value, str):
            if value == "" or not value.isprintable():
                return False
        elif name in KNOWN or not _is_small(value):
            return False
    return True


def _is_small(value: object) -> bool:
    return isinstance(value, int) and INTEGER_MIN <= value <= INTEGER_MAX
