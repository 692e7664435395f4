"""The published conformance scenarios of the HTTP binding, against the running server."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.end_to_end.harness import Server
from tests.end_to_end.receiver import Receiver

FOLDER = Path(__file__).parents[3] / "shared" / "tck" / "cloudevents"


@dataclass(frozen=True, slots=True)
class Scenario:
    """A request as it is written down, and the event that it is."""

    headers: dict[str, str]
    body: bytes
    attributes: dict[str, str]
    data: object


def scenarios() -> Iterator[Scenario]:
    for path in sorted(FOLDER.glob("http-*.feature")):
        for outline in path.read_text("utf-8").split("Scenario Outline:")[1:]:
            steps, _, examples = outline.partition("Examples:")
            [name], *rows = rows_of(examples)
            for [value] in rows:
                yield scenario(steps.replace(f"<{name}>", value))


def scenario(steps: str) -> Scenario:
    [request, data] = re.findall(r'"""\n(.*?)"""', steps, re.DOTALL)
    _, _, table = steps.partition("the attributes are:")
    head, _, body = textwrap.dedent(request).strip().partition("\n\n")
    fields = (line.partition(":") for line in head.splitlines()[1:])
    headers = {name.strip().lower(): value.strip() for name, _, value in fields}
    _, *rows = rows_of(table)
    return Scenario(headers, body.encode(), dict(rows), json.loads(data))


def rows_of(text: str) -> list[list[str]]:
    lines = (line.strip() for line in text.splitlines())
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in lines
        if line.startswith("|")
    ]


@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"the published scenarios are not at {FOLDER}")
@pytest.mark.parametrize("scenario", list(scenarios()))
@pytest.mark.parametrize("mode", ["binary", "structured"])
def test_scenario_passes_through_the_server(
    server: Server, receiver: Receiver, scenario: Scenario, mode: str
) -> None:
    sink = receiver.sink("in")
    server.subscribe(sink.url, {"contentmode": mode})

    answer = server.call("POST", "/events", scenario.body, scenario.headers)

    assert answer.status == 202
    [request] = sink.wait()
    if mode == "structured":
        found = json.loads(request.body)
        data = found.pop("data")
    else:
        prefixed = {key: text for key, text in request.headers.items() if key.startswith("ce-")}
        found = {key.removeprefix("ce-"): text for key, text in prefixed.items()}
        found["datacontenttype"] = request.headers["content-type"]
        data = json.loads(request.body)
    assert found == scenario.attributes
    assert data == scenario.data
