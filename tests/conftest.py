"""What all tests share."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

from tools import java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parent.parent

# Settings of the machine must not steer tests, nor reach the servers that tests start.
FOR_TESTS = {"PENSTOCK_CI", "PENSTOCK_FUZZ"}
for _name in [name for name in os.environ if name.startswith("PENSTOCK_")]:
    if _name not in FOR_TESTS:
        del os.environ[_name]

# Nor must tests write into the configuration of whoever runs them.
os.environ["XDG_CONFIG_HOME"] = tempfile.mkdtemp(prefix="penstock-tests-")

# Speed is measured by the benchmark; a busy machine must not fail a property.
hypothesis.settings.register_profile("penstock", deadline=None, print_blob=True)
hypothesis.settings.load_profile("penstock")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker("spark")


@pytest.fixture(scope="session")
def needs() -> Callable[[str, bool], None]:
    """A check that skips the test when the named server is not present, and fails it in CI."""

    def check(server: str, present: bool) -> None:  # noqa: FBT001
        if present:
            return
        if os.environ.get("PENSTOCK_CI") == "1":
            pytest.fail(f"needs {server}, which CI must have")
        pytest.skip(f"needs {server}")

    return check


@pytest.fixture(scope="session")
def spark(
    needs: Callable[[str, bool], None], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SparkSession]:
    """The one Spark session of the whole run; starting it costs seconds."""
    found = java.find()
    needs(f"Java {java.OLDEST}", found is not None)
    if found is not None:
        os.environ["JAVA_HOME"] = str(found.home)
    # Workers load by name what a test module defines and sends to them.
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)

    from penstock.config import Settings
    from penstock.pipeline.session import session

    started = session(Settings(data=str(tmp_path_factory.mktemp("data"))))
    yield started
    started.stop()
