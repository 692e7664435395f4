from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock import runtime
from penstock.client import CloudEvent
from penstock.config import Settings
from penstock.formats import arrow
from penstock.ports import Span
from tests.cli.command import run

pytestmark = pytest.mark.network


class Log:
    """What a server accepted since the test started."""

    def __init__(self, settings: Settings) -> None:
        self.url = settings.address
        self._log = runtime.open_log(settings)
        self._start = self._log.bounds()[1][0]

    def events(self) -> list[CloudEvent]:
        head = self._log.bounds()[1][0]
        chunks = self._log.read(Span(0, self._start, head))
        return [entry.event for chunk in chunks for entry in arrow.unpack(chunk.batch)]

    def close(self) -> None:
        self._log.close()


@pytest.fixture
def log(server: Settings) -> Iterator[Log]:
    made = Log(server)
    yield made
    made.close()


def a_file(folder: Path, count: int) -> Path:
    core = {"specversion": "1.0", "source": "/s", "type": "t"}
    path = folder / "events.ndjson"
    path.write_text("".join(f"{json.dumps(core | {'id': str(n)})}\n" for n in range(count)))
    return path


@pytest.mark.parametrize("mode", ["binary", "structured", "batched"])
def test_event_is_published_and_its_id_printed(log: Log, mode: str) -> None:
    done = run(
        *("publish", "--type", "com.example.a", "--subject", "ä", "--data", '{"a": 1}'),
        *("--ext", "myext=x", "--mode", mode, "--url", log.url),
    )

    (event,) = log.events()
    assert (done.code, done.out, done.err) == (0, f"{event.id}\n", "")
    assert (event.type, event.subject, event.data) == ("com.example.a", "ä", b'{"a": 1}')
    assert event.extensions == {"myext": "x"}


def test_data_comes_from_standard_input(log: Log) -> None:
    run("publish", "--type", "t", "--data", "-", "--url", log.url, stdin=b"\xff\x00")

    assert [event.data for event in log.events()] == [b"\xff\x00"]


def test_address_comes_from_the_environment(log: Log) -> None:
    done = run("publish", "--type", "t", PENSTOCK_URL=log.url)

    assert done.code == 0
    assert len(log.events()) == 1


def test_repetitions_have_ids_of_their_own(log: Log) -> None:
    done = run("publish", "--type", "t", "--repeat", "3", "--json", "--url", log.url)

    printed = [json.loads(line) for line in done.out.splitlines()]
    accepted = [
        {"id": event.id, "source": event.source, "type": event.type} for event in log.events()
    ]
    assert printed == accepted
    assert len({one["id"] for one in printed}) == 3
    assert done.err == "published 3 of 3 events\n"


def test_file_is_published_in_batches(log: Log, tmp_path: Path) -> None:
    file = a_file(tmp_path, 1_201)

    done = run("publish", "--file", str(file), "--url", log.url)

    assert done.out.split() == [str(number) for number in range(1_201)]
    assert [event.id for event in log.events()] == done.out.split()


def test_file_comes_from_standard_input(log: Log, tmp_path: Path) -> None:
    body = a_file(tmp_path, 2).read_bytes()

    done = run("publish", "--file", "-", "--quiet", "--url", log.url, stdin=body)

    assert done.out == ""
    assert [event.id for event in log.events()] == ["0", "1"]


def test_repeated_file_has_new_ids_from_the_second_time_on(log: Log, tmp_path: Path) -> None:
    run("publish", "--file", str(a_file(tmp_path, 2)), "--repeat", "2", "--url", log.url)

    ids = [event.id for event in log.events()]
    assert ids[:2] == ["0", "1"]
    assert len(set(ids)) == 4


def test_nothing_of_a_wrong_file_is_published(log: Log, tmp_path: Path) -> None:
    file = a_file(tmp_path, 1_000)
    file.write_text(file.read_text() + "{}\n[]\n")

    done = run("publish", "--file", str(file), "--url", log.url)

    assert done.code == 1
    assert {line.split()[2].rstrip(":") for line in done.err.splitlines()} == {"1001", "1002"}
    assert log.events() == []


def test_rate_is_kept(log: Log) -> None:
    started = time.monotonic()

    run("publish", "--type", "t", "--repeat", "11", "--rate", "50", "--url", log.url)

    assert time.monotonic() - started >= 0.02 * 10 - 0.02
    assert len(log.events()) == 11


def test_other_brokers_are_addressed_by_name(log: Log) -> None:
    known = run("publish", "--type", "t", "--broker", "default/default", "--url", log.url)
    unknown = run("publish", "--type", "t", "--broker", "a/b", "--url", log.url)

    assert (known.code, unknown.code) == (0, 1)
    assert len(log.events()) == 1


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--file", "x", "--type", "t"),
        ("--type", "t", "--id", "1", "--repeat", "2"),
        ("--type", "t", "--ext", "nonsense"),
        ("--type", "t", "--mode", "nonsense"),
        ("--type", "t", "--repeat", "0"),
    ],
    ids=str,
)
def test_options_that_contradict_are_wrong_usage(options: tuple[str, ...]) -> None:
    assert run("publish", *options).code == 2


def test_missing_file_is_named() -> None:
    done = run("publish", "--file", "no-such-file")

    assert done.code == 1
    assert "cannot read no-such-file" in done.err


def test_what_was_published_before_a_failure_is_said() -> None:
    done = run("publish", "--type", "t", "--repeat", "5", "--url", "http://127.0.0.1:1")

    assert done.code == 1
    assert "published 0 of 5 events" in done.err
