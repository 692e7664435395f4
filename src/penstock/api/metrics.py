"""Metrics for Prometheus: what this process counted, and what the ledger says when asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from starlette.responses import Response
from starlette.routing import Route

from penstock.api.health import lacking
from penstock.api.resource import Call, Resource
from penstock.control import Control
from penstock.errors import StoreError
from penstock.ports import Position, Span, State
from penstock.telemetry import METRICS, Telemetry

_COUNTED = ("matched", "delivered", "retried", "dead")


def routes(control: Control, telemetry: Telemetry) -> Sequence[Route]:
    """Return the route of /metrics."""
    telemetry.registry.register(_Ledger(control))

    def metrics(_call: Call) -> Response:
        return Response(
            generate_latest(telemetry.registry), headers={"content-type": CONTENT_TYPE_LATEST}
        )

    return (Route("/metrics", Resource(control.url, GET=metrics)),)


class _Ledger:
    """Reads the ledger at each scrape, so that nothing is counted twice or forgotten."""

    def __init__(self, control: Control) -> None:
        self._control = control

    def describe(self) -> Sequence[Metric]:
        """Return nothing: without it, registering would read the ledger once."""
        return ()

    def collect(self) -> Iterator[Metric]:
        yield from self._routes()
        yield from self._lag()
        yield from self._batches()
        yield self._destinations()
        yield _gauge("penstock_ready", 0 if lacking(self._control) else 1)

    def _routes(self) -> Iterator[Metric]:
        tallies = self._control.ledger.tallies().values()
        for name in _COUNTED:
            full = f"penstock_route_{name}_total"
            counter = CounterMetricFamily(full, METRICS[full], labels=["route"])
            for tally in tallies:
                counter.add_metric([tally.route], getattr(tally, name))
            yield counter
        parked = "penstock_route_parked"
        gauge = GaugeMetricFamily(parked, METRICS[parked], labels=["route"])
        for tally in tallies:
            gauge.add_metric([tally.route], tally.parked)
        yield gauge

    def _lag(self) -> Iterator[Metric]:
        first, head = self._control.log.bounds()
        settled = self._control.ledger.position() or first
        yield _gauge("penstock_log_head", sum(head))
        yield _gauge("penstock_lag_events", max(sum(head) - sum(settled), 0))
        yield _gauge("penstock_lag_seconds", self._age(settled, head))

    def _age(self, settled: Position, head: Position) -> float:
        """Return the age of the oldest event that is not settled."""
        now = self._control.clock.now()
        ages = [0.0]
        for partition, (start, end) in enumerate(zip(settled, head, strict=False)):
            if start < end:
                received = self._received(Span(partition, start, start + 1))
                ages.append(now - received / 1_000_000 if received else 0.0)
        return max(ages)

    def _received(self, span: Span) -> int:
        try:
            return next(
                int(chunk.batch.column("received")[0].as_py())
                for chunk in self._control.log.read(span)
            )
        except (StopIteration, StoreError):  # just trimmed
            return 0

    def _batches(self) -> Iterator[Metric]:
        batches = self._control.ledger.batches()
        bounds = [str(bound) for bound in self._control.batch_bounds]
        buckets = [*zip(bounds, batches.within, strict=True), ("+Inf", batches.count)]
        name = "penstock_batch_seconds"
        histogram = HistogramMetricFamily(name, METRICS[name])
        histogram.add_metric([], buckets, batches.seconds)
        yield histogram
        events = "penstock_batch_events_total"
        yield CounterMetricFamily(events, METRICS[events], value=batches.events)

    def _destinations(self) -> Metric:
        states = Counter(health.state for health in self._control.ledger.health().values())
        name = "penstock_destinations"
        gauge = GaugeMetricFamily(name, METRICS[name], labels=["state"])
        for state in State:
            gauge.add_metric([state.value], states[state])
        return gauge


def _gauge(name: str, value: float) -> Metric:
    return GaugeMetricFamily(name, METRICS[name], value=value)
