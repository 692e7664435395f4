from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from penstock import filters
from penstock.errors import ResourceError
from penstock.events import CloudEvent
from penstock.filters import Attributes, Cover, Everything, Filter
from penstock.pipeline.columns import column, in_python
from tests.cesql.naive import SPACE
from tests.conformance.test_cesql import COMMON, NO_SUITE, event_of, suite
from tests.filters.support import Document, an_event
from tests.filters.test_page import blocks
from tests.pipeline.table import Answers, answers, asked, compiled, table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OLD = {"specversion": "0.2"}
TYPICAL = "type = 'com.example.order.created' AND source LIKE '/shops/%' AND EXISTS subject"


class Case(NamedTuple):
    """A filter, and what it says of an event with some attributes."""

    ids: str
    document: Document
    yes: list[dict[str, Any]]
    no: list[dict[str, Any]]


def made(attributes: dict[str, Any]) -> CloudEvent:
    """An event of version 1.0, or of 0.2, which has fewer attributes that are no extensions."""
    core = {"id", "source", "type", "specversion", "time"}
    if attributes.get("specversion") != "0.2":
        core |= {"subject", "datacontenttype", "dataschema"}
    given = {name: value for name, value in attributes.items() if name in core}
    rest = {name: value for name, value in attributes.items() if name not in core}
    return CloudEvent(**{"id": "1", "source": "/a", "type": "t"} | given, extensions=rest)


def sql(text: str) -> Document:
    return {"sql": text}


CASES = [
    Case("SUB-041", {"exact": {"type": "a", "x": "b"}}, [{"type": "a", "x": "b"}], [{"type": "a"}]),
    Case(
        "SUB-041 SUB-050", {"exact": {"subject": "é"}}, [{"subject": "é"}], [{}, {"subject": "É"}]
    ),
    Case(
        "SUB-043", {"prefix": {"type": "𝄞"}}, [{"type": "𝄞x"}], [{"type": "x𝄞"}, {"type": "\ud7ff"}]
    ),
    Case(
        "SUB-043 SUB-050", {"prefix": {"x": "a%"}}, [{"x": "a%b"}], [{"x": "ab"}, {}, {"y": "a%"}]
    ),
    Case("SUB-045 SUB-050", {"suffix": {"x": "_b"}}, [{"x": "a_b"}], [{"x": "aab"}, {"x": ""}, {}]),
    Case(
        "SUB-048", {"exact": {"1a": 'it"s\\'}}, [{"1a": 'it"s\\'}], [{"1a": "its"}, {"a": 'it"s\\'}]
    ),
    Case(
        "SUB-051",
        {"exact": {"x": "5"}},
        [{"x": 5}, {"x": "5"}],
        [{"x": "05"}, {"x": 55}, {"x": True}],
    ),
    Case(
        "SUB-051", {"exact": {"x": "true"}}, [{"x": True}, {"x": "true"}], [{"x": False}, {"x": 1}]
    ),
    Case(
        "SUB-051",
        {"exact": {"x": "1.5"}},
        [OLD | {"x": 1.5}],
        [OLD | {"x": [1.5]}, OLD | {"x": 15}],
    ),
    Case(
        "SUB-051",
        {"prefix": {"x": "1e2"}},
        [OLD | {"x": 1e22}, OLD | {"x": "1e2"}],
        [OLD | {"x": 12}],
    ),
    Case("SUB-052", {"all": [{"exact": {"id": "1"}}, {"exact": {"x": "a"}}]}, [{"x": "a"}], [{}]),
    Case("SUB-054", {"any": [{"exact": {"x": "a"}}, {"exact": {"x": "b"}}]}, [{"x": "b"}], [{}]),
    Case(
        "SUB-054", {"any": [{"exact": {"type": "a"}}, {"prefix": {"x": "b"}}]}, [{"x": "bc"}], [{}]
    ),
    Case("SUB-056 SUB-057", {"not": {"exact": {"x": "a"}}}, [{}, {"x": "b"}], [{"x": "a"}]),
    Case("SUB-059", {"not": {"any": [{"not": {"exact": {"x": "a"}}}]}}, [{"x": "a"}], [{}]),
    Case("SUB-062 SUB-063", sql("x"), [{"x": True}], [{"x": "true"}, {"x": 1}, {}, {"x": False}]),
    Case("SUB-063 SQL-005", sql("1"), [], [{}]),
    Case("SUB-063 SQL-005", sql("x = 1"), [{"x": 1}, {"x": "+01"}], [{}, {"x": " 1"}, {"x": "a"}]),
    Case("SUB-065", {"not": sql("x = 1")}, [{}, {"x": "a"}, {"x": 2}], [{"x": 1}, {"x": True}]),
    Case("SQL-005", sql("NOT (x = 1)"), [{"x": 2}], [{}, {"x": "a"}, {"x": 1}]),
    Case("SQL-005", sql("x = 1 OR type = 'a'"), [{"x": 2, "type": "a"}], [{"type": "a"}, {"x": 2}]),
    Case("SQL-005", sql("NOT (x = 1 AND type = 'a')"), [{"x": 2}, {"x": 1}], [{}, {"type": "a"}]),
    Case(
        "SQL-005",
        sql("x = 1 XOR y = 1"),
        [{"x": 1, "y": 2}],
        [{"x": 1}, {"y": 1}, {"x": 1, "y": 1}],
    ),
    Case(
        "SQL-022",
        sql("contenttype = 'a/b'"),
        [{"datacontenttype": "a/b"}],
        [{}, {"contenttype": 5}],
    ),
    Case("SQL-023", sql("'05' = x"), [{"x": 5}, {"x": "05"}], [{"x": "5"}, {"x": 6}, {"x": True}]),
    Case("SQL-023", sql("x IN ('a', 5)"), [{"x": "5"}, {"x": "a"}], [{"x": 5}, {"x": True}, {}]),
    Case(
        "SQL-024",
        sql("""x = '{"b":[1.5,"é"]}'"""),
        [OLD | {"x": {"b": [1.5, "é"]}}],
        [OLD | {"x": {}}],
    ),
    Case(
        "SQL-024", sql("x LIKE '%1e22%'"), [OLD | {"y": {"x": 1}, "x": [1e22]}], [OLD | {"x": [1]}]
    ),
    Case("SQL-024", sql("x = '1099511627776'"), [OLD | {"x": 2**40}], [OLD | {"x": 2}]),
    Case(
        "SQL-025", sql("EXISTS x"), [{"x": ""}, OLD | {"x": {}}, {"x": False}], [{}, {"y": '"x":'}]
    ),
    Case(
        "",
        sql("x LIKE '_%\\%_'"),
        [{"x": "a%b"}, {"x": "𝄞\n%\n"}],
        [{"x": "a%"}, {"x": "%b"}, {"x": 5}],
    ),
    Case(
        "",
        sql("x LIKE 'a%b%_c'"),
        [{"x": "abbbc"}, {"x": "axb\n\nc"}],
        [{"x": "abc"}, {"x": "abbc "}],
    ),
    Case("", sql("x NOT LIKE '%'"), [], [{"x": ""}, {}]),
    Case(
        "", sql("x + 1 > 2147483646"), [{"x": 2147483646}], [{"x": 2147483647}, {"x": "2147483648"}]
    ),
    Case(
        "", sql("x / y = -3"), [{"x": -7, "y": 2}], [{"x": 7, "y": 2}, {"x": 7, "y": 0}, {"x": -3}]
    ),
    Case("", sql("x % y = -1"), [{"x": -7, "y": 2}], [{"x": 7, "y": -2}, {"x": 1, "y": 0}]),
    Case(
        "",
        sql("x * y != 0"),
        [{"x": 46340, "y": -46340}],
        [{"x": 65536, "y": 65536}, {"x": 0, "y": 1}],
    ),
    Case("", sql("-x = 2147483647"), [{"x": -2147483647}], [{"x": -2147483648}]),
    Case("", sql("ABS(x) > 0"), [{"x": -5}], [{"x": -2147483648}, {"x": 0}, {}]),
    Case("", sql("LENGTH(x) = 2"), [{"x": "𝄞é"}, {"x": 55}], [{"x": "𝄞"}, {}]),
    Case("", sql("CONCAT(x, type, 5) = 'at5'"), [{"x": "a", "type": "t"}], [{"type": "at"}]),
    Case("", sql("CONCAT_WS(x, 'a', y, 'b') = 'a-c-b'"), [{"x": "-", "y": "c"}], [{"x": "-"}]),
    Case(
        "", sql("LEFT(x, y) = 'ab'"), [{"x": "abc", "y": 2}], [{"x": "ab", "y": -1}, {"x": "abc"}]
    ),
    Case("", sql("RIGHT(x, 9) = 'abc'"), [{"x": "abc"}], [{"x": "aabc"}]),
    Case(
        "",
        sql("SUBSTRING(x, y) = 'bc'"),
        [{"x": "abc", "y": -2}, {"x": "abc", "y": 2}],
        [{"x": "bc"}],
    ),
    Case("", sql("SUBSTRING(x, 4) = ''"), [], [{"x": "abc"}]),
    Case("", sql("SUBSTRING(x, 0, 1) = ''"), [{"x": "abc"}, {"x": ""}], [{}]),
    Case("", sql("TRIM(x) = 'a b'"), [{"x": "\u2003a b\u3000"}], [{"x": "\x1ca b"}, {"x": "ab"}]),
    Case("", sql("BOOL(x) AND INT(y) = 5"), [{"x": "tRuE", "y": "05"}], [{"x": "1", "y": 5}]),
    Case("", sql("STRING(x) = 'true'"), [{"x": True}], [{"x": "TRUE"}]),
    Case(
        "",
        sql("LOWER(x) = 'é' OR UPPER(type) = 'A'"),
        [{"x": "É"}, {"x": 1, "type": "a"}],
        [{"type": "a"}],
    ),
    Case("", sql("data = 'a' OR TRUE"), [], [{}]),
    Case("KN-071", {"attributes": {"type": "a"}}, [{"type": "a"}], [{"type": "A"}]),
    Case(
        "KN-073 KN-075", {"attributes": {"x": ""}}, [{"x": "a"}, {"x": ""}, OLD | {"x": []}], [{}]
    ),
    Case("KN-078", {"attributes": {"x": "5"}}, [{"x": 5}], [{"x": "05"}]),
    Case(
        "", {"exact": {"subject": "a"}}, [OLD | {"subject": "a"}], [OLD | {"x": {"subject": "a"}}]
    ),
    Case("", {"exact": {"dataschema": "a"}}, [OLD | {"dataschema": "a"}], [OLD]),
    Case(
        "",
        {"exact": {"schemaurl": "a"}},
        [{"dataschema": "a"}],
        [{"dataschema": "a", "schemaurl": "b"}],
    ),
]
ASKED = [
    (case, place, attributes, expected)
    for place, case in enumerate(CASES)
    for expected, several in ((True, case.yes), (False, case.no))
    for attributes in several
]
EVENTS = [made(attributes) for _, _, attributes, _ in ASKED]
NUMBERED = [
    pytest.param(
        number,
        place,
        expected,
        marks=pytest.mark.covers(*case.ids.split()),
        id=f"{case.document} {attributes}",
    )
    for number, (case, place, attributes, expected) in enumerate(ASKED)
]


@pytest.fixture(scope="module", params=[False, True], ids=["interpreted", "compiled"])
def said(request: pytest.FixtureRequest, spark: SparkSession) -> Answers:
    """What Spark says of all filters and all events above, in one job."""
    with compiled(spark, wanted=request.param):
        return answers(spark, [filters.parse(case.document) for case in CASES], EVENTS)


@pytest.mark.parametrize(("number", "place", "expected"), NUMBERED)
def test_column_says_yes_and_no(said: Answers, number: int, place: int, expected: bool) -> None:  # noqa: FBT001
    assert said[place][number] is expected


def test_column_is_never_null(said: Answers) -> None:
    assert {answer for one in said for answer in one} == {True, False}


def test_column_says_what_the_filter_says(said: Answers) -> None:
    for case, found in zip(CASES, said, strict=True):
        matches = filters.parse(case.document).matches
        assert [matches(event) for event in EVENTS] == found, case.document


TCK = [one for one in suite(known_gaps=False) if one.values]


@pytest.fixture(scope="module")
def said_of_the_suite(spark: SparkSession) -> dict[str, tuple[Filter, CloudEvent, bool | None]]:
    """Every case of the published suite that is a valid filter, and what Spark says."""
    given = {str(one.values[0]): as_filter(one.values[0]) for one in TCK}
    cases = [(key, *both) for key, both in given.items() if both is not None]
    events = {event.id + str(event): event for *_, event in cases}
    places = {key: place for place, key in enumerate(events)}
    found: Answers = []
    for first in range(0, len(cases), 60):
        found += answers(
            spark, [one for _, one, _ in cases[first : first + 60]], [*events.values()]
        )
    return {
        key: (one, event, mine[places[event.id + str(event)]])
        for (key, one, event), mine in zip(cases, found, strict=True)
    }


def as_filter(case: dict[str, Any]) -> tuple[Filter, CloudEvent] | None:
    try:
        return filters.parse(sql(str(case["expression"]))), event_of(case)
    except ResourceError:
        return None


@pytest.mark.covers("SQL-005")
@pytest.mark.parametrize("case", TCK or NO_SUITE)
def test_suite_gets_the_same_answers_as_a_column(
    case: dict[str, Any],
    said_of_the_suite: dict[str, tuple[Filter, CloudEvent, bool | None]],
) -> None:
    if as_filter(case) is None:
        assert case["error"] in ("parse", "missingFunction")
        return
    filter_, event, answer = said_of_the_suite[str(case)]

    assert answer is filter_.matches(event)
    assert answer is (case.get("result") is True and "error" not in case)


# How Spark plans it


def plan(events: DataFrame, filter_: Document) -> str:
    chosen = events.filter(column(filters.parse(filter_)))
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        chosen.explain()
    return shown.getvalue()


@pytest.fixture
def archived(spark: SparkSession, tmp_path: Path) -> Iterator[DataFrame]:
    """A table of events in Parquet."""
    path = str(tmp_path / "events")
    table(spark, [an_event(), an_event(subject="a")]).write.parquet(path)
    before = spark.conf.get("spark.sql.maxMetadataStringLength")
    spark.conf.set("spark.sql.maxMetadataStringLength", 10_000)
    yield spark.read.parquet(path)
    spark.conf.set("spark.sql.maxMetadataStringLength", str(before))


@pytest.mark.parametrize(
    ("document", "pushed"),
    [
        (sql(TYPICAL), "EqualTo(type,com.example.order.created)"),
        (sql(TYPICAL), "StringStartsWith(source,/shops/)"),
        (sql("source LIKE '%/42' AND x = 5"), "StringEndsWith(source,/42)"),
        (sql("type IN ('a', 'b')"), "In(type, [a,b])"),
        (sql("NOT (type != 'a')"), "EqualTo(type,a)"),
        (sql("type = 'a' OR source = 'b'"), "Or(And(IsNotNull(type),EqualTo(type,a))"),
        (sql("time = '2018' AND UPPER(subject) = 'A'"), "EqualTo(time,2018)"),
        ({"exact": {"type": "a", "x": "b"}}, "EqualTo(type,a)"),
        (
            {"all": [{"prefix": {"type": "a"}}, {"not": {"suffix": {"x": "b"}}}]},
            "StringStartsWith(type,a)",
        ),
        ({"any": [{"exact": {"type": "a"}}, {"exact": {"type": "b"}}]}, "In(type, [a,b])"),
        ({"attributes": {"id": "7", "x": ""}}, "EqualTo(id,7)"),
    ],
    ids=str,
)
def test_comparison_is_handed_down_to_the_files(
    archived: DataFrame, document: Document, pushed: str
) -> None:
    _, _, rest = plan(archived, document).partition("PushedFilters: ")

    assert pushed in rest.partition("ReadSchema")[0]


@pytest.mark.parametrize(
    ("document", "asked_"),
    [
        (sql(TYPICAL), 0),
        (sql("x > 5 AND LENGTH(subject) < 9"), 0),
        (sql("LOWER(x) = 'a'"), 1),
        (sql("x IN (y, 'a')"), 1),
        (sql("type = 'a' OR NOT (UPPER(x) = 'A' AND y = 1)"), 1),
        ({"any": [{"exact": {"x": "a"}}, sql("UPPER(x) = 'A'")]}, 1),
    ],
    ids=str,
)
def test_python_is_asked_only_where_there_is_no_rule(
    archived: DataFrame, document: Document, asked_: int
) -> None:
    assert plan(archived, document).count("ArrowEvalPython") == asked_


def test_python_sees_only_what_is_left(archived: DataFrame) -> None:
    lines = plan(archived, sql("type = 'a' AND LOWER(x) = 'a'")).splitlines()

    asked_ = next(number for number, line in enumerate(lines) if "ArrowEvalPython" in line)
    assert any("Filter" in line and "(type#" in line for line in lines[asked_:])


# Whatever it is given


@dataclass(frozen=True, slots=True)
class Even:
    """A dialect of somebody else."""

    name: str

    def matches(self, event: Attributes) -> bool:
        value = event.value(self.name)
        return isinstance(value, int) and value % 2 == 0

    def names(self) -> frozenset[str]:
        return frozenset({self.name})

    def cover(self) -> Cover:
        return None

    def document(self) -> dict[str, object]:
        return {"even": self.name}


LARGE: list[Filter] = [
    filters.parse(one)
    for one in (
        sql(" OR ".join(f"x = '{number}'" for number in range(200))),
        sql(" AND ".join(f"x != '{number}'" for number in range(1, 50))),
        sql(f"x{' + 1' * 100} = 100"),
        sql("NOT (" * 99 + "x = '0'" + ")" * 99),
        sql(f"{'SUBSTRING(' * 9}x{', 1, 5)' * 9} = '0'"),
        sql("x = '0' XOR " * 30 + "x = '0'"),
        sql(f"type IN ({', '.join(repr(str(number)) for number in range(3000))})"),
        {"all": [{"not": {"exact": {"x": str(number)}}} for number in range(1, 400)]},
        {"any": [{"all": [{"exact": {"x": "0"}}, {"prefix": {"y": "b"}}]} for _ in range(140)]},
        sql(f"x IN ({', '.join(repr(str(number)) for number in range(7000))})"),
        sql(f"x LIKE '{'_' * 30_000}'"),
        sql(f"type = 't' OR x NOT LIKE '{'%a' * 15_000}'"),
        sql(f"x LIKE '{'_%' * 256}' OR x LIKE '{'_' * 256}'"),
        sql(f"x LIKE 'a{'%' * 60_000}'"),
        sql(f"x = '{'a' * 60_000}'"),
        sql("x = '\0' OR LENGTH(x) = 1"),
        {"exact": {"type": "\ud800"}},
        {"not": sql("x = '\ud800'")},
    )
]


@pytest.mark.parametrize(
    "filter_", [Everything(), Even("x"), *LARGE], ids=lambda one: str(one)[:40]
)
def test_unusual_filter_gets_the_same_answer(filter_: Filter, spark: SparkSession) -> None:
    texts = ["0", "\0", "a" * 30_000, "\U0010ffff" * 256, "5999", ""]
    events = [an_event(), an_event(x=4), an_event(x="5", type="5"), made(OLD | {"x": "a" * 30_000})]
    events += [an_event(x=text) for text in texts]

    with compiled(spark):
        found = answers(spark, [filter_], events)

    assert found == [[filter_.matches(event) for event in events]]


def test_empty_table_has_no_answers(spark: SparkSession) -> None:
    some = [
        filters.parse(one) for one in (sql(TYPICAL), sql("LOWER(x) = 'a'"), {"exact": {"x": "a"}})
    ]

    assert answers(spark, some, []) == [[], [], []]


def test_white_space_of_unicode_is_trimmed_and_no_other(spark: SparkSession) -> None:
    low = [chr(code) for code in range(0x3100)]
    events = [an_event(x=f"{one}a{one}") for one in low]

    (found,) = answers(spark, [filters.parse(sql("TRIM(x) = 'a'"))], events)

    assert found == [SPACE.match(one) is not None for one in low]


def test_whole_filter_can_be_asked_in_python(spark: SparkSession) -> None:
    events = [made(COMMON | {"subject": "a"}), made(COMMON), made(OLD | {"subject": 5})]

    found = asked(spark, [in_python(filters.parse(sql("EXISTS subject")))], events)

    assert found == [[True, False, True]]


def test_example_of_the_page_runs(spark: SparkSession) -> None:
    (block,) = blocks("python spark")
    events = [an_event(), an_event(subject="a"), an_event(subject="a", type="b")]
    scope: dict[str, Any] = {"events": table(spark, events)}

    exec(compile(block, "docs/filters.md", "exec", dont_inherit=True), scope)  # noqa: S102

    assert scope["orders"].count() == 1
