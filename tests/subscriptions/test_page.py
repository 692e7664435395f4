"""The page on subscriptions: what it shows runs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from penstock.subscriptions.patch import proposal
from penstock.subscriptions.protocols import PROTOCOLS
from penstock.subscriptions.subscription import read
from tests.api.served import serving

PAGE = (Path(__file__).parents[2] / "docs" / "subscriptions.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


DOCUMENTS = [json.loads(block) for block in blocks("json")]
WHOLE = [document for document in DOCUMENTS if "sink" in document]
PATCHES = [document for document in DOCUMENTS if "sink" not in document]


@pytest.mark.parametrize("document", WHOLE, ids=str)
def test_printed_subscription_is_accepted(document: dict[str, Any]) -> None:
    assert read(document).document().items() >= {"sink": document["sink"]}.items()


@pytest.mark.parametrize("patch", PATCHES, ids=str)
def test_printed_patch_changes_the_first_subscription(patch: dict[str, Any]) -> None:
    before = read(WHOLE[0])

    assert read(proposal(before, patch)) != before


@pytest.mark.parametrize("name", sorted(PROTOCOLS["HTTP"].settings))
def test_http_setting_is_on_the_page(name: str) -> None:
    assert f"| `{name}` |" in PAGE


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_protocol_is_on_the_page_with_its_settings_and_schemes(protocol: str) -> None:
    known = PROTOCOLS[protocol]

    missing = {
        name for name in {*known.settings, *known.schemes, protocol} if f"`{name}`" not in PAGE
    }

    assert protocol == "HTTP" or not missing


@pytest.mark.network
@pytest.mark.parametrize("code", blocks("python"))
def test_printed_code_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    with serving(tmp_path) as served:
        monkeypatch.setenv("PENSTOCK_URL", f"http://127.0.0.1:{served.port}")

        exec(compile(code, "docs/subscriptions.md", "exec"), {})  # noqa: S102 - our own page

        assert served.get("/subscriptions").document == []
