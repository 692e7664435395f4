"""Files of events: one event, a JSON array of them, or one event per line (NDJSON)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from penstock.bindings import http
from penstock.bindings.base import Mode
from penstock.errors import EventError, FormatError, Problem
from penstock.events import CloudEvent

_HEADERS = ((b"content-type", b"application/cloudevents+json"),)
_MOST_EVENTS = 500
# Half of the largest request that a server accepts unless it is set otherwise.
_MOST_BYTES = 4 << 20
_elements = msgspec.json.Decoder(list[msgspec.Raw])


def read_events(body: bytes) -> Iterator[CloudEvent]:
    """Yield the events of a file; EventError says where it is wrong."""
    for place, piece in _pieces(body):
        yield _event(place, piece)


def check_events(body: bytes) -> int:
    """Return how many events a file holds, or raise EventError with everything wrong in it."""
    count = 0
    problems: list[Problem] = []
    for place, piece in _pieces(body):
        count += 1
        try:
            _event(place, piece)
        except EventError as exc:
            problems += exc.problems
    if problems:
        raise EventError(problems)
    return count


def batches(events: Iterable[CloudEvent], most: int = _MOST_EVENTS) -> Iterator[list[CloudEvent]]:
    """Yield the events in groups that a server takes in one request each."""
    group: list[CloudEvent] = []
    size = 0
    for event in events:
        width = len(event.data or b"") + 500
        # A batch holds events of one version only.
        other = bool(group) and group[0].specversion != event.specversion
        if group and (len(group) >= most or size + width > _MOST_BYTES or other):
            yield group
            group, size = [], 0
        group.append(event)
        size += width
    if group:
        yield group


def _pieces(body: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield each event as it is written, with the place where it stands."""
    text = body.removeprefix(b"\xef\xbb\xbf").strip()
    if text.startswith(b"["):
        for index, element in enumerate(_array(text)):
            yield f"[{index}]", bytes(element)
        return
    first, _, rest = text.partition(b"\n")
    if rest.strip() and not _is_json(first):
        yield "", text
        return
    for number, line in enumerate(body.splitlines(), 1):
        if line.strip():
            yield f"line {number}", line


def _array(text: bytes) -> list[msgspec.Raw]:
    try:
        return _elements.decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError) as exc:
        raise EventError([Problem("", f"the file is not JSON: {exc}")]) from exc


def _is_json(line: bytes) -> bool:
    try:
        msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _event(place: str, piece: bytes) -> CloudEvent:
    try:
        return http.read(_HEADERS, piece)[0]
    except EventError as exc:
        found = [Problem(f"{place} {at.path}".strip(), at.message) for at in exc.problems]
        raise EventError(found) from exc
    except FormatError as exc:
        raise EventError([Problem(place, str(exc))]) from exc


def document(event: CloudEvent) -> bytes:
    """Return the event in JSON format, on one line."""
    return http.write(event, Mode.STRUCTURED).body
