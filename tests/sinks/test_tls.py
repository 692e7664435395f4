from __future__ import annotations

import os
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

pytestmark = pytest.mark.network

# A process of its own, because which authorities are trusted is read once.
SENDER = """
import asyncio, os, sys
from penstock.ports import Request
from penstock.sinks import sink

async def send():
    response = await sink("HTTP").send(Request(sys.argv[1], [], b"x", 10.0))
    print(response.status, response.error, flush=True)
    os._exit(0)

asyncio.run(send())
"""


class Sink(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(202)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


def certificate(
    subject: str, key: ec.EllipticCurvePrivateKey, signer: ec.EllipticCurvePrivateKey, host: str
) -> bytes:
    """A certificate for a host, or for an authority where there is none."""
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, subject)]))
        .issuer_name(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "authority")]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=not host, path_length=None), critical=True)
    )
    if host:
        names = x509.SubjectAlternativeName([x509.IPAddress(ip_address(host))])
        made = made.add_extension(names, critical=False)
    return made.sign(signer, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def private(key: ec.EllipticCurvePrivateKey) -> bytes:
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> tuple[ec.EllipticCurvePrivateKey, Path]:
    key, path = ec.generate_private_key(ec.SECP256R1()), tmp_path_factory.mktemp("tls") / "ca.pem"
    path.write_bytes(certificate("authority", key, key, ""))
    return key, path


@pytest.fixture(params=["127.0.0.1", "127.0.0.2"])
def secured(
    request: pytest.FixtureRequest,
    authority: tuple[ec.EllipticCurvePrivateKey, Path],
    tmp_path: Path,
) -> Iterator[tuple[str, bool]]:
    """The address of a sink with a certificate, and whether the certificate is for it."""
    key, path = ec.generate_private_key(ec.SECP256R1()), tmp_path / "sink.pem"
    path.write_bytes(certificate("sink", key, authority[0], request.param) + private(key))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Sink)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"https://127.0.0.1:{server.server_port}/", request.param == "127.0.0.1"
    server.shutdown()
    server.server_close()


def sent(address: str, trusted: Path | None) -> str:
    environment = {name: text for name, text in os.environ.items() if name != "SSL_CERT_FILE"}
    if trusted is not None:
        environment["SSL_CERT_FILE"] = str(trusted)
    done = subprocess.run(
        [sys.executable, "-c", SENDER, address],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.covers("CE-063", "CE-117")
def test_secured_sink_gets_events_if_its_certificate_is_trusted_and_its_own(
    secured: tuple[str, bool], authority: tuple[ec.EllipticCurvePrivateKey, Path]
) -> None:
    address, is_its_own = secured

    found = sent(address, authority[1])

    assert found == "202" if is_its_own else found.startswith("0 ") and "certificate" in found


@pytest.mark.covers("CE-117")
def test_certificate_of_an_unknown_authority_is_refused(secured: tuple[str, bool]) -> None:
    found = sent(secured[0], None)

    assert found.startswith("0 ")
    assert "certificate" in found
