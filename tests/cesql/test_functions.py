from __future__ import annotations

import pickle
from collections.abc import Iterator

import pytest

from penstock import cesql
from penstock.cesql import BUILT_IN, EvaluationError, Function, Functions
from penstock.cesql import functions as functions_module
from penstock.cesql.functions import call, installed
from penstock.cesql.values import ErrorKind, Value
from penstock.errors import ConflictError, ResourceError

EVENT = {"id": "1", "source": "/s", "type": "t"}


def shout(text: str) -> str:
    return f"{text}!"


def table(*functions: Function) -> Functions:
    return BUILT_IN.register(*functions)


def fn(name: str, *parameters: type[object], rest: type[object] | None = None) -> Function:
    return Function(name, parameters, str, shout, rest)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("LENGTH('𝄞x')", 2),
        ("CONCAT()", ""),
        ("CONCAT('a', 1, TRUE)", "a1true"),
        ("CONCAT_WS(',')", ""),
        ("CONCAT_WS(',', 'a', 'b')", "a,b"),
        ("LOWER('AbC')", "abc"),
        ("UPPER('straße')", "STRASSE"),
        ("TRIM('\u2003 a b\t')", "a b"),
        ("TRIM('\x1ca\x1f')", "\x1ca\x1f"),
        ("LEFT('abc', 2)", "ab"),
        ("LEFT('abc', 0)", ""),
        ("RIGHT('abc', 2)", "bc"),
        ("RIGHT('abc', 0)", ""),
        ("SUBSTRING('abcdef', 2, 0)", ""),
        ("SUBSTRING('', 0)", ""),
        ("SUBSTRING('abc', -3, 9)", "abc"),
        ("SUBSTRING('abc', 3)", "c"),
        ("ABS(-10)", 10),
        ("STRING(-1)", "-1"),
        ("INT(TRUE)", 1),
        ("BOOL(-5)", True),
    ],
)
def test_built_in_function_gives_its_value(text: str, value: Value) -> None:
    result = cesql.evaluate(text, EVENT)

    assert (result.value, result.error) == (value, None)


@pytest.mark.parametrize(
    ("text", "value", "error"),
    [
        ("LEFT('abc', -2)", "abc", "functionEvaluation"),
        ("RIGHT('abc', -2)", "abc", "functionEvaluation"),
        ("SUBSTRING('abc', 4)", "", "functionEvaluation"),
        ("SUBSTRING('abc', -4)", "", "functionEvaluation"),
        ("SUBSTRING('abc', 0, -1)", "", "functionEvaluation"),
        ("SUBSTRING('', 1)", "", "functionEvaluation"),
        ("ABS(-2147483648)", 2147483647, "math"),
        ("1 + ABS(-2147483648)", 0, "math"),
        ("LENGTH(LEFT('abc', -2))", 0, "functionEvaluation"),
        ("LEFT(LEFT('abc', -2), 1)", "", "functionEvaluation"),
        ("LEFT('abc', 'x')", "", "cast"),
        ("LEFT(missing, 1)", "", "missingAttribute"),
        ("LENGTH()", False, "missingFunction"),
        ("LENGTH(1, 2)", False, "missingFunction"),
        ("CONCAT_WS()", False, "missingFunction"),
    ],
)
def test_function_in_error_still_gives_a_value(text: str, value: Value, error: str) -> None:
    result = cesql.evaluate(text, EVENT)

    assert (result.value, result.error) == (value, error)


def test_text_that_would_fill_the_memory_is_an_error() -> None:
    event = {**EVENT, "subject": "x" * 100_000}

    result = cesql.evaluate(f"LENGTH(CONCAT({', '.join(['subject'] * 100)}))", event)

    assert result.error == "functionEvaluation"


def test_users_add_functions_without_changing_the_table() -> None:
    larger = table(Function("Shout", (str,), str, shout))

    assert cesql.evaluate("shout(5)", EVENT, larger).value == "5!"
    assert cesql.evaluate("SHOUT(5)", EVENT).error == "missingFunction"


def test_variadic_function_gets_all_its_arguments_cast() -> None:
    def count(first: str, *rest: int) -> int:
        return len(first) + sum(rest)

    larger = table(Function("TOTAL", (str,), int, count, rest=int))

    assert cesql.evaluate("TOTAL(12, '3', TRUE)", EVENT, larger).value == 6


def test_parameter_of_any_type_gets_the_value_as_it_is() -> None:
    larger = table(Function("KIND", (object,), str, lambda value: type(value).__name__))

    assert (
        cesql.evaluate("CONCAT(KIND(1), KIND(TRUE), KIND(id))", EVENT, larger).value == "intboolstr"
    )


@pytest.mark.parametrize(
    "functions",
    [
        [fn("ABS", int)],
        [fn("F", str), fn("f", int)],
        [fn("F", rest=str), fn("F", str, str, str)],
        [fn("F", str, str, str), fn("F", rest=str)],
        [fn("F", str, rest=str), fn("F", str, str, rest=str)],
        [fn("F", str, str), fn("F", str, str, rest=str)],
    ],
)
def test_function_that_could_be_mistaken_for_another_is_refused(functions: list[Function]) -> None:
    with pytest.raises(ConflictError, match="cannot be told"):
        table(*functions)


def test_overloads_are_told_apart_by_arity() -> None:
    larger = table(fn("F"), fn("F", str), fn("F", str, str, rest=str))

    assert [larger.find("F", count) is not None for count in range(5)] == [True] * 5
    assert larger.find("F", 4) is larger.find("F", 2)


@pytest.mark.parametrize("name", ["", "F1", "_F", "F-G", "É"])
def test_function_name_outside_the_grammar_is_refused(name: str) -> None:
    with pytest.raises(ResourceError, match="letters and _ only"):
        fn(name)


def test_parameter_of_unknown_type_is_refused() -> None:
    with pytest.raises(ResourceError, match="bool, int, str and object"):
        fn("F", float)


def failing(_: str) -> str:
    raise ZeroDivisionError("no")


def wrong(_: str) -> str:
    return 5  # type: ignore[return-value]


def with_value(_: str) -> str:
    raise EvaluationError(ErrorKind.GENERIC, "half", "half a value")


def with_wrong_value(_: str) -> str:
    raise EvaluationError(ErrorKind.GENERIC, "wrong", value=True)


@pytest.mark.parametrize(
    ("body", "value", "error"),
    [
        (failing, "", "functionEvaluation"),
        (wrong, "", "functionEvaluation"),
        (with_value, "half a value", "generic"),
        (with_wrong_value, "", "functionEvaluation"),
    ],
)
def test_user_function_that_fails_gives_a_valid_value(
    body: type[str], value: str, error: str
) -> None:
    larger = table(Function("F", (str,), str, body))

    result = cesql.evaluate("F(id)", EVENT, larger)

    assert (result.value, result.error) == (value, error)


def test_integer_of_a_user_that_does_not_fit_is_an_error() -> None:
    with pytest.raises(EvaluationError, match="no valid int"):
        call(Function("F", (), int, lambda: 2**31))


def test_table_survives_pickling() -> None:
    assert pickle.loads(pickle.dumps(BUILT_IN)) == BUILT_IN  # noqa: S301


class Entry:
    name = "shout"

    def load(self) -> Function:
        return Function("SHOUT", (str,), str, shout)


@pytest.fixture
def with_entry_point(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def found(group: str) -> list[Entry]:
        return [Entry()] if group == "penstock.cesql" else []

    monkeypatch.setattr(functions_module, "entry_points", found)
    installed.cache_clear()
    yield
    installed.cache_clear()


@pytest.mark.usefixtures("with_entry_point")
def test_installed_packages_bring_functions() -> None:
    assert installed().find("SHOUT", 1)
    assert installed().find("ABS", 1)
