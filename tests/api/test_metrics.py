from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from penstock import folder, runtime
from penstock.config import Settings
from penstock.ports import Health, Settlement, State, Tally
from penstock.telemetry import METRICS
from tests.api.served import BATCHED, BINARY, EVENT, Served, serving

Samples = dict[tuple[str, ...], float]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path) as running:
        yield running


def scraped(served: Served) -> Samples:
    """Every sample by its name and the values of its labels."""
    text = served.get("/metrics").body.decode()
    families = text_string_to_metric_families(text)
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in families
        for sample in family.samples
    }


def settle(data: Path, settlement: Settlement) -> None:
    with closing(runtime.open_ledger(Settings(data=str(data)))) as ledger:
        ledger.begin()
        ledger.settle(settlement)


def test_published_events_are_counted(served: Served) -> None:
    served.post("/events", [EVENT] * 3, BATCHED)
    served.post("/events", b"1234", BINARY)
    served.post("/events", b"", {})

    found = scraped(served)

    stream = "brokers/default/default"
    assert found["penstock_events_in_total", stream] == 4
    assert found["penstock_bytes_in_total", stream] > 4
    assert found["penstock_requests_refused_total", "400"] == 1
    assert found["penstock_commit_events_sum",] == 4
    assert found["penstock_commit_seconds_count",] == found["penstock_commit_events_count",]


def test_lag_is_what_is_not_settled(served: Served, tmp_path: Path) -> None:
    served.post("/events", [EVENT] * 5, BATCHED)
    settle(tmp_path, Settlement(1, position=(3,)))

    found = scraped(served)

    assert found["penstock_log_head",] == 5
    assert found["penstock_lag_events",] == 2
    assert 0 < found["penstock_lag_seconds",] < 60


def test_nothing_lags_when_all_is_settled(served: Served, tmp_path: Path) -> None:
    served.post("/events", [EVENT] * 5, BATCHED)
    settle(tmp_path, Settlement(1, position=(5,)))

    found = scraped(served)

    assert (found["penstock_lag_events",], found["penstock_lag_seconds",]) == (0, 0)


def test_routes_are_counted(served: Served, tmp_path: Path) -> None:
    tally = Tally("r1", matched=9, delivered=5, parked=2, dead=1, retried=3)
    settle(tmp_path, Settlement(1, tallies=[tally]))

    found = scraped(served)

    assert found["penstock_route_matched_total", "r1"] == 9
    assert found["penstock_route_delivered_total", "r1"] == 5
    assert found["penstock_route_parked", "r1"] == 2
    assert found["penstock_route_dead_total", "r1"] == 1
    assert found["penstock_route_retried_total", "r1"] == 3


def test_batches_and_destinations_are_counted(served: Served, tmp_path: Path) -> None:
    health = [Health("http://a", State.DOWN), Health("http://b", State.SLOW), Health("http://c")]
    settle(tmp_path, Settlement(1, position=(4,), batch=(4, 0.2), health=health))

    found = scraped(served)

    assert found["penstock_batch_seconds_bucket", "0.1"] == 0
    assert found["penstock_batch_seconds_bucket", "0.25"] == 1
    assert found["penstock_batch_seconds_count",] == 1
    assert found["penstock_batch_events_total",] == 4
    assert [found["penstock_destinations", state] for state in ("up", "slow", "down")] == [1, 1, 1]


def test_readiness_is_a_metric(served: Served, tmp_path: Path) -> None:
    before = scraped(served)["penstock_ready",]
    folder.beat(Settings(data=str(tmp_path)))

    assert (before, scraped(served)["penstock_ready",]) == (0, 1)


def test_every_metric_is_in_the_table(served: Served) -> None:
    served.post("/events", b"", BINARY)

    families = list(text_string_to_metric_families(served.get("/metrics").body.decode()))

    names = {family.name for family in families if not family.name.endswith("_created")}
    assert names == {name.removesuffix("_total") for name in METRICS}
    documented = {family.name: family.documentation for family in families}
    assert all(documented[name.removesuffix("_total")] == text for name, text in METRICS.items())
