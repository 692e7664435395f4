from __future__ import annotations

import pytest

from penstock.cesql.tokens import TokenKind, tokens
from penstock.errors import ExpressionError


def texts(text: str) -> list[str]:
    return [token.text for token in tokens(text)]


def test_symbols_need_no_space_around_them() -> None:
    found = texts("a<=1+2!=(b,c)")

    assert " ".join(found) == "a <= 1 + 2 != ( b , c ) "


def test_all_four_kinds_of_space_separate() -> None:
    assert texts("a\tb\rc\nd e") == ["a", "b", "c", "d", "e", ""]


@pytest.mark.parametrize("space", ["\xa0", "\x0b", "\u2003"])
def test_other_space_is_refused(space: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        texts(f"a {space}= 1")

    assert caught.value.offset == 2


def test_keywords_are_folded_to_upper_case() -> None:
    found = list(tokens("aNd tRuE"))

    assert [(token.kind, token.text) for token in found[:2]] == [
        (TokenKind.KEYWORD, "AND"),
        (TokenKind.KEYWORD, "TRUE"),
    ]


def test_diamond_is_not_equal() -> None:
    assert texts("1<>2") == ["1", "!=", "2", ""]


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        (r"'abc'", "abc"),
        (r"''", ""),
        (r"""'a"b\'c'""", "a\"b'c"),
        (r'''"a'b\"c"''', "a'b\"c"),
        (r"'it''s'", "it's"),
        (r'"say ""no"""', 'say "no"'),
        (r"'a\b'", r"a\b"),
        (r"'a\\'", r"a\\"),
        (r"'a\"b'", r"a\"b"),
        ("'a\nb'", "a\nb"),
        ("'𝄞'", "𝄞"),
    ],
)
def test_only_the_own_quote_is_unescaped(literal: str, value: str) -> None:
    assert texts(literal) == [value, ""]


@pytest.mark.parametrize(
    ("text", "offset"), [("a = 'b", 4), ('"', 0), (r"x = 'a\'", 4), ("  '", 2)]
)
def test_open_string_is_underlined_at_its_quote(text: str, offset: int) -> None:
    with pytest.raises(ExpressionError, match="never closed") as caught:
        texts(text)

    assert caught.value.offset == offset


@pytest.mark.parametrize("character", ["$", ";", "é", "!", "\\", "\x00", "\ud800"])
def test_character_outside_the_language_is_refused(character: str) -> None:
    with pytest.raises(ExpressionError, match="unexpected character") as caught:
        texts(f"a = {character}")

    assert caught.value.offset == 4


def test_tokens_know_their_places() -> None:
    found = list(tokens("  ab = 'c''d'"))

    assert [(token.start, token.end) for token in found] == [(2, 4), (5, 6), (7, 13), (13, 13)]
