from __future__ import annotations

import pytest

from penstock.routing.durations import seconds


@pytest.mark.covers("KN-104")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PT0.5S", 0.5),
        ("PT0,5S", 0.5),
        ("PT5S", 5.0),
        ("PT1M", 60.0),
        ("PT1H30M", 5_400.0),
        ("P1D", 86_400.0),
        ("P1DT2H", 93_600.0),
        ("P2W", 1_209_600.0),
        ("PT0S", 0.0),
        ("P0D", 0.0),
    ],
)
def test_duration_has_seconds(text: str, expected: float) -> None:
    assert seconds(text) == expected


@pytest.mark.covers("KN-104")
@pytest.mark.parametrize(
    "text",
    [
        *("", "P", "PT", "P1DT", "500ms", "5S", "PT5", "pt5s", "PT-5S", "-PT5S", "P1Y", "P1M"),
        *("P1W1D", "PT.5S", "PT5.S", "PT1S1M", " PT1S", "PT1S\n", "PT٣S", "PT1e3S", "PT0.5M"),
        "P" + "9" * 20 + "D",
    ],
)
def test_other_text_is_no_duration(text: str) -> None:
    assert seconds(text) is None
