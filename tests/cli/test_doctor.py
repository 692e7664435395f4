from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import run
from tests.client.server import free_port

pytestmark = pytest.mark.network


def test_every_finding_is_a_line(tmp_path: Path) -> None:
    done = run("doctor", "--data", str(tmp_path), "--port", str(free_port()))

    names = {line.split()[1] for line in done.out.splitlines() if not line.startswith(" ")}
    assert names >= {"python", "java", "penstock", "memory", "disk", "data", "port"}
    assert "fail" not in {line.split()[0] for line in done.out.splitlines()} or done.code == 1


def test_failure_comes_with_advice_and_an_exit_code(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()

    done = run("doctor", "--data", str(file), "--json")

    (data,) = [check for check in json.loads(done.out) if check["name"] == "data"]
    assert (data["state"], data["advice"]) == ("fail", "choose another --data")
    assert done.code == 1


def test_files_can_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "log.db").write_bytes(b"no database" * 500)
    options = ("--data", str(tmp_path), "--port", "0", "--json")

    quick, whole = run("doctor", *options, "--quick"), run("doctor", *options)

    assert "log" not in {check["name"] for check in json.loads(quick.out)}
    assert "log" in {check["name"] for check in json.loads(whole.out)}
    assert whole.code == 1


def test_wrong_settings_are_named(tmp_path: Path) -> None:
    file = tmp_path / "penstock.toml"
    file.write_text("slots = 0\nnonsense = 1\n")

    done = run("doctor", "--config", str(file))

    assert done.code == 1
    assert [line.split(":")[1] for line in done.err.splitlines()] == [" nonsense", " slots"]
