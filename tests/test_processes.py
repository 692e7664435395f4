from __future__ import annotations

import os
import subprocess
import sys

import pytest

from penstock.config import Settings
from penstock.processes import child_settings

pytestmark = pytest.mark.network

CHILD = "import os; from penstock.processes import die_with_parent; die_with_parent(os.environ)"


def code_of_a_child(**environment: str) -> int:
    """How a child ends that was told this of its parent."""
    process = subprocess.run(
        [sys.executable, "-c", CHILD], check=False, env={**os.environ, **environment}
    )
    return process.returncode


def test_child_lives_when_its_parent_is_the_one_that_started_it() -> None:
    assert code_of_a_child(PENSTOCK_PARENT=str(os.getpid())) == 0


def test_child_whose_parent_is_gone_already_ends() -> None:
    assert code_of_a_child(PENSTOCK_PARENT=str(os.getpid() + 1)) == 1


def test_child_that_was_told_nothing_lives() -> None:
    assert code_of_a_child() == 0


def test_settings_come_down_as_they_are() -> None:
    handed = {"PENSTOCK_SETTINGS_JSON": '{"port": 7, "log_format": "json"}'}

    assert child_settings(handed) == Settings(port=7, log_format="json")


STOPPED = """
import os, signal, sys, threading, time
from penstock.processes import when_told_to_stop

stopping = threading.Event()
when_told_to_stop(stopping.set)
# As if the signal came while the main thread is inside of `wait`.
with stopping._cond:
    os.kill(os.getpid(), signal.SIGTERM)
    for _ in range(1000):
        pass
sys.exit(0 if stopping.wait(20) else 1)
"""


def test_signal_is_heeded_even_within_a_wait() -> None:
    process = subprocess.run([sys.executable, "-c", STOPPED], check=False, timeout=60)

    assert process.returncode == 0
