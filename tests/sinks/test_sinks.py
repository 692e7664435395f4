from __future__ import annotations

import pytest

from penstock.errors import UnsupportedError
from penstock.sinks import SINKS, sink
from penstock.sinks.http import HttpSink


def test_sink_is_found_by_its_protocol() -> None:
    assert isinstance(sink("HTTP"), HttpSink)


@pytest.mark.parametrize("protocol", SINKS)
def test_every_named_sink_can_be_made(protocol: str) -> None:
    assert hasattr(sink(protocol), "send")


def test_unknown_protocol_is_refused_and_the_known_are_named() -> None:
    with pytest.raises(UnsupportedError, match="HTTP") as refusal:
        sink("PIGEON")

    assert refusal.value.what == "PIGEON"
