"""XML Schemas: which documents are legal, and which data fits them."""

from __future__ import annotations

import pytest

from penstock.errors import ResourceError
from penstock.schemas import schema_format
from tests.schemas.evolutions_xsd import facet, part, sequence, value, xsd

XSD, LATER = schema_format("XSD/1.0"), schema_format("XSD/1.1")
ORDER = sequence(part("a", "xs:int"), part("b", occurs='minOccurs="0"'))
LAUGHS = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>'
OUTSIDE = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]>'


def refused(document: object) -> list[str]:
    with pytest.raises(ResourceError) as caught:
        XSD.parse(document)
    return [str(problem) for problem in caught.value.problems]


def test_every_fault_has_its_path() -> None:
    assert refused(xsd(part("a", "zz") + part("b", "yy"))) == [
        "/xs:schema/xs:element[1]: unknown type 'zz'",
        "/xs:schema/xs:element[2]: unknown type 'yy'",
    ]


@pytest.mark.parametrize(
    "document",
    [
        "",
        "x",
        "/etc/hostname",
        "http://127.0.0.1:1/",
        "<xs",
        "<a/>",
        5,
        {},
        b"\xff\xfe<\0",
        "\ud800",
        LAUGHS + xsd(""),
        OUTSIDE + xsd(""),
        xsd(
            value("xs:string", facet("pattern", "(")).partition(">")[2].removesuffix("</xs:schema>")
        ),
        xsd(part("a", occurs='minOccurs="2"')),
    ],
    ids=lambda one: repr(one)[:40],
)
def test_document_of_another_kind_is_refused(document: object) -> None:
    assert refused(document)


@pytest.mark.parametrize(
    "part_",
    [
        '<xs:include schemaLocation="http://127.0.0.1:1/x.xsd"/>',
        '<xs:include schemaLocation="/etc/hostname"/>',
        '<xs:import namespace="urn:x" schemaLocation="x.xsd"/>',
        '<xs:redefine schemaLocation="x.xsd"/>',
    ],
)
def test_other_documents_are_never_fetched(part_: str) -> None:
    (problem,) = refused(xsd(part_))

    assert "none is ever fetched" in problem


def test_data_fits() -> None:
    schema = XSD.parse(ORDER)

    assert schema.problems(b"<o><a>1</a></o>") == ()
    assert (
        schema.problems(b"\xef\xbb\xbf<?xml version='1.0'?> <o><a>1</a><b/></o>", "text/xml") == ()
    )
    assert schema.problems(b"<o><a>1</a></o>", "application/order+xml") == ()


def test_every_problem_of_the_data_has_its_path() -> None:
    problems = XSD.parse(ORDER).problems(b"<o><a>x</a><c/></o>", "application/xml")

    assert [problem.path for problem in problems] == ["/o/a", "/o"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x",
        b"/etc/hostname",
        b"<o>",
        b"<z/>",
        b"<o><a>1</a></o>trailing",
        LAUGHS.encode() + b"<o><a>&b;</a></o>",
        OUTSIDE.encode() + b"<o><a>&a;</a></o>",
        b"<o>" * 900 + b"</o>" * 900,
        b"<o>" * 50_000 + b"</o>" * 50_000,
        b"<o>\xff</o>",
        b"<o><a>" + b"9" * 10_000 + b"</a></o>",
    ],
    ids=lambda one: repr(one)[:30],
)
def test_bad_data_is_a_problem(data: bytes) -> None:
    assert XSD.parse(ORDER).problems(data)


def test_location_in_the_data_is_not_followed() -> None:
    data = (
        b'<o xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
        b'xsi:noNamespaceSchemaLocation="http://127.0.0.1:1/x.xsd"><a>1</a></o>'
    )

    assert XSD.parse(ORDER).problems(data) == ()


def test_content_type_of_something_else_is_a_problem() -> None:
    assert XSD.parse(ORDER).problems(b"<o><a>1</a></o>", "application/json")


def test_element_is_chosen_by_name_or_by_path() -> None:
    schema = XSD.parse(xsd(part("a", "xs:int") + part("b")))

    assert schema.records == ("a", "b")
    assert schema.problems(b"<a>1</a>", None, "a") == ()
    assert schema.problems(b"<a>1</a>", None, "//xs:element[@name='a']") == ()
    assert schema.problems(b"<b/>", None, "a")
    assert schema.problems(b"<b/>", None, "//xs:element[@name='z']")


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        (r"\d+", ["1", "٣"], ["a", ""]),
        (r"\w+", ["aé"], ["a b", "-"]),
        (r"[a-z-[aeiou]]+", ["xyz"], ["a"]),
        (r"\i\c*", ["a-b.c"], ["-a"]),
        (r"a|b", ["a", "b"], ["ab"]),
        (r"\p{Lu}\p{Ll}*", ["Äb"], ["äb"]),
        (r"\\d\.", ["\\d."], ["1."]),
        (r"$^", ["$^"], [""]),
    ],
)
def test_patterns_mean_what_they_mean_in_xml(pattern: str, good: list[str], bad: list[str]) -> None:
    schema = XSD.parse(value("xs:string", facet("pattern", pattern)))

    assert [text for text in good if schema.problems(f"<v>{text}</v>".encode())] == []
    assert [text for text in bad if not schema.problems(f"<v>{text}</v>".encode())] == []


def test_assertions_of_version_1_1_are_checked() -> None:
    test = '<xs:attribute name="i" type="xs:int"/><xs:assert test="@i &gt; 3"/>'
    document = xsd(f'<xs:element name="a"><xs:complexType>{test}</xs:complexType></xs:element>')

    schema = LATER.parse(document)

    assert schema.problems(b'<a i="4"/>') == ()
    assert schema.problems(b'<a i="2"/>')


def test_assertions_that_could_take_forever_are_refused() -> None:
    test = '<xs:assert test="count(for $i in 1 to 1000000000 return $i) &gt; 3"/>'
    document = xsd(f'<xs:element name="a"><xs:complexType>{test}</xs:complexType></xs:element>')

    with pytest.raises(ResourceError, match="loops"):
        LATER.parse(document)
