from __future__ import annotations

import pickle
from fractions import Fraction

from penstock.pipeline.homes import Desk, Opening
from tests.pipeline.plant import Plant


def test_opening_calls_what_it_names_with_all_arguments() -> None:
    opening = Opening("fractions:Fraction.from_float", ())

    assert opening(0.5) == Fraction(1, 2)
    assert Opening("builtins:pow", (2,))(5, 7) == 4


def test_opening_travels_without_what_it_opens() -> None:
    copy = pickle.loads(pickle.dumps(Opening("nosuch.module:thing", (1,))))  # noqa: S301

    assert copy == Opening("nosuch.module:thing", (1,))


def test_desk_opens_everything_once(works: Plant) -> None:
    desk = Desk(works.homes)

    assert desk.log is desk.log
    assert desk.store is desk.store
    assert desk.ledger is desk.ledger
    assert desk.waiting(1) is desk.waiting(1)
    assert desk.waiting(1) is not desk.waiting(2)
