from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from penstock import folder, runtime
from penstock.cli import server as checks
from penstock.cli.check import State
from penstock.config import Settings
from penstock.events import event
from penstock.events.entry import Entry
from tests.client.server import free_port


def test_free_port_is_well() -> None:
    check = checks.port(Settings(port=free_port()))

    assert (check.state, check.found.endswith("is free")) == (State.OK, True)


def test_port_zero_is_always_free() -> None:
    assert checks.port(Settings(port=0)).state is State.OK


def test_port_of_somebody_else_is_a_failure() -> None:
    with socket.socket() as stranger:
        stranger.bind(("127.0.0.1", 0))

        check = checks.port(Settings(port=stranger.getsockname()[1]))

    assert check.state is State.FAIL
    assert "--port" in check.advice


@pytest.mark.network
def test_port_of_penstock_tells_whether_it_is_ready(server: Settings) -> None:
    check = checks.port(server)

    assert check.state is State.WARN
    assert "not ready: pipeline" in check.found


def test_folder_to_come_is_well_and_not_made(tmp_path: Path) -> None:
    place = tmp_path / "data"

    check = checks.folder(Settings(data=str(place)))

    assert check.state is State.OK
    assert not place.exists()


def test_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "data").touch()

    check = checks.folder(Settings(data=str(tmp_path / "data" / "below")))

    assert check.state is State.FAIL


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_that_is_read_only_is_a_failure(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)

    check = checks.folder(Settings(data=str(tmp_path)))

    assert check.state is State.FAIL


def test_owner_of_a_folder_is_named(tmp_path: Path) -> None:
    settings = Settings(data=str(tmp_path))

    with folder.claimed(settings):
        during = checks.folder(settings)
    after = checks.folder(settings)

    assert during.found.endswith(f"in use by process {os.getpid()}")
    assert after.found.endswith("is writable")


def some_data(place: Path, count: int = 10) -> Settings:
    settings = Settings(data=str(place))
    log = runtime.open_log(settings)
    entries = [Entry("s", event(type="t", source="/s", data=b"mark"), 0) for _ in range(count)]
    log.append(entries)
    log.close()
    runtime.open_store(settings).close()
    runtime.open_ledger(settings).close()
    return settings


def test_whole_files_are_well(tmp_path: Path) -> None:
    found = {check.name: check for check in checks.files(some_data(tmp_path))}

    assert {check.state for check in found.values()} == {State.OK}
    assert found.keys() == {"log", "store", "ledger"}
    assert found["log"].found == "10 events, all whole"


def test_nothing_is_made_where_nothing_is(tmp_path: Path) -> None:
    assert list(checks.files(Settings(data=str(tmp_path)))) == []
    assert list(tmp_path.iterdir()) == []


def test_damaged_event_is_found(tmp_path: Path) -> None:
    settings = some_data(tmp_path)
    path = runtime.log_path(settings)
    path.write_bytes(path.read_bytes().replace(b"markmark", b"markMark"))

    (check, *_) = checks.files(settings)

    assert (check.name, check.state) == ("log", State.FAIL)
    assert "fail their checksum" in check.found


@pytest.mark.parametrize("name", ["log", "store"])
def test_file_of_something_else_is_found(tmp_path: Path, name: str) -> None:
    settings = some_data(tmp_path)
    (tmp_path / f"{name}.db").write_bytes(b"this is no database" * 300)

    found = {check.name: check.state for check in checks.files(settings)}

    assert found[name] is State.FAIL
