"""Events made from definitions: what is declared is filled in."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from penstock.errors import Problem, ResourceError, UnsupportedError
from penstock.events.event import CloudEvent, Value, from_attributes
from penstock.registry import templates, values
from penstock.registry.metadata import BASE_TYPES

_FORMAT = "CloudEvents/1.0"
_REFERENCES = frozenset({"uri", "urireference", "uritemplate"})
_BOOLEANS = {"true": True, "false": False}


def produced(
    definition: Mapping[str, object],
    given: Mapping[str, str],
    now: str,
    data: bytes | None = None,
) -> CloudEvent:
    """Return the event that an effective definition describes.

    What is given stands for placeholders and for attributes without a value; `now` is the present
    time. Whatever is missing, or of no use, is named by ResourceError.
    """
    if definition.get("format") != _FORMAT:
        msg = f"only definitions of {_FORMAT} describe events"
        raise UnsupportedError(msg, what=str(definition.get("format")))
    declared = _declared(definition)
    problems: list[Problem] = []
    attributes: dict[str, Value] = {"specversion": "1.0"}
    for name, attribute in declared.items():
        try:
            found = _value(name, attribute, given, now)
        except ResourceError as error:
            problems += error.problems
        else:
            if found is not None:
                attributes[name] = found
    problems += _useless(declared, given)
    if problems:
        raise ResourceError(problems)
    return from_attributes(attributes, data)


def _declared(definition: Mapping[str, object]) -> dict[str, Mapping[str, object]]:
    metadata = definition.get("metadata")
    found = metadata.get("attributes") if isinstance(metadata, Mapping) else None
    attributes = found if isinstance(found, Mapping) else {}
    return {
        name: one
        for name, one in attributes.items()
        if isinstance(one, Mapping) and name != "specversion"
    }


def _value(
    name: str, attribute: Mapping[str, object], given: Mapping[str, str], now: str
) -> Value | None:
    value, type_ = attribute.get("value"), str(attribute.get("type", "string"))
    if value is None:
        return _from_outside(name, attribute, given, type_)
    if type_ == "timestamp" and values.is_now(value):
        return given.get(name, now)
    if not isinstance(value, str):
        return value if isinstance(value, bool | int) else str(value)
    return _filled(name, value, given, type_)


def _from_outside(
    name: str, attribute: Mapping[str, object], given: Mapping[str, str], type_: str
) -> Value | None:
    text = given.get(name)
    if text is None:
        if attribute.get("required"):
            raise ResourceError([Problem(name, f"is required: give {name}")])
        return None
    fault = values.problem(type_, text, wire=False, braces=False)
    if fault is not None:
        raise ResourceError([Problem(name, fault)])
    return _typed(name, text, type_)


def _typed(name: str, text: str, type_: str) -> Value:
    if name in BASE_TYPES:
        return text
    if type_ == "integer":
        return int(text)
    return _BOOLEANS[text] if type_ == "boolean" else text


def _filled(name: str, template: str, given: Mapping[str, str], type_: str) -> str:
    wanted = templates.placeholders(template)
    missing = [each for each in dict.fromkeys(wanted) if not given.get(each)]
    if missing:
        raise ResourceError([Problem(name, f"has a placeholder: give {each}") for each in missing])
    # RFC 6570, level 1: all but unreserved characters are written as percent and digits.
    is_address = type_ in _REFERENCES
    filled = {each: quote(given[each], safe="") if is_address else given[each] for each in wanted}
    return templates.filled(template, filled)


def _useless(
    declared: Mapping[str, Mapping[str, object]], given: Mapping[str, str]
) -> list[Problem]:
    texts = [str(one["value"]) for one in declared.values() if "value" in one]
    useful = {name for name, one in declared.items() if _is_free(one)}
    useful.update(each for text in texts for each in templates.placeholders(text))
    message = "is neither a placeholder nor an attribute without a value"
    return [Problem(name, message) for name in given if name not in useful]


def _is_free(attribute: Mapping[str, object]) -> bool:
    return "value" not in attribute or values.is_now(attribute["value"])
