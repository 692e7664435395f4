"""One server for all tests that do not need their own; figures for the end of the run."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest

from tests.end_to_end.harness import Server
from tests.end_to_end.loop import Loop
from tests.end_to_end.receiver import Receiver
from tools import java

HERE = Path(__file__).parent
FIGURES = pytest.StashKey[list[str]]()
SERVERS = pytest.StashKey[list[Server]]()

Note = Callable[[str], None]
Servers = Callable[[], Server]


def pytest_configure(config: pytest.Config) -> None:
    config.stash[FIGURES] = []
    config.stash[SERVERS] = []


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker("network")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed and item.path.is_relative_to(HERE):
        for server in item.config.stash[SERVERS]:
            report.sections.append((f"log of {server.url}", server.last_words()))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    figures = terminalreporter.config.stash[FIGURES]
    if figures:
        terminalreporter.section("end to end, measured")
        for line in figures:
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def note(pytestconfig: pytest.Config) -> Note:
    """Keeps a line for the end of the run."""
    return pytestconfig.stash[FIGURES].append


@pytest.fixture(scope="session")
def loop() -> Iterator[Loop]:
    made = Loop()
    yield made
    made.close()


@pytest.fixture(scope="session")
def servers(
    pytestconfig: pytest.Config,
    tmp_path_factory: pytest.TempPathFactory,
    needs: Callable[[str, bool], None],
) -> Iterator[Servers]:
    """Makes servers, each on a directory of its own, and leaves no process behind."""
    found = java.find()
    needs(f"Java {java.OLDEST}", found is not None)
    if found is not None:
        os.environ["JAVA_HOME"] = str(found.home)
    made = pytestconfig.stash[SERVERS]

    def make() -> Server:
        made.append(Server(tmp_path_factory.mktemp("server")))
        return made[-1]

    yield make
    for server in made:
        server.kill()


@pytest.fixture(scope="session")
def shared(servers: Servers, note: Note) -> Server:
    server = servers()
    server.start()
    note(f"from start to ready: {server.wait_ready():.1f} s")
    return server


@pytest.fixture
def server(shared: Server) -> Iterator[Server]:
    """A server that is ready and has no subscriptions."""
    if shared.has_ended():
        shared.start()
    shared.wait_ready()
    yield shared
    if shared.is_ready():
        for key in list(shared.subscriptions()):
            shared.unsubscribe(key)


@pytest.fixture
def receivers(loop: Loop) -> Iterator[Callable[[], Receiver]]:
    """Makes receivers, each with a port of its own."""
    made: list[Receiver] = []

    def make() -> Receiver:
        made.append(Receiver(loop))
        return made[-1]

    yield make
    for receiver in made:
        receiver.close()


@pytest.fixture
def receiver(receivers: Callable[[], Receiver]) -> Receiver:
    return receivers()


@pytest.fixture
def topic() -> str:
    """A type of event that no other test uses."""
    return f"test.{uuid.uuid4().hex}"
