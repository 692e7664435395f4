from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import ResourceError
from penstock.subscriptions.patch import merged, proposal
from penstock.subscriptions.subscription import Subscription, read

LEAST: dict[str, Any] = {"protocol": "HTTP", "sink": "http://h/"}


def patched(before: Subscription, patch: object) -> dict[str, Any]:
    """The document of a subscription after a patch."""
    return read(proposal(before, patch)).document()


@pytest.mark.parametrize(
    ("document", "patch", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_patches_are_merged_as_in_rfc_7396(
    document: dict[str, Any], patch: dict[str, Any], result: dict[str, Any]
) -> None:
    assert merged(document, patch) == result


def test_what_is_not_named_stays() -> None:
    before = read({**LEAST, "source": "/s", "types": ["a"], "config": {"x": 1, "y": 2}})

    after = patched(before, {"types": ["b"], "config": {"x": None}})

    assert after == {**before.document(), "types": ["b"], "config": {"y": 2}}


def test_names_are_compared_without_case() -> None:
    before = read({**LEAST, "protocolsettings": {"retry": 1}})

    after = patched(before, {"SINK": "http://other/", "ProtocolSettings": {"Retry": None}})

    assert after["sink"] == "http://other/"
    assert "retry" not in after["protocolsettings"]


@pytest.mark.parametrize(
    ("patch", "filters"),
    [
        ({"filter": {"exact": {"type": "b"}}}, [{"exact": {"type": "b"}}]),
        ({"filter": {}}, []),
        ({"filters": None}, []),
        ({"filters": []}, []),
    ],
)
def test_filters_may_be_patched_by_either_name(patch: dict[str, Any], filters: list[Any]) -> None:
    before = read({**LEAST, "filters": [{"exact": {"type": "a"}}]})

    assert patched(before, patch)["filters"] == filters


def test_another_protocol_starts_with_its_own_defaults() -> None:
    before = read({**LEAST, "protocolsettings": {"method": "PUT"}})

    after = patched(before, {"protocol": "KAFKA", "sink": "kafka://h/t"})

    assert after["protocolsettings"]["acks"] == "all"
    assert "method" not in after["protocolsettings"]


def test_other_names_of_settings_are_known() -> None:
    before = read({"protocol": "KAFKA", "sink": "kafka://h/t"})

    after = patched(before, {"protocolsettings": {"ackMode": 1}})

    assert after["protocolsettings"]["acks"] == "1"


@pytest.mark.parametrize("patch", [None, [], "x", 5])
def test_what_is_no_object_is_refused(patch: object) -> None:
    with pytest.raises(ResourceError):
        proposal(read(LEAST), patch)


def test_two_spellings_of_one_property_are_refused() -> None:
    settings = {"retry": 1, "Retry": 2}

    with pytest.raises(ResourceError) as raised:
        proposal(
            read({**LEAST, "protocolsettings": {"retry": 3}}),
            {"sink": "http://a/", "Sink": "http://b/", "protocolsettings": settings},
        )

    assert {one.path for one in raised.value.problems} == {"sink", "protocolsettings.retry"}
