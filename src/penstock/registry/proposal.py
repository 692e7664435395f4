"""What a request proposes for one version, and how it joins what is there."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from penstock.registry import attributes, drafts, kinds, query
from penstock.registry.attributes import COMMON, MANAGED, Claims
from penstock.registry.entities import Version
from penstock.registry.faults import Faults
from penstock.registry.model import ResourceType
from penstock.registry.rules import Draft, Rules
from penstock.registry.strict import json_value

_KEPT = frozenset(COMMON) - MANAGED


class Proposal(msgspec.Struct, frozen=True):
    """A document with attributes beside it, as headers bring them."""

    content: bytes = b""
    media_type: str = ""
    attributes: Mapping[str, object] = {}
    removed: frozenset[str] = frozenset()
    """Attributes to be deleted, in lower case."""
    uri: str | None = None
    """Where the document is; empty to forget where it was."""
    claims: Claims = Claims()


def joined(
    faults: Faults, type_: ResourceType, given: Proposal, before: tuple[Version, bytes] | None
) -> tuple[Draft, Claims]:
    """Return the draft that a proposal makes of the version it replaces or continues."""
    rules = kinds.rules(type_)
    body, claims = _body(faults, type_, rules, given)
    old = before[0].attributes if before else {}
    headers = _respelled(given, rules, (*old, *body))
    _agree(faults, headers, body)
    base = {name: value for name, value in old.items() if name in _KEPT or not rules.flat}
    merged = {**base, **body, **headers}
    left = {name: one for name, one in merged.items() if name.lower() not in given.removed}
    read, _ = attributes.read(faults, left, "", rules.known)
    uri, content, media_type = _document(rules, given, before)
    if given.uri and given.content and not rules.flat:
        faults.add(f"{type_.singular}Uri", "excludes a document: leave the body empty")
    return Draft(read, content, uri, media_type), _same(faults, given.claims, claims)


def described(
    faults: Faults, type_: ResourceType, document: object, before: tuple[Version, bytes]
) -> tuple[Draft, Claims]:
    """Return the draft that new metadata makes of a version; its document stays."""
    found = faults.mapping(document, "") or {}
    own = {name: one for name, one in found.items() if not name.startswith(query.VERSIONS)}
    read, claims = drafts.draft(faults, type_, own, "")
    version, content = before
    kept = ("format", *kinds.rules(type_).flat)
    entity = {name: version.attributes[name] for name in kept if name in version.attributes}
    elsewhere = bool(read.uri) and read.uri != version.uri
    return (
        Draft(
            {**entity, **read.attributes},
            b"" if elsewhere else read.content or content,
            read.uri or version.uri,
            version.media_type,
        ),
        claims,
    )


def _body(
    faults: Faults, type_: ResourceType, rules: Rules, given: Proposal
) -> tuple[Mapping[str, object], Claims]:
    """Return the attributes that are in the document itself, where documents are not opaque."""
    if not rules.flat or not given.content.strip():
        return {}, Claims()
    found = faults.mapping(json_value(given.content), "") or {}
    own = {name: one for name, one in found.items() if name not in drafts.collection("versions")}
    read, claims = drafts.draft(faults, type_, own, "")
    return read.attributes, claims


def _document(
    rules: Rules, given: Proposal, before: tuple[Version, bytes] | None
) -> tuple[str, bytes, str]:
    content = b"" if rules.flat else given.content
    if given.uri:
        return given.uri, content, ""
    if given.content or given.uri == "":
        return "", content, given.media_type
    return (before[0].uri if before else ""), b"", ""


def _respelled(given: Proposal, rules: Rules, there: tuple[str, ...]) -> dict[str, object]:
    """Return attributes from headers, which have no case, as they are spelled elsewhere."""
    proper = {name.lower(): name for name in (*COMMON, *rules.known, *there)}
    return {proper.get(name.lower(), name): value for name, value in given.attributes.items()}


def _agree(faults: Faults, headers: Mapping[str, object], body: Mapping[str, object]) -> None:
    for name in headers.keys() & body.keys():
        if headers[name] != body[name]:
            faults.add(name, "is different in the header and in the body")


def _same(faults: Faults, header: Claims, body: Claims) -> Claims:
    for name in ("id", "version", "epoch"):
        one, other = getattr(header, name), getattr(body, name)
        if one is not None and other is not None and one != other:
            faults.add(name, "is different in the header and in the body")
    return Claims(
        header.id or body.id,
        header.version or body.version,
        body.epoch if header.epoch is None else header.epoch,
    )
