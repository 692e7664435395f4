from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import ResourceError
from penstock.log import SqliteLog
from penstock.routing import Gap
from penstock.subscriptions import starting
from tests.log.entries import some
from tests.routing.routes import a_route

NOW = 1_700_000_000.0
POSITIONS = st.lists(st.integers(0, 10**17), min_size=1, max_size=5).map(tuple)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[SqliteLog]:
    """Four batches of two events, stored ten seconds apart, of which the first is forgotten."""
    with closing(SqliteLog.open(tmp_path / "log.db")) as opened:
        for number in range(4):
            opened.append(some(range(2 * number, 2 * number + 2)))
            opened._connection.execute(  # noqa: SLF001 - as if it were then
                "UPDATE batches SET appended = ? WHERE first = ?",
                (int((NOW - 100 + 10 * number) * 1_000_000), 2 * number),
            )
        opened.trim((2,))
        yield opened


def at(seconds: float) -> str:
    """The time so many seconds after the first batch was stored."""
    minute, second = divmod(20 + seconds - 100, 60)
    return f"2023-11-14T22:{int(13 + minute):02}:{second:06.3f}Z"


@given(POSITIONS)
def test_position_comes_back_from_its_text(position: tuple[int, ...]) -> None:
    assert starting.parsed(starting.printed(position)) == position


@pytest.mark.parametrize(
    "text",
    [
        *("", "p", "p1", "1-0000", "p1-0000", "p01-0000", "p-1-0000", "p1.-0000"),
        *(starting.printed((1,)).upper(), starting.printed((1,)) + " ", "p9" * 40),
        starting.printed((12,)).replace("p12", "p13"),
    ],
)
def test_text_that_was_never_given_is_no_position(text: str) -> None:
    assert starting.parsed(text) is None


@pytest.mark.parametrize(
    "value",
    [
        *("now", "earliest", "2026-01-01T00:00:00Z", "2026-01-01t00:00:00+02:00", None),
        starting.printed((5,)),
    ],
)
def test_known_starts_are_accepted(value: object) -> None:
    assert starting.config({"startfrom": value, "x": 1}, "config") == {"startfrom": value, "x": 1}


@pytest.mark.parametrize("value", ["", "soon", "2026-01-01", 5, True, [], {}, "NOW", "p5-0000"])
def test_unknown_start_is_refused_with_its_path(value: object) -> None:
    with pytest.raises(ResourceError) as refused:
        starting.config({"startfrom": value}, "config")

    assert [problem.path for problem in refused.value.problems] == ["config.startfrom"]


def test_start_now_is_the_head_and_leaves_nothing_to_catch_up(log: SqliteLog) -> None:
    route = starting.started(a_route(), "now", log, NOW)

    assert (route.start, route.gaps, route.clipped) == ((8,), (), False)


@pytest.mark.parametrize(
    ("wanted", "start", "clipped"),
    [
        ("earliest", 2, False),
        (starting.printed((5,)), 5, False),
        (starting.printed((8,)), 8, False),
        (starting.printed((1,)), 2, True),
        (at(10), 2, True),
        (at(10.001), 4, False),
        (at(25), 6, False),
        (at(99), 8, False),
        ("1999-01-01T00:00:00Z", 2, True),
    ],
)
def test_start_in_the_past_is_a_gap_that_ends_with_the_next_run(
    log: SqliteLog, wanted: str, start: int, *, clipped: bool
) -> None:
    route = starting.started(a_route(), wanted, log, NOW)

    assert (route.start, route.clipped) == ((start,), clipped)
    assert route.gaps == (Gap(0, 0, (start,)),)


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ("2100-01-01T00:00:00Z", "lies in the future"),
        (starting.printed((9,)), "has not reached"),
        (starting.printed((1, 1)), "another log"),
    ],
)
def test_start_that_cannot_be_is_refused(log: SqliteLog, wanted: str, why: str) -> None:
    with pytest.raises(ResourceError, match=why):
        starting.started(a_route(), wanted, log, NOW)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, None),
        ({"startfrom": "earliest"}, {"startfrom": "earliest"}),
        ({"startfrom": "earliest"}, None),
        ({"startfrom": "earliest"}, {"startfrom": None}),
        (None, {"startfrom": "now"}),
    ],
)
def test_update_may_repeat_the_start_or_leave_it_out(
    before: dict[str, Any] | None, after: dict[str, Any] | None
) -> None:
    starting.unchanged(before, after)


def test_update_cannot_name_another_start() -> None:
    with pytest.raises(ResourceError, match="never changes"):
        starting.unchanged(None, {"startfrom": "earliest"})
