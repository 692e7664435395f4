from __future__ import annotations

import sys

import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

from penstock import cesql
from penstock.cesql import compiler
from penstock.events import CloudEvent
from tests.cesql import naive
from tests.cesql.naive import Tree
from tests.cesql.strategies import events, examples, is_writable, meetings, trees, written

EVENT = CloudEvent(
    id="1", source="/s", type="t", extensions={"n": 5, "flag": True, "no": False, "text": "05"}
)


@settings(max_examples=examples(300))
@given(trees, events())
def test_compiled_expression_gives_what_the_plain_reading_gives(
    tree: Tree, event: CloudEvent
) -> None:
    assume(is_writable(tree))
    expression = cesql.parse(written(tree))

    result = expression.evaluate(event)

    value, error = naive.evaluate(tree, event.value)
    assert (result.value, result.error) == (value, error)
    assert type(result.value) is type(value)


@settings(max_examples=examples(200))
@given(meetings | st.tuples(trees, events()))
def test_predicate_is_true_only_for_true_without_error(meeting: tuple[Tree, CloudEvent]) -> None:
    tree, event = meeting
    assume(is_writable(tree))
    expression = cesql.parse(written(tree))

    passes = expression.passes(event)

    value, error = naive.evaluate(tree, event.value)
    assert passes is (value is True and error is None)


@settings(max_examples=examples(100))
@given(trees, events())
def test_working_out_constants_changes_no_result(tree: Tree, event: CloudEvent) -> None:
    assume(is_writable(tree))
    expression = cesql.parse(written(tree))
    literally = compiler.evaluator(expression.tree, expression.functions)

    try:
        value: object = literally(event)
    except cesql.EvaluationError as error:
        value = error.kind

    result = expression.evaluate(event)
    assert value == (result.error or result.value)


def test_a_planted_bug_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(naive, "like", lambda value, pattern: value.startswith(pattern[:-1]))

    @settings(max_examples=3000, database=None, derandomize=True, phases=[Phase.generate])
    @given(meetings)
    def search(meeting: tuple[Tree, CloudEvent]) -> None:
        tree, event = meeting
        assume(is_writable(tree))
        result = cesql.parse(written(tree)).evaluate(event)
        assert (result.value, result.error) == naive.evaluate(tree, event.value)

    with pytest.raises(AssertionError):
        search()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("n AND (no OR (" * 100 + "n" + "))" * 100, True),
        ("no OR (n XOR (" * 100 + "no" + "))" * 100, False),
        ("n IN (text, " * 199 + "n" + ")" * 199, True),
        ("NOT " * 200 + "flag", True),
        ("-" * 200 + "n", 5),
        ("ABS(" * 200 + "n" + ")" * 200, 5),
        ("n + (" * 199 + "n" + ")" * 199, 1000),
    ],
    ids=lambda value: str(value)[:20],
)
def test_deep_nesting_compiles(text: str, value: object) -> None:
    expression = cesql.parse(text)

    result = expression.evaluate(EVENT)

    assert (result.value, result.error) == (value, None)
    assert expression.passes(EVENT) is (value is True)


def test_deep_nesting_compiles_in_a_deep_stack() -> None:
    text = "n AND (flag OR (nosuch = 1 XOR " * 66 + "n" + "))" * 66

    def down(levels: int) -> cesql.Result:
        return down(levels - 1) if levels else cesql.evaluate(text, EVENT)

    assert down(sys.getrecursionlimit() // 2).value is True


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("+".join(["n"] * 2000), 10000),
        (" AND ".join(["flag"] * 2000), True),
        (" OR ".join(["n = 6", "n = 7"] * 1000 + ["n = 5"]), True),
        (" AND flag OR ".join(["flag"] * 1500), True),
        (" = ".join(["flag"] * 2000), True),
        (f"n IN ({', '.join(['text, 6'] * 2000)})", True),
        (f"LENGTH(CONCAT({', '.join(['text'] * 2000)}))", 4000),
    ],
    ids=lambda value: str(value)[:20],
)
def test_long_chains_compile(text: str, value: object) -> None:
    expression = cesql.parse(text)

    result = expression.evaluate(EVENT)

    assert (result.value, result.error) == (value, None)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("'abc' + missing", "missingAttribute"),
        ("'abc' + 1 / 0", "math"),
        ("missing + 1 / 0", "missingAttribute"),
        ("1 / 0 + missing", "math"),
        ("text + 'abc' + missing", "cast"),
        ("LEFT(source, 'x') = missing", "cast"),
        ("LEFT(missing, 'x')", "missingAttribute"),
        ("NOSUCH(1 / 0)", "missingFunction"),
    ],
)
def test_operands_are_evaluated_before_they_are_cast(text: str, kind: str) -> None:
    assert cesql.evaluate(text, EVENT).error == kind


def test_texts_of_users_are_never_code() -> None:
    hostile = "'); import os; ('"
    expression = cesql.parse(
        f'text = "{hostile}" OR text LIKE "{hostile}%" OR text IN ("{hostile}")'
    )

    assert expression.evaluate(EVENT).value is False
    assert expression.passes(CloudEvent("1", "/s", "t", extensions={"text": hostile}))
