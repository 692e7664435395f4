"""Starting, stopping, dying: what an operator sees."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from penstock import folder
from penstock.config import Settings
from tests.end_to_end import machine
from tests.end_to_end.conftest import Note, Servers
from tests.end_to_end.harness import Server, free_port
from tests.end_to_end.loop import eventually
from tests.end_to_end.machine import Watch
from tests.end_to_end.receiver import Receiver

READY = 25.0
STOPPED = 10.0
MEMORY = 1.5 * (1 << 30)
ONE_CORE = 0.05


def output_of(command: list[str]) -> tuple[int, str]:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


def is_gone(process: psutil.Process) -> bool:
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def starting(servers: Servers) -> Server:
    """Return a server that is not ready yet, but has all its kinds of processes."""
    server = servers()
    server.start()
    eventually(lambda: any(one.name() == "java" for one in server.family()), 60.0, "Java runs")
    return server


def test_second_server_on_the_same_data_is_refused(server: Server) -> None:
    code, output = output_of(server.command(port=free_port()))

    assert code == 1
    assert f"{server.data} is in use by process {server.supervisor.pid}" in output
    assert "Traceback" not in output
    assert server.is_ready()


def test_port_in_use_is_refused(server: Server, tmp_path: Path) -> None:
    code, output = output_of(server.command(data=tmp_path / "other"))

    assert code == 1
    assert f"cannot listen on 127.0.0.1:{server.port}" in output
    assert "--port" in output
    assert "Traceback" not in output


def test_pipeline_that_died_is_missed_and_restarted(server: Server, note: Note) -> None:
    before, jvm = server.pipeline, server.jvm

    before.kill()
    eventually(lambda: not server.is_ready(), 30.0, "the server is not ready")
    answer = server.call("GET", "/readyz")
    health = server.call("GET", "/healthz")
    took = eventually(server.is_ready, 120.0, "the server is ready again")

    assert answer.status == 503
    [missing] = answer.document()["missing"]
    assert missing["what"] == "pipeline"
    assert missing["why"]
    assert health.status == 200
    assert server.pipeline.pid != before.pid
    assert is_gone(jvm)
    note(f"from the report of a dead pipeline to ready: {took:.1f} s")


def test_sign_of_life_from_before_a_crash_does_not_count(servers: Servers) -> None:
    server = servers()
    server.data.mkdir()
    folder.beat(Settings(data=str(server.data)))

    server.start()
    eventually(server.answers, 60.0, "the API answers")

    assert not server.is_ready()
    server.kill()


def test_spark_is_not_compiled_by_each_of_its_processes(server: Server) -> None:
    paths = [
        one.environ().get("PYTHONPATH", "")
        for one in server.pipeline.children(recursive=True)
        if one.name().startswith("python")
    ]

    assert len(paths) > 3
    assert not any("pyspark.zip" in path for path in paths)


def test_api_that_died_is_restarted(server: Server, note: Note) -> None:
    before, pipeline = server.api, server.pipeline

    before.kill()
    eventually(lambda: is_gone(before), 10.0, "the API is dead")
    took = eventually(server.is_ready, 60.0, "the server is ready again")

    assert server.api.pid != before.pid
    assert server.pipeline == pipeline
    note(f"from a dead API to ready: {took:.1f} s")


@pytest.mark.covers("SUB-004", "KN-061")
def test_restart_keeps_subscriptions_and_what_is_not_delivered(
    server: Server, receiver: Receiver, topic: str, note: Note
) -> None:
    sink = receiver.sink("in")
    key = server.subscribe(sink.url, types=[topic])
    receiver.close()
    parked = [server.publish(type=topic) for _ in range(20)]
    eventually(lambda: server.status(key)["deliveries"]["parked"] == 20, 30.0, "all are parked")
    fresh = server.publish(type=topic)

    took = server.stop()
    left = server.family()
    receiver.open()
    watch = Watch()
    server.start()
    ready = server.wait_ready()
    factor = watch.factor(server.family())

    for event in (*parked, fresh, server.publish(type=topic)):
        sink.wait_for(event)
    assert list(server.subscriptions()) == [key]
    assert not left
    assert took < STOPPED
    assert ready < READY * factor
    note(f"SIGTERM to stopped: {took:.1f} s")
    note(f"start to ready: {ready:.1f} s, on a machine {factor:.1f} times as slow as a quiet one")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_to_the_group_stops_everything(servers: Servers, number: signal.Signals) -> None:
    server = starting(servers)

    took = server.stop(number, group=True)

    assert took < STOPPED
    assert not server.family()


def test_killed_supervisor_leaves_no_orphan(servers: Servers, note: Note) -> None:
    server = starting(servers)

    server.supervisor.kill()
    server.bury()
    took = eventually(lambda: not server.family(), 30.0, "nothing is left of the server")

    note(f"kill -9 of the supervisor: the rest was gone after {took:.1f} s")


@pytest.mark.soak
def test_idle_server_uses_little(servers: Servers, note: Note) -> None:
    server, watch = servers(), Watch()
    server.start()
    ready = server.wait_ready()
    factor = watch.factor(server.family())
    eventually(lambda: time.monotonic() > server.started + ready + 90.0, 100.0, "it is idle")

    before, since = machine.computing(server.family()), time.monotonic()
    eventually(lambda: time.monotonic() > since + 60.0, 70.0, "a minute has passed")
    after, seconds = machine.computing(server.family()), time.monotonic() - since
    used = sum(after[pid] - before.get(pid, 0.0) for pid in after) / seconds
    memory = machine.memory(server.family())
    note(
        f"idle: {memory / (1 << 30):.2f} GiB in {len(after)} processes, {used:.1%} of one core; "
        f"start to ready: {ready:.1f} s on a machine {factor:.1f} times as slow as a quiet one"
    )

    server.stop()
    assert memory <= MEMORY
    assert used <= ONE_CORE
    assert ready <= READY * factor
