from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.cesql import like
from tests.cesql import naive


def matches(text: str, pattern: str) -> bool:
    return like.matcher(like.pattern(pattern))(text)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("abc", "abc"),
        ("", ""),
        ("", "%"),
        ("abc", "%%"),
        ("abc", "a%c"),
        ("ac", "a%c"),
        ("azbzc", "a%b%c"),
        ("abcbc", "a%bc"),
        ("a\nc", "a_c"),
        ("𝄞", "_"),
        ("ab", "_b%"),
        ("abc%", r"abc\%"),
        ("a_", r"a\_"),
        ("a\\b", r"a\b"),
        ("a\\", "a\\"),
        ("\\%", r"\\%"),
        (".ab.cde.", ".%.%."),
        ("xaxbx", "%a_b%"),
        ("aab", "%ab"),
    ],
)
def test_value_matches(text: str, pattern: str) -> None:
    assert matches(text, pattern)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("abc", "ab"),
        ("abc", "bc"),
        ("a", ""),
        ("a", "a%a"),
        ("aBc", "_b%"),
        ("b", "_b%"),
        ("abcd", r"abc\%"),
        ("ab", r"a\_"),
        ("abc", "a_b_c"),
        ("", "_"),
        ("ab", "a.b"),
        ("aab", "%b%a%"),
        ("ab", "ab%b"),
    ],
)
def test_value_does_not_match(text: str, pattern: str) -> None:
    assert not matches(text, pattern)


@given(st.text("ab%_\\", max_size=8), st.text("ab%_\\\n", max_size=6))
def test_matcher_agrees_with_the_table_of_all_ways(text: str, pattern: str) -> None:
    assert matches(text, pattern) is naive.like(text, pattern)


@pytest.mark.parametrize(
    ("pattern", "head", "tail"),
    [
        ("a%b", "a", "b"),
        ("a_c%d_f", "a", "f"),
        ("%", "", ""),
        (r"\%a%", "%a", ""),
        ("abc", "abc", "abc"),
    ],
)
def test_literal_ends_are_known(pattern: str, head: str, tail: str) -> None:
    parts = like.pattern(pattern)

    assert (parts.head, parts.tail) == (head, tail)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("a" * 60_000, "%a" * 2_000 + "%b%"),
        ("a" * 60_000, "%" + "a_" * 250 + "b%"),
        ("a" * 60_000, "%" + "_" * 30_000 + "b"),
        ("ab" * 30_000, "%ab%ab%ab%ba%c"),
    ],
    ids=lambda text: text[:10],
)
def test_hostile_pattern_is_decided_quickly(text: str, pattern: str) -> None:
    decide = like.matcher(like.pattern(pattern))
    started = time.process_time()

    assert not decide(text)

    assert time.process_time() - started < 2


def test_piece_that_would_be_searched_for_slowly_is_refused() -> None:
    piece = "a_" * (like.LONGEST_WILD // 2)

    assert like.fault(f"%{piece}%") is None
    assert like.fault(f"{piece}x%{piece}x") is None
    assert "between two %" in (like.fault(f"%{piece}x%") or "")
    assert like.fault("%" + "x" * 5000 + "%") is None
