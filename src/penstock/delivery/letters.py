"""Dead letters as Knative marks them: where they could not go, and what the answer was."""

from __future__ import annotations

import base64

import msgspec

from penstock.delivery.judge import cause
from penstock.events.entry import Entry
from penstock.events.event import Value
from penstock.ports import Response
from penstock.routing.route import Rules

# Encoded, that makes the 1,024 characters that Knative allows.
_MOST_BYTES = 768


def marked(entry: Entry, rules: Rules, destination: str, response: Response) -> Entry:
    """Return an event as it goes to a dead letter sink: under Knative's rules it says why."""
    if rules is not Rules.KNATIVE:
        return entry
    marks: dict[str, Value] = {"knativeerrordest": destination}
    if response.status:
        marks["knativeerrorcode"] = response.status
    # Without an answer the words for that stand in its place.
    if quoted := response.body or ("" if response.status else cause(response)).encode():
        marks["knativeerrordata"] = base64.b64encode(quoted[:_MOST_BYTES]).decode()
    event = msgspec.structs.replace(entry.event, extensions={**entry.event.extensions, **marks})
    return msgspec.structs.replace(entry, event=event)
