from __future__ import annotations

import pytest

from penstock.registry import templates


@pytest.mark.parametrize("text", ["", "plain", "{a}", "https://{host}/{queue}", "{a}{b_1}?x={c}"])
def test_good_template_has_no_fault(text: str) -> None:
    assert templates.fault(text) is None


@pytest.mark.parametrize("text", ["{", "}", "{a", "a}", "{}", "{+a}", "{a-b}", "{a,b}", "{a} b"])
def test_bad_template_has_a_fault(text: str) -> None:
    assert templates.fault(text)


def test_names_of_placeholders_are_found() -> None:
    assert templates.placeholders("{a}/x/{b}/{a}") == ("a", "b", "a")
