"""Random valid events of both versions, and random values of each type."""

from __future__ import annotations

import json
import string
from typing import Any

from hypothesis import strategies as st

from penstock.events import CloudEvent, DataForm
from penstock.events.media import is_text, is_utf8
from penstock.events.values import INTEGER_MAX, INTEGER_MIN, is_string

TEXTS = st.text(min_size=1, max_size=20).filter(is_string)
INTEGERS = st.integers(INTEGER_MIN, INTEGER_MAX)
SOURCES = st.sampled_from(
    ["/a", "https://example.com/x?y=%20#z", "urn:uuid:1", "1-555-123-4567", "a/b:c", "//h:80/p"]
)
TIMES = st.sampled_from(
    [
        "2018-04-05T17:31:00Z",
        "2016-02-29t00:00:00.5z",
        "2016-12-31T23:59:60+00:00",
        "0001-01-01T00:00:00-23:59",
    ]
)
SCHEMAS = st.sampled_from(["https://example.com/s", "urn:x:y"])
NAMES = st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=20)
RESERVED = {
    *("specversion", "id", "source", "type", "subject", "time", "data"),
    *("datacontenttype", "dataschema", "contenttype", "schemaurl"),
    # Documented extensions have types of their own.
    *("dataref", "expirytime", "partitionkey", "recordedtime", "sampledrate", "sequence"),
    *("traceparent", "tracestate"),
}
SCALARS: st.SearchStrategy[Any] = st.one_of(
    TEXTS, INTEGERS, st.booleans(), st.binary(max_size=10), st.just("")
)
FRACTIONS = st.floats(allow_nan=False, allow_infinity=False)
JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | FRACTIONS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
JSON_TYPES = st.sampled_from(["application/json", "Application/Vnd.X+JSON; v=1", "text/json"])
TEXT_TYPES = st.sampled_from(["text/plain", 'text/xml; charset="UTF-8"', "application/xml"])
OTHER_TYPES = st.sampled_from(["application/octet-stream", "image/png", "application/avro"])


def json_bytes(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


JSON_DATA = st.builds(json_bytes, JSON_VALUES)
BYTES_DATA = st.binary(min_size=1, max_size=40)
TEXT_DATA = st.text(min_size=1, max_size=20).map(lambda text: text.encode("utf-8", "ignore"))

Payload = tuple[bytes | None, str | None, DataForm]

# Each pair of data and content type in the form in which a reader hands it out.
PAYLOADS: st.SearchStrategy[Payload] = st.one_of(
    st.tuples(st.none(), st.none() | JSON_TYPES | OTHER_TYPES, st.just(DataForm.BYTES)),
    st.tuples(JSON_DATA, JSON_TYPES, st.just(DataForm.BYTES)),
    st.tuples(BYTES_DATA, st.none() | OTHER_TYPES | TEXT_TYPES, st.just(DataForm.BYTES)),
    st.tuples(TEXT_DATA.filter(bool), TEXT_TYPES | OTHER_TYPES, st.just(DataForm.TEXT)),
)


def _is_odd_text(payload: Payload) -> bool:
    data, content_type, _ = payload
    return data is not None and is_text(content_type or "") and not is_utf8(data)


@st.composite
def events(draw: st.DrawFn) -> CloudEvent:
    """Valid events of version 1.0."""
    data, content_type, form = draw(
        PAYLOADS | st.tuples(JSON_DATA, st.none(), st.just(DataForm.JSON))
    )
    return CloudEvent(
        id=draw(TEXTS),
        source=draw(SOURCES),
        type=draw(TEXTS),
        subject=draw(st.none() | TEXTS),
        time=draw(st.none() | TIMES),
        datacontenttype=content_type,
        dataschema=draw(st.none() | SCHEMAS),
        extensions=draw(
            st.dictionaries(NAMES.filter(lambda n: n not in RESERVED), SCALARS, max_size=4)
        ),
        data=data,
        form=form,
    )


@st.composite
def old_events(draw: st.DrawFn) -> CloudEvent:
    """Valid events of version 0.2."""
    # The JSON format of 0.2 takes what is of a text type for text, so nothing else comes back.
    data, content_type, form = draw(PAYLOADS.filter(lambda payload: not _is_odd_text(payload)))
    names = NAMES.filter(lambda name: name not in RESERVED and name[0].isalpha())
    values = JSON_VALUES.filter(lambda value: value is not None)
    return CloudEvent(
        id=draw(TEXTS),
        source=draw(SOURCES),
        type=draw(TEXTS),
        specversion="0.2",
        time=draw(st.none() | TIMES),
        datacontenttype=content_type,
        dataschema=draw(st.none() | SCHEMAS | st.just("/relative")),
        extensions=draw(st.dictionaries(names, values, max_size=4)),
        data=data,
        form=form,
    )
