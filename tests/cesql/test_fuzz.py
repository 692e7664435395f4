"""Random and mutated texts: some in every run, a million among the soak tests."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import cesql
from penstock.errors import ExpressionError
from penstock.events import CloudEvent
from tests.cesql.strategies import examples

SOME, MANY = 20_000, 1_000_000
EVERY = 50
EVENT = CloudEvent(id="1", source="/s", type="t", extensions={"n": 5, "flag": True})
SUITE = Path(__file__).parents[3] / "shared" / "tck" / "cesql"
SEEDS = [
    "type = 'com.example.order.created' AND source LIKE '/shops/%' AND EXISTS subject",
    "(firstname = 'A' AND lastname = \"B\") OR NOT subject NOT IN ('x', n, -5) XOR TRUE",
    "CONCAT_WS(',', LEFT(id, 2), SUBSTRING(type, -3, n + 1 * 2 % 3)) <> 'it''s \\' \\_ %'",
    "int(hop) < int(ttl) and int(hop) < 1000 or --10 >= +5 / 2",
]
PIECES = [
    *("AND", "OR", "XOR", "NOT", "LIKE", "EXISTS", "IN", "TRUE", "false", "'a%'", '"b"', "''"),
    *("(", ")", ",", "+", "-", "*", "/", "%", "=", "!=", "<>", "<", "<=", ">", ">=", "'", '"'),
    *("\\", " ", "\n", "\t", "a", "id", "n", "LENGTH(", "F()", "0", "5", "2147483648", "_", "é"),
    *("\x00", "\ud800", "𝄞", "$", ";", "((", "))", "NOT NOT ", "- - "),
]


def seeds() -> list[str]:
    yaml = pytest.importorskip("yaml")
    files = sorted(SUITE.glob("*.yaml"))
    cases = (case for file in files for case in yaml.safe_load(file.read_text())["tests"])
    return SEEDS + [str(case["expression"]) for case in cases]


def mutated(chance: random.Random, corpus: list[str]) -> str:
    text = chance.choice(corpus)
    for _ in range(chance.randint(1, 4)):
        start = chance.randint(0, len(text))
        end = min(len(text), start + chance.choice((0, 0, 1, 1, 2, 5, 20)))
        new = chance.choice((chance.choice(PIECES), "", text[start:end] * 2, chance.choice(corpus)))
        text = text[:start] + new + text[end:]
    return text


def scrambled(chance: random.Random) -> str:
    return chance.choice(("", " ")).join(chance.choices(PIECES, k=chance.randint(0, 20)))


def hostile_texts(count: int, chance: random.Random) -> Iterator[str]:
    corpus = seeds()
    for number in range(count):
        yield mutated(chance, corpus) if number % 4 else scrambled(chance)


def fault(text: str) -> int | None:
    """Where a text is refused, if it is."""
    try:
        cesql.parse(text)
    except ExpressionError as error:
        return error.offset
    return None


@pytest.mark.parametrize("count", [SOME, pytest.param(MANY, marks=pytest.mark.soak)])
def test_mutated_texts_raise_nothing_but_expression_errors(count: int) -> None:
    seed = random.Random().randrange(2**32)
    readable: list[str] = []

    for text in hostile_texts(count, random.Random(seed)):
        offset = fault(text)
        assert offset is None or 0 <= offset <= len(text), (seed, text)
        if offset is None:
            readable.append(text)

    # A fuzzer that never hits a valid text tests the first lines of the parser only.
    assert count // 50 < len(readable) < count
    for text in readable[::EVERY]:
        assert is_usable(text), (seed, text)


def is_usable(text: str) -> bool:
    expression = cesql.parse(text)
    result = expression.evaluate(EVENT)
    expression.cover()
    return expression.passes(EVENT) is (result.value is True and result.error is None)


@settings(max_examples=examples(300))
@given(st.text() | st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join))
def test_any_text_evaluates_to_a_result(text: str) -> None:
    result = cesql.evaluate(text, EVENT)

    assert isinstance(result.value, bool | int | str)
