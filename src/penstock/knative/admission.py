"""Admission: what a client proposes becomes an object, or is refused with every fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from penstock.errors import ConflictError, FormatError, Problem, ResourceError
from penstock.knative import faults, meta, shape
from penstock.knative.kinds import CONFIG_MAP, DEFINITION, Kind
from penstock.knative.meta import Object, member, metadata, name, namespace, spec, uid
from penstock.knative.reconcile import RULES

_TOP = {"apiVersion", "kind", "metadata", "spec", "status"}
_FOREIGN = {"channelTemplate"}
"""Fields that are kept for others, to the letter."""


def read(kind: Kind, space: str, document: object) -> Object:
    """Return the object in a document that was sent to the address of a kind."""
    if not isinstance(document, Mapping):
        raise FormatError("an object is expected", format="kubernetes")
    for member_name, wanted in (("apiVersion", kind.api_version), ("kind", kind.kind)):
        given = document.get(member_name) or wanted
        if given != wanted:
            msg = (
                f"the {member_name} in the data ({given}) does not match the expected "
                f"{member_name} ({wanted})"
            )
            raise FormatError(msg, format="kubernetes")
    if not isinstance(document.get("metadata") or {}, Mapping):
        raise ResourceError([faults.invalid("metadata", document["metadata"], "must be an object")])
    given = namespace(document) or space
    if kind.namespaced and given != space:
        msg = (
            "the namespace of the provided object does not match the namespace sent on the request"
        )
        raise FormatError(msg, format="kubernetes")
    found = {**document, "apiVersion": kind.api_version, "kind": kind.kind}
    return meta.with_metadata(found, namespace=space if kind.namespaced else None)


def born(kind: Kind, found: Object, make_id: Callable[[], str], now: str) -> Object:
    """Return a new object with the metadata that the server gives it."""
    own = meta.proposed(found)
    if not own.get("name") and isinstance(own.get("generateName"), str):
        own["name"] = f"{own['generateName']}{make_id().replace('-', '')[:5]}"
    given = {"uid": make_id(), "creationTimestamp": now}
    if kind.group:
        given["generation"] = 1  # type: ignore[assignment]
    return {**_shaped(kind, found), "metadata": {**own, **given}}


def grown(kind: Kind, before: Object, after: Object) -> Object:
    """Return an object after a change; what is the server's stays as it was."""
    own = meta.proposed(after)
    own.setdefault("managedFields", metadata(before).get("managedFields"))
    kept = {**own, **meta.served(before)}
    made: dict[str, Any] = {**_shaped(kind, after)}
    if kind.controlled:
        made.pop("status", None)
        if "status" in before:
            made["status"] = before["status"]
        if "subscribers" in spec(before):
            made["spec"] = {**spec(made), "subscribers": spec(before)["subscribers"]}
        elif "subscribers" in spec(made):
            made["spec"] = {key: each for key, each in spec(made).items() if key != "subscribers"}
    if kind.group and _substance(made) != _substance(before):
        kept["generation"] = int(metadata(before).get("generation", 1)) + 1
    kept = {key: value for key, value in kept.items() if value is not None}
    return {**made, "metadata": kept}


def check(kind: Kind, found: Object, before: Object | None = None) -> None:
    """Refuse an object that is wrong in itself, or after what it was before."""
    problems = [*meta.problems(kind, found), *_problems(kind, found)]
    if before is not None:
        problems += _changes(kind, before, found)
    if problems:
        raise ResourceError(list(dict.fromkeys(problems)))


def check_version(kind: Kind, before: Object, version: int, after: Object) -> None:
    """Refuse a change that was made to another state, or to another object of the same name."""
    given = metadata(after).get("resourceVersion")
    if (given and str(given) != str(version)) or (uid(after) and uid(after) != uid(before)):
        msg = (
            f'Operation cannot be fulfilled on {kind.resource} "{name(before)}": the object has '
            "been modified; please apply your changes to the latest version and try again"
        )
        raise ConflictError(msg, address=name(before))


def definition(found: Object) -> Kind:
    """Return the kind that a CustomResourceDefinition defines."""
    names = member(found, "spec", "names")
    short = member(names, "shortNames")
    return Kind(
        str(spec(found).get("group")),
        str(spec(found)["versions"][0]["name"]),
        str(member(names, "plural")),
        str(member(names, "kind")),
        tuple(map(str, short)) if isinstance(short, list) else (),
        namespaced=spec(found).get("scope") != "Cluster",
    )


def defined(found: Object, now: str) -> Object:
    """Return a CustomResourceDefinition with the status that clients wait for."""
    facts = [{"type": name, "status": "True"} for name in ("NamesAccepted", "Established")]
    conditions = [{**one, "lastTransitionTime": now} for one in facts]
    return {**found, "status": {"conditions": conditions, "acceptedNames": spec(found)["names"]}}


def _shaped(kind: Kind, found: Object) -> Object:
    if kind not in RULES:
        return found
    wanted = found.get("spec")
    if isinstance(wanted, Mapping):
        wanted = {
            key: value if key in _FOREIGN else meta.without_nulls(value)
            for key, value in wanted.items()
            if value is not None
        }
    made = {key: value for key, value in found.items() if key != "status"}
    return {**made, "spec": {} if wanted is None else wanted}


def _substance(found: Object) -> Object:
    """Return what the generation counts: everything but metadata, status and what we fill in."""
    made = {key: value for key, value in found.items() if key not in ("metadata", "status")}
    if isinstance(made.get("spec"), Mapping):
        made["spec"] = {key: value for key, value in spec(found).items() if key != "subscribers"}
    return made


def _problems(kind: Kind, found: Object) -> Iterator[Problem]:
    if kind in RULES:
        for key in found.keys() - _TOP:
            yield faults.forbidden(key, "unknown field")
        yield from shape.problems(RULES[kind].spec, found["spec"], "spec")
        if isinstance(found["spec"], Mapping):
            yield from RULES[kind].problems(found)
    elif kind is CONFIG_MAP:
        yield from shape.problems(shape.texts(""), found.get("data") or {}, "data")
    elif kind is DEFINITION:
        yield from _definition_problems(found)


def _changes(kind: Kind, before: Object, after: Object) -> Iterator[Problem]:
    if kind in RULES and isinstance(after["spec"], Mapping):
        yield from RULES[kind].changed(before, after)


def _definition_problems(found: Object) -> Iterator[Problem]:
    for path in (("group",), ("names", "plural"), ("names", "kind")):
        if not isinstance(member(found, "spec", *path), str):
            yield faults.required(f"spec.{'.'.join(path)}")
    versions = spec(found).get("versions")
    first = versions[0] if isinstance(versions, list) and versions else None
    if not isinstance(member(first, "name"), str):
        yield faults.required("spec.versions[0].name")
    else:
        yield from definition(found).problems()
