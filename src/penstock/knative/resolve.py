"""Destinations: references and addresses turned into absolute URLs."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urljoin, urlsplit

import msgspec

from penstock.events.values import is_uri
from penstock.knative.kinds import BROKER, CHANNEL, SERVICE, split
from penstock.knative.meta import Object, member, name, namespace
from penstock.routing import Stream, StreamKind

Identity = tuple[str, str, str, str]
"""What a reference means: group, kind, namespace and name."""
Find = Callable[[Identity], Object | None]

_STREAMS = {BROKER.identity: StreamKind.BROKER, CHANNEL.identity: StreamKind.CHANNEL}


class Resolved(msgspec.Struct, frozen=True):
    """What became of a destination: an address, or the reason why there is none."""

    uri: str = ""
    target: str = ""
    """Where requests go; other than `uri` where a Service stands for an external name."""
    stream: str | None = None
    """The stream behind the address, where it is one of ours."""
    reason: str = ""
    message: str = ""

    @property
    def succeeded(self) -> bool:
        return bool(self.uri)


def identity(ref: Object, home: str) -> Identity:
    """Return what a reference means inside a namespace."""
    group, _ = split(str(ref.get("apiVersion", "")))
    return group, str(ref.get("kind")), str(ref.get("namespace") or home), str(ref.get("name"))


def resolve(destination: Object, home: str, find: Find) -> Resolved:
    """Return the address of a destination (Knative, Destination Resolution)."""
    uri = str(destination.get("uri") or "")
    ref = destination.get("ref")
    if not ref:
        return _absolute(uri, uri, f"the uri {uri!r}")
    base = _referenced(identity(ref, home), find)
    if not uri or not base.succeeded:
        return base
    what = f"the uri {uri!r} beside {ref.get('kind')} {ref.get('name')}"
    return _absolute(urljoin(base.uri, uri), urljoin(base.target, uri), what)


def _referenced(meant: Identity, find: Find) -> Resolved:
    group, kind, home, called = meant
    found = find(meant)
    what = f"{kind}{f'.{group}' if group else ''} {called!r} in namespace {home!r}"
    if found is None:
        return Resolved(reason="NotFound", message=f"there is no {what}")
    if (group, kind) == SERVICE.identity:
        uri = f"http://{called}.{home}.svc/"
        return Resolved(uri, _external(found) or uri)
    url = member(found, "status", "address", "url")
    if not isinstance(url, str) or not url:
        return Resolved(reason="NoAddress", message=f"{what} has no status.address.url")
    made = _absolute(url, url, f"the address {url!r} of {what}")
    stream = _STREAMS.get((group, kind))
    if stream is None or not made.succeeded:
        return made
    return msgspec.structs.replace(made, stream=Stream(stream, home, called).key)


def _absolute(uri: str, target: str, what: str) -> Resolved:
    parts = urlsplit(uri) if is_uri(uri) else None
    if parts is None or parts.scheme.lower() not in ("http", "https") or not _host(uri):
        return Resolved(reason="NotAbsolute", message=f"{what} is no absolute http or https URL")
    return Resolved(uri, target)


def _host(uri: str) -> str | None:
    parts = urlsplit(uri)
    try:
        has_good_port = parts.port != 0
    except ValueError:
        return None
    return parts.hostname if has_good_port else None


def _external(service: Object) -> str:
    """Return the address behind a Service that is only another name for a host.

    A cluster would find that host by asking its name server; here the Service itself says it.
    """
    host = member(service, "spec", "externalName")
    if member(service, "spec", "type") != "ExternalName" or not isinstance(host, str) or not host:
        return ""
    ports = member(service, "spec", "ports")
    first = ports[0] if isinstance(ports, list) and ports else None
    port = member(first, "targetPort") or member(first, "port")
    address = f"http://{host}:{port}/" if isinstance(port, int) else f"http://{host}/"
    return address if is_uri(address) and _host(address) else ""


def of(found: Object, group: str, kind: str) -> Identity:
    """Return what references to an object say."""
    return group, kind, namespace(found), name(found)
