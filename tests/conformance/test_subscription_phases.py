"""Subscriptions API: generation, filtering and transmission, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from penstock.pipeline import rows
from penstock.pipeline.sink import DeliveryWriter
from penstock.ports import Span
from penstock.routing import DEFAULT
from penstock.subscriptions.subscription import read
from tests.log.entries import an_entry
from tests.pipeline.plant import PACE, Plant, plant
from tests.pipeline.receiver import Receiver, receiving

pytestmark = pytest.mark.network


@pytest.fixture
def works(tmp_path: Path) -> Iterator[Plant]:
    with plant(tmp_path) as made:
        made.ledger.begin()
        yield made


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as opened:
        yield opened


@pytest.mark.covers("SUB-011")
def test_only_what_passes_generation_and_filters_is_sent(works: Plant, receiver: Receiver) -> None:
    proposed = read(
        {
            "protocol": "HTTP",
            "sink": receiver.uri("/in"),
            "source": "/s",
            "types": ["t"],
            "filters": [{"exact": {"subject": "x"}}],
        }
    )
    made = msgspec.structs.replace(proposed, id="r", stream=DEFAULT.key)
    version = works.put(made.route((0,)))
    right = {"source": "/s", "type": "t", "subject": "x"}
    wrong = [{"source": "/o"}, {"type": "o"}, {"subject": "o"}]
    events = [an_entry(n, **{**right, **part}) for n, part in enumerate([*wrong, {}])]
    batch = rows.placed(works.log.read(Span(0, 0, works.append(events))), version)
    assert batch is not None

    work = DeliveryWriter(works.homes, PACE, 1).write(iter([batch]))

    assert work.done is not None
    assert [tally.matched for tally in work.done.settlement.tallies] == [1]
    assert receiver.places["/in"].ids == ["3"]
