"""CESQL text → tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from penstock.errors import ExpressionError


class TokenKind(Enum):
    """What a token can be."""

    STRING = auto()
    INTEGER = auto()
    WORD = auto()
    KEYWORD = auto()
    SYMBOL = auto()
    END = auto()


KEYWORDS = frozenset({"AND", "OR", "XOR", "NOT", "LIKE", "EXISTS", "IN", "TRUE", "FALSE"})


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text; keywords are in upper case, `<>` is `!=`, strings are unescaped."""

    kind: TokenKind
    text: str
    start: int
    end: int

    def is_symbol(self, text: str) -> bool:
        """Tell whether this is the given symbol."""
        return self.kind is TokenKind.SYMBOL and self.text == text

    def is_keyword(self, *texts: str) -> bool:
        """Tell whether this is one of the given keywords."""
        return self.kind is TokenKind.KEYWORD and self.text in texts


# Possessive, so that a quote that is never closed is refused in linear time.
_TOKEN = re.compile(
    r"""
    [ \t\r\n]*+
    (?: (?P<single> ' (?: [^'\\] | \\. | '' )*+ ' )
      | (?P<double> " (?: [^"\\] | \\. | "" )*+ " )
      | (?P<word> [A-Za-z0-9_]++ )
      | (?P<symbol> != | <> | <= | >= | [-+*/%=<>(),] )
      | (?P<end> \Z )
    )
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_ESCAPED = {"'": re.compile(r"\\(.)|''", re.DOTALL), '"': re.compile(r'\\(.)|""', re.DOTALL)}


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of a text, the last one of kind END, or raise ExpressionError."""
    position = 0
    while True:
        found = _TOKEN.match(text, position)
        if found is None:
            raise _unknown(text, position)
        token = _token(found)
        yield token
        if token.kind is TokenKind.END:
            return
        position = token.end


def _token(found: re.Match[str]) -> Token:
    group = found.lastgroup or "end"
    start, end = found.span(group)
    text = found[group]
    match group:
        case "single" | "double":
            return Token(TokenKind.STRING, _unescaped(text), start, end)
        case "word":
            return _word(text, start, end)
        case "symbol":
            return Token(TokenKind.SYMBOL, "!=" if text == "<>" else text, start, end)
    return Token(TokenKind.END, "", start, end)


def _word(text: str, start: int, end: int) -> Token:
    if text.isdigit():
        return Token(TokenKind.INTEGER, text, start, end)
    if text.upper() in KEYWORDS:
        return Token(TokenKind.KEYWORD, text.upper(), start, end)
    return Token(TokenKind.WORD, text, start, end)


def _unescaped(literal: str) -> str:
    quote = literal[0]

    def plain(found: re.Match[str]) -> str:
        return quote if found[1] in (None, quote) else found[0]

    return _ESCAPED[quote].sub(plain, literal[1:-1])


def _unknown(text: str, position: int) -> ExpressionError:
    start = position + len(text[position:]) - len(text[position:].lstrip(" \t\r\n"))
    if text[start] in "'\"":
        return ExpressionError("this string is never closed", text=text, offset=start)
    return ExpressionError(f"unexpected character {text[start]!r}", text=text, offset=start)
