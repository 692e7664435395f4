"""Channel fan-out: one event to fifty subscriptions, beside one event to one."""

from __future__ import annotations

import time

from bench import rig
from penstock import runtime
from penstock.config import Settings
from penstock.events.entry import Entry
from penstock.routing import Policy, Route, Rules, Stream, StreamKind, Target
from penstock.store import SqlLedger

DELIVERIES = 100_000
WIDTH = 50
_STEP = 5_000
_WARM = 2_000
_AT_ONCE = 64


def measure(deliveries: int = DELIVERIES) -> list[rig.Row]:
    """Return deliveries/s of 1 → 50 and of 1 → 1, with the same number of deliveries."""
    wide = _speed(WIDTH, deliveries // 2)
    narrow = _speed(1, deliveries)
    # The machine is noisy: one part is taken before and after the other, so that drift hits both.
    wide = rig.mean([wide, _speed(WIDTH, deliveries // 2)])
    name = f"channel 1 → {WIDTH}, {deliveries:,} deliveries / 1 → 1"
    return [rig.ratio_row(name, wide, narrow, "deliveries/s", 1.0)]


def _speed(width: int, deliveries: int) -> float:
    with rig.nginx() as address, rig.data_folder() as settings:
        channel = Stream(StreamKind.CHANNEL, "default", "bench").key
        rig.put_routes(settings, [_route(channel, address, number) for number in range(width)])
        return _drained(settings, channel, deliveries // width, width)


def _route(stream: str, address: str, number: int) -> Route:
    """A subscription as Knative's rules make it, each with a sink of its own."""
    target = Target(f"{address}{number}", in_flight=_AT_ONCE)
    return Route(f"s{number}", stream, target, rules=Rules.KNATIVE, policy=Policy(retries=10))


def _drained(settings: Settings, stream: str, events: int, width: int) -> float:
    """Return how many deliveries per second are made."""
    log, ledger = runtime.open_log(settings), runtime.open_ledger(settings)
    step = min(_STEP, events)
    with rig.running_pipeline(settings):
        warm = min(_WARM, events) // width
        log.append(_entries(stream, warm))
        rig.wait_for(lambda: _delivered(ledger) == warm * width, 60)
        groups = [_entries(stream, min(step, events - at), at) for at in range(0, events, step)]
        started = time.monotonic()
        for group in groups:
            log.append(group)
        rig.wait_for(lambda: _delivered(ledger) == (warm + events) * width, 300)
        seconds = time.monotonic() - started
    return events * width / seconds


def _delivered(ledger: SqlLedger) -> int:
    return sum(tally.delivered for tally in ledger.tallies().values())


def _entries(stream: str, count: int, first: int = 0) -> list[Entry]:
    return [Entry(stream, entry.event, entry.received) for entry in rig.small_entries(count, first)]
