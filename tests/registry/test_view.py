from __future__ import annotations

import msgspec
import pytest

from penstock.errors import LimitError
from penstock.registry.view import Budget


def test_what_is_nested_counts_once() -> None:
    budget = Budget(1_000)
    inner = budget.packed({"name": "a" * 300})

    outer = budget.packed({"things": {"a": inner}})

    assert budget.left == 1_000 - memoryview(outer).nbytes
    assert msgspec.json.decode(outer) == {"things": {"a": {"name": "a" * 300}}}


def test_answer_that_grows_beyond_the_limit_is_refused() -> None:
    budget = Budget(500)
    inner = [budget.packed({"name": "a" * 200}) for _ in range(2)]

    with pytest.raises(LimitError, match="more than 500 bytes"):
        budget.packed({"things": dict(zip("ab", inner, strict=True)), "name": "a" * 100})
