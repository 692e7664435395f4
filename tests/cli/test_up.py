from __future__ import annotations

import socket
from pathlib import Path

import pytest

from penstock import folder
from penstock.config import Settings
from tests.cli.command import finish, start

pytestmark = pytest.mark.network


def test_all_wrong_settings_are_named_and_nothing_starts(tmp_path: Path) -> None:
    data = tmp_path / "data"

    done = finish(
        start("up", "--port", "70000", "--data", str(data), PENSTOCK_SLOTS="0", PENSTOCK_X="1")
    )

    assert done.code == 1
    assert {line.split(":")[1] for line in done.err.splitlines()} == {" port", " slots", " x"}
    assert not data.exists()


def test_port_of_somebody_else_is_refused(tmp_path: Path) -> None:
    with socket.socket() as stranger:
        stranger.bind(("127.0.0.1", 0))
        port = str(stranger.getsockname()[1])

        done = finish(start("up", "--port", port, "--data", str(tmp_path)))

    assert done.code == 1
    assert f"cannot listen on 127.0.0.1:{port}" in done.err
    assert "Traceback" not in done.err


def test_data_directory_in_use_is_refused(tmp_path: Path) -> None:
    with folder.claimed(Settings(data=str(tmp_path))):
        done = finish(start("up", "--port", "0", "--data", str(tmp_path)))

    assert done.code == 1
    assert "is in use by process" in done.err
