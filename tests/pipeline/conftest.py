from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pipeline.plant import Plant, plant
from tests.pipeline.receiver import Receiver, receiving


@pytest.fixture
def works(tmp_path: Path) -> Iterator[Plant]:
    """A log, a store and a ledger of their own, in their first generation."""
    with plant(tmp_path) as made:
        made.ledger.begin()
        yield made


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as opened:
        yield opened
