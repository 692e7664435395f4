from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest

from penstock import logs
from penstock.config import Settings


@pytest.fixture(autouse=True)
def _root_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    yield
    root.handlers, root.level = handlers, level


@pytest.fixture
def log() -> logging.Logger:
    return logging.getLogger("penstock.test")


def test_line_for_people_has_time_level_name_text_and_fields(
    log: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.configure(Settings())

    log.info("route %s stopped", "r1", extra={"status": 410})

    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("INFO    penstock.test: route r1 stopped status=410")
    assert line[:4].isdigit()
    assert line.split()[0].endswith("Z")


def test_line_for_machines_is_one_json_object(
    log: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.configure(Settings(log_format="json"))

    log.warning("two\nlines", extra={"route": "r1", "odd": object})

    (line,) = capsys.readouterr().err.splitlines()
    found = json.loads(line)
    assert (found["level"], found["logger"]) == ("warning", "penstock.test")
    assert (found["message"], found["route"]) == ("two\nlines", "r1")


@pytest.mark.parametrize("form", ["text", "json"])
def test_error_is_shown_with_its_cause(
    log: logging.Logger, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    logs.configure(Settings(log_format=form))

    log.error("it failed", exc_info=ValueError("the cause"))

    text = capsys.readouterr().err
    assert "ValueError: the cause" in text
    assert "it failed" in text


def test_only_what_is_important_enough_is_shown(
    log: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.configure(Settings(log_level="warning"))

    log.info("not this")
    log.warning("this")

    assert "not this" not in (text := capsys.readouterr().err)
    assert "this" in text


def test_configuring_twice_says_nothing_twice(
    log: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.configure(Settings())
    logs.configure(Settings())

    log.info("once")

    assert capsys.readouterr().err.count("once") == 1
