from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.discovery import template


@pytest.mark.parametrize(
    "text",
    [
        *("http://blob.store/{bucket}", "/a", "{a}", "{a}{b}", "{a.b}", "{a_1}", "{%41b}"),
        *("http://x/%20/{a}", "ä/{a}", "?q={q}#f"),
    ],
)
def test_level_1_is_accepted(text: str) -> None:
    assert template.fault(text) is None


@pytest.mark.parametrize(
    "text",
    [
        *("", "{+a}", "{#a}", "{.a}", "{/a}", "{;a}", "{?a}", "{&a}", "{a,b}", "{a*}", "{a:3}"),
        *("{a", "a}", "{}", "{{a}}", "{a}}", "a b", "%", "%4", "a|b", "<a>", "{a..b}", "{a b}"),
        "\x00",
    ],
)
def test_everything_else_is_refused(text: str) -> None:
    assert template.fault(text) is not None


@given(st.text("{}a%2.,", max_size=60))
def test_braces_of_what_is_accepted_are_in_pairs(text: str) -> None:
    if template.fault(text) is None:
        assert text.count("{") == text.count("}")
        assert "{}" not in text
