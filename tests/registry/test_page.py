"""Every request of docs/registry.md, sent in its order."""

from __future__ import annotations

import re
from pathlib import Path

from tests.api.registry import Client, registry
from tests.api.served import Reply

PAGE = (Path(__file__).parents[2] / "docs" / "registry.md").read_text(encoding="utf-8")
REQUESTS = re.findall(r"```http\n(.+?)```", PAGE, re.DOTALL)


def send(client: Client, text: str) -> Reply:
    """Send a request as it is printed."""
    head, _, body = text.partition("\n\n")
    start, *lines = head.splitlines()
    method, path = start.split()
    headers = dict(line.split(": ", 1) for line in lines)
    return client.served.request(method, path, body.strip() or None, headers)


def test_requests_of_the_page_are_answered_as_it_says(tmp_path: Path) -> None:
    with registry(tmp_path) as client:
        statuses = [send(client, each).status for each in REQUESTS]
        inline = client.get("/?inline").document

    assert statuses == [201, 201, 201, 201, 201, 200, 200]
    assert inline["teamsCount"] == 0
    assert inline["schemaGroups"]["com.example.orders"]["schemas"]["order"]["versionsCount"] == 2


def test_page_names_every_flag_and_limit() -> None:
    for flag in ("inline", "meta", "epoch", "limit", "after", "effective", "resolve", "check"):
        assert re.search(rf"`{flag}\b", PAGE), flag
    assert "registry_bytes" in PAGE
