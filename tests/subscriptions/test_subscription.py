from __future__ import annotations

from typing import Any

import msgspec
import pytest

from penstock.errors import ResourceError
from penstock.events import event
from penstock.routing import Backoff, ContentMode, Policy
from penstock.subscriptions.subscription import Subscription, read

LEAST: dict[str, Any] = {"protocol": "HTTP", "sink": "https://example.com/event-processor"}


def problems(document: object) -> dict[str, str]:
    with pytest.raises(ResourceError) as raised:
        read(document)
    return {problem.path: problem.message for problem in raised.value.problems}


def seal(text: str, purpose: str) -> str:
    """Stand in for a vault: backwards is secret enough here."""
    return f"{purpose}:{text[::-1]}"


def http_setting(**settings: object) -> Subscription:
    return read({**LEAST, "protocolsettings": settings}, seal=seal)


def test_least_subscription_gets_its_defaults() -> None:
    found = read(LEAST)

    assert found.document()["protocolsettings"] == {
        "method": "POST",
        "contentmode": "binary",
        "timeout": 30,
        "backoffdelay": "PT1S",
        "backoffpolicy": "exponential",
        "maxinflight": 32,
        "handshake": "off",
    }


def test_all_problems_are_named_at_once() -> None:
    found = problems(
        {
            "source": "",
            "types": ["", 5],
            "config": {"": 1},
            "filters": [{"nosuch": {}}, {}],
            "sinkCredential": {"credentialType": "PLAIN"},
        }
    )

    assert set(found) == {
        "protocol",
        "sink",
        "source",
        "types[0]",
        "types[1]",
        "config",
        "filters[0].nosuch",
        "filters[1]",
        "sinkCredential.identifier",
        "sinkCredential.secret",
    }


@pytest.mark.parametrize("document", [None, [], "x", 5])
def test_what_is_no_object_is_refused(document: object) -> None:
    assert list(problems(document)) == [""]


def test_property_names_are_compared_without_case() -> None:
    found = read({"Protocol": "HTTP", "SINK": "http://h/", "ProtocolSettings": {"Method": "PUT"}})

    assert found.protocolsettings["method"] == "PUT"


def test_two_spellings_of_one_property_are_refused() -> None:
    found = problems(
        {**LEAST, "Sink": "http://other/", "protocolsettings": {"retry": 1, "Retry": 2}}
    )

    assert set(found) == {"sink", "protocolsettings.retry"}


def test_null_counts_as_absent() -> None:
    found = read({**LEAST, "filters": None, "types": None, "config": None, "sinkCredential": None})

    assert "config" not in found.document()
    assert found.filters == ()


def test_unknown_property_is_not_echoed() -> None:
    found = read({**LEAST, "extra": 1})

    assert "extra" not in found.document()


@pytest.mark.parametrize(
    ("given", "types"),
    [("a", ["a"]), (["a", "b"], ["a", "b"]), ([], None)],
)
def test_types_are_shown_as_an_array_or_not_at_all(given: object, types: object) -> None:
    found = read({**LEAST, "types": given})

    assert found.document().get("types") == types


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({"filter": {"exact": {"type": "a"}}}, [{"exact": {"type": "a"}}]),
        ({"filter": [{"exact": {"type": "a"}}]}, [{"exact": {"type": "a"}}]),
        ({"filters": [{"exact": {"type": "a"}}]}, [{"exact": {"type": "a"}}]),
        ({"filter": {}}, []),
        ({"filters": []}, []),
        ({}, []),
    ],
)
def test_filter_and_filters_mean_the_same(given: dict[str, Any], shown: list[Any]) -> None:
    found = read({**LEAST, **given})

    assert found.document()["filters"] == shown


def test_filter_and_filters_exclude_each_other() -> None:
    assert "filter" in problems({**LEAST, "filter": {}, "filters": []})


@pytest.mark.parametrize(
    "sink",
    [
        *(
            "",
            5,
            "/relative",
            "amqp://h/q",
            "http://",
            "https:///x",
            "http://h:99999/",
            "http://[bad",
        ),
        *("http://user:secret@h/", "ftp://h/", "http://h/ x", "mailto:a@b"),
    ],
)
def test_sink_must_be_an_http_address(sink: object) -> None:
    found = problems({**LEAST, "sink": sink})

    assert list(found) == ["sink"]
    assert "secret" not in found["sink"]


@pytest.mark.parametrize("sink", ["http://h", "https://h:8443/a/b?c=d", "HTTP://[::1]:80/"])
def test_sink_is_kept_as_it_is(sink: str) -> None:
    assert read({**LEAST, "sink": sink}).route(()).target.uri == sink


@pytest.mark.parametrize("protocol", ["http", "Kafka", "FTP", "", 5])
def test_other_protocols_are_refused(protocol: object) -> None:
    assert list(problems({**LEAST, "protocol": protocol})) == ["protocol"]


def test_route_carries_match_target_and_policy() -> None:
    found = read(
        {
            **LEAST,
            "source": "/s",
            "types": "t",
            "filters": [{"prefix": {"subject": "a"}}],
            "protocolsettings": {
                "headers": {"X-Tenant": "t1"},
                "method": "PUT",
                "contentmode": "structured",
                "timeout": 2.5,
                "retry": 3,
                "backoffdelay": "PT0.2S",
                "backoffpolicy": "linear",
                "deadlettersink": "http://dead/",
                "maxinflight": 4,
            },
        }
    )

    route = found.route((7,))

    assert route.start == (7,)
    assert route.target.mode is ContentMode.STRUCTURED
    assert route.target.in_flight == 4
    assert route.target.settings == {"method": "PUT", "headers": {"X-Tenant": "t1"}}
    assert route.policy == Policy(
        retries=3, delay=0.2, backoff=Backoff.LINEAR, timeout=2.5, dead_letter="http://dead/"
    )
    assert route.condition().matches(event(source="/s", type="t", subject="ab"))
    assert not route.condition().matches(event(source="/s", type="u", subject="ab"))


def test_without_settings_delivery_is_tried_for_a_day() -> None:
    assert read(LEAST).route(()).policy == Policy()


def test_first_wait_is_never_cut() -> None:
    policy = http_setting(backoffdelay="PT1H").route(()).policy

    assert policy.longest_delay == policy.delay == 3600


def test_secret_headers_are_not_shown() -> None:
    found = http_setting(headers={"Authorization": "Bearer x", "cookie": "y", "X-A": "1"})

    assert found.document()["protocolsettings"]["headers"] == {"X-A": "1"}  # type: ignore[index]
    assert found.route(()).target.settings["headers"] == {"X-A": "1"}
    assert b"Bearer" not in msgspec.json.encode(found)


def test_secret_headers_that_were_not_sent_back_are_kept() -> None:
    before = http_setting(headers={"Authorization": "Bearer x", "X-A": "1"})

    same = http_setting(headers={"X-A": "1"}, method="PUT").keeping(before)
    other = http_setting(headers={"X-A": "2"}).keeping(before)
    gone = read(LEAST).keeping(before)

    assert same.protocolsettings["headers"] == before.protocolsettings["headers"]
    assert same.protocolsettings["method"] == "PUT"
    assert other.protocolsettings["headers"] == {"X-A": "2"}
    assert "headers" not in gone.protocolsettings
