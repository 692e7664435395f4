from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

from penstock.cli import machine
from penstock.cli.check import State


@pytest.mark.parametrize(
    ("version", "state"),
    [((3, 11, 0), State.OK), ((3, 14, 1), State.OK), ((3, 10, 9), State.FAIL)],
)
def test_python_must_be_new_enough(version: tuple[int, int, int], state: State) -> None:
    assert machine.python(version).state is state


@pytest.mark.parametrize(
    ("version", "bounds", "expected"),
    [
        ("4.3.0", "==4.3.0", True),
        ("4.3", "==4.3.0", True),
        ("4.3.1", "==4.3.0", False),
        ("2.3.3", ">=2.2,<3", True),
        ("3.0.0", ">=2.2,<3", False),
        ("2.1.9", "<3,>=2.2", False),
        ("10.0", ">=9", True),
        ("1.4.9", "~=1.4.2", True),
        ("1.5", "~=1.4.2", False),
        ("1.0rc1", "!=1.1", True),
        ("1.0", "", True),
    ],
)
def test_versions_are_compared_as_numbers(version: str, bounds: str, expected: bool) -> None:  # noqa: FBT001
    assert machine.satisfies(version, bounds) is expected


def test_wrong_packages_are_named() -> None:
    wanted = ["good>=1", "old>=2; python_version > '3'", "gone", 'more>=9; extra == "dev"']

    found = list(machine.wrong(wanted, {"good": "1.5", "old": "1.9", "more": "1"}.get))

    assert found == ["old is 1.9, wanted >=2", "gone is missing"]


def test_packages_of_this_machine_are_right() -> None:
    states = {check.state for check in machine.packages()}

    installed = any(one.name == "penstock" for one in metadata.distributions())
    assert states == ({State.OK} if installed else {State.WARN})


@pytest.mark.parametrize(
    ("free", "state"), [(3 << 30, State.OK), (1 << 30, State.WARN), (1 << 20, State.FAIL)]
)
def test_room_may_be_ample_scarce_or_too_little(free: int, state: State) -> None:
    check = machine.room("disk", free, (100 << 20, 2 << 30))

    assert check.state is state
    assert bool(check.advice) is (state is not State.OK)


def test_disk_of_a_folder_to_come_is_that_of_its_parent(tmp_path: Path) -> None:
    check = machine.disk(tmp_path / "not" / "yet")

    assert check.found.endswith("GiB free")


def test_java_that_is_too_old_comes_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = tmp_path / "bin" / "java"
    command.parent.mkdir()
    command.write_text("#!/bin/sh\necho 'version \"11.0.1\"' >&2\n")
    command.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))

    check = machine.spark_java()

    assert check.state is State.FAIL
    assert "too old" in check.found
    assert "JAVA_HOME" in check.advice
