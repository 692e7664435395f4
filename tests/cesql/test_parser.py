from __future__ import annotations

import re
import time

import pytest
from hypothesis import assume, given, settings

from penstock import cesql
from penstock.cesql import parser
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
    children,
)
from penstock.errors import ExpressionError
from tests.cesql.naive import Tree
from tests.cesql.strategies import examples, is_writable, trees, written

A, B, C = Attribute("a"), Attribute("b"), Attribute("c")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a", A),
        ("A", A),
        ("1a", Attribute("1a")),
        ("-5", Literal(-5)),
        ("+5", Literal(5)),
        ("007", Literal(7)),
        ("- 5", Negate(Literal(5))),
        ("--5", Negate(Literal(-5))),
        ("-+5", Negate(Literal(5))),
        ("-a", Negate(A)),
        ("-5a", Negate(Attribute("5a"))),
        ("-2147483648", Literal(-2147483648)),
        ("tRuE", Literal(value=True)),
        ("EXISTS A", Exists("a")),
        ("not exists a", Not(Exists("a"))),
        ("F()", Call("F", ())),
        ("f_g (a, 1)", Call("F_G", (A, Literal(1)))),
        ("F(G(a), (b))", Call("F", (Call("G", (A,)), B))),
        ("a LIKE 'x'", Like(A, "x")),
        ("a NOT LIKE 'x'", Like(A, "x", negated=True)),
        ("a IN (b)", In(A, (B,))),
        (
            "a NOT IN (b, (c), 1 + 1)",
            In(A, (B, C, Binary("+", Literal(1), Literal(1))), negated=True),
        ),
        ("a <> b", Binary("!=", A, B)),
        ("((a))", A),
        ("'x' LIKE 'y'", Like(Literal("x"), "y")),
    ],
)
def test_text_is_read_as_tree(text: str, tree: Node) -> None:
    assert parser.tree(text) == tree


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a - b - c", "(a - b) - c"),
        ("a-1", "a - (1)"),
        ("4 -1", "(4) - (1)"),
        ("a --1", "a - (-1)"),
        ("a + b * c", "a + (b * c)"),
        ("a * b + c", "(a * b) + c"),
        ("a + b < c", "(a + b) < c"),
        ("a < b = c", "(a < b) = c"),
        ("a = b AND c", "(a = b) AND c"),
        ("a OR b AND c", "(a OR b) AND c"),
        ("a AND b XOR c OR a", "((a AND b) XOR c) OR a"),
        ("NOT a AND b", "(NOT a) AND b"),
        ("NOT a = b", "(NOT a) = b"),
        ("NOT a LIKE 'x'", "(NOT a) LIKE 'x'"),
        ("NOT a IN (b)", "(NOT a) IN (b)"),
        ("-a LIKE 'x'", "(-a) LIKE 'x'"),
        ("-a * b", "(-a) * b"),
        ("NOT -a", "NOT (-a)"),
        ("a + b LIKE 'x'", "a + (b LIKE 'x')"),
        ("a * b IN (c)", "a * (b IN (c))"),
        ("a LIKE 'x' IN (b)", "(a LIKE 'x') IN (b)"),
        ("a IN (b) LIKE 'x'", "(a IN (b)) LIKE 'x'"),
        ("a IN (b) + c", "(a IN (b)) + c"),
        ("a = b LIKE 'x' AND c", "(a = (b LIKE 'x')) AND c"),
        ("a AND NOT b OR c", "(a AND (NOT b)) OR c"),
    ],
)
def test_operators_bind_in_order_of_precedence(text: str, same: str) -> None:
    assert parser.tree(text) == parser.tree(same)
    assert parser.tree(text) != parser.tree(f"({same}) AND TRUE")


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        ("", 0, "expected a value, found the end"),
        ("   ", 3, "expected a value, found the end"),
        ("a =", 3, "expected a value, found the end"),
        ("= a", 0, "expected a value, found ="),
        ("1 2", 2, "expected an operator, found 2"),
        ("a b", 2, "expected an operator, found b"),
        ("a 'AND' b", 2, "expected an operator, found AND"),
        ("a NOT b", 2, "expected an operator, found NOT"),
        ("TRUE)", 4, "this ) closes nothing"),
        ("(1", 0, "never closed"),
        ("F(1", 0, "never closed"),
        ("a IN (1", 5, "never closed"),
        ("ABC(", 4, "expected a value, found the end"),
        ("()", 1, "expected a value, found )"),
        ("F(1,)", 4, "expected a value, found )"),
        ("F(,1)", 2, "expected a value, found ,"),
        ("1, 2", 1, "unexpected ,"),
        ("(1, 2)", 2, "unexpected ,"),
        ("a IN ()", 6, "expected a value, found )"),
        ("a IN b", 5, "expected ( after IN, found b"),
        ("x LIKE 123", 7, "expected a string after LIKE, found 123"),
        ("x LIKE y", 7, "expected a string after LIKE, found y"),
        ("x LIKE ('y')", 7, "expected a string after LIKE"),
        ("x NOT LIKE", 10, "expected a string after LIKE, found the end"),
        ("EXISTS 1", 7, "expected an attribute name after EXISTS"),
        ("EXISTS (id)", 7, "expected an attribute name after EXISTS"),
        ("EXISTS 'id'", 7, "expected an attribute name after EXISTS"),
        ("EXISTS in", 7, "expected an attribute name after EXISTS"),
        ("EXISTS F(1)", 8, "expected an operator, found ("),
        ("my_ext = 1", 0, "letters and digits only"),
        ("F1(2)", 0, "letters and _ only"),
        ("_F(2)", 0, "letters and _ only"),
        ("IN (1)", 0, "expected a value, found IN"),
        ("TRUE(1)", 4, "expected an operator"),
        ("+ 5", 0, "right after the sign"),
        ("+a", 0, "right after the sign"),
        ("+-5", 0, "right after the sign"),
        ("2147483648", 0, "32 bits"),
        ("-2147483649", 0, "32 bits"),
        ("- 2147483648", 2, "32 bits"),
        ("9" * 5000, 0, "32 bits"),
        ("a == b", 3, "expected a value, found ="),
        ("NOT", 3, "expected a value, found the end"),
    ],
)
def test_fault_is_named_at_its_place(text: str, offset: int, message: str) -> None:
    with pytest.raises(ExpressionError, match=re.escape(message)) as caught:
        parser.tree(text)

    assert caught.value.offset == offset
    assert caught.value.text == text


def test_fault_is_underlined() -> None:
    with pytest.raises(ExpressionError) as caught:
        parser.tree("type = 'a' AND\nsource LIKE 5")

    assert str(caught.value).splitlines()[1:] == ["  source LIKE 5", "              ^"]


@pytest.mark.parametrize("unit", ["(", "NOT ", "- ", "F(", "a IN ("])
def test_nesting_beyond_the_limit_is_refused_where_it_is_passed(unit: str) -> None:
    deepest = unit * parser.DEEPEST

    with pytest.raises(ExpressionError, match="nested deeper than 200") as caught:
        parser.tree(f"{deepest}{unit}a")

    assert caught.value.offset in range(len(deepest), len(deepest) + len(unit))


@pytest.mark.parametrize(
    ("unit", "close"), [("(", ")"), ("NOT ", ""), ("F(", ")"), ("a IN (", ")")]
)
def test_nesting_up_to_the_limit_is_read(unit: str, close: str) -> None:
    text = f"{unit * parser.DEEPEST}a{close * parser.DEEPEST}"

    assert parser.tree(text) is not None


def test_siblings_do_not_count_as_nesting() -> None:
    text = " AND ".join(["(NOT (a))"] * 1000)

    assert parser.tree(text) is not None


def test_expression_of_the_largest_size_is_read() -> None:
    text = "'" + "é" * 32_767 + "'"

    assert len(text.encode()) == parser.LONGEST
    assert parser.tree(text) == Literal("é" * 32_767)


@pytest.mark.parametrize("text", ["a" * 65_537, "'" + "é" * 32_768 + "'"])
def test_larger_expression_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError, match="longer than 65536 bytes") as caught:
        parser.tree(text)

    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    "text",
    [
        "(" * 65_536,
        "NOT " * 16_384,
        "'" * 65_535,
        "\\" * 65_536,
        '"' + "\\'" * 32_000,
        "a " * 32_768,
        "1+" * 32_768,
        "F(" * 32_768,
        "a IN (b," * 8_000,
        ")" * 65_536,
        " " * 65_535 + "$",
        "x LIKE '" + "%_" * 32_000,
        "a AND b OR " * 5_900,
        "9" * 65_536,
    ],
    ids=lambda text: text[:10],
)
def test_large_faulty_expression_is_refused_quickly(text: str) -> None:
    started = time.process_time()

    with pytest.raises(ExpressionError):
        parser.tree(text)

    assert time.process_time() - started < 3


def seconds_to_refuse(text: str) -> float:
    """The least of some tries: other processes can only make it longer."""
    found = []
    for _ in range(4):
        started = time.process_time()
        with pytest.raises(ExpressionError):
            parser.tree(text)
        found.append(time.process_time() - started)
    return min(found)


@pytest.mark.parametrize(
    ("unit", "fault"),
    [
        ("a AND ", "$"),
        ("a AND\n", "$"),
        ("(a) + ", ")"),
        ("F(a, 'b') = ", ","),
        ("1 -", "'"),
        ("x LIKE '%_' OR ", "x LIKE"),
        ("x IN ('a', 1) XOR ", "x IN ("),
        ("'' ", ""),
        ("''", "'"),
        ("\\'", ""),
        (" ", "$"),
        ("a", "$"),
    ],
)
def test_time_to_refuse_grows_no_faster_than_the_text(unit: str, fault: str) -> None:
    short, long = (unit * (size // len(unit)) + fault for size in (4_000, 64_000))

    # Sixteen times the text: a square would make it 256 times the time.
    assert seconds_to_refuse(long) < 64 * max(seconds_to_refuse(short), 0.0005)


@settings(max_examples=examples(100))
@given(trees)
def test_each_part_is_read_from_its_own_text(tree: Tree) -> None:
    assume(is_writable(tree))
    text = written(tree)
    waiting = [parser.tree(text)]

    while waiting:
        node = waiting.pop()
        assert cesql.parse(text[node.start : node.end]).tree == node
        waiting.extend(children(node))
