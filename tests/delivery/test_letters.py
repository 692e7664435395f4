from __future__ import annotations

import base64

import msgspec

from penstock.delivery.letters import marked
from penstock.events.entry import Entry
from penstock.ports import Response
from penstock.routing import Rules
from tests.log.entries import an_entry

SINK = "http://sink.example/"


def marks(response: Response, entry: Entry | None = None) -> dict[str, object]:
    found = marked(entry or an_entry(1), Rules.KNATIVE, SINK, response)
    return {key: value for key, value in found.event.extensions.items() if "knative" in key}


def quoted(response: Response) -> bytes:
    return base64.b64decode(str(marks(response)["knativeerrordata"]), validate=True)


def test_dead_letter_of_knative_says_where_it_could_not_go_and_why() -> None:
    found = marks(Response(400, body=b"no such order"))

    assert found == {
        "knativeerrordest": SINK,
        "knativeerrorcode": 400,
        "knativeerrordata": base64.b64encode(b"no such order").decode(),
    }


def test_refusal_without_words_has_none() -> None:
    assert marks(Response(500)) == {"knativeerrordest": SINK, "knativeerrorcode": 500}


def test_silence_has_no_code_but_words() -> None:
    response = Response(0, error="the sink did not answer in time")

    assert "knativeerrorcode" not in marks(response)
    assert quoted(response) == b"the sink did not answer in time"


def test_long_answer_is_cut_to_what_an_attribute_may_have() -> None:
    found = marks(Response(500, body=b"\x00" * 5_000))["knativeerrordata"]

    assert len(str(found)) == 1_024
    assert quoted(Response(500, body=b"\x00" * 5_000)) == b"\x00" * 768


def test_marks_of_an_earlier_death_are_replaced_and_the_rest_is_left() -> None:
    event = msgspec.structs.replace(
        an_entry(1).event, extensions={"knativeerrordest": "http://old/", "word": "é"}
    )
    entry = msgspec.structs.replace(an_entry(1), event=event)

    found = marked(entry, Rules.KNATIVE, SINK, Response(400)).event

    assert found.extensions["knativeerrordest"] == SINK
    assert found.extensions["word"] == "é"
    assert (found.id, found.source, found.data) == (event.id, event.source, event.data)


def test_dead_letter_of_a_subscription_is_the_event_itself() -> None:
    entry = an_entry(1)

    assert marked(entry, Rules.SUBSCRIPTION, SINK, Response(400)) is entry
