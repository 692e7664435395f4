from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import rich.cells

from tests.cli.command import run

ORDER = {"specversion": "1.0", "id": "7", "source": "/shops/42", "type": "com.example.order"}
BOTH = '[{"prefix": {"type": "com.example."}}, {"sql": "priority > 3"}]'


@pytest.fixture
def order(tmp_path: Path) -> str:
    """A file with an event."""
    return written(tmp_path / "order.json", ORDER | {"priority": 2})


def written(path: Path, value: object) -> str:
    path.write_text(json.dumps(value), encoding="utf-8")
    return str(path)


def test_valid_filter_is_said_in_words() -> None:
    done = run("filter", "check", BOTH)

    assert done.code == 0
    assert done.out.splitlines() == [
        "valid",
        "",
        "all of:",
        "- type starts with 'com.example.'",
        "- priority is greater than 3",
        "",
        "indexed: tried only where type starts with 'com.example.'",
    ]


def test_filter_may_be_one_expression() -> None:
    done = run("filter", "check", '{"not": {"exact": {"type": "a"}}}')

    assert done.out.splitlines()[2:] == [
        "not:",
        "- type is 'a'",
        "",
        "not indexed: it is tried on every event",
    ]


def test_filter_may_be_an_expression_in_cesql() -> None:
    done = run("filter", "check", "--sql", "type = 'a' AND EXISTS subject")

    assert "type is 'a' and subject is present" in done.out.splitlines()


@pytest.mark.parametrize("options", [(), ("--sql",)])
def test_filter_may_lie_in_a_file(tmp_path: Path, options: tuple[str, ...]) -> None:
    file = tmp_path / "filter"
    file.write_text("id = '7'" if options else '{"exact": {"id": "7"}}')

    done = run("filter", "check", f"@{file}", *options)

    assert (done.code, done.out.splitlines()[2]) == (0, "id is '7'")


@pytest.mark.parametrize("place", ["-", "@-"])
def test_filter_may_come_from_standard_input(place: str) -> None:
    done = run("filter", "check", place, stdin='[{"exact": {"id": "7"}}]')

    assert (done.code, done.out.splitlines()[2]) == (0, "id is '7'")


def test_mark_at_the_beginning_of_a_file_is_no_part_of_the_filter(tmp_path: Path) -> None:
    file = tmp_path / "filter.json"
    file.write_text('{"exact": {"id": "7"}}', encoding="utf-8-sig")

    assert run("filter", "check", f"@{file}").code == 0


def test_machines_get_what_can_be_indexed() -> None:
    done = run("filter", "check", BOTH, "--json")

    found = json.loads(done.out)
    assert (done.code, found["valid"]) == (0, True)
    assert found["lookups"] == [{"kind": "prefix", "name": "type", "text": "com.example."}]
    assert found["meaning"].startswith("all of:\n")


def test_every_problem_has_its_line_and_its_path() -> None:
    done = run("filter", "check", '[{"exact": {}}, {"any": [{"nosuch": 1}, {"exact": {"A": ""}}]}]')

    assert (done.code, done.out) == (1, "")
    assert [line.split(":")[1].strip() for line in done.err.splitlines()] == [
        "FILTER[0].exact",
        "FILTER[1].any[0].nosuch",
        "FILTER[1].any[1].exact.A",
        "FILTER[1].any[1].exact.A",
    ]


def test_fault_of_an_expression_is_underlined() -> None:
    done = run("filter", "check", "--sql", "type == 'a'")

    assert done.code == 1
    assert done.err.splitlines()[1:] == ["  type == 'a'", "        ^"]


@pytest.mark.parametrize("before", ["", "\t", "'日本' = ", "'\x1b[31m' = ", "'e\u0301' = ", "\n\n"])
def test_mark_stands_below_the_fault(before: str) -> None:
    done = run("filter", "check", "--sql", f"{before}x = =")

    *_, shown, mark = done.err.splitlines()
    assert "\x1b" not in done.err
    assert cells(mark[: mark.index("^")]) == cells(shown[: shown.rindex("=")])


def cells(text: str) -> int:
    """How wide a text is on a terminal."""
    return rich.cells.cell_len(text.expandtabs())


def test_every_call_of_a_function_that_is_not_there_is_a_problem() -> None:
    done = run("filter", "check", "--sql", "NOSUCH(1) AND LENGTH(1, 2) = 2", "--json")

    messages = [problem["message"] for problem in json.loads(done.out)["problems"]]
    assert [message.splitlines()[0] for message in messages] == [
        "there is no function NOSUCH that takes 1 argument (character 1)",
        "there is no function LENGTH that takes 2 arguments (character 15)",
    ]


def test_problems_are_for_machines_too() -> None:
    done = run("filter", "check", '{"exact": {"type": 5}}', "--json")

    assert done.code == 1
    assert json.loads(done.out) == {
        "valid": False,
        "problems": [{"path": "FILTER.exact.type", "message": "must be a string"}],
    }


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("type = 'a'", "needs --sql"),
        ("@/nosuch/file", "cannot read /nosuch/file"),
        ("5", "must be an object"),
        ("[" * 100_000, "is not JSON"),
        ("'\udcff'", "is not UTF-8"),
    ],
    ids=["cesql", "file", "number", "deep", "bytes"],
)
def test_what_is_no_filter_is_refused(text: str, hint: str) -> None:
    done = run("filter", "check", text)

    assert done.code == 1
    assert done.err.startswith("error: FILTER")
    assert hint in done.err


def test_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff")

    done = run("filter", "check", f"@{tmp_path / 'bytes'}")

    assert (done.code, "is not UTF-8" in done.err) == (1, True)


def test_clauses_say_yes_and_no(order: str) -> None:
    done = run("filter", "test", BOTH, "--event", order)

    assert done.code == 1
    assert done.out.splitlines() == [
        "no  all of",
        "    yes type starts with 'com.example.'  (type is 'com.example.order')",
        "    no  priority is greater than 3  (priority is 2)",
    ]


def test_event_that_passes_has_the_exit_code_of_success(order: str) -> None:
    done = run("filter", "test", "--sql", "priority < 3", "--event", order)

    assert done.code == 0
    assert done.out == "yes priority is less than 3  (priority is 2)\n"


def test_event_may_come_from_standard_input() -> None:
    done = run("filter", "test", "--sql", "id = '7'", "--event", "-", stdin=json.dumps(ORDER))

    assert done.code == 0


def test_standard_input_has_either_the_filter_or_the_event() -> None:
    done = run("filter", "test", "-", "--event", "-", stdin=json.dumps(ORDER))

    assert (done.code, done.err) == (
        1,
        "error: --event: cannot be - too: FILTER is read from there\n",
    )


def test_machines_get_the_clauses_as_a_tree(order: str) -> None:
    done = run("filter", "test", BOTH, "--event", order, "--json")

    found: dict[str, Any] = json.loads(done.out)
    assert done.code == 1
    assert found["matched"] is False
    assert [part["matched"] for part in found["parts"]] == [True, False]


def test_events_do_not_steer_the_terminal(tmp_path: Path) -> None:
    file = written(tmp_path / "event.json", ORDER | {"note": "\u202eevil"})

    done = run("filter", "test", "--sql", "EXISTS note", "--event", file)

    assert "\\u202eevil" in done.out


@pytest.mark.parametrize(
    ("events", "hint"),
    [([ORDER, ORDER], "has 2 events"), ([], "has 0 events"), (ORDER | {"id": ""}, "id: ")],
)
def test_one_valid_event_is_needed(tmp_path: Path, events: object, hint: str) -> None:
    done = run("filter", "test", BOTH, "--event", written(tmp_path / "events.json", events))

    assert (done.code, done.out) == (1, "")
    assert hint in done.err


def test_event_is_required() -> None:
    assert run("filter", "test", BOTH).code == 2
