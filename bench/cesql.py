"""How fast CESQL expressions are evaluated on one core; `python bench/cesql.py` prints the figures.

The goal is 500,000 evaluations of the typical expression per second.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable

from penstock import cesql, filters
from penstock.events import CloudEvent

GOAL = 500_000
ROUNDS = 7
CALLS = 50_000
TYPICAL = "type = 'com.example.order.created' AND source LIKE '/shops/%' AND EXISTS subject"
EXPRESSIONS = {
    "typical": TYPICAL,
    "set and numbers": "priority IN (1, 2, 3) AND attempt + 1 < 5",
    "pattern in the middle": "source LIKE '/shops/%/orders/%' OR subject LIKE '%_urgent%'",
    "functions": "LENGTH(TRIM(subject)) > 3 AND UPPER(LEFT(type, 3)) = 'COM'",
    "missing attribute": "nosuch = 'x' AND type = 'y'",
}
EVENT = CloudEvent(
    id="A234-1234-1234",
    source="/shops/42/orders/7",
    type="com.example.order.created",
    subject="order-7",
    time="2018-04-05T17:31:00Z",
    datacontenttype="application/json",
    extensions={"priority": 2, "attempt": "3"},
)


def _rate(work: Callable[[], object], calls: int = CALLS) -> float:
    return calls / min(timeit.repeat(work, number=calls, repeat=ROUNDS))


def _passes(text: str) -> Callable[[], object]:
    matches = filters.parse({"sql": text}).matches
    return lambda: matches(EVENT)


def _compiles() -> Callable[[], object]:
    numbers = iter(range(10**9))
    # A new text each time, so that nothing is remembered.
    return lambda: cesql.parse(f"{TYPICAL} AND id != '{next(numbers)}'").passes


def measure() -> dict[str, float]:
    """Return how often each kind of work is done per second on one core."""
    figures = {f"filter, {name}": _rate(_passes(text)) for name, text in EXPRESSIONS.items()}
    evaluate = cesql.parse(TYPICAL).evaluate
    figures["value and error, typical"] = _rate(lambda: evaluate(EVENT))
    figures["exact filter, for comparison"] = _rate(_exact())
    figures["parse and compile, typical"] = _rate(_compiles(), 200)
    return figures


def _exact() -> Callable[[], object]:
    matches = filters.parse({"exact": {"type": EVENT.type}}).matches
    return lambda: matches(EVENT)


def main() -> None:
    for name, rate in measure().items():
        print(f"{name:35}{rate:12,.0f}/s")
    print(f"goal for the typical filter{GOAL:20,}/s")


if __name__ == "__main__":
    main()
