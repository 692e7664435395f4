"""XML Schemas, versions 1.0 and 1.1."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from xml.etree.ElementTree import Element

from xmlschema import XMLResource, XMLSchema10, XMLSchema11, XMLSchemaException
from xmlschema.validators import XMLSchemaBase, XMLSchemaValidatorError

from penstock.errors import Problem, ResourceError, UnsupportedError
from penstock.schemas.base import MOST_PROBLEMS, Schema, document_text, media_type_of, refuse
from penstock.schemas.xsd_compare import Comparison
from penstock.schemas.xsd_patterns import replace_patterns

MEDIA_TYPE = "application/xml"
# The library takes about half a millisecond for each part of a schema.
_MOST_PARTS = 10_000
_LONGEST_MESSAGE = 300
_XSD = "{http://www.w3.org/2001/XMLSchema}"
_VERSIONS: Mapping[str, type[XMLSchemaBase]] = {"1.0": XMLSchema10, "1.1": XMLSchema11}
_ELSEWHERE = {f"{_XSD}{name}" for name in ("include", "redefine", "override")}
_TESTS = {f"{_XSD}{name}" for name in ("assert", "assertion", "alternative")}
# Loops, ranges and patterns in a test can take as long as their author likes.
_ENDLESS = re.compile(r"\b(for|some|every|to|matches|replace|tokenize|doc|collection)\b")
_NAMED = re.compile(r"(?:.*@name\s*=\s*['\"])?([^'\"/\[\]@]+)(?:['\"]\s*\]\s*)?", re.DOTALL)


@dataclass(frozen=True, eq=False, slots=True)
class XsdSchema:
    """An XML Schema, compiled; `record` names the element that the data must be."""

    format: str
    schema: XMLSchemaBase

    @property
    def records(self) -> tuple[str, ...]:
        return tuple(element.local_name for element in self.schema.elements.values())

    def problems(
        self, data: bytes, content_type: str | None = None, record: str | None = None
    ) -> tuple[Problem, ...]:
        """Return what is wrong with the data, by XPath."""
        media_type = media_type_of(content_type, MEDIA_TYPE)
        if media_type not in {MEDIA_TYPE, "text/xml"} and not media_type.endswith("+xml"):
            return (Problem("", f"{media_type!r} is not a content type of XML data"),)
        try:
            resource = _resource(data, "the data")
            self._refuse_other(resource.root, record)
            errors = islice(self.schema.iter_errors(resource), MOST_PROBLEMS)
            return tuple(_problem(error) for error in errors)
        except ResourceError as error:
            return error.problems
        except (XMLSchemaException, ValueError, TypeError, ArithmeticError, RecursionError) as exc:
            return (Problem("", f"the data cannot be checked: {exc!s:.{_LONGEST_MESSAGE}}"),)

    def _refuse_other(self, root: Element, record: str | None) -> None:
        if record is None:
            return
        named = _NAMED.fullmatch(record)
        name = named[1].rpartition(":")[2] if named else record
        if name not in self.records:
            raise refuse("", f"the schema has no global element {record!r:.80}")
        if root.tag.rpartition("}")[2] != name:
            raise refuse(f"/{root.tag}", f"must be the element {name!r}")


@dataclass(frozen=True, slots=True)
class XsdFormat:
    """The schemas of one version of XML Schema."""

    version: str

    def __post_init__(self) -> None:
        if self.version not in _VERSIONS:
            message = f"the XML Schema version {self.version!r} is neither 1.0 nor 1.1"
            raise UnsupportedError(message, what=self.name)

    @property
    def name(self) -> str:
        return f"XSD/{self.version}"

    @property
    def media_type(self) -> str:
        return MEDIA_TYPE

    def parse(self, document: object) -> XsdSchema:
        """Return the schema of a document, or raise ResourceError with every fault."""
        resource = _resource(document_text(document).encode(), "the schema")
        if sum(1 for _ in resource.root.iter()) > _MOST_PARTS:
            raise refuse("", f"the schema has more than {_MOST_PARTS} parts")
        problems = list(islice(_refused_parts(resource.root), MOST_PROBLEMS))
        if problems:
            raise ResourceError(problems)
        return XsdSchema(self.name, self._built(resource))

    def _built(self, resource: XMLResource) -> XMLSchemaBase:
        try:
            schema, warned = _warned(lambda: _VERSIONS[self.version](resource, validation="lax"))
            errors = islice(schema.all_errors, MOST_PROBLEMS)
            problems = [_problem(error) for error in errors] + warned
            problems = problems or list(replace_patterns(schema))
        except XMLSchemaValidatorError as exc:
            raise ResourceError([_problem(exc)]) from exc
        except (XMLSchemaException, ValueError, TypeError, ArithmeticError, RecursionError) as exc:
            message = f"the schema cannot be used: {exc!s:.{_LONGEST_MESSAGE}}"
            raise refuse("", message) from exc
        if problems:
            raise ResourceError(problems)
        return schema

    def incompatibilities(self, new: Schema, old: Schema) -> tuple[Problem, ...]:
        """Return what the new schema refuses although the old one accepts it."""
        if not isinstance(new, XsdSchema) or not isinstance(old, XsdSchema):
            raise refuse("format", f"{new.format} and {old.format} cannot be compared")
        return Comparison(new.schema, old.schema).problems()


def _warned(build: Callable[[], XMLSchemaBase]) -> tuple[XMLSchemaBase, list[Problem]]:
    """Return a schema, and what the library could not check of it and only warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        schema = build()
    texts = [f"{one.message!s:.{_LONGEST_MESSAGE}}" for one in caught]
    return schema, [Problem("", f"the schema cannot be checked: {text}") for text in texts]


def _resource(text: bytes, what: str) -> XMLResource:
    # The library takes all that does not begin like XML for an address.
    text = text.removeprefix(b"\xef\xbb\xbf").strip()
    if not text.startswith(b"<"):
        raise refuse("", f"{what} is not XML in UTF-8")
    try:
        return XMLResource(text, allow="none", defuse="always")
    except (XMLSchemaException, ValueError, RecursionError) as exc:
        raise refuse("", f"{what} is not XML that is read here: {exc!s:.200}") from exc


def _refused_parts(root: Element) -> Iterator[Problem]:
    for part in root.iter():
        path = f"{str(part.tag).rpartition('}')[2]}"
        if part.tag in _ELSEWHERE or (
            part.tag == f"{_XSD}import" and "schemaLocation" in part.attrib
        ):
            yield Problem(path, "refers to another document, and none is ever fetched")
        if part.tag in _TESTS and _ENDLESS.search(part.attrib.get("test", "")):
            yield Problem(path, "tests with loops, ranges or patterns are not supported")


def _problem(error: XMLSchemaException) -> Problem:
    reason = getattr(error, "reason", None) or getattr(error, "message", None) or str(error)
    return Problem(getattr(error, "path", None) or "", f"{reason!s:.{_LONGEST_MESSAGE}}")
