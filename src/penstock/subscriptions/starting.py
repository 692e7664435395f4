"""Where a subscription starts: `config.startfrom`, and positions as clients see them."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping

import msgspec

from penstock.events.values import parse_timestamp
from penstock.ports import EventLog, Position
from penstock.routing import Gap, Route
from penstock.subscriptions.reading import mapping, refuse

KEY = "startfrom"
PATH = f"config.{KEY}"
NOW, EARLIEST = "now", "earliest"
_POSITION = re.compile(r"p((?:0|[1-9][0-9]{0,17})(?:\.(?:0|[1-9][0-9]{0,17}))*)-([0-9a-f]{4})")


def printed(position: Position) -> str:
    """Return a position in the form in which clients get it and give it back."""
    offsets = ".".join(map(str, position))
    return f"p{offsets}-{_check(offsets)}"


def parsed(text: str) -> Position | None:
    """Return the position that `printed` wrote, or None when it did not write this."""
    match = _POSITION.fullmatch(text)
    if match is None or _check(match[1]) != match[2]:
        return None
    return tuple(map(int, match[1].split(".")))


def _check(offsets: str) -> str:
    # Positions are to be handed back, not to be made up: a typing error must not go unnoticed.
    return f"{zlib.crc32(offsets.encode()) & 0xFFFF:04x}"


def config(value: object, path: str) -> Mapping[str, object]:
    """Return a `config` whose start, if it has one, can be understood."""
    found = mapping(value, path)
    if found.get(KEY) is not None:
        _known(found[KEY], f"{path}.{KEY}")
    return found


def _known(value: object, path: str) -> None:
    understood = isinstance(value, str) and (
        value in (NOW, EARLIEST) or parsed(value) or parse_timestamp(value)
    )
    if not understood:
        raise refuse(
            path, f"must be {NOW}, {EARLIEST}, an RFC 3339 time or a position given by this API"
        )


def wish(config: Mapping[str, object] | None) -> str:
    """Return where a checked `config` wants to start."""
    return str((config or {}).get(KEY) or NOW)


def unchanged(before: Mapping[str, object] | None, after: Mapping[str, object] | None) -> None:
    """Refuse an update that names another start: what was delivered cannot be taken back."""
    if (after or {}).get(KEY) is not None and wish(before) != wish(after):
        raise refuse(PATH, f"the subscription started at {wish(before)}, and that never changes")


def started(route: Route, wanted: str, log: EventLog, now: float) -> Route:
    """Return the route with its start; what lies before the next run of events is its first gap."""
    first, head = log.bounds()
    if wanted == NOW:
        return msgspec.structs.replace(route, start=head)
    asked = _asked(wanted, log, now)
    start = tuple(map(max, asked, first)) if asked else first
    if any(ours > theirs for ours, theirs in zip(start, head, strict=True)):
        raise refuse(PATH, "is a position that the log has not reached yet")
    clipped = bool(asked) and any(ours < theirs for ours, theirs in zip(asked, first, strict=True))
    gaps = (Gap(until=0, start=start),)
    return msgspec.structs.replace(route, start=start, gaps=gaps, clipped=clipped)


def _asked(wanted: str, log: EventLog, now: float) -> Position:
    """Return the position that is asked for, which the log may have forgotten."""
    if wanted == EARLIEST:
        return ()
    first, head = log.bounds()
    moment = parse_timestamp(wanted)
    if moment is None:
        position = parsed(wanted) or ()
        if len(position) != len(head):
            raise refuse(PATH, "is a position of another log")
        return position
    if moment.timestamp() > now:
        raise refuse(PATH, "lies in the future")
    found = log.since(int(moment.timestamp() * 1_000_000))
    # Where all that is kept is younger, some that was forgotten may have been young enough too.
    if found == first:
        return tuple(max(offset - 1, 0) for offset in first)
    return found
