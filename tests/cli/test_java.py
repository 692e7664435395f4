from __future__ import annotations

from pathlib import Path

import pytest

from penstock.cli import java


def a_java(home: Path, text: str, code: int = 0) -> Path:
    """A command that says what a Java says of itself."""
    command = home / "bin" / "java"
    command.parent.mkdir(parents=True)
    command.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{text}\nEND\nexit {code}\n")
    command.chmod(0o755)
    return command


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('openjdk version "17.0.10" 2024-01-16', 17),
        ('openjdk version "25" 2025-09-16', 25),
        ('java version "1.8.0_392"', 8),
    ],
)
def test_version_is_read(tmp_path: Path, text: str, version: int) -> None:
    command = a_java(tmp_path, text)

    assert java.probe(command) == java.Java(command, version)


@pytest.mark.parametrize(("text", "code"), [("hello", 0), ('version "17"', 1)])
def test_what_is_no_java_is_told_apart(tmp_path: Path, text: str, code: int) -> None:
    assert java.probe(a_java(tmp_path, text, code)) is None


def test_missing_command_is_no_java(tmp_path: Path) -> None:
    assert java.probe(tmp_path / "java") is None


def test_home_wins_over_the_path(tmp_path: Path) -> None:
    home = a_java(tmp_path / "home", 'version "21.0.1"')
    path = a_java(tmp_path / "path", 'version "17.0.1"')

    both = {"JAVA_HOME": str(tmp_path / "home"), "PATH": f"{path.parent}:/bin"}
    alone = {"PATH": f"{path.parent}:/bin"}

    assert java.chosen(both) == java.Java(home, 21)
    assert java.chosen(alone) == java.Java(path, 17)
    assert java.chosen({"PATH": str(tmp_path)}) is None


def test_only_new_ones_of_the_usual_places_are_offered(tmp_path: Path) -> None:
    a_java(tmp_path / "usr/lib/jvm/old", 'version "11.0.2"')
    new = a_java(tmp_path / "usr/lib/jvm/new", 'version "17.0.2"')

    assert list(java.installed(tmp_path)) == [java.Java(new, 17)]
