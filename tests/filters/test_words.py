from __future__ import annotations

import json

import pytest

from penstock import cesql, filters
from penstock.cesql import Lookup
from penstock.filters import words


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("type = 'a'", "type is 'a'"),
        ("type != 'a'", "type is not 'a'"),
        ("EXISTS a AND NOT EXISTS b", "a is present and b is absent"),
        ("a LIKE 'x'", "a is 'x'"),
        ("a LIKE 'x%'", "a starts with 'x'"),
        ("a NOT LIKE 'x%'", "a does not start with 'x'"),
        ("a LIKE '%x'", "a ends with 'x'"),
        ("a LIKE '%x%'", "a contains 'x'"),
        ("a LIKE 'x\\%%'", "a starts with 'x%'"),
        ("a NOT LIKE '_x'", "a does not match the pattern '_x'"),
        ("a IN (1, 'x')", "a is one of 1, 'x'"),
        ("a NOT IN (b)", "a is none of b"),
        ("a AND b AND c OR d", "(a and b and c) or d"),
        ("a AND (b AND c)", "a and b and c"),
        ("a XOR b", "a or else b"),
        ("NOT (a OR b)", "not (a or b)"),
        ("a + 1 > 2 * b", "a plus 1 is greater than 2 times b"),
        ("a - (b - c) <= -(a + b)", "a minus (b minus c) is at most -(a plus b)"),
        ("(a < b) = TRUE", "(a is less than b) is TRUE"),
        ("LENGTH(CONCAT(a, 'x')) >= 3", "LENGTH(CONCAT(a, 'x')) is at least 3"),
        ("(a = b) LIKE 'tr%'", "(a is b) starts with 'tr'"),
    ],
)
def test_expression_is_said_in_words(text: str, meaning: str) -> None:
    assert words.expression(cesql.parse(text).tree) == meaning


def test_long_chain_is_said_without_recursion() -> None:
    tree = cesql.parse(" AND ".join(["a"] * 5000)).tree

    assert words.expression(tree).count("and") == 4999


@pytest.mark.parametrize(
    ("lookup", "meaning"),
    [
        (Lookup("exact", "a", "x"), "a is 'x'"),
        (Lookup("prefix", "a", "x"), "a starts with 'x'"),
        (Lookup("suffix", "a", "x"), "a ends with 'x'"),
    ],
)
def test_lookup_is_said_in_words(lookup: Lookup, meaning: str) -> None:
    assert words.lookup(lookup) == meaning


@pytest.mark.parametrize("text", ["\ud800", "\0", "𝄞"])
def test_filter_of_filters_is_its_document_whatever_is_in_it(text: str) -> None:
    filter_ = filters.parse({"not": {"exact": {"id": text}}})

    assert json.loads(words.headline(filter_)) == filter_.document()


def test_large_filter_of_filters_is_cut_short() -> None:
    many = filters.parse({"any": [{"exact": {"id": str(number)}} for number in range(1000)]})

    assert len(words.headline(many)) < 600
