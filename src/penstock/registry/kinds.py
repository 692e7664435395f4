"""The three registries: schemas, message definitions, endpoints; and the rules of each type."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.registry import endpoint, formats
from penstock.registry.definition import DefinitionRules
from penstock.registry.faults import Faults, within
from penstock.registry.model import GroupType, Model, ResourceType
from penstock.registry.rules import Plain, Rules
from penstock.registry.schema import SchemaRules

SCHEMA_GROUPS = "schemaGroups"
DEFINITION_GROUPS = "definitionGroups"
ENDPOINTS = "endpoints"

_DEFINITION = ResourceType("definition", "definitions")
MODEL = Model(
    (
        GroupType("schemaGroup", SCHEMA_GROUPS, (ResourceType("schema", "schemas", 0),)),
        GroupType("definitionGroup", DEFINITION_GROUPS, (_DEFINITION,)),
        GroupType("endpoint", ENDPOINTS, (_DEFINITION,)),
    )
)
"""What a registry starts with."""

_RULES: Mapping[str, Rules] = {"schemas": SchemaRules(), "definitions": DefinitionRules()}
_PLAIN = Plain()


def rules(type_: ResourceType) -> Rules:
    """Return the rules of a type of resources."""
    return _RULES.get(type_.plural, _PLAIN)


def is_schema(type_: ResourceType) -> bool:
    return type_.plural == "schemas"


def is_endpoint(type_: GroupType) -> bool:
    return type_.plural == ENDPOINTS


def holds_definitions(type_: GroupType) -> bool:
    return any(each.plural == "definitions" for each in type_.resources)


def known_of_group(type_: GroupType) -> tuple[str, ...]:
    """Return the attributes of a group that have a defined spelling."""
    return (*endpoint.KNOWN, "format") if is_endpoint(type_) else ("format",)


def settled_group(
    faults: Faults, type_: GroupType, attributes: Mapping[str, object], path: str
) -> dict[str, object]:
    """Return the attributes of a group as they are kept."""
    kept = dict(attributes)
    if "format" in kept:
        place = within(path, "format")
        if holds_definitions(type_):
            kept["format"] = formats.read(faults, kept["format"], place, formats.MESSAGE_FORMATS)
        else:
            known = formats.SCHEMA_FORMATS if type_.plural == SCHEMA_GROUPS else ()
            kept["format"] = formats.read_loose(faults, kept["format"], place, known)
    return endpoint.settled(faults, kept, path) if is_endpoint(type_) else kept
