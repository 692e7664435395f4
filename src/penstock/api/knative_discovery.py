"""Discovery: which groups, versions and kinds there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from penstock.knative.kinds import Kind

_VERBS = (
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
)
_CATEGORY = ("knative", "all")
_AGGREGATED = "apidiscovery.k8s.io"


def version() -> dict[str, str]:
    """Return which Kubernetes this behaves like."""
    return {
        "major": "1",
        "minor": "32",
        "gitVersion": "v1.32.0+penstock",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "2026-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "python",
        "platform": "any",
    }


def core(address: str) -> dict[str, Any]:
    """Return the versions of the core group."""
    return {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
    }


def groups(kinds: Iterable[Kind]) -> dict[str, Any]:
    """Return all groups but the core."""
    found = [_group(name, members) for name, members in _by_group(kinds) if name]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": found}


def group(name: str, kinds: Iterable[Kind]) -> dict[str, Any] | None:
    """Return one group; None where there is none of that name."""
    members = [kind for kind in kinds if kind.group == name]
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(name, members)} if members else None


def resources(name: str, version: str, kinds: Iterable[Kind]) -> dict[str, Any] | None:
    """Return the kinds of one version of a group; None where there is no such version."""
    members = [kind for kind in kinds if (kind.group, kind.version) == (name, version)]
    if not members:
        return None
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": members[0].api_version,
        "resources": [one for kind in members for one in _resources(kind)],
    }


def is_aggregated(accept: str) -> str | None:
    """Return the version of aggregated discovery that a client asks for first."""
    for part in accept.split(","):
        pairs = dict(each.strip().partition("=")[::2] for each in part.split(";")[1:])
        if pairs.get("g") == _AGGREGATED and pairs.get("v") in ("v2", "v2beta1"):
            return pairs["v"]
    return None


def aggregated(kinds: Iterable[Kind], version: str, *, is_core: bool) -> dict[str, Any]:
    """Return everything about all groups, or about the core group, in one document."""
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": f"{_AGGREGATED}/{version}",
        "metadata": {},
        "items": [
            {
                "metadata": {"name": name, "creationTimestamp": None},
                "versions": [
                    {
                        "version": each,
                        "freshness": "Current",
                        "resources": [
                            _discovered(kind) for kind in members if kind.version == each
                        ],
                    }
                    for each in _versions(members)
                ],
            }
            for name, members in _by_group(kinds)
            if (not name) is is_core
        ],
    }


def _by_group(kinds: Iterable[Kind]) -> list[tuple[str, list[Kind]]]:
    ordered = sorted(kinds, key=lambda kind: (kind.group, kind.version, kind.plural))
    return [(name, list(found)) for name, found in groupby(ordered, lambda kind: kind.group)]


def _versions(kinds: Iterable[Kind]) -> list[str]:
    return list(dict.fromkeys(kind.version for kind in kinds))


def _group(name: str, kinds: Sequence[Kind]) -> dict[str, Any]:
    versions = [{"groupVersion": f"{name}/{each}", "version": each} for each in _versions(kinds)]
    return {"name": name, "versions": versions, "preferredVersion": versions[0]}


def _resources(kind: Kind) -> Iterable[Mapping[str, Any]]:
    common = {"singularName": "", "namespaced": kind.namespaced, "kind": kind.kind}
    names = {"singularName": kind.singular, "shortNames": list(kind.short)}
    extra = {"categories": list(_CATEGORY)} if kind.controlled else {}
    yield {"name": kind.plural, **common, **names, "verbs": list(_VERBS), **extra}
    yield {"name": f"{kind.plural}/status", **common, "verbs": _status_verbs(kind)}


def _status_verbs(kind: Kind) -> list[str]:
    return ["get"] if kind.controlled else ["get", "patch", "update"]


def _discovered(kind: Kind) -> dict[str, Any]:
    meant = {"group": kind.group, "version": kind.version, "kind": kind.kind}
    return {
        "resource": kind.plural,
        "responseKind": meant,
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": kind.singular,
        "verbs": list(_VERBS),
        "shortNames": list(kind.short),
        "categories": list(_CATEGORY) if kind.controlled else [],
        "subresources": [
            {"subresource": "status", "responseKind": meant, "verbs": _status_verbs(kind)}
        ],
    }
