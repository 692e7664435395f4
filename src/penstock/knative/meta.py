"""Objects as JSON, and the metadata that all of them have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from penstock.errors import Problem
from penstock.knative import faults
from penstock.knative.kinds import Kind

Object = Mapping[str, Any]
"""An object of any kind; never changed in place."""

_SUBDOMAIN = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
_WORD = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?")
_LONGEST_NAME, _LONGEST_WORD = 253, 63
_MOST_ANNOTATION_BYTES = 262_144
_KEPT = (
    "name",
    "generateName",
    "namespace",
    "labels",
    "annotations",
    "finalizers",
    "ownerReferences",
    "managedFields",
)
_SERVED = (
    "uid",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)


def member(found: object, *names: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return what lies at a path inside a JSON value, or None."""
    for name in names:
        if not isinstance(found, Mapping):
            return None
        found = found.get(name)
    return found


def metadata(found: Object) -> Object:
    given = found.get("metadata")
    return given if isinstance(given, Mapping) else {}


def spec(found: Object) -> Object:
    given = found.get("spec")
    return given if isinstance(given, Mapping) else {}


def name(found: Object) -> str:
    return str(metadata(found).get("name") or "")


def namespace(found: Object) -> str:
    return str(metadata(found).get("namespace") or "")


def uid(found: Object) -> str:
    return str(metadata(found).get("uid") or "")


def with_metadata(found: Object, **changes: object) -> Object:
    """Return the object with other metadata; None takes a member away."""
    merged = {**metadata(found), **changes}
    return {**found, "metadata": {key: value for key, value in merged.items() if value is not None}}


def timestamp(seconds: float) -> str:
    """Return a time as Kubernetes writes it."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def proposed(found: Object) -> dict[str, Any]:
    """Return the metadata that a client may set; the rest is the server's."""
    return {key: value for key, value in metadata(found).items() if key in _KEPT and value}


def served(found: Object) -> dict[str, Any]:
    """Return the metadata that only the server sets."""
    return {key: value for key, value in metadata(found).items() if key in _SERVED}


def without_nulls(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a JSON value without the members that are null."""
    if isinstance(value, Mapping):
        return {key: without_nulls(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [without_nulls(each) for each in value]
    return value


def problems(kind: Kind, found: Object) -> Iterator[Problem]:
    """Yield what is wrong with the metadata of an object."""
    yield from _name_problems(kind, found)
    yield from _map_problems("labels", metadata(found).get("labels"))
    yield from _map_problems("annotations", metadata(found).get("annotations"))
    for list_name in ("finalizers", "ownerReferences", "managedFields"):
        given = metadata(found).get(list_name, [])
        if not isinstance(given, list):
            yield faults.invalid(f"metadata.{list_name}", given, "must be an array")
    for number, given in enumerate(metadata(found).get("finalizers") or []):
        if not isinstance(given, str) or not _is_qualified(given):
            path = f"metadata.finalizers[{number}]"
            yield faults.invalid(path, given, "must be a qualified name")


def _name_problems(kind: Kind, found: Object) -> Iterator[Problem]:
    given = metadata(found).get("name")
    if not given:
        yield faults.required("metadata.name", "name or generateName is required")
    elif not isinstance(given, str) or not is_name(given):
        detail = (
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
            "'-' or '.', and must start and end with an alphanumeric character"
        )
        yield faults.invalid("metadata.name", given, detail)
    space = namespace(found)
    if kind.namespaced and not is_label(space):
        yield faults.invalid("metadata.namespace", space, "must be a lowercase RFC 1123 label")


def is_name(text: str) -> bool:
    return len(text) <= _LONGEST_NAME and _SUBDOMAIN.fullmatch(text) is not None


def is_label(text: str) -> bool:
    return len(text) <= _LONGEST_WORD and _LABEL.fullmatch(text) is not None


def _is_qualified(text: str) -> bool:
    prefix, slash, word = text.rpartition("/")
    return (not slash or is_name(prefix)) and _is_word(word)


def _is_word(text: str) -> bool:
    return len(text) <= _LONGEST_WORD and _WORD.fullmatch(text) is not None


def _map_problems(which: str, given: object) -> Iterator[Problem]:
    path = f"metadata.{which}"
    if given is None:
        return
    if not isinstance(given, Mapping):
        yield faults.invalid(path, given, "must be a map of strings")
        return
    size = 0
    for key, value in given.items():
        if not _is_qualified(key.lower() if which == "annotations" else key):
            yield faults.invalid(path, key, "name must be a qualified name")
        if not isinstance(value, str):
            yield faults.invalid(f"{path}.{key}", value, "must be a string")
        elif which == "labels" and value and not _is_word(value):
            yield faults.invalid(path, value, "a valid label must be an empty string or a word")
        else:
            size += len(key) + len(value)
    if size > _MOST_ANNOTATION_BYTES and which == "annotations":
        yield Problem(path, f"Too long: may not be more than {_MOST_ANNOTATION_BYTES} bytes")
