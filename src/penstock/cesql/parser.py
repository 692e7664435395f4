"""CESQL tokens → tree, with explicit stacks: no text makes it recurse."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

from penstock.cesql import like
from penstock.cesql.tokens import Token, TokenKind, tokens
from penstock.cesql.tree import (
    Attribute,
    Binary,
    Call,
    Exists,
    In,
    Like,
    Literal,
    Negate,
    Node,
    Not,
)
from penstock.cesql.values import integer
from penstock.errors import ExpressionError

LONGEST = 65_536
DEEPEST = 200

_LEVELS = {
    **dict.fromkeys(("*", "/", "%"), 4),
    **dict.fromkeys(("+", "-"), 3),
    **dict.fromkeys(("=", "!=", "<", "<=", ">", ">="), 2),
    **dict.fromkeys(("AND", "OR", "XOR"), 1),
}
_UNARY = 5
_OPEN = 0
_NAME = re.compile("[A-Za-z0-9]+")
_FUNCTION = re.compile("[A-Za-z][A-Za-z_]*")


class _Operand(NamedTuple):
    """A finished part; its place includes the parentheses around it, unlike the node's."""

    node: Node
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Pending:
    """An operator, or an open parenthesis, that waits for what follows."""

    level: int
    text: str
    start: int
    operands: int = 0
    negated: bool = False


def tree(text: str) -> Node:
    """Return the syntax tree of an expression, or raise ExpressionError."""
    if len(text) > LONGEST or len(text.encode("utf-8", "surrogatepass")) > LONGEST:
        message = f"the expression is longer than {LONGEST} bytes"
        raise ExpressionError(message, text=text[:_SHOWN], offset=_SHOWN)
    return _Parser(text).parse()


_SHOWN = 40


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(tokens(text))
        self._position = 0
        self._operands: list[_Operand] = []
        self._pending: list[_Pending] = []
        self._nested = 0

    def parse(self) -> Node:
        while True:
            self._operand()
            while self._postfix():
                pass
            token = self._take()
            if token.kind is TokenKind.END:
                return self._finish()
            self._infix(token)

    # Each turn reads one operand: prefixes and opening parentheses, then a value.

    def _operand(self) -> None:
        while True:
            token = self._take()
            if token.is_keyword("NOT"):
                self._push(_Pending(_UNARY, "NOT", token.start))
            elif token.is_symbol("("):
                self._push(_Pending(_OPEN, "(", token.start, len(self._operands)))
            elif token.kind is TokenKind.WORD and self._peek().is_symbol("("):
                self._open_call(token)
                if self._peek().is_symbol(")"):
                    return
            elif token.is_symbol("-") and not self._is_sign(token):
                self._push(_Pending(_UNARY, "-", token.start))
            else:
                self._value(token)
                return

    def _value(self, token: Token) -> None:
        if token.is_symbol("-") or token.is_symbol("+"):
            self._integer(token, self._take())
        elif token.kind is TokenKind.INTEGER:
            self._integer(token, token)
        elif token.kind is TokenKind.STRING:
            self._add(Literal(token.text, start=token.start, end=token.end))
        elif token.is_keyword("TRUE", "FALSE"):
            self._add(Literal(token.text == "TRUE", start=token.start, end=token.end))
        elif token.is_keyword("EXISTS"):
            name = self._name(self._take(), "an attribute name after EXISTS")
            end = self._tokens[self._position - 1].end
            self._add(Exists(name, start=token.start, end=end))
        else:
            self._add(Attribute(self._name(token, "a value"), start=token.start, end=token.end))

    def _integer(self, sign: Token, digits: Token) -> None:
        if digits.kind is not TokenKind.INTEGER or not sign.start <= digits.start <= sign.start + 1:
            self._refuse("expected digits right after the sign", sign)
        value = integer(self._text[sign.start : digits.end])
        if value is None:
            self._refuse("an Integer has 32 bits: -2147483648 to 2147483647", sign)
        self._add(Literal(value, start=sign.start, end=digits.end))

    def _is_sign(self, token: Token) -> bool:
        after = self._peek()
        return after.kind is TokenKind.INTEGER and after.start == token.end

    def _name(self, token: Token, expected: str) -> str:
        if token.kind is not TokenKind.WORD:
            self._refuse(f"expected {expected}, found {_shown(token)}", token)
        if not _NAME.fullmatch(token.text):
            self._refuse("attribute names have letters and digits only", token)
        return token.text.lower()

    def _open_call(self, token: Token) -> None:
        if not _FUNCTION.fullmatch(token.text):
            self._refuse("function names have letters and _ only", token)
        self._take()
        self._push(_Pending(_OPEN, token.text.upper(), token.start, len(self._operands)))

    # What may follow an operand.

    def _postfix(self) -> bool:
        token = self._peek()
        negated = token.is_keyword("NOT")
        operator = self._tokens[self._position + 1] if negated else token
        if operator.is_keyword("LIKE"):
            self._position += 1 + negated
            self._like(negated=negated)
            return True
        if operator.is_keyword("IN"):
            self._position += 1 + negated
            self._open_set(negated=negated)
            return True
        if token.is_symbol(")"):
            self._close(self._take())
            return True
        return False

    def _like(self, *, negated: bool) -> None:
        self._reduce(_UNARY)
        pattern = self._take()
        if pattern.kind is not TokenKind.STRING:
            self._refuse(f"expected a string after LIKE, found {_shown(pattern)}", pattern)
        fault = like.fault(pattern.text)
        if fault is not None:
            self._refuse(fault, pattern)
        operand = self._operands.pop()
        node = Like(operand.node, pattern.text, negated, start=operand.start, end=pattern.end)
        self._add(node)

    def _open_set(self, *, negated: bool) -> None:
        self._reduce(_UNARY)
        token = self._take()
        if not token.is_symbol("("):
            self._refuse(f"expected ( after IN, found {_shown(token)}", token)
        count = len(self._operands) - 1
        self._push(_Pending(_OPEN, "IN", token.start, count, negated))
        self._operand()

    def _infix(self, token: Token) -> None:
        if token.is_symbol(","):
            self._reduce(_OPEN + 1)
            if not self._pending or self._pending[-1].text == "(":
                self._refuse("unexpected ,", token)
            return
        level = _LEVELS.get(token.text)
        if level is None or token.kind not in (TokenKind.SYMBOL, TokenKind.KEYWORD):
            self._refuse(f"expected an operator, found {_shown(token)}", token)
        self._reduce(level)
        self._push(_Pending(level, token.text, token.start))

    def _close(self, token: Token) -> None:
        self._reduce(_OPEN + 1)
        if not self._pending:
            self._refuse("this ) closes nothing", token)
        opened = self._pop()
        inside = self._operands[opened.operands :]
        del self._operands[opened.operands :]
        if opened.text == "(":
            self._operands.append(_Operand(inside[0].node, opened.start, token.end))
            return
        nodes = tuple(operand.node for operand in inside)
        if opened.text == "IN":
            start = inside[0].start
            self._add(In(nodes[0], nodes[1:], opened.negated, start=start, end=token.end))
        else:
            self._add(Call(opened.text, nodes, start=opened.start, end=token.end))

    def _finish(self) -> Node:
        self._reduce(_OPEN + 1)
        if self._pending:
            raise self._error("this ( is never closed", self._pending[-1].start)
        return self._operands[0].node

    # The two stacks.

    def _reduce(self, level: int) -> None:
        while self._pending and self._pending[-1].level >= level:
            operator = self._pop()
            right = self._operands.pop()
            if operator.level == _UNARY:
                kind = Not if operator.text == "NOT" else Negate
                self._add(kind(right.node, start=operator.start, end=right.end))
                continue
            left = self._operands.pop()
            self._add(Binary(operator.text, left.node, right.node, start=left.start, end=right.end))

    def _add(self, node: Node) -> None:
        self._operands.append(_Operand(node, node.start, node.end))

    def _push(self, pending: _Pending) -> None:
        self._pending.append(pending)
        self._nested += pending.level in (_OPEN, _UNARY)
        if self._nested > DEEPEST:
            raise self._error(f"nested deeper than {DEEPEST} levels", pending.start)

    def _pop(self) -> _Pending:
        pending = self._pending.pop()
        self._nested -= pending.level in (_OPEN, _UNARY)
        return pending

    def _peek(self) -> Token:
        return self._tokens[self._position]

    def _take(self) -> Token:
        token = self._tokens[self._position]
        # The end may be asked for again: an operand that is missing there is refused.
        self._position += token.kind is not TokenKind.END
        return token

    def _refuse(self, message: str, token: Token) -> NoReturn:
        raise self._error(message, token.start)

    def _error(self, message: str, offset: int) -> ExpressionError:
        return ExpressionError(message, text=self._text, offset=offset)


def _shown(token: Token) -> str:
    return "the end" if token.kind is TokenKind.END else token.text[:_SHOWN]
