from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from penstock.api.streams import Streams, is_address
from penstock.ports import Drop, Put
from penstock.routing import DEFAULT, STREAM, Stream, StreamKind
from penstock.store import SqlResourceStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlResourceStore]:
    with closing(SqlResourceStore(f"sqlite:///{tmp_path / 'store.db'}")) as opened:
        yield opened


def put(store: SqlResourceStore, *streams: Stream) -> None:
    store.write([Put(STREAM, stream.key, msgspec.json.encode(stream)) for stream in streams])


def test_default_broker_is_created_once(store: SqlResourceStore) -> None:
    streams = Streams(store)

    streams.create_default()
    version = store.version()
    streams.create_default()

    assert store.version() == version
    assert store.get(STREAM, DEFAULT.key) is not None


def test_refresh_finds_all_streams(store: SqlResourceStore) -> None:
    many = [Stream(StreamKind.CHANNEL, "shop", f"c{number}") for number in range(2500)]
    put(store, DEFAULT, *many)
    streams = Streams(store)

    streams.refresh()

    assert len(streams.by_path) == 2502
    assert streams.by_path["/events"] == streams.by_path["/brokers/default/default"] == DEFAULT.key
    assert streams.by_path["/channels/shop/c7"] == "channels/shop/c7"


def test_refresh_forgets_what_was_dropped(store: SqlResourceStore) -> None:
    put(store, DEFAULT)
    streams = Streams(store)
    streams.refresh()
    store.write([Drop(STREAM, DEFAULT.key)])

    streams.refresh()

    assert streams.by_path == {}
    assert streams.find("/events") is None


def test_stream_is_found_before_the_next_refresh(store: SqlResourceStore) -> None:
    streams = Streams(store)
    put(store, Stream(StreamKind.BROKER, "shop", "new"))

    assert streams.find("/brokers/shop/new") == "brokers/shop/new"
    assert streams.find("/brokers/shop/other") is None


@pytest.mark.parametrize("path", ["/events", "/brokers/a/b", "/channels/a-1/b.c"])
def test_ingest_address(path: str) -> None:
    assert is_address(path)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/event",
        "/brokers/a",
        "/brokers/a/b/c",
        "/brokers//b",
        "/brokers/a/\x00",
        "/triggers/a/b",
    ],
)
def test_no_ingest_address(path: str) -> None:
    assert not is_address(path)
