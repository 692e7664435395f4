"""Events as Arrow record batches: the form in which they lie in the log and pass through Spark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.ipc

from penstock.errors import FormatError
from penstock.events.entry import Entry
from penstock.events.event import CloudEvent, DataForm, Value

SCHEMA = pa.schema(
    [
        pa.field("stream", pa.string(), nullable=False),
        pa.field("received", pa.int64(), nullable=False),
        pa.field("hops", pa.int16(), nullable=False),
        pa.field("specversion", pa.string(), nullable=False),
        pa.field("id", pa.string(), nullable=False),
        pa.field("source", pa.string(), nullable=False),
        pa.field("type", pa.string(), nullable=False),
        pa.field("subject", pa.string()),
        pa.field("time", pa.string()),
        pa.field("datacontenttype", pa.string()),
        pa.field("dataschema", pa.string()),
        pa.field("extensions", pa.string()),
        pa.field("data", pa.binary()),
        pa.field("form", pa.int8(), nullable=False),
    ]
)
"""One row per event; extension attributes as one JSON object, so that their types survive."""

CORE = ("specversion", "id", "source", "type", "subject", "time", "datacontenttype", "dataschema")

_ENCODER = msgspec.json.Encoder()
_DECODER: msgspec.json.Decoder[dict[str, Any]] = msgspec.json.Decoder(dict[str, Any])
_FORMS = {int(form): form for form in DataForm}


def pack(entries: Sequence[Entry]) -> pa.RecordBatch:
    """Return the entries as one record batch."""
    rows = [_row(entry) for entry in entries]
    columns = zip(*rows, strict=True) if rows else ([] for _ in SCHEMA)
    arrays = [
        pa.array(column, type=field.type) for column, field in zip(columns, SCHEMA, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def _row(entry: Entry) -> tuple[object, ...]:
    event = entry.event
    return (
        entry.stream,
        entry.received,
        entry.hops,
        event.specversion,
        event.id,
        event.source,
        event.type,
        event.subject,
        event.time,
        event.datacontenttype,
        event.dataschema,
        _ENCODER.encode(event.extensions).decode() if event.extensions else None,
        event.data,
        int(event.form),
    )


def unpack(batch: pa.RecordBatch) -> list[Entry]:
    """Return the entries that `pack` was given."""
    columns = (batch.column(name).to_pylist() for name in SCHEMA.names)
    return [entry_of(*row) for row in zip(*columns, strict=True)]


def entry_at(batch: pa.RecordBatch, index: int) -> Entry:
    """Return one entry of a batch without touching the others."""
    return entry_of(*(batch.column(name)[index].as_py() for name in SCHEMA.names))


def entry_of(  # noqa: PLR0913, PLR0917 - one parameter per column
    stream: str,
    received: int,
    hops: int,
    specversion: str,
    id: str,  # noqa: A002
    source: str,
    type: str,  # noqa: A002
    subject: str | None,
    time: str | None,
    datacontenttype: str | None,
    dataschema: str | None,
    extensions: str | None,
    data: bytes | None,
    form: int,
) -> Entry:
    """Return the entry made of one value per column."""
    event = CloudEvent(
        id,
        source,
        type,
        specversion,
        subject,
        time,
        datacontenttype,
        dataschema,
        extensions_of(extensions),
        data,
        _FORMS[form],
    )
    return Entry(stream, event, received, hops)


def extensions_of(text: str | None) -> dict[str, Value]:
    """Return the extension attributes that a row holds as JSON."""
    return _DECODER.decode(text) if text else {}


def dump(batch: pa.RecordBatch) -> bytes:
    """Return the batch as bytes; the schema is not among them, it is always `SCHEMA`."""
    return bytes(batch.serialize())


def load(body: bytes) -> pa.RecordBatch:
    """Return the batch that `dump` wrote."""
    try:
        return pa.ipc.read_record_batch(pa.py_buffer(body), SCHEMA)
    except (pa.ArrowException, OSError, EOFError) as exc:
        msg = "the bytes are not a record batch of events"
        raise FormatError(msg, format="arrow") from exc


def freeze(entry: Entry) -> bytes:
    """Return one entry as bytes, for keeping apart from the log."""
    return dump(pack([entry]))


def thaw(body: bytes) -> Entry:
    """Return the entry that `freeze` was given."""
    return entry_at(load(body), 0)
