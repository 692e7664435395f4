from __future__ import annotations

import pytest

from penstock.delivery import onward
from penstock.events import CloudEvent
from penstock.ports import Request, Response

EVENT = CloudEvent("b", "/sink", "answer", datacontenttype="text/plain", data=b"hello")
HEADERS = (
    ("ce-specversion", "1.0"),
    ("ce-id", "b"),
    ("ce-source", "/sink"),
    ("ce-type", "answer"),
    ("content-type", "text/plain"),
)
JSON = (("content-type", "application/cloudevents+json"),)
STRUCTURED = b'{"specversion":"1.0","id":"b","source":"/sink","type":"answer","subject":"\xc3\xa9"}'
ASKED = Request("http://sink/", [("prefer", "reply")], b"", 7.0, {"method": "PUT"}, reply_to="r")


def test_event_in_a_binary_answer_is_a_reply() -> None:
    assert onward.reply(Response(200, HEADERS, b"hello"), "sink") == EVENT


def test_event_in_a_structured_answer_is_a_reply() -> None:
    found = onward.reply(Response(200, JSON, STRUCTURED), "sink")

    assert found is not None
    assert (found.id, found.subject) == ("b", "é")


@pytest.mark.parametrize(
    "response",
    [
        Response(202, HEADERS, b"hello"),
        Response(503, HEADERS, b"hello"),
        Response(200),
        Response(200, (("content-type", "application/json"),), b'{"ok": true}'),
    ],
    ids=["accepted", "failed", "empty", "no event"],
)
def test_other_answers_have_no_reply(response: Response, caplog: pytest.LogCaptureFixture) -> None:
    assert onward.reply(response, "sink") is None
    assert not caplog.text


def test_malformed_reply_is_none_and_told(caplog: pytest.LogCaptureFixture) -> None:
    assert onward.reply(Response(200, JSON, b"{"), "http://sink/") is None
    assert "the reply of http://sink/ is dropped" in caplog.text


def test_reply_is_sent_on_without_asking_for_another() -> None:
    request = onward.following(ASKED, EVENT)

    assert (request.uri, request.body, request.timeout) == ("r", b"hello", 7.0)
    assert sorted(request.headers) == sorted(HEADERS)
    assert (request.reply_to, request.wants_body, dict(request.settings)) == ("", False, {})


def test_answers_to_both_requests_are_one_answer() -> None:
    answer = Response(503, elapsed=2.0)

    found = onward.joined(Response(200, HEADERS, elapsed=1.0), EVENT, answer)

    assert found.status == 200
    assert found.elapsed == 3.0
    assert found.onward is not None
    assert (found.onward.event, found.onward.response) == (EVENT, answer)
