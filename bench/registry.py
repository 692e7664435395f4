"""The registry with many schemas: reading, writing, lists, everything inline; and validation."""

from __future__ import annotations

import http.client
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from bench import rig
from penstock import runtime
from penstock.config import Settings
from penstock.events.event import CloudEvent
from penstock.ports import Put
from penstock.registry import Terms, Validator, files
from penstock.registry.entities import (
    CONTENT,
    GROUP,
    RESOURCE,
    VERSION,
    Group,
    Place,
    Shape,
    Version,
    folded,
    key,
    resource,
)

GROUPS = 1_000
SCHEMAS = 100
"""In each group."""
SECONDS = 8
_ROUNDS = 2
_CONNECTIONS = 32
_WRITES = 300
_PAGE_SECONDS = 0.05
_HELD_MIB = 200
_VALID = 100_000
_EVENTS = 50_000
_FORMAT = "JsonSchema/draft-07"
_SCHEMA = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "required": ["order", "amount", "currency"],
    "properties": {
        "order": {"type": "integer", "minimum": 1},
        "amount": {"type": "number", "minimum": 0},
        "currency": {"type": "string", "enum": ["EUR", "USD"]},
        "lines": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["sku", "count"],
                "properties": {
                    "sku": {"type": "string", "maxLength": 20},
                    "count": {"type": "integer"},
                },
            },
        },
    },
}
_DOCUMENT = msgspec.json.encode(_SCHEMA)
_BARE = """
BODY = {body!r}
HEADERS = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(BODY))]
async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    await send({{"type": "http.response.start", "status": 200, "headers": HEADERS}})
    await send({{"type": "http.response.body", "body": BODY}})
"""
_READ = """
local number = 0
request = function()
  number = (number + 7919) % {total}
  local group, schema = math.floor(number / {schemas}), number % {schemas}
  return wrk.format("GET", "/registry/schemaGroups/g" .. group .. "/schemas/s" .. schema)
end
"""
_WRITE = """
local number = 0
wrk.body = [==[{body}]==]
wrk.headers["content-type"] = "application/json"
wrk.headers["registry-format"] = "{format}"
request = function()
  number = number + 1
  wrk.headers["registry-id"] = "new-{round}-" .. number
  return wrk.format("POST", "/registry/schemaGroups/g" .. (number % {groups}) .. "/schemas")
end
"""
_DONE = """
done = function(summary, latency, requests)
  local refused = summary.errors.status + summary.errors.connect + summary.errors.timeout
  io.write(string.format("RESULT %f %d\\n", summary.requests / summary.duration * 1e6, refused))
end
"""


def measure(groups: int = GROUPS, schemas: int = SCHEMAS, seconds: int = SECONDS) -> list[rig.Row]:
    """Return what a large registry is asked to hold, and the speed of validation."""
    with rig.data_folder() as settings:
        _fill(settings, groups, schemas)
        with _bare_app() as bare, _api(settings) as process:
            rows = [
                _reads(settings, bare, (groups, schemas), seconds),
                _pages(settings, (groups, schemas)),
                _everything(settings, process, groups * schemas),
                _writes(settings, groups, seconds),
            ]
    return [*rows, _validation()]


def _fill(settings: Settings, groups: int, schemas: int) -> None:
    store = runtime.open_store(settings)
    now = "2026-04-05T17:31:00Z"
    for number in range(groups):
        group = Group(f"g{number}", {}, 1, now, now)
        changes = [Put(GROUP, key("schemaGroups", group.id), msgspec.json.encode(group))]
        for index in range(schemas):
            changes += _schema(Place("schemaGroups", group.id, "schemas", f"s{index}"), now)
        store.write(changes)
    store.close()


def _schema(place: Place, now: str) -> list[Put]:
    attributes = {"format": _FORMAT}
    made = Version("1", attributes, 1, now, now, "", "application/json", Shape.JSON)
    version = f"{place.key}/{folded('1')}"
    held = resource(place, "schema", ("1",), (made, _DOCUMENT))
    return [
        Put(RESOURCE, place.key, msgspec.json.encode(held)),
        Put(VERSION, version, msgspec.json.encode(made)),
        Put(CONTENT, version, _DOCUMENT),
    ]


def _reads(settings: Settings, bare: str, size: tuple[int, int], seconds: int) -> rig.Row:
    groups, schemas = size
    script = _READ.format(total=groups * schemas, schemas=schemas)
    plain: list[float] = []
    ours: list[float] = []
    for _ in range(_ROUNDS):
        # In turns, so that a slow moment of the machine hits both.
        plain.append(_wrk(bare, script, seconds))
        ours.append(_wrk(settings.address, script, seconds))
    name = f"registry, GET of one of {groups * schemas:,} schemas / bare ASGI app, same bytes"
    return rig.ratio_row(name, rig.mean(ours), rig.mean(plain), "requests/s", 0.5)


def _writes(settings: Settings, groups: int, seconds: int) -> rig.Row:
    script = _WRITE.format(
        body=_DOCUMENT.decode(), format=_FORMAT, groups=groups, round=time.monotonic_ns()
    )
    rate = _wrk(settings.address, script, seconds)
    name = "registry, schemas created, each parsed and durable"
    return rig.Row(name, rate, "requests/s", goal=f">= {_WRITES}", met=rate >= _WRITES)


def _pages(settings: Settings, size: tuple[int, int]) -> rig.Row:
    groups, schemas = size
    paths = (
        "/registry/schemaGroups",
        f"/registry/schemaGroups?after=g{groups // 2}",
        f"/registry/schemaGroups/g{groups // 2}/schemas?limit={schemas}",
    )
    slowest = max(_median(settings, path) for path in paths)
    name = "registry, the slowest of three pages of lists, median"
    goal = f"< {_PAGE_SECONDS * 1e3:.0f}"
    return rig.Row(name, slowest * 1e3, "ms", goal=goal, met=slowest < _PAGE_SECONDS)


def _median(settings: Settings, path: str) -> float:
    taken = []
    for _ in range(15):
        start = time.perf_counter()
        status, _ = _get(settings, path)
        taken.append(time.perf_counter() - start)
        assert status == 200, f"{path} was answered {status}"  # noqa: PLR2004
    return statistics.median(taken)


def _everything(settings: Settings, process: subprocess.Popen[bytes], total: int) -> rig.Row:
    before = _memory(process.pid, "VmRSS")
    # From here on the kernel remembers the highest anew.
    Path(f"/proc/{process.pid}/clear_refs").write_text("5")
    status, length = _get(settings, "/registry/?inline")
    held = _memory(process.pid, "VmHWM") - before
    is_sane = status == 406 or (status == 200 and length > total * len(_DOCUMENT))  # noqa: PLR2004
    name = f"registry, memory held by ?inline of everything, answered {status}"
    goal = f"< {_HELD_MIB}"
    return rig.Row(name, held, "MiB", goal=goal, met=is_sane and held < _HELD_MIB)


def _memory(pid: int, name: str) -> float:
    found = re.search(rf"{name}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def _get(settings: Settings, path: str) -> tuple[int, int]:
    """Return the status and the length of an answer, without keeping it."""
    connection = http.client.HTTPConnection("127.0.0.1", settings.port, timeout=120)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        length = 0
        while part := answer.read(1 << 20):
            length += len(part)
        return answer.status, length
    finally:
        connection.close()


def _validation() -> rig.Row:
    attributes = {
        "type": {"value": "com.example.order.created"},
        "source": {"value": "/shops/{shop}"},
        "subject": {"value": "order-{number}", "required": True},
        "time": {"required": True},
        "priority": {"type": "integer"},
    }
    definition = {
        "format": "CloudEvents/1.0",
        "metadata": {"attributes": attributes},
        "schemaformat": _FORMAT,
        "schema": _SCHEMA,
    }
    document = {"definitionGroups": {"g": {"definitions": {"d": definition}}}}
    _, store, _ = files.opened(document, terms=Terms())
    problems = Validator(store).problems
    events = [_event(number) for number in range(_EVENTS)]
    best = min(_checked(problems, events) for _ in range(5))
    rate = _EVENTS / best
    name = "validation against definition and JSON Schema, one core"
    return rig.Row(name, rate, "events/s", goal=f">= {_VALID:,}", met=rate >= _VALID)


def _checked(problems: object, events: list[CloudEvent]) -> float:
    assert callable(problems)
    start = time.perf_counter()
    wrong = sum(1 for event in events if problems(event))
    taken = time.perf_counter() - start
    assert wrong == 0, f"{wrong} good events have problems"
    return taken


def _event(number: int) -> CloudEvent:
    lines = b'[{"sku": "a-1", "count": 2}, {"sku": "b-2", "count": 1}]'
    return CloudEvent(
        f"id-{number}",
        f"/shops/{number % 50}",
        "com.example.order.created",
        subject=f"order-{number}",
        time="2026-04-05T17:31:00Z",
        datacontenttype="application/json",
        extensions={"priority": str(number % 7)},
        data=b'{"order": %d, "amount": 12.5, "currency": "EUR", "lines": %b}' % (number + 1, lines),
    )


def _wrk(address: str, script: str, seconds: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "load.lua"
        file.write_text(script + _DONE)
        command = ["wrk", "-t1", f"-c{_CONNECTIONS}", f"-d{seconds}s", "-s", str(file), address]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    line = next(line for line in output.splitlines() if line.startswith("RESULT"))
    speed, refused = line.split()[1:]
    assert refused == "0", f"{refused} requests were refused"
    return float(speed)


@contextmanager
def _bare_app() -> Iterator[str]:
    port = rig.free_port()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "bare.py").write_text(_BARE.format(body=_DOCUMENT))
        options = ["--loop", "uvloop", "--http", "httptools", "--no-access-log"]
        command = [sys.executable, "-m", "uvicorn", "bare:app", "--port", str(port), *options]
        with _process([*command, "--log-level", "error"], port, {"PYTHONPATH": folder}):
            yield f"http://127.0.0.1:{port}"


@contextmanager
def _api(settings: Settings) -> Iterator[subprocess.Popen[bytes]]:
    environment = {"PENSTOCK_SETTINGS_JSON": msgspec.json.encode(settings).decode()}
    command = [sys.executable, "-m", "penstock", "serve-api"]
    with _process(command, settings.port, environment) as process:
        yield process


@contextmanager
def _process(
    command: list[str], port: int, environment: dict[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command, env={**os.environ, **environment})
    try:
        rig.wait_for(lambda: rig.listening(port), 30)
        yield process
    finally:
        process.terminate()
        process.wait()
