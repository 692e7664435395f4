"""Metrics: their names, and one function per notable occurrence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import CounterMetricFamily, Metric

METRICS: Mapping[str, str] = {
    "penstock_events_in_total": "Events accepted and durably stored, by stream.",
    "penstock_bytes_in_total": "Bytes of the requests that brought them, by stream.",
    "penstock_requests_refused_total": "Publishing requests that were refused, by status.",
    "penstock_commit_events": "Events in one group commit.",
    "penstock_commit_seconds": "Time that one group commit took.",
    "penstock_route_matched_total": "Events that matched a route.",
    "penstock_route_delivered_total": "Deliveries that succeeded, by route.",
    "penstock_route_retried_total": "Attempts after the first, by route.",
    "penstock_route_dead_total": "Deliveries that were given up, by route.",
    "penstock_route_parked": "Deliveries that wait for their next attempt, by route.",
    "penstock_log_head": "The position at which the next event is stored.",
    "penstock_lag_events": "Events that the pipeline has not settled yet.",
    "penstock_lag_seconds": "Age of the oldest event that the pipeline has not settled yet.",
    "penstock_batch_seconds": "Time that the micro-batches of the pipeline took.",
    "penstock_batch_events_total": "Events that the micro-batches of the pipeline settled.",
    "penstock_destinations": "Destinations that are not simply up, and recent ones, by state.",
    "penstock_ready": "1 when API, log, store and pipeline are all ready.",
}
"""Every metric of Penstock with its help text."""

_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 512, 2_048, 8_192)
_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)


class Telemetry:
    """What one process counts."""

    def __init__(self) -> None:
        self.registry = home = CollectorRegistry()
        refused = _described("penstock_requests_refused_total")
        self._refused = Counter(*refused, ["status"], registry=home)
        sizes, seconds = _described("penstock_commit_events"), _described("penstock_commit_seconds")
        self._sizes = Histogram(*sizes, buckets=_SIZES, registry=home)
        self._seconds = Histogram(*seconds, buckets=_SECONDS, registry=home)
        # Plain numbers: every event passes here, and a locked counter takes five times as long.
        self._in: dict[str, tuple[int, int]] = {}
        home.register(self)

    def accepted(self, stream: str, events: int, size: int) -> None:
        """Count events that were stored; always called from the same thread."""
        before = self._in.get(stream, (0, 0))
        self._in[stream] = before[0] + events, before[1] + size

    def refused(self, status: int) -> None:
        """Count a publishing request that was refused."""
        self._refused.labels(str(status)).inc()

    def committed(self, events: int, seconds: float) -> None:
        """Count a group commit."""
        self._sizes.observe(events)
        self._seconds.observe(seconds)

    def collect(self) -> Iterator[Metric]:
        """Yield what was accepted, the way Prometheus asks for it."""
        events = CounterMetricFamily(*_described("penstock_events_in_total"), labels=["stream"])
        size = CounterMetricFamily(*_described("penstock_bytes_in_total"), labels=["stream"])
        for stream, (count, total) in list(self._in.items()):
            events.add_metric([stream], count)
            size.add_metric([stream], total)
        yield from (events, size)


def _described(name: str) -> tuple[str, str]:
    return name, METRICS[name]
