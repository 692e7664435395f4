from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import EventError, ResourceError, UnsupportedError
from penstock.registry import produced

NOW = "2026-04-05T17:31:00Z"


def a_definition(**attributes: dict[str, Any]) -> dict[str, Any]:
    """An effective definition, as the registry shows it."""
    base: dict[str, dict[str, Any]] = {
        "id": {"type": "string", "required": True},
        "type": {"type": "string", "required": True, "value": "order.created"},
        "source": {"type": "uritemplate", "required": True, "value": "/shops/{shop}/tills/{till}"},
        "time": {"type": "timestamp", "required": False, "value": "01-01-0000T00:00:00Z"},
    }
    return {"format": "CloudEvents/1.0", "metadata": {"attributes": base | attributes}}


GIVEN = {"id": "1", "shop": "7", "till": "a b/c"}


@pytest.mark.covers("REG-227")
def test_placeholders_are_replaced_by_what_is_given() -> None:
    made = produced(a_definition(subject={"type": "string", "value": "shop {shop}"}), GIVEN, NOW)

    assert made.source == "/shops/7/tills/a%20b%2Fc"
    assert made.subject == "shop 7"
    assert made.type == "order.created"


@pytest.mark.covers("REG-227")
def test_placeholder_without_a_value_is_an_error_that_names_all_of_them() -> None:
    with pytest.raises(ResourceError) as refusal:
        produced(a_definition(), {}, NOW)

    assert [str(problem) for problem in refusal.value.problems] == [
        "id: is required: give id",
        "source: has a placeholder: give shop",
        "source: has a placeholder: give till",
    ]


@pytest.mark.covers("REG-228", "REG-239")
@pytest.mark.parametrize("now", ["01-01-0000T00:00:00Z", "0000-01-01T00:00:00Z"])
def test_time_of_the_definition_becomes_the_present_one(now: str) -> None:
    times = {"type": "timestamp", "value": now}

    made = produced(a_definition(time=times, madeat=times), GIVEN, NOW)

    assert made.time == NOW
    assert made.extensions["madeat"] == NOW


def test_time_can_be_given() -> None:
    made = produced(a_definition(), {**GIVEN, "time": "2020-01-01T00:00:00Z"}, NOW)

    assert made.time == "2020-01-01T00:00:00Z"


def test_attributes_without_a_value_get_what_is_given_in_their_type() -> None:
    declared = {"count": {"type": "integer"}, "paid": {"type": "boolean"}, "left": {}}

    made = produced(a_definition(**declared), {**GIVEN, "count": "5", "paid": "true"}, NOW, b"{}")

    assert dict(made.extensions) == {"count": 5, "paid": True}
    assert made.data == b"{}"


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({"count": "x"}, "count"),
        ({"other": "x"}, "other"),
        ({"type": "x"}, "type"),
        ({"shop": ""}, "source"),
    ],
)
def test_what_does_not_fit_is_refused_by_its_name(given: dict[str, str], wrong: str) -> None:
    definition = a_definition(count={"type": "integer"})

    with pytest.raises(ResourceError) as refusal:
        produced(definition, {**GIVEN, **given}, NOW)

    assert [problem.path for problem in refusal.value.problems] == [wrong]


def test_event_that_breaks_the_specification_is_refused() -> None:
    with pytest.raises(EventError):
        produced(a_definition(), {**GIVEN, "id": ""}, NOW)


def test_definition_of_another_kind_of_message_is_refused() -> None:
    with pytest.raises(UnsupportedError):
        produced({"format": "Kafka/0.11"}, {}, NOW)
