from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from penstock import folder
from penstock.config import Settings
from penstock.errors import ConflictError, StoreError

OWNER = """
import sys
from penstock import folder
from penstock.config import Settings
with folder.claimed(Settings(data=sys.argv[1])):
    print("mine", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=str(tmp_path / "some" / "data"))


@pytest.fixture
def owner(settings: Settings) -> subprocess.Popen[str]:
    """Another process that owns the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER, settings.data],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "mine\n"
    return process


def test_folder_is_made_and_knows_its_owner(settings: Settings) -> None:
    with folder.claimed(settings):
        assert (settings.folder / "lock").read_text() == str(os.getpid())


def test_folder_can_be_claimed_again_when_it_was_left(settings: Settings) -> None:
    with folder.claimed(settings):
        pass
    with folder.claimed(settings):
        pass


@pytest.mark.network
def test_folder_in_use_is_refused_and_its_owner_named(
    settings: Settings, owner: subprocess.Popen[str]
) -> None:
    with owner, pytest.raises(ConflictError, match=f"process {owner.pid}") as refusal:
        folder.claimed(settings).__enter__()

    assert refusal.value.address == str(settings.folder)
    with folder.claimed(settings):
        pass


@pytest.mark.network
def test_owner_that_was_killed_leaves_the_folder_free(
    settings: Settings, owner: subprocess.Popen[str]
) -> None:
    with owner:
        os.kill(owner.pid, signal.SIGKILL)

    with folder.claimed(settings):
        assert (settings.folder / "lock").read_text() == str(os.getpid())


def test_place_that_cannot_be_a_folder_is_an_error_of_the_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    settings = Settings(data=str(tmp_path / "file" / "data"))

    with pytest.raises(StoreError, match="cannot be used"):
        folder.claimed(settings).__enter__()


def test_pipeline_is_well_as_long_as_it_says_so(settings: Settings) -> None:
    settings.folder.mkdir(parents=True)
    before = folder.pipeline_is_well(settings, 0.0)

    folder.beat(settings)
    at = (settings.folder / "pipeline.beat").stat().st_mtime

    assert not before
    assert folder.pipeline_is_well(settings, at + 4.9)
    assert not folder.pipeline_is_well(settings, at + 5.1)


def test_pipeline_that_says_goodbye_is_not_well(settings: Settings) -> None:
    settings.folder.mkdir(parents=True)
    folder.beat(settings)

    folder.beat_no_more(settings)
    folder.beat_no_more(settings)

    assert not folder.pipeline_is_well(settings, 0.0)
