from __future__ import annotations

from penstock.routing import DEFAULT, Stream, StreamKind


def test_key_of_a_stream_is_its_ingest_path() -> None:
    assert DEFAULT.key == "brokers/default/default"
    assert Stream(StreamKind.CHANNEL, "n", "c").key == "channels/n/c"
