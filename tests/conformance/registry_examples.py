"""The documents that the Registry specification gives as examples, as test data."""

from __future__ import annotations

from typing import Any

ID = "urn:uuid:3978344f-8596-4c3a-a978-8fc9a6a469f7"
SCHEMA = "https://cloudevents.io/schemas/registry"
_HEAD = {"$schema": SCHEMA, "specversion": "0.4-wip", "id": ID}
_MQTT = {
    "protocol": "MQTT/5.0",
    "strict": False,
    "endpoints": ["mqtt://mqtt.example.com:1883"],
    "options": {"topic": "{deviceid}/telemetry"},
}
_ATTRIBUTES = {
    "id": {"type": "string", "required": True},
    "type": {"type": "string", "value": "com.example.telemetry", "required": True},
    "time": {"type": "datetime", "required": True},
    "source": {"type": "uritemplate", "value": "{deploymentid}/{deviceid}", "required": True},
}
_DEFINITION = {
    "id": "com.example.telemetry",
    "description": "device telemetry event",
    "format": "CloudEvents/1.0",
    "metadata": {"attributes": _ATTRIBUTES},
    "schemaformat": "Protobuf/3.0",
}
_STRAY = 'syntax = "proto3"; message Metrics { float metric = 1;%s } }'

COMPACT: dict[str, Any] = {
    "$schema": SCHEMA,
    "specversion": "0.5-wip",
    "id": ID,
    "endpoints": {
        "com.example.telemetry": {
            "id": "com.example.telemetry",
            "usage": "consumer",
            "config": _MQTT,
            "format": "CloudEvents/1.0",
            "definitions": {"com.example.telemetry": {**_DEFINITION, "schema": _STRAY % ""}},
        }
    },
}

SPLIT: dict[str, Any] = {
    **_HEAD,
    "endpointsCount": 1,
    "endpoints": {
        "com.example.telemetry": {
            "id": "com.example.telemetry",
            "usage": "consumer",
            "config": _MQTT,
            "format": "CloudEvents/1.0",
            "definitionGroups": ["#/definitionGroups/com.example.telemetryEvents"],
        }
    },
    "definitionGroupsCount": 1,
    "definitionGroups": {
        "com.example.telemetryEvents": {
            "id": "com.example.telemetryEvents",
            "definitionsCount": 1,
            "definitions": {
                "com.example.telemetry": {
                    **_DEFINITION,
                    "schemaurl": "#/schemaGroups/com.example.telemetry"
                    "/schema/com.example.telemetrydata/versions/1.0",
                }
            },
        }
    },
    "schemaGroupsCount": 1,
    "schemaGroups": {
        "com.example.telemetry": {
            "id": "com.example.telemetry",
            "schemasCount": 1,
            "schemas": {
                "com.example.telemetrydata": {
                    "id": "com.example.telemetrydata",
                    "description": "device telemetry event data",
                    "format": "Protobuf/3.0",
                    "versionsCount": 1,
                    "versions": {
                        "1.0": {
                            "id": "1.0",
                            "schema": 'syntax = "proto3"; message Metrics { float metric = 1; }',
                        }
                    },
                }
            },
        }
    },
}


def _linked(reference: str) -> dict[str, Any]:
    endpoint = {
        "id": "com.example.telemetry",
        "usage": "consumer",
        "format": "CloudEvents/1.0",
        "definitionGroups": [reference],
    }
    return {**_HEAD, "endpointsCount": 1, "endpoints": {"com.example.telemetry": endpoint}}


LINKED = _linked("https://site.example.com/registry/definitiongroups/com.example.telemetryEvents")
IN_A_FILE = _linked(
    "https://rawdata.repos.example.com/myorg/myproject/main/example.telemetryEvents.cereg"
    "#/definitionGroups/com.example.telemetryEvents"
)

VERSIONS: dict[str, Any] = {
    "schemaGroupsUrl": "...",
    "schemaGroupsCount": 1,
    "schemaGroups": {
        "com.example.telemetry": {
            "id": "com.example.telemetry",
            "schemasUrl": "...",
            "schemasCount": 1,
            "schemas": {
                "com.example.telemetrydata": {
                    "id": "com.example.telemetrydata",
                    "description": "device telemetry event data",
                    "format": "Protobuf/3",
                    "versionsUrl": "...",
                    "versionsCount": 3,
                    "versions": {
                        "1.0": {"id": "1.0", "schema": _STRAY % ""},
                        "2.0": {"id": "2.0", "schema": _STRAY % " string unit = 2;"},
                        "3.0": {
                            "id": "3.0",
                            "schema": _STRAY % " string unit = 2; string description = 3;",
                        },
                    },
                }
            },
        }
    },
}

DOCUMENTS = {
    "compact": COMPACT,
    "split": SPLIT,
    "linked": LINKED,
    "in a file": IN_A_FILE,
    "versions": VERSIONS,
}
