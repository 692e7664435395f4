"""OpenAPI: the catalogue of services."""

from __future__ import annotations

from penstock.api.openapi import (
    Fragment,
    Part,
    Schema,
    good,
    json_body,
    operation,
    path,
    query,
    ref,
    told,
)
from penstock.discovery.attributes import CREATE, IMPORT, UPDATE

_PROPOSED = {
    "name": "widgets",
    "specversions": ["1.0"],
    "subscriptionurl": "https://events.example.com/subscriptions",
    "protocols": ["HTTP"],
    "events": [{"type": "com.example.widget.create"}],
}
_KEY = "cbdd62e8-c095-11ea-b3de-0242ac130004"
_EXAMPLE = {
    "id": _KEY,
    "discversion": 1,
    "updated": "2018-04-05T17:31:00Z",
    "url": f"http://127.0.0.1:8080/services/{_KEY}",
    **_PROPOSED,
}


def fragment() -> Fragment:
    """Return what can be asked of the catalogue."""
    one = good("The service.", ref("Service"), _EXAMPLE)
    made = good("It is known now.", ref("Service"), _EXAMPLE, headers=told("Location"))
    found = {"oneOf": [{"type": "array", "items": ref("Service")}, ref("Service")]}
    collection: Part = {
        "get": operation(
            "List all services, or find the one of a name",
            {200: good("All services by name; with `name`, one service.", found, [_EXAMPLE])},
            (400, 404),
            parameters=[
                query("name", "The name to find; case does not matter.", {"type": "string"})
            ],
        ),
        "post": operation(
            "Make a service known; one that has an `id` is imported and keeps it",
            {201: made},
            (400, 409, 415),
            json_body({"anyOf": [ref("NewService"), ref("ImportedService")]}, _PROPOSED),
        ),
    }
    item: Part = {
        "parameters": [path("id", "Id of the service, a UUID.")],
        "get": operation("Show a service", {200: one}, (404,)),
        "put": operation(
            "Replace a service; `discversion` and `updated` must be current where they are given",
            {200: one},
            (400, 404, 409, 415),
            json_body(ref("ChangedService"), {**_EXAMPLE, "description": "All about widgets"}),
        ),
        "delete": operation("Remove a service", {200: one}, (404, 409)),
    }
    return Fragment(
        "services",
        "Who emits what, and where to subscribe (CloudSubscriptions Discovery).",
        {"/services": collection, "/services/{id}": item},
        {
            "NewService": CREATE.schema,
            "ImportedService": IMPORT.schema,
            "ChangedService": UPDATE.schema,
            "Service": _service(),
        },
    )


def _service() -> Schema:
    """Return what is shown: all that is required, and what only the endpoint knows."""
    imported = dict(IMPORT.schema)
    members = imported["properties"]
    stamps = {
        "discversion": {"type": "integer", "minimum": 1},
        "url": {"type": "string", "format": "uri"},
    }
    required = [*_EXAMPLE.keys() - {"events"}]
    known = dict(members) if isinstance(members, dict) else {}
    return {**imported, "properties": {**known, **stamps}, "required": sorted(required)}
