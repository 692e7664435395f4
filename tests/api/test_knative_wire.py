from __future__ import annotations

import pytest

from penstock.api import knative_wire
from penstock.errors import FormatError, UnsupportedError


def field(number: int, body: bytes) -> bytes:
    return bytes([number << 3 | 2, len(body)]) + body


def wrapped(kind: str, raw: bytes) -> bytes:
    return b"k8s\0" + field(1, field(1, b"v1") + field(2, kind.encode())) + field(2, raw)


def test_namespace_is_read() -> None:
    metadata = field(1, b"shop") + field(11, field(1, b"a") + field(2, b"b"))

    found = knative_wire.document(wrapped("Namespace", field(1, metadata) + field(2, b"")))

    assert found == {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "shop", "labels": {"a": "b"}},
    }


def test_service_is_read() -> None:
    port = field(1, b"http") + bytes([3 << 3, 80]) + field(4, bytes([1 << 3, 0, 2 << 3, 90]))
    spec = field(1, port) + field(4, b"ExternalName") + field(10, b"host")

    found = knative_wire.document(wrapped("Service", field(1, field(1, b"s")) + field(2, spec)))

    assert found["spec"] == {
        "ports": [{"name": "http", "port": 80, "targetPort": 90}],
        "type": "ExternalName",
        "externalName": "host",
    }


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"k8s\0",
        b"k8s\0\xff",
        b"k8s\0" + b"\xff" * 20,
        b"k8s\0\x08\x01",
        wrapped("Namespace", b"\x0a\xff"),
        wrapped("Namespace", b"\x0f"),
        wrapped("Namespace", field(1, field(1, b"\xff"))),
    ],
    ids=repr,
)
def test_broken_bytes_are_refused(body: bytes) -> None:
    with pytest.raises(FormatError):
        knative_wire.document(body)


def test_other_kinds_are_to_be_sent_as_json() -> None:
    with pytest.raises(UnsupportedError, match="Pod"):
        knative_wire.document(wrapped("Pod", b""))
