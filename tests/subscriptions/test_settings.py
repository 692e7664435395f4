from __future__ import annotations

import pytest

from penstock.errors import ResourceError
from penstock.subscriptions.protocols import PROTOCOLS

HTTP = PROTOCOLS["HTTP"]


def problems(**settings: object) -> list[str]:
    with pytest.raises(ResourceError) as raised:
        HTTP.read(settings, "protocolsettings")
    return [problem.path.removeprefix("protocolsettings.") for problem in raised.value.problems]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("method", "put"),
        ("method", "PURGE"),
        ("headers", {"X-A": "", "X-B": "a b\tc"}),
        ("contentmode", "structured"),
        ("timeout", 0.001),
        ("timeout", 3600),
        ("retry", 0),
        ("backoffdelay", "PT0.001S"),
        ("backoffpolicy", "linear"),
        ("deadlettersink", "https://h/dead"),
        ("maxinflight", 1),
    ],
)
def test_good_setting_is_taken(name: str, value: object) -> None:
    assert name in HTTP.read({name: value}, "protocolsettings")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(
            ("method", method)
            for method in ("GET", "head", "OPTIONS", "TRACE", "CONNECT", "A B", "", 5)
        ),
        *(("contentmode", mode) for mode in ("batched", "Binary", "", 1, ["binary"])),
        *(("timeout", seconds) for seconds in (0, -1, 3601, "30", True, float("nan"))),
        *(("retry", number) for number in (-1, 1.5, "3", True, 10_000)),
        *(("backoffdelay", text) for text in ("500ms", "PT0S", "P2D", "1", 1, "P", "PT")),
        *(("backoffpolicy", text) for text in ("Linear", "", None.__class__)),
        *(("deadlettersink", uri) for uri in ("/x", "kafka://h/t", "", 5)),
        *(("maxinflight", number) for number in (0, -1, 1.0, "1", 10_000)),
    ],
)
def test_bad_setting_is_named(name: str, value: object) -> None:
    assert problems(**{name: value}) == [name]


@pytest.mark.parametrize(
    "name",
    [
        *("ce-id", "CE-Type", "Content-Type", "content-length", "Transfer-Encoding", "HOST"),
        *("Connection", "bad name", "bad\r\nname", ""),
    ],
)
def test_header_that_would_break_the_delivery_is_refused(name: str) -> None:
    assert problems(headers={name: "x"}) in ([f"headers.{name}"], ["headers"])


@pytest.mark.parametrize("value", ["a\r\nX-Injected: 1", "\x00", "ü", 5, None, ["a"]])
def test_header_value_must_be_one_line_of_ascii(value: object) -> None:
    assert problems(headers={"X-A": value}) == ["headers.X-A"]


def test_one_header_in_two_spellings_is_refused() -> None:
    assert problems(headers={"x-a": "1", "X-A": "2"}) == ["headers"]


def test_unknown_settings_are_named_with_the_known_ones() -> None:
    with pytest.raises(ResourceError, match="method") as raised:
        HTTP.read({"qos": 1, "topicname": "t", "method": 5}, "protocolsettings")

    paths = {problem.path for problem in raised.value.problems}
    assert paths == {
        "protocolsettings.qos",
        "protocolsettings.topicname",
        "protocolsettings.method",
    }


@pytest.mark.parametrize("value", [[], "x", 5])
def test_settings_must_be_an_object(value: object) -> None:
    with pytest.raises(ResourceError):
        HTTP.read(value, "protocolsettings")
