"""Registry documents without a server."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.errors import ConflictError, FormatError, NotFoundError, ResourceError
from penstock.ports import Check, Clear, Drop, Put
from penstock.registry import Terms, document, files, importing, kinds, model
from penstock.registry.scratch import Scratch
from penstock.registry.strict import yaml_text, yaml_value

Json = dict[str, Any]

_TRICKY = st.sampled_from(
    ["no", "010", "1e3", "1.10", "~", "null", "2001-01-01", "0x1f", "=", "<<", "a/b", "a.b", "ü %"]
)
_TEXT = st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=12)
_IDS = _TRICKY | _TEXT
_JSON = st.recursive(
    st.booleans()
    | st.integers()
    | _TRICKY
    | _TEXT
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=6,
)
_COMMON = st.fixed_dictionaries(
    {},
    optional={
        "name": _TEXT,
        "description": _TRICKY | _TEXT,
        "tags": st.dictionaries(st.from_regex("[a-z0-9][a-z.]{0,9}", fullmatch=True), _TEXT),
        "docs": st.just("https://example.com/docs"),
        "acmeThing": _JSON,
    },
)


def _collection(ids: st.SearchStrategy[str], member: st.SearchStrategy[Json]) -> Any:  # noqa: ANN401
    # Ids that differ only by case are the same.
    pairs = st.lists(st.tuples(ids, member), max_size=3, unique_by=lambda pair: pair[0].casefold())
    return pairs.map(dict)


def _merged(*parts: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return st.tuples(*parts).map(
        lambda all_: {name: one for part in all_ for name, one in part.items()}
    )


_CONTENT = st.one_of(
    st.builds(lambda text: {"schema": text}, _TRICKY | _TEXT),
    st.just({"schemaurl": "https://example.com/schema"}),
    st.binary(min_size=1, max_size=9).map(lambda data: {"schemaBase64": _base64(b"\xff" + data)}),
)
_OBJECTS = st.dictionaries(_TEXT, _JSON, max_size=3).map(
    lambda one: {"schema": {"title": "t", "examples": [one]}}
)


def _base64(data: bytes) -> str:
    import base64

    return base64.b64encode(data).decode()


def _schema(format_: str, content: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    versions = st.lists(
        st.tuples(_IDS, _merged(_COMMON, content)),
        min_size=1,
        max_size=3,
        unique_by=lambda pair: pair[0].casefold(),
    ).map(dict)
    return versions.map(lambda held: {"format": format_, "versions": held})


_SCHEMAS = _schema("Acme/2", _CONTENT) | _schema("JsonSchema/draft-07", _OBJECTS)
_ATTRIBUTES = st.dictionaries(
    st.from_regex("[a-z][a-z0-9]{0,8}", fullmatch=True).map(lambda name: f"x{name}"),
    st.fixed_dictionaries(
        {}, optional={"required": st.booleans(), "value": _TEXT, "type": st.just("string")}
    ),
    max_size=3,
)
_DEFINITIONS = _merged(
    _COMMON,
    _ATTRIBUTES.map(lambda held: {"format": "CloudEvents/1.0", "metadata": {"attributes": held}}),
    st.sampled_from([{}, {"schemaformat": "Acme/2", "schema": "no"}]),
)
_DOCUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "schemaGroups": _collection(
            _IDS, _merged(_COMMON, _collection(_IDS, _SCHEMAS).map(lambda s: {"schemas": s}))
        ),
        "definitionGroups": _collection(
            _IDS,
            _merged(_COMMON, _collection(_IDS, _DEFINITIONS).map(lambda d: {"definitions": d})),
        ),
        "endpoints": _collection(
            _IDS,
            _merged(
                _COMMON,
                st.sampled_from(
                    [
                        {"usage": "consumer"},
                        {"usage": "producer", "config": {"protocol": "HTTP/1.1"}, "channel": "no"},
                    ]
                ),
                _collection(_IDS, _DEFINITIONS).map(lambda d: {"definitions": d}),
            ),
        ),
        "description": _TEXT,
    },
)


@pytest.mark.covers("REG-002", "REG-003", "REG-181")
@given(_DOCUMENTS)
@settings(max_examples=60, deadline=None)
def test_export_then_import_gives_the_same_registry(found: Json) -> None:
    registry, _, _ = files.opened(found)
    root = registry.identity()
    exported = document.export(registry, root, 1 << 30)

    for media_type in (document.JSON, document.YAML):
        again = document.parse(document.printed(exported, media_type), media_type)
        other, _, _ = files.opened(again)
        outcome = importing.bring(registry, again, Terms(lenient=True), replace=True)

        assert _plain(document.export(other, root, 1 << 30)) == _plain(exported)
        assert (outcome.created, outcome.updated, outcome.deleted) == ((), (), ())


@given(_DOCUMENTS, _DOCUMENTS)
@settings(max_examples=40, deadline=None)
def test_difference_is_what_an_import_changes(old: Json, new: Json) -> None:
    registry, _, _ = files.opened(old)
    found = files.diff(old, new)

    importing.bring(registry, new, Terms(lenient=True), replace=True)

    exported = document.export(registry, registry.identity(), 1 << 30)
    assert files.diff(_plain(exported), new) == ()
    assert bool(found) is bool(files.diff(old, _plain(exported)))


def _plain(exported: object) -> Json:
    return msgspec.json.decode(msgspec.json.encode(exported), type=Json)


@given(_JSON)
@settings(max_examples=200, deadline=None)
def test_yaml_that_we_write_is_read_as_the_same_json(value: object) -> None:
    assert msgspec.json.encode(yaml_value(yaml_text(value).encode())) == msgspec.json.encode(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: no", {"a": "no"}),
        ("a: yes", {"a": "yes"}),
        ("a: on", {"a": "on"}),
        ("a: true", {"a": True}),
        ("a: 010", {"a": "010"}),
        ("a: 0x1F", {"a": "0x1F"}),
        ("a: 1_000", {"a": "1_000"}),
        ("a: 1:30", {"a": "1:30"}),
        ("a: 2001-01-01", {"a": "2001-01-01"}),
        ("a: 2001-12-14t21:59:43.10-05:00", {"a": "2001-12-14t21:59:43.10-05:00"}),
        ("a: .nan", {"a": ".nan"}),
        ("a: -.inf", {"a": "-.inf"}),
        ("a: -1.5e3", {"a": -1500.0}),
        ("a: 12345678901234567890123", {"a": 12345678901234567890123}),
        ("a: ~", {"a": None}),
        ("no: 1", {"no": 1}),
        ("1.10: x", {"1.10": "x"}),
        ("2001-01-01: x", {"2001-01-01": "x"}),
        ("a: &x [1]\nb: *x", {"a": [1], "b": [1]}),
        ("b: &b {c: 1, d: 2}\ne: {<<: *b, c: 3}", {"b": {"c": 1, "d": 2}, "e": {"c": 3, "d": 2}}),
    ],
)
def test_yaml_means_what_it_says(text: str, value: object) -> None:
    assert yaml_value(text.encode()) == value


BOMB = "a0: &a0 [x, x]\n" + "".join(
    f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}, *a{n - 1}]\n" for n in range(1, 30)
)


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\na: 2",
        "1: a\n'1': b",
        "{a: {b: 1, b: 2}}",
        "--- {}\n--- {}",
        "a: !!python/object/apply:os.system [x]",
        "a: !!binary aGk=",
        "a: !!float .nan",
        "a: 1e999",
        f"a: {'9' * 5000}",
        "? [a]\n: 1",
        "a: &a\n  b: *a",
        BOMB,
        "[" * 5000,
        "a: [",
        "\x00",
    ],
)
def test_yaml_that_json_could_not_be_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        yaml_value(text.encode())


@pytest.mark.parametrize(
    ("name", "body", "kind"),
    [
        ("a.cereg", b"x", document.JSON),
        ("A.CEREG", b"x", document.JSON),
        ("a.json", b"x", document.JSON),
        ("a.cereg.yaml", b"{}", document.YAML),
        ("a.cereg.yml", b"{}", document.YAML),
        ("standard input", b"  {}", document.JSON),
        ("standard input", b"a: 1", document.YAML),
    ],
)
def test_name_of_a_file_says_what_is_in_it(name: str, body: bytes, kind: str) -> None:
    assert files.media_type(name, body) == kind


@pytest.mark.covers("REG-177")
@pytest.mark.parametrize("body", [b"[]", b"5", b"", b'{"a": 1} {}', b"\xff"])
def test_file_that_is_no_single_object_is_refused_by_name(body: bytes) -> None:
    with pytest.raises(FormatError, match=r"^x\.cereg: "):
        files.read("x.cereg", body)


def test_files_are_joined_down_to_their_resources() -> None:
    one = {"specversion": "0.5-wip", "schemaGroups": {"g": {"schemas": {"a": {"format": "x/1"}}}}}
    two = {
        "schemaGroupsCount": 1,
        "schemaGroups": {"g": {"schemas": {"b": {}}, "description": "d"}, "h": {}},
        "endpoints": {"e": {}},
    }

    assert files.joined([("one", one), ("two", two)]) == {
        "schemaGroups": {
            "g": {"schemas": {"a": {"format": "x/1"}, "b": {}}, "description": "d"},
            "h": {},
        },
        "endpoints": {"e": {}},
    }


def test_files_that_contradict_each_other_are_refused_with_the_place() -> None:
    one = {"schemaGroups": {"g": {"description": "a", "schemas": {"s": {"format": "x/1"}}}}}
    two = {"schemaGroups": {"g": {"description": "b", "schemas": {"s": {"format": "x/2"}}}}}

    with pytest.raises(ResourceError) as caught:
        files.joined([("one", one), ("two", two)])

    assert [at.path for at in caught.value.problems] == [
        "two: schemaGroups.g.description",
        "two: schemaGroups.g.schemas.s",
    ]


def test_difference_names_the_values_that_change() -> None:
    def held(value: object) -> Json:
        attributes = {"type": {"value": value}}
        made = {"format": "CloudEvents/1.0", "metadata": {"attributes": attributes}}
        return {"definitionGroups": {"g": {"definitions": {"d": made}}}}

    (found,) = files.diff(held("a"), held("b"))

    assert found == files.Difference(
        "/definitionGroups/g/definitions/d",
        "updated",
        (files.Change("metadata.attributes.type.value", "a", "b"),),
    )


def test_difference_knows_types_that_users_added() -> None:
    kind = {"singular": "team", "plural": "teams", "resources": []}
    own = model.read({"groups": [*kinds.MODEL.document()["groups"], kind]})  # type: ignore[misc]

    found = files.diff({}, {"teams": {"blue": {}}}, own)

    assert [each.address for each in found] == ["/teams/blue"]


def test_versions_that_a_document_lacks_go_when_it_replaces_the_registry() -> None:
    def held(*ids: str) -> Json:
        versions = {id_: {"schema": f"v{id_}"} for id_ in ids}
        schema = {"format": "Acme/1", "versions": versions}
        return {"schemaGroups": {"g": {"schemas": {"s": schema}}}}

    registry, _, _ = files.opened(held("1", "2", "3"))

    importing.bring(registry, held("2"), Terms(), replace=True)

    exported = document.export(registry, registry.identity(), 1 << 30)
    assert files.diff(_plain(exported), held("2")) == ()


def test_scratch_store_writes_all_or_nothing() -> None:
    store = Scratch()
    store.write([Put("k", "a", b"1"), Put("k", "b", b"2")])

    with pytest.raises(ConflictError):
        store.write([Drop("k", "a"), Put("k", "b", b"3", expected=0)])
    with pytest.raises(NotFoundError):
        store.write([Clear("k", ""), Drop("k", "c")])
    with pytest.raises(ConflictError):
        store.write([Check("k", "a", 7)])

    assert [each.body for each in store.page("k")] == [b"1", b"2"]
    assert (store.version(), store.count("k")) == (1, 2)


def test_scratch_store_tells_what_changed() -> None:
    store = Scratch()
    store.write([Put("k", "a/1", b""), Put("k", "a/2", b""), Put("k", "b", b"")])
    store.write([Clear("k", "a/"), Put("k", "a/2", b"new")])

    put, gone = store.changes("k", 1, 2)

    assert ([each.key for each in put], gone) == (["a/2"], ["a/1"])
    assert [each.key for each in store.page("k", after="a/2", limit=5)] == ["b"]
    assert [each.key for each in store.page("k", prefix="a")] == ["a/2"]
