"""Every example of docs/schemas.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from penstock.schemas import FORMATS
from penstock.schemas.jsonschema_drafts import DRAFTS

PAGE = (Path(__file__).parents[2] / "docs" / "schemas.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_examples_run_one_after_the_other() -> None:
    names: dict[str, Any] = {}

    for block in BLOCKS:
        exec(compile(block, "schemas.md", "exec"), names)  # noqa: S102

    assert len(BLOCKS) == 3


@pytest.mark.parametrize("name", [*FORMATS, *DRAFTS])
def test_format_is_documented(name: str) -> None:
    assert f"`{name}`" in PAGE
