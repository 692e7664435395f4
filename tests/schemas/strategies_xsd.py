"""Random XML Schemas of one element, and documents that they may accept or refuse."""

from __future__ import annotations

import itertools
from random import Random

from tests.schemas.evolutions_xsd import facet, xsd

TEXTS = (
    *("", "a", "ab", "a b", " a ", "x", "aaaa", "0", "1", "-1", "5", "05", "1.5", "300", "70000"),
    *("5000000000", "true", "1e3", "2020-01-01", "2020-01-01T00:00:00"),
)
BASES = (
    *("string", "token", "normalizedString", "NMTOKEN", "int", "integer", "byte", "short", "long"),
    *("unsignedByte", "positiveInteger", "decimal", "double", "boolean", "date", "dateTime"),
)
NUMBERS = frozenset(BASES[4:13]) - {"double"}
OCCURS = ("", "", "", 'minOccurs="0"', 'maxOccurs="2"', 'maxOccurs="unbounded"')


def documents() -> list[bytes]:
    """Return documents with texts, attributes and up to three children."""
    texts = [f"<o>{text}</o>" for text in TEXTS]
    texts += [f'<o i="{text}"/>' for text in TEXTS]
    for size in range(4):
        for names in itertools.product("abc", repeat=size):
            texts.append(f"<o>{''.join(f'<{name}>1</{name}>' for name in names)}</o>")
    texts += [f"<o><a>{text}</a></o>" for text in TEXTS]
    return [text.encode() for text in texts]


class XmlSchemas:
    """Makes schemas from a seed."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def document(self) -> str:
        """Return a schema of one element, of simple or of complex type."""
        if self.random.random() < 0.5:
            return xsd(f'<xs:element name="o">{self.simple()}</xs:element>')
        content = self.group(2) if self.random.random() < 0.8 else ""
        attribute = ""
        if self.random.random() < 0.3:
            use = self.random.choice(['use="required"', "", 'fixed="1"', 'default="1"'])
            attribute = f'<xs:attribute name="i" {use}>{self.simple()}</xs:attribute>'
            if "=" in use and "use" not in use:
                attribute = f'<xs:attribute name="i" {use} type="xs:int"/>'
        mixed = self.random.choice(["", "", 'mixed="true"'])
        inner = f"<xs:complexType {mixed}>{content}{attribute}</xs:complexType>"
        return xsd(f'<xs:element name="o">{inner}</xs:element>')

    def simple(self) -> str:
        """Return a simple type: a restriction, a list or a union."""
        chance = self.random.random()
        if chance < 0.15:
            return f"<xs:simpleType><xs:list>{self.simple_restriction()}</xs:list></xs:simpleType>"
        if chance < 0.3:
            members = "".join(self.simple_restriction() for _ in range(2))
            return f"<xs:simpleType><xs:union>{members}</xs:union></xs:simpleType>"
        return self.simple_restriction()

    def simple_restriction(self) -> str:
        """Return a built-in type with a few facets."""
        base = self.random.choice(BASES)
        facets = "".join(self.facets(base))
        restriction = f'<xs:restriction base="xs:{base}">{facets}</xs:restriction>'
        return f"<xs:simpleType>{restriction}</xs:simpleType>"

    def facets(self, base: str) -> list[str]:
        """Return facets that the type can have."""
        random = self.random
        if random.random() < 0.4:
            return []
        if base in NUMBERS:
            low, high = (
                random.choice(["minInclusive", "minExclusive"]),
                random.choice(["maxInclusive", "maxExclusive"]),
            )
            found = [facet(low, random.choice([1, 2])), facet(high, random.choice([5, 100]))]
            return random.sample(found, random.choice([1, 2]))
        if base in BASES[:4]:
            found = [
                facet("minLength", random.choice([0, 1, 2])),
                facet("maxLength", random.choice([2, 3])),
                facet("pattern", random.choice(["a*", "[a-z ]*"])),
                facet("enumeration", "a") + facet("enumeration", random.choice(["ab", "x"])),
            ]
            return random.sample(found, random.choice([1, 1, 2]))
        return []

    def group(self, depth: int) -> str:
        """Return a content model."""
        kind = self.random.choice(
            ["sequence", "sequence", "choice", "all"] if depth == 2 else ["sequence", "choice"]
        )
        names = self.random.sample("abc", self.random.choice([1, 2, 3]))
        items = [self.element(name, once=kind == "all") for name in names]
        if kind != "all" and depth and self.random.random() < 0.3:
            items.append(self.group(0))
        occurs = self.random.choice(OCCURS) if kind != "all" else ""
        return f"<xs:{kind} {occurs}>{''.join(items)}</xs:{kind}>"

    def element(self, name: str, *, once: bool) -> str:
        """Return an element of simple type."""
        occurs = self.random.choice(OCCURS[:4] if once else OCCURS)
        type_ = self.random.choice(["xs:string", "xs:int", "xs:integer", "xs:byte"])
        return f'<xs:element name="{name}" type="{type_}" {occurs}/>'
