"""Events checked against definitions and schemas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import fastavro
import msgspec
import pytest

from penstock.events import CloudEvent
from penstock.registry import Registry, Terms, Validator, files, importing, validate
from penstock.registry.scratch import Scratch

TYPE = "com.example.order"
BASE = "http://registry.example/registry"
SCHEMA = {
    "type": "object",
    "properties": {"amount": {"type": "number"}},
    "required": ["amount"],
    "$defs": {
        "Line": {"type": "object", "properties": {"of": {"$ref": "#/$defs/Id"}}},
        "Id": {"type": "integer"},
    },
}
FORMAT = "JsonSchema/draft/2020-12"
Json = dict[str, Any]


def definition(attributes: Json | None = None, **more: object) -> Json:
    declared = {"type": {"value": TYPE}, **(attributes or {})}
    return {"format": "CloudEvents/1.0", "metadata": {"attributes": declared}, **more}


def with_definitions(**definitions: Json) -> Json:
    return {"definitionGroups": {"g": {"definitions": definitions}}}


def with_schema(format_: str, versions: Mapping[str, object], **more: object) -> Json:
    """A document with the schema s, and a definition that refers to it."""
    held = {name: {"schema": schema} for name, schema in versions.items()}
    reference = more.pop("schemaurl", "#/schemaGroups/sg/schemas/s")
    made = definition() | {"schemaformat": format_, "schemaurl": reference, **more}
    schemas = {"s": {"format": format_, "versions": held}}
    return {"schemaGroups": {"sg": {"schemas": schemas}}, **with_definitions(d=made)}


def validator(document: Json, base: str = BASE) -> Validator:
    _, store, _ = files.opened(document, terms=Terms(base, lenient=True))
    return Validator(store, base)


def an_event(type_: str = TYPE, **more: Any) -> CloudEvent:  # noqa: ANN401 - any attribute
    known = {name: more.pop(name) for name in CloudEvent.__struct_fields__ if name in more}
    core: Json = {"id": "1", "source": "/shop", "type": type_, **known}
    return CloudEvent(**core, extensions=more)


def paths(document: Json, event: CloudEvent) -> list[str]:
    return [problem.path for problem in validator(document).problems(event)]


def test_event_of_a_type_that_nobody_describes_has_no_problems() -> None:
    found = validator(with_definitions(d=definition())).judge(an_event("com.example.other"))

    assert (found.problems, found.known, found.definition) == ((), False, "")


def test_event_as_its_definition_says_has_no_problems() -> None:
    found = validator(with_definitions(d=definition())).judge(an_event())

    assert (found.problems, found.known) == ((), True)
    assert found.definition == "/definitionGroups/g/definitions/d"


@pytest.mark.covers("REG-221")
def test_attribute_that_is_required_must_be_there() -> None:
    document = with_definitions(
        d=definition({"subject": {"required": True}, "shop": {"required": True}, "time": {}})
    )

    assert paths(document, an_event()) == ["subject", "shop"]
    assert paths(document, an_event(subject="x", shop="y")) == []


@pytest.mark.covers("REG-235")
def test_definition_that_declares_nothing_still_asks_for_what_every_event_has() -> None:
    document = with_definitions(
        **{TYPE: {"format": "CloudEvents/1.0", "metadata": {"attributes": {}}}}
    )

    assert paths(document, an_event()) == []
    assert paths(document, an_event(id="", source="")) == ["id", "source"]


@pytest.mark.covers("REG-223")
@pytest.mark.parametrize(
    ("entry", "good", "bad"),
    [
        ({"value": "x"}, "x", "y"),
        ({"type": "integer", "value": 5}, "5", "6"),
        ({"type": "integer", "value": 5}, 5, 6),
        ({"type": "boolean", "value": True}, "true", "false"),
        ({"type": "boolean", "value": True}, True, False),
        ({"type": "number", "value": 1.5}, "1.50", "1.25"),
        ({"type": "var", "value": "x"}, "x", "z"),
    ],
)
def test_value_must_be_literally_there(entry: Json, good: object, bad: object) -> None:
    document = with_definitions(d=definition({"more": entry}))

    assert paths(document, an_event(more=good)) == []
    assert paths(document, an_event(more=bad)) == ["more"]


def test_time_with_the_value_of_now_may_be_any_moment() -> None:
    document = with_definitions(d=definition({"time": {"value": "01-01-0000T00:00:00Z"}}))

    assert paths(document, an_event(time="2026-04-05T17:31:00Z")) == []


@pytest.mark.covers("REG-230", "REG-242")
@pytest.mark.parametrize(
    ("type_", "good", "bad"),
    [
        ("boolean", "true", "yes"),
        ("symbol", "a_1", "a-1"),
        ("binary", "aGk=", "?"),
        ("timestamp", "2026-04-05T17:31:00Z", "yesterday"),
        ("duration", "PT5S", "5 seconds"),
        ("uri", "urn:x", "/x"),
        ("urireference", "/x", "a b"),
        ("uritemplate", "/x", "a b"),
        ("number", "1.5", "one"),
        ("integer", "12", "1.5"),
        ("var", "anything", None),
        ("string", "anything", None),
    ],
)
def test_value_is_of_the_declared_type(type_: str, good: str, bad: str | None) -> None:
    document = with_definitions(d=definition({"subject": {"type": type_}, "more": {"type": type_}}))

    assert paths(document, an_event(subject=good, more=good)) == []
    if bad is not None:
        assert paths(document, an_event(subject=bad, more=bad)) == ["subject", "more"]


@pytest.mark.covers("REG-225")
@pytest.mark.parametrize(
    ("template", "good", "bad"),
    [
        ("{foo}/bar", ["abc/bar", "xyz/bar"], ["abc/baz", "/bar", "a/b/bar", "abc/bar/"]),
        ("https://{tenant}/{module}/x", ["https://a/b/x"], ["https://a/x", "http://a/b/x"]),
        ("order-{n}", ["order-5", "order--"], ["order-", "order/5", "x"]),
        ("{a}-{b}", ["x-y", "x-y-z", "---"], ["x-", "-x", "x"]),
        ("{a}{b}", ["xy", "xyz"], ["x", ""]),
        ("a.b{x}", ["a.bc"], ["aXbc"]),
    ],
)
def test_placeholder_stands_for_anything_but_separators(
    template: str, good: list[str], bad: list[str]
) -> None:
    check = validator(with_definitions(d=definition({"subject": {"value": template}})))

    assert [text for text in good if check.problems(an_event(subject=text))] == []
    assert [text for text in bad if not check.problems(an_event(subject=text))] == []


@pytest.mark.covers("REG-226", "REG-243")
@pytest.mark.parametrize(
    ("source", "subject", "more", "fits"),
    [
        ("a/x", "a", "a", True),
        ("a/x", "b", "b", False),
        ("a/x", "a", "b", False),
        ("a/x", None, "b", False),
        ("a/x", "a", None, True),
        ("b/x", None, "b", True),
    ],
)
def test_equal_placeholders_stand_for_equal_values(
    source: str,
    subject: str | None,
    more: str | None,
    fits: bool,  # noqa: FBT001
) -> None:
    check = validator(
        with_definitions(
            d=definition(
                {
                    "source": {"value": "{t}/x"},
                    "subject": {"value": "{t}"},
                    "more": {"value": "{t}"},
                }
            )
        )
    )
    extensions = {} if more is None else {"more": more}

    event = an_event(source=source, subject=subject, **extensions)

    assert (not check.problems(event)) is fits


@pytest.mark.parametrize(
    ("subject", "more", "fits"),
    [("a-b-c", "a", True), ("a-b-c", "a-b", True), ("a-b-c", "a-b-c", False), ("a-b", "b", False)],
)
def test_text_that_can_be_read_in_two_ways_fits_if_one_of_them_does(
    subject: str,
    more: str,
    fits: bool,  # noqa: FBT001
) -> None:
    check = validator(
        with_definitions(d=definition({"subject": {"value": "{t}-{x}"}, "more": {"value": "{t}"}}))
    )

    assert (not check.problems(an_event(subject=subject, more=more))) is fits


def test_hostile_text_does_not_keep_templates_busy() -> None:
    many = "-".join(f"{{p{number}}}" for number in range(20))
    check = validator(with_definitions(d=definition({"subject": {"value": f"{many}/{{p0}}"}})))

    found = check.problems(an_event(subject="-" * 5_000 + "/x"))

    assert [problem.path for problem in found] == ["subject"]


@pytest.mark.parametrize("version", ["1.0", "0.2"])
def test_events_of_both_versions_are_described_by_the_same_definition(version: str) -> None:
    document = with_definitions(
        d=definition({"datacontenttype": {"value": "text/plain"}, "subject": {"value": "s"}})
    )
    good = an_event(datacontenttype="text/plain", subject="s").convert(version)
    bad = an_event(datacontenttype="text/html", subject="s").convert(version)

    assert paths(document, good) == []
    assert paths(document, bad) == ["datacontenttype"]


def test_template_in_the_type_describes_all_types_that_fit() -> None:
    document = with_definitions(
        d=definition({"type": {"value": "com.{org}.made"}, "subject": {"value": "{org}"}})
    )

    assert paths(document, an_event("com.acme.made", subject="acme")) == []
    assert paths(document, an_event("com.acme.made", subject="other")) == ["subject"]
    assert not validator(document).judge(an_event("com.acme.sold")).known


def test_of_several_definitions_the_one_that_fits_best_judges() -> None:
    document = with_definitions(
        strict=definition({"subject": {"value": "s"}, "more": {"required": True}}),
        usual=definition({"subject": {"value": "t"}}),
    )
    check = validator(document)

    assert check.problems(an_event(subject="t")) == ()
    assert check.problems(an_event(subject="s", more="x")) == ()
    assert check.judge(an_event(subject="u")).definition.endswith("usual")


def test_definition_that_is_borrowed_counts_once() -> None:
    document = {
        **with_definitions(d=definition({"subject": {"required": True}})),
        "endpoints": {
            "e": {
                "usage": "producer",
                "definitions": {"d2": {"uri": "#/definitionGroups/g/definitions/d"}},
            }
        },
    }

    assert paths(document, an_event()) == ["subject"]


def test_definition_of_an_endpoint_counts_too() -> None:
    made = definition({"subject": {"required": True}})
    document = {"endpoints": {"e": {"usage": "producer", "definitions": {"d": made}}}}

    assert paths(document, an_event()) == ["subject"]


@pytest.mark.parametrize("inside", [True, False])
def test_data_must_fit_the_schema(inside: bool) -> None:  # noqa: FBT001
    document = with_schema(FORMAT, {"1": SCHEMA})
    if inside:
        document = with_definitions(d=definition(schemaformat=FORMAT, schema=SCHEMA))
    check = validator(document)

    assert check.problems(an_event(data=b'{"amount": 5}')) == ()
    (problem,) = check.problems(an_event(data=b'{"amount": "x"}'))
    assert (problem.path, '"number"' in problem.message) == ("data/amount", True)
    assert [at.path for at in check.problems(an_event(data=b"no json"))] == ["data"]
    assert [at.path for at in check.problems(an_event())] == ["data"]


def test_all_problems_are_told_at_once() -> None:
    document = with_schema(
        FORMAT,
        {"1": SCHEMA},
        metadata={"attributes": {"type": {"value": TYPE}, "subject": {"required": True}}},
    )

    assert paths(document, an_event(data=b'{"amount": "x"}')) == ["subject", "data/amount"]


@pytest.mark.covers("REG-200")
@pytest.mark.parametrize(
    "reference",
    [
        f"{BASE}/schemaGroups/sg/schemas/s#/$defs/Line",
        f"{BASE}/schemaGroups/sg/schemas/s/versions/1#/$defs/Line",
        "#/schemaGroups/sg/schemas/s/versions/1/schema/$defs/Line",
    ],
)
def test_pointer_chooses_a_part_of_a_json_schema(reference: str) -> None:
    document = with_schema(FORMAT, {"1": SCHEMA}, schemaurl=reference)

    assert paths(document, an_event(data=b'{"of": 5}')) == []
    assert paths(document, an_event(data=b'{"of": "x"}')) == ["data/of"]


PROTO = 'syntax = "proto3"; message One { string a = 1; } message Two { int32 a = 1; }'


@pytest.mark.covers("REG-206", "REG-220")
def test_suffix_chooses_a_message() -> None:
    text, number = b'{"a": "x"}', b'{"a": 5}'
    kind = "application/json"

    def found(suffix: str, data: bytes) -> list[str]:
        reference = f"#/schemaGroups/sg/schemas/s{suffix}"
        document = with_schema("Protobuf/3", {"1": PROTO}, schemaurl=reference)
        return paths(document, an_event(data=data, datacontenttype=kind))

    assert found(":One", text) == found(":Two", number) == []
    assert len(found(":One", number)) == len(found(":Two", text)) == 1
    assert found("", text) == ["data"]


def record(*fields: Json) -> Json:
    return {"type": "record", "name": "Order", "fields": list(fields)}


OLD = record({"name": "amount", "type": "int"})
NEW = record({"name": "amount", "type": "int"}, {"name": "tip", "type": "int", "default": 0})


def avro(schema: Json, value: Json) -> bytes:
    from io import BytesIO

    out = BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), value)
    return out.getvalue()


@pytest.mark.covers("REG-204")
@pytest.mark.parametrize("suffix", ["", ":Order"])
def test_data_is_read_with_the_version_that_the_event_names(suffix: str) -> None:
    place = "/schemaGroups/sg/schemas/s"
    document = with_schema("Avro/1.9", {"1": OLD, "2": NEW}, schemaurl=f"#{place}{suffix}")
    kind = "application/vnd.apache.avro"
    old, new = avro(OLD, {"amount": 5}), avro(NEW, {"amount": 5, "tip": 1})

    def found(data: bytes, version: str) -> list[str]:
        named = f"{BASE}{place}/versions/{version}"
        return paths(document, an_event(data=data, dataschema=named, datacontenttype=kind))

    assert found(old, "1") == found(new, "2") == []
    assert found(old, "2") == ["data/tip"]
    assert found(new, "1") == ["data"]


def test_schema_that_an_event_names_counts_without_a_definition() -> None:
    document = with_schema(FORMAT, {"1": SCHEMA})
    check = validator(document)
    event = an_event("other", dataschema=f"{BASE}/schemaGroups/sg/schemas/s", data=b"{}")

    found = check.judge(event)

    assert ([at.path for at in found.problems], found.known) == (["data"], True)


def test_another_schema_that_an_event_names_counts_beside_that_of_its_definition() -> None:
    document = with_schema(FORMAT, {"1": SCHEMA})
    other = {"format": FORMAT, "versions": {"1": {"schema": {"type": "array"}}}}
    document["schemaGroups"]["sg"]["schemas"]["other"] = other
    event = an_event(dataschema=f"{BASE}/schemaGroups/sg/schemas/other", data=b'{"amount": "x"}')

    assert paths(document, event) == ["data", "data/amount"]


def test_schema_of_a_definition_is_found_by_the_address_of_the_definition() -> None:
    document = with_definitions(d=definition(schemaformat=FORMAT, schema=SCHEMA))
    named = f"{BASE}/definitionGroups/g/definitions/d"

    event = an_event("other", dataschema=named, data=b'{"amount": "x"}')

    assert paths(document, event) == ["data/amount"]


def test_name_of_a_schema_that_leads_nowhere_is_a_problem() -> None:
    document = with_definitions(d=definition())
    named = f"{BASE}/schemaGroups/sg/schemas/none"

    assert paths(document, an_event(dataschema=named)) == ["dataschema"]
    assert paths(document, an_event("other", dataschema=named)) == ["dataschema"]


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"schemaformat": FORMAT, "schemaurl": "https://x.example/s.json"}, "kept elsewhere"),
        ({"schemaformat": FORMAT, "schemaurl": "#/schemaGroups/no/schemas/no"}, "leads nowhere"),
        ({"schemaformat": "Acme/1", "schema": "x"}, "is not known here"),
        ({"schemaformat": "Protobuf/3", "schema": "message {"}, "cannot be used"),
    ],
)
def test_data_that_cannot_be_checked_is_said_to_be_unchecked(more: Json, reason: str) -> None:
    found = validator(with_definitions(d=definition(**more))).judge(an_event(data=b"x"))

    assert (found.problems, found.known) == ((), True)
    assert reason in found.unchecked


def test_changes_of_the_registry_count_after_the_next_look() -> None:
    document = with_definitions(d=definition())
    registry, store, _ = files.opened(document)
    check = Validator(store)
    before = check.problems(an_event())

    changed = with_definitions(d=definition({"subject": {"required": True}}))
    importing.bring(registry, changed, Terms())
    still = check.problems(an_event())
    check.refresh()

    assert (before, still) == ((), ())
    assert [at.path for at in check.problems(an_event())] == ["subject"]


def test_change_of_a_schema_counts_for_the_definition_that_refers_to_it() -> None:
    registry, store, _ = files.opened(with_schema(FORMAT, {"1": SCHEMA}))
    check = Validator(store)
    event = an_event(data=b'{"amount": "x"}')
    before = check.problems(event)

    importing.bring(registry, with_schema(FORMAT, {"2": {"type": "object"}}), Terms(lenient=True))
    check.refresh()

    assert len(before) == 1
    assert check.problems(event) == ()


def test_definition_that_was_deleted_is_forgotten() -> None:
    document = with_definitions(
        a=definition({"subject": {"required": True}}),
        b=definition({"type": {"value": "x-{y}"}}),
    )
    registry, store, _ = files.opened(document)
    check = Validator(store)
    known = [check.judge(an_event(type_)).known for type_ in (TYPE, "x-1")]

    importing.bring(registry, {}, Terms(), replace=True)
    check.refresh()

    assert known == [True, True]
    assert [check.judge(an_event(type_)).known for type_ in (TYPE, "x-1")] == [False, False]


class ForgetfulStore(Scratch):
    """A store that remembers no changes."""

    def changes(self, kind: str, since: int, until: int) -> Any:  # noqa: ANN401, ARG002
        from penstock.errors import ConflictError

        raise ConflictError("forgotten", address=kind)


def test_definitions_are_read_again_where_changes_are_forgotten() -> None:
    store = ForgetfulStore()
    registry = Registry(store, files.STILL, lambda: "x")
    check = Validator(store)

    importing.bring(registry, with_definitions(d=definition()), Terms())
    check.refresh()

    assert check.judge(an_event()).known


def test_validate_looks_at_the_newest_state_each_time() -> None:
    registry, store, _ = files.opened(with_definitions(d=definition()))
    before = validate(an_event(), store)

    changed = with_definitions(d=definition({"subject": {"required": True}}))
    importing.bring(registry, changed, Terms())

    assert before == ()
    assert [at.path for at in validate(an_event(), store)] == ["subject"]


def test_full_cache_is_emptied_and_judges_on() -> None:
    document = with_definitions(
        d=definition({"type": {"value": "t{n}"}, "subject": {"value": "s"}})
    )
    check = validator(document)

    found = [check.problems(an_event(f"t{number}", subject="t")) for number in range(5_000)]

    assert {at.path for each in found for at in each} == {"subject"}
    assert len(found) == 5_000


def test_other_message_formats_describe_no_events() -> None:
    document = {
        "definitionGroups": {
            "g": {"definitions": {TYPE: {"format": "MQTT/5.0", "metadata": {"qos": {"value": 1}}}}}
        }
    }

    assert not validator(document).judge(an_event()).known


def test_event_that_breaks_the_specification_has_these_problems() -> None:
    broken = msgspec.structs.replace(an_event(), time="yesterday")

    assert paths(with_definitions(d=definition()), broken) == ["time"]
