"""OpenAPI: the schemas of all kinds, as clients ask for them before they apply or explain."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from penstock.knative import shape
from penstock.knative.kinds import CONFIG_MAP, SERVICE, Kind
from penstock.knative.patch import APPLY, JSON, MERGE, STRATEGIC
from penstock.knative.reconcile import RULES
from penstock.knative.shape import Schema

_GVK = "x-kubernetes-group-version-kind"
_INFO = {"title": "Penstock", "version": "v1"}
_OPEN = shape.anything("What is wanted of the object.")
_METADATA = shape.record(
    "Standard metadata of objects.",
    name=shape.text("Name, unique in its namespace."),
    generateName=shape.text("Beginning of a name that the server makes."),
    namespace=shape.text("Namespace of the object."),
    labels=shape.texts("Labels, by which objects are selected."),
    annotations=shape.texts("Annotations, kept as they are."),
    uid=shape.text("Id of the object; never used again."),
    resourceVersion=shape.text("Version at which the object was last written."),
    generation=shape.number("Grows with every change of the spec."),
    creationTimestamp=shape.text("When the object was made.", format="date-time"),
    deletionTimestamp=shape.text("When the object was deleted.", format="date-time"),
    deletionGracePeriodSeconds=shape.number("Always 0."),
    finalizers=shape.array({"type": "string"}, "Who must agree before the object goes."),
    ownerReferences=shape.array(shape.anything("An owner."), "Objects that own this one."),
    managedFields=shape.array(shape.anything("An entry."), "Who set which field."),
    selfLink=shape.text("Not used."),
)
_DESCRIPTIONS = {
    "Broker": "A stream of events that Triggers select from.",
    "Trigger": "Which events of a Broker go where.",
    "Channel": "A stream of events that all its Subscriptions get.",
    "Subscription": "Who gets the events of a Channel, and who the replies.",
}


def schema(kind: Kind) -> Schema:
    """Return the schema of a kind."""
    properties: dict[str, Schema] = {
        "apiVersion": shape.text("Version of the schema."),
        "kind": shape.text("Kind of the object."),
        "metadata": _METADATA,
    }
    if kind in RULES:
        properties |= {"spec": RULES[kind].spec, "status": RULES[kind].status}
    elif kind is CONFIG_MAP:
        properties |= {
            "data": shape.texts("What is kept."),
            "binaryData": shape.texts("What is kept, in base64."),
            "immutable": {"type": "boolean", "description": "Kept and not used."},
        }
    else:
        properties |= {"spec": _OPEN, "status": shape.anything("What is known of the object.")}
    made = shape.record(_DESCRIPTIONS.get(kind.kind, f"A {kind.kind}."), **properties)
    opened = {} if kind in RULES or kind in (CONFIG_MAP, SERVICE) else {shape.OPEN: True}
    return {**made, **opened, _GVK: [_meant(kind)]}


def index(kinds: Iterable[Kind]) -> dict[str, Any]:
    """Return where the document of each version of each group is."""
    return {
        "paths": {
            path: {"serverRelativeURL": f"/openapi/v3/{path}?hash={_digest(members)}"}
            for path, members in _documents(kinds).items()
        }
    }


def v3(path: str, kinds: Iterable[Kind]) -> dict[str, Any] | None:
    """Return the document of one version of a group; None where there is none."""
    members = _documents(kinds).get(path)
    if members is None:
        return None
    paths = {at: found for kind in members for at, found in _paths(kind)}
    schemas = {_name(kind): schema(kind) for kind in members}
    return {
        "openapi": "3.0.0",
        "info": _INFO,
        "paths": paths,
        "components": {"schemas": schemas},
    }


def v2(kinds: Iterable[Kind]) -> dict[str, Any]:
    """Return one document about everything, for older clients."""
    known = list(kinds)
    definitions = {_name(kind): schema(kind) for kind in known}
    paths = {
        at: {"patch": _question(found["patch"])}
        for kind in known
        for at, found in _paths(kind)
        if "patch" in found
    }
    return {"swagger": "2.0", "info": _INFO, "paths": paths, "definitions": definitions}


def _question(patch: Mapping[str, Any]) -> dict[str, Any]:
    """Return a patch as OpenAPI 2 describes it: clients look which parameters it takes."""
    parameters = [
        {"name": one["name"], "in": "query", "type": "string"} for one in patch["parameters"]
    ]
    kept = {name: value for name, value in patch.items() if name.startswith(("x-", "operationId"))}
    return {**kept, "parameters": parameters, "responses": {"200": {"description": "OK"}}}


def _documents(kinds: Iterable[Kind]) -> dict[str, list[Kind]]:
    found: dict[str, list[Kind]] = {}
    for kind in kinds:
        path = f"apis/{kind.api_version}" if kind.group else f"api/{kind.version}"
        found.setdefault(path, []).append(kind)
    return found


def _paths(kind: Kind) -> Iterable[tuple[str, Mapping[str, Any]]]:
    root = f"/apis/{kind.api_version}" if kind.group else f"/api/{kind.version}"
    space = "/namespaces/{namespace}" if kind.namespaced else ""
    collection = f"{root}{space}/{kind.plural}"
    body = {"schema": {"$ref": f"#/components/schemas/{_name(kind)}"}}
    types = (JSON, MERGE, APPLY) if kind.group else (JSON, MERGE, STRATEGIC, APPLY)
    yield (
        collection,
        {
            "get": _operation(kind, "list"),
            "post": _operation(kind, "post", {"*/*": body}),
        },
    )
    yield (
        f"{collection}/{{name}}",
        {
            "get": _operation(kind, "get"),
            "put": _operation(kind, "put", {"*/*": body}),
            "patch": _operation(kind, "patch", dict.fromkeys(types, body)),
            "delete": _operation(kind, "delete"),
        },
    )


def _operation(kind: Kind, action: str, content: Mapping[str, Any] | None = None) -> dict[str, Any]:
    answer = {"schema": {"$ref": f"#/components/schemas/{_name(kind)}"}}
    made: dict[str, Any] = {
        "operationId": f"{action}{kind.kind}",
        "responses": {
            "200": {"description": "OK", "content": {"application/json": answer}},
        },
        "x-kubernetes-action": action,
        _GVK: _meant(kind),
    }
    if content:
        made["parameters"] = [_parameter(name) for name in ("dryRun", "fieldManager")]
        made["parameters"].append(_parameter("fieldValidation"))
        made["requestBody"] = {"required": True, "content": content}
    return made


def _parameter(name: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": True}}


def _meant(kind: Kind) -> dict[str, str]:
    return {"group": kind.group, "version": kind.version, "kind": kind.kind}


def _name(kind: Kind) -> str:
    group = ".".join(reversed((kind.group or "core.api.k8s.io").split(".")))
    return f"{group}.{kind.version}.{kind.kind}"


def _digest(kinds: Iterable[Kind]) -> str:
    body = msgspec.json.encode([schema(kind) for kind in kinds])
    return hashlib.sha256(body).hexdigest()[:32].upper()
