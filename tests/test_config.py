from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock.config import Settings, settings
from penstock.errors import ResourceError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "penstock.toml"


def refused(**flags: Any) -> dict[str, str]:  # noqa: ANN401
    """What is wrong with settings: name to message."""
    try:
        settings(flags, {})
    except ResourceError as error:
        return {problem.path: problem.message for problem in error.problems}
    return {}


def test_without_anything_the_defaults_hold() -> None:
    assert settings({}, {}) == Settings()


def test_default_is_reachable_from_this_machine_only() -> None:
    assert Settings().host == "127.0.0.1"


def test_flag_wins_over_environment_and_environment_over_file(file: Path) -> None:
    file.write_text("port = 1\nslots = 1\nbatch_events = 1\n")

    found = settings({"port": 3, "host": None}, {"PENSTOCK_PORT": "2", "PENSTOCK_SLOTS": "2"}, file)

    assert (found.port, found.slots, found.batch_events, found.host) == (3, 2, 1, "127.0.0.1")


def test_file_may_be_named_by_the_environment(file: Path) -> None:
    file.write_text('host = "0.0.0.0"\n')

    assert settings({}, {"PENSTOCK_CONFIG": str(file)}).host == "0.0.0.0"


def test_environment_is_text_and_becomes_what_the_setting_is() -> None:
    found = settings({}, {"PENSTOCK_RETENTION_DAYS": "0.5", "PENSTOCK_EVENT_BYTES": "65536"})

    assert (found.retention_days, found.event_bytes) == (0.5, 65_536)


def test_other_variables_are_left_alone() -> None:
    others = {"PATH": "/bin", "PENSTOCKPORT": "1", "PENSTOCK_CI": "1", "PENSTOCK_FUZZ": "5"}

    assert settings({}, others) == Settings()


@pytest.mark.parametrize("place", ["flag", "environment", "file"])
def test_unknown_setting_is_refused_wherever_it_stands(place: str, file: Path) -> None:
    file.write_text("prot = 1\n" if place == "file" else "")
    flags = {"prot": 1} if place == "flag" else {}
    environment = {"PENSTOCK_PROT": "1"} if place == "environment" else {}

    with pytest.raises(ResourceError, match=r"prot: is no setting; known are .*port") as refusal:
        settings(flags, environment, file)

    assert [problem.path for problem in refusal.value.problems] == ["prot"]


def test_every_wrong_setting_is_named_at_once() -> None:
    found = refused(port=70_000, slots=0, nosuch=1, event_bytes="many", data="fine")

    assert set(found) == {"port", "slots", "nosuch", "event_bytes"}
    assert "65535" in found["port"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("port", -1),
        ("event_bytes", 65_535),
        ("batch_seconds", 0),
        ("batch_seconds", "nan"),
        ("retention_days", -1),
        ("retention_days", "inf"),
        ("retention_bytes", 0),
        ("log_level", "loud"),
        ("log_format", "xml"),
        ("host", 5),
    ],
)
def test_value_that_cannot_be_is_refused(name: str, value: object) -> None:
    assert set(refused(**{name: value})) == {name}


@pytest.mark.parametrize("content", ["port = ", b"\xff", "port = 1\nport = 2"])
def test_file_that_is_no_toml_is_refused_by_its_name(content: str | bytes, file: Path) -> None:
    file.write_bytes(content.encode() if isinstance(content, str) else content)

    with pytest.raises(ResourceError, match="cannot be read") as refusal:
        settings({}, {}, file)

    assert refusal.value.problems[0].path == str(file)


def test_missing_file_is_refused_by_its_name(file: Path) -> None:
    with pytest.raises(ResourceError, match=str(file)):
        settings({}, {}, file)


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ({}, "http://127.0.0.1:8080"),
        ({"host": "::1", "port": 1}, "http://[::1]:1"),
        ({"url": "https://events.example"}, "https://events.example"),
    ],
)
def test_address_is_where_clients_go(given: dict[str, Any], address: str) -> None:
    assert settings(given, {}).address == address
