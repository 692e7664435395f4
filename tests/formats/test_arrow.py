from __future__ import annotations

import msgspec
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.errors import FormatError
from penstock.events import CloudEvent, DataForm
from penstock.events.entry import Entry
from penstock.events.values import canonical
from penstock.formats import arrow
from tests.events.strategies import events, old_events

entries = st.builds(
    Entry,
    st.sampled_from(["brokers/default/default", "channels/a/b"]),
    events() | old_events(),
    st.integers(0, 2**62),
    st.integers(0, 255),
)


def kept(entry: Entry) -> Entry:
    """The entry as it comes back: binary extensions as their canonical text, as on every wire."""
    extensions = {
        name: canonical(value) if isinstance(value, bytes) else value
        for name, value in entry.event.extensions.items()
    }
    event = msgspec.structs.replace(entry.event, extensions=extensions)
    return msgspec.structs.replace(entry, event=event)


@given(st.lists(entries, max_size=4))
def test_entries_come_back_from_their_bytes(some: list[Entry]) -> None:
    body = arrow.dump(arrow.pack(some))

    assert arrow.unpack(arrow.load(body)) == [kept(entry) for entry in some]


@settings(max_examples=20)
@given(entries)
def test_entry_kept_apart_comes_back(entry: Entry) -> None:
    assert arrow.thaw(arrow.freeze(entry)) == kept(entry)


def test_one_entry_can_be_taken_from_the_middle() -> None:
    some = [Entry("s", CloudEvent(str(n), "/", "t", data=b"x" * n), n) for n in range(5)]

    assert arrow.entry_at(arrow.pack(some), 3) == some[3]


@pytest.mark.parametrize(
    "value",
    [
        True,
        5,
        "5",
        "true",
        "",
        "ü\U0001f600",
        -(2**31),
        {"a": [1, None, {"b": 1.5}]},
        0.1,
        [],
        2**63,
    ],
)
def test_extension_keeps_its_type(value: object) -> None:
    old = CloudEvent("1", "/", "t", "0.2", extensions={"x": value})  # type: ignore[dict-item]

    (found,) = arrow.unpack(arrow.pack([Entry("s", old, 0)]))

    assert found.event.extensions["x"] == value
    assert type(found.event.extensions["x"]) is type(value)


@pytest.mark.parametrize("data", [None, b"", b"\x00\xff"])
@pytest.mark.parametrize("form", list(DataForm))
def test_no_data_and_empty_data_are_two_things(data: bytes | None, form: DataForm) -> None:
    entry = Entry("s", CloudEvent("1", "/", "t", data=data, form=form), 0)

    (found,) = arrow.unpack(arrow.pack([entry]))

    assert (found.event.data, found.event.form) == (data, form)
    assert found.event.form is form


def test_no_entries_are_an_empty_batch() -> None:
    batch = arrow.pack([])

    assert batch.num_rows == 0
    assert batch.schema == arrow.SCHEMA
    assert arrow.unpack(arrow.load(arrow.dump(batch))) == []


def test_required_columns_have_no_null() -> None:
    batch = arrow.pack([Entry("s", CloudEvent("1", "/", "t"), 0)])

    nullable = {name for name in batch.schema.names if batch.column(name).null_count}
    assert nullable <= {field.name for field in arrow.SCHEMA if field.nullable}


@pytest.mark.parametrize("body", [b"", b"\x00", b"no batch", b"\xff" * 64])
def test_bytes_that_are_no_batch_are_refused(body: bytes) -> None:
    with pytest.raises(FormatError) as refusal:
        arrow.load(body)

    assert refusal.value.format == "arrow"


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_cut_batch_is_refused(share: float) -> None:
    body = arrow.dump(arrow.pack([Entry("s", CloudEvent("1", "/", "t", data=b"x" * 500), 0)]))

    with pytest.raises(FormatError):
        arrow.load(body[: int(len(body) * share)])


def test_batch_of_another_schema_is_refused() -> None:
    other = pa.RecordBatch.from_arrays([pa.array([1])], ["x"])

    with pytest.raises(FormatError):
        arrow.load(bytes(other.serialize()))
