"""Changes of XML Schemas; for each that is incompatible, where."""

from __future__ import annotations

from tests.schemas.evolution import UNDECIDED, Evolution


def xsd(body: str, **attributes: str) -> str:
    """Return a schema document."""
    more = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"{more}>{body}</xs:schema>'


def order(content: str, attributes: str = "") -> str:
    """Return a schema with one element of complex type."""
    return xsd(
        f'<xs:element name="o"><xs:complexType>{content}{attributes}</xs:complexType></xs:element>'
    )


def sequence(*items: str) -> str:
    """Return a schema whose element holds a sequence."""
    return order(f"<xs:sequence>{''.join(items)}</xs:sequence>")


def choice(*items: str, occurs: str = "") -> str:
    """Return a schema whose element holds a choice."""
    return order(f"<xs:choice {occurs}>{''.join(items)}</xs:choice>")


def everything(*items: str) -> str:
    """Return a schema whose element holds parts in any order."""
    return order(f"<xs:all>{''.join(items)}</xs:all>")


def part(name: str, type_: str = "xs:string", occurs: str = "") -> str:
    """Return an element declaration."""
    return f'<xs:element name="{name}" type="{type_}" {occurs}/>'


def value(base: str, facets: str = "") -> str:
    """Return a schema whose element is a restricted simple type."""
    return xsd(
        f'<xs:element name="v"><xs:simpleType><xs:restriction base="{base}">{facets}'
        "</xs:restriction></xs:simpleType></xs:element>"
    )


def facet(name: str, text: object) -> str:
    """Return a facet."""
    return f'<xs:{name} value="{text}"/>'


def attribute(type_: str = "xs:string", more: str = "") -> str:
    """Return a schema whose element has an attribute."""
    return order("", f'<xs:attribute name="i" type="{type_}" {more}/>')


MAYBE, MANY = 'minOccurs="0"', 'maxOccurs="unbounded"'
A, B, C = part("a"), part("b"), part("c")

ANY = "<xs:any/>"
FREE = "<xs:anyAttribute/>"
PLAIN = (
    f'<xs:element name="o" type="P"/><xs:complexType name="P"><xs:sequence>{A}</xs:sequence>'
    "</xs:complexType>"
)
BASE = xsd(PLAIN)


def wildcard(contents: str) -> str:
    """Return a wildcard that checks its contents in a certain way."""
    return f'<xs:any processContents="{contents}"/>'


def listed(type_: str) -> str:
    """Return a schema whose element is a list."""
    inner = f'<xs:simpleType><xs:list itemType="{type_}"/></xs:simpleType>'
    return xsd(f'<xs:element name="v">{inner}</xs:element>')


def united(types: str) -> str:
    """Return a schema whose element is a union."""
    inner = f'<xs:simpleType><xs:union memberTypes="{types}"/></xs:simpleType>'
    return xsd(f'<xs:element name="v">{inner}</xs:element>')


def texted(type_: str) -> str:
    """Return a schema whose element has a text and an attribute."""
    inner = f'<xs:extension base="{type_}"><xs:attribute name="i"/></xs:extension>'
    content = f"<xs:simpleContent>{inner}</xs:simpleContent>"
    return xsd(f'<xs:element name="v"><xs:complexType>{content}</xs:complexType></xs:element>')


def derived(type_: str) -> str:
    """Return a schema with a type that extends the type of an element."""
    inner = f'<xs:extension base="P"><xs:sequence>{part("b", type_)}</xs:sequence></xs:extension>'
    content = f"<xs:complexContent>{inner}</xs:complexContent>"
    return xsd(f'{PLAIN}<xs:complexType name="D">{content}</xs:complexType>')


EVOLUTIONS = [
    Evolution("nothing", sequence(A, B), sequence(A, B)),
    Evolution("optional element added", sequence(A), sequence(A, part("b", occurs=MAYBE))),
    Evolution("optional element added in front", sequence(A), sequence(part("b", occurs=MAYBE), A)),
    Evolution("required element added", sequence(A), sequence(A, B), "o/b"),
    Evolution("element removed", sequence(A, B), sequence(A), "o/b"),
    Evolution("element made optional", sequence(A), sequence(part("a", occurs=MAYBE))),
    Evolution("element made required", sequence(part("a", occurs=MAYBE)), sequence(A), "o/a"),
    Evolution("element made repeatable", sequence(A), sequence(part("a", occurs=MANY))),
    Evolution("element not repeatable", sequence(part("a", occurs=MANY)), sequence(A), "o/a"),
    Evolution("elements in another order", sequence(A, B), sequence(B, A), "o/b"),
    Evolution("sequence to any order", sequence(A, B), everything(B, A)),
    Evolution("any order to sequence", everything(A, B), sequence(A, B), "o/all", UNDECIDED),
    Evolution("choice grown", choice(A, B), choice(A, B, C)),
    Evolution("choice shrunk", choice(A, B, C), choice(A, B), "o/c"),
    Evolution("element to choice", sequence(A), choice(A, B)),
    Evolution("choice to element", choice(A, B), sequence(A), "o/choice", UNDECIDED),
    Evolution("choice repeatable", choice(A, B), choice(A, B, occurs=MANY)),
    Evolution("choice not repeatable", choice(A, B, occurs=MANY), choice(A, B), "o"),
    Evolution("int to long", sequence(part("a", "xs:int")), sequence(part("a", "xs:long"))),
    Evolution("long to int", sequence(part("a", "xs:long")), sequence(part("a", "xs:int")), "o/a"),
    Evolution("int to decimal", sequence(part("a", "xs:int")), sequence(part("a", "xs:decimal"))),
    Evolution(
        "unsigned to long", sequence(part("a", "xs:unsignedInt")), sequence(part("a", "xs:long"))
    ),
    Evolution("int to string", sequence(part("a", "xs:int")), sequence(part("a"))),
    Evolution("string to int", sequence(part("a")), sequence(part("a", "xs:int")), "o/a"),
    Evolution(
        "date to dateTime",
        sequence(part("a", "xs:date")),
        sequence(part("a", "xs:dateTime")),
        "o/a",
    ),
    Evolution("token to string", sequence(part("a", "xs:token")), sequence(part("a"))),
    Evolution(
        "enumeration grown",
        value("xs:string", facet("enumeration", "x")),
        value("xs:string", facet("enumeration", "x") + facet("enumeration", "y")),
    ),
    Evolution(
        "enumeration shrunk",
        value("xs:string", facet("enumeration", "x") + facet("enumeration", "y")),
        value("xs:string", facet("enumeration", "x")),
        "v",
    ),
    Evolution(
        "enumeration added", value("xs:string"), value("xs:string", facet("enumeration", "x")), "v"
    ),
    Evolution(
        "longer texts",
        value("xs:string", facet("maxLength", 5)),
        value("xs:string", facet("maxLength", 9)),
    ),
    Evolution(
        "shorter texts",
        value("xs:string", facet("maxLength", 9)),
        value("xs:string", facet("maxLength", 5)),
        "v",
    ),
    Evolution(
        "limit lowered",
        value("xs:int", facet("minInclusive", 5)),
        value("xs:int", facet("minInclusive", 1)),
    ),
    Evolution(
        "limit raised",
        value("xs:int", facet("minInclusive", 1)),
        value("xs:int", facet("minInclusive", 5)),
        "v",
    ),
    Evolution("pattern dropped", value("xs:string", facet("pattern", "a+")), value("xs:string")),
    Evolution(
        "pattern added",
        value("xs:string"),
        value("xs:string", facet("pattern", "a+")),
        "v",
        UNDECIDED,
    ),
    Evolution("attribute added", order(""), attribute()),
    Evolution("required attribute added", order(""), attribute(more='use="required"'), "o/@i"),
    Evolution("attribute removed", attribute(), order(""), "o/@i"),
    Evolution("attribute made optional", attribute(more='use="required"'), attribute()),
    Evolution("attribute narrowed", attribute("xs:int"), attribute("xs:short"), "o/@i"),
    Evolution("attribute fixed", attribute(), attribute(more='fixed="x"'), "o/@i"),
    Evolution("element gone", xsd(A + B), xsd(A), "b"),
    Evolution("global element added", xsd(A), xsd(A + B)),
    Evolution(
        "namespace changed",
        xsd(A, targetNamespace="urn:a"),
        xsd(A, targetNamespace="urn:b"),
        "targetNamespace",
    ),
    Evolution("nil not allowed", xsd(part("a", occurs='nillable="true"')), xsd(A), "a"),
    Evolution(
        "substitution group",
        xsd(A),
        xsd(A + '<xs:element name="b" substitutionGroup="a"/>'),
        "",
        UNDECIDED,
    ),
    Evolution("wildcard kept", sequence(ANY), sequence(ANY)),
    Evolution("wildcard checked less", sequence(ANY), sequence(wildcard("skip"))),
    Evolution(
        "wildcard checked more", sequence(wildcard("skip")), sequence(ANY), "o/any", UNDECIDED
    ),
    Evolution("wildcard for attributes kept", order("", FREE), order("", FREE)),
    Evolution("wildcard for attributes gone", order("", FREE), order(""), "o/@*", UNDECIDED),
    Evolution(
        "attribute declared beside a wildcard",
        order("", FREE),
        order("", f'<xs:attribute name="i" type="xs:int"/>{FREE}'),
        "o/@*",
        UNDECIDED,
    ),
    Evolution("list widened", listed("xs:int"), listed("xs:long")),
    Evolution("list narrowed", listed("xs:long"), listed("xs:int"), "v"),
    Evolution("member of a union added", united("xs:int"), united("xs:int xs:date")),
    Evolution(
        "member of a union removed", united("xs:int xs:date"), united("xs:int"), "v", UNDECIDED
    ),
    Evolution("attribute beside a text added", xsd(part("v")), texted("xs:string")),
    Evolution("text beside attributes narrowed", texted("xs:string"), texted("xs:int"), "v"),
    Evolution("text to elements", xsd(part("o")), sequence(A), "o"),
    Evolution("derived type kept", derived("xs:int"), derived("xs:long")),
    Evolution("derived type narrowed", derived("xs:long"), derived("xs:int"), "D/b"),
    Evolution("derived type gone", derived("xs:int"), BASE, "D", UNDECIDED),
    Evolution("mixed content", order("", ""), order("").replace("Type>", 'Type mixed="true">', 1)),
    Evolution(
        "text not allowed", order("").replace("Type>", 'Type mixed="true">', 1), order(""), "o"
    ),
    Evolution(
        "name declared that a lax wildcard let pass",
        sequence(wildcard("lax")),
        sequence(wildcard("lax")).replace("</xs:schema>", f"{part('n', 'xs:int')}</xs:schema>"),
        "o/any",
        UNDECIDED,
    ),
    Evolution(
        "name declared that any content could have",
        xsd('<xs:element name="o"/>'),
        xsd(f'<xs:element name="o"/>{part("n", "xs:int")}'),
        "o",
        UNDECIDED,
    ),
    Evolution("text to any content", xsd(part("o")), xsd('<xs:element name="o"/>')),
]
