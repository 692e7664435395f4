"""The kinds of objects: those that Penstock knows, and those it learns of."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from penstock.errors import Problem
from penstock.knative import faults

_GROUP = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,98}[a-z0-9])?")
_PLURAL = re.compile(r"[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?")
_VERSION = re.compile(r"v[a-z0-9]{1,62}")
_KIND = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,62}")

OBJECT = "object"
"""What the store calls an object of any kind."""
KIND = "kind"
"""What the store calls a kind that was learned."""


class Kind(msgspec.Struct, frozen=True, omit_defaults=True):
    """One kind of objects and its names."""

    group: str
    version: str
    plural: str
    kind: str
    short: tuple[str, ...] = ()
    namespaced: bool = True
    known: bool = False
    """Whether it is one of ours, with a version of its own and rules."""
    controlled: bool = False
    """Whether its status is ours alone."""

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self) -> str:
        """The name by which errors speak of it, such as `brokers.eventing.knative.dev`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def singular(self) -> str:
        return self.kind.lower()

    @property
    def identity(self) -> tuple[str, str]:
        """What references name: the group and the kind, whichever version."""
        return self.group, self.kind

    def prefix(self, namespace: str = "") -> str:
        """Return how the keys of all its objects begin, or of those in a namespace."""
        return f"{self.group}/{self.plural}/{namespace}/" if namespace else self._root

    def key(self, namespace: str, name: str) -> str:
        return f"{self._root}{namespace}/{name}"

    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong with its names, in the words of a CustomResourceDefinition."""
        for path, text, pattern in (
            ("group", self.group, _GROUP),
            ("names.plural", self.plural, _PLURAL),
            ("names.kind", self.kind, _KIND),
            ("versions[0].name", self.version, _VERSION),
        ):
            if not pattern.fullmatch(text):
                yield faults.invalid(f"spec.{path}", text, f"must match {pattern.pattern}")

    @property
    def _root(self) -> str:
        return f"{self.group}/{self.plural}/"


def _knative(area: str, plural: str, kind: str, *short: str) -> Kind:
    group = f"{area}.knative.dev"
    return Kind(group, "v1", plural, kind, short, known=True, controlled=True)


BROKER = _knative("eventing", "brokers", "Broker")
TRIGGER = _knative("eventing", "triggers", "Trigger")
CHANNEL = _knative("messaging", "channels", "Channel", "ch")
SUBSCRIPTION = _knative("messaging", "subscriptions", "Subscription", "sub")
NAMESPACE = Kind("", "v1", "namespaces", "Namespace", ("ns",), namespaced=False, known=True)
SERVICE = Kind("", "v1", "services", "Service", ("svc",), known=True)
CONFIG_MAP = Kind("", "v1", "configmaps", "ConfigMap", ("cm",), known=True)
EVENT = Kind("", "v1", "events", "Event", ("ev",), known=True)
KNATIVE_SERVICE = Kind("serving.knative.dev", "v1", "services", "Service", ("ksvc",), known=True)
DEFINITION = Kind(
    "apiextensions.k8s.io",
    "v1",
    "customresourcedefinitions",
    "CustomResourceDefinition",
    ("crd", "crds"),
    namespaced=False,
    known=True,
)

KNOWN = (
    NAMESPACE,
    SERVICE,
    CONFIG_MAP,
    EVENT,
    BROKER,
    TRIGGER,
    CHANNEL,
    SUBSCRIPTION,
    KNATIVE_SERVICE,
    DEFINITION,
)
REFERRING = (BROKER, TRIGGER, CHANNEL, SUBSCRIPTION)
"""The kinds whose objects refer to others."""


def split(api_version: str) -> tuple[str, str]:
    """Return group and version of an `apiVersion`."""
    group, slash, version = api_version.partition("/")
    return (group, version) if slash else ("", group)
