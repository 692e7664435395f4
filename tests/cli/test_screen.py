from __future__ import annotations

import pytest

from penstock.cli import screen


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ä\n\t", "plain ä\n\t"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("a\x00\x7f\x9bb", r"a\x00\x7f\x9bb"),
        ("a\u202eb", r"a\u202eb"),
        ("a\rb", r"a\rb"),
    ],
)
def test_control_characters_are_made_visible(text: str, shown: str) -> None:
    assert screen.clean(text) == shown


def test_table_is_not_cut_off_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    screen.table(("ID", "TEXT"), [("1", "x" * 300), ("2", "[bold]y\x1b")])

    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines] == [
        ["ID", "TEXT"],
        ["1", "x" * 300],
        ["2", r"[bold]y\x1b"],
    ]


def test_fields_leave_out_what_is_empty(capsys: pytest.CaptureFixture[str]) -> None:
    screen.fields({"id": "a", "source": None, "types": (), "retry": 0, "filters": [{"a": 1}]})

    assert capsys.readouterr().out == 'id       a\nretry    0\nfilters  [{"a":1}]\n'


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"data": {"a": 1}}, ["  {", '    "a": 1', "  }"]),
        ({"data": "two\nlines\x1b"}, ["  two", r"  lines\x1b"]),
        ({"data_base64": "AAAA"}, ["  (3 bytes that are no text)"]),
        ({}, []),
    ],
    ids=["json", "text", "bytes", "none"],
)
def test_event_is_shown_with_its_data(
    capsys: pytest.CaptureFixture[str], data: dict[str, object], expected: list[str]
) -> None:
    core = {"specversion": "1.0", "id": "i", "source": "/s", "type": "t", "subject": "[b]x[/b]"}

    screen.event(core | data)

    lines = capsys.readouterr().out.splitlines()
    assert lines == ["t  /s  i", "  subject: [b]x[/b]", *expected]


def test_long_data_is_cut(capsys: pytest.CaptureFixture[str]) -> None:
    screen.event({"type": "t", "source": "/s", "id": "i", "data": "x" * 30_000})

    out = capsys.readouterr().out
    assert len(out) < 21_000
    assert "… (30000 characters)" in out


def test_json_may_be_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    screen.json({"a": [1]}, pretty=False)
    screen.json({"a": [1]})

    assert capsys.readouterr().out == '{"a":[1]}\n{\n  "a": [\n    1\n  ]\n}\n'
