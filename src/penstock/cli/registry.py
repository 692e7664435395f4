"""`penstock registry`: what is in the registry of a server."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli import screen
from penstock.cli.options import Output, Server, content
from penstock.errors import FormatError, NotFoundError, Problem, ResourceError

if TYPE_CHECKING:
    from penstock.client import Client

_ADDRESS = "Address below the registry, like schemaGroups/shop/schemas/order"
Which = Annotated[str, typer.Argument(metavar="ADDRESS", help=f"{_ADDRESS}.")]
Several = Annotated[list[str], typer.Argument(metavar="ADDRESS", help=f"{_ADDRESS}; or several.")]
Place = Annotated[
    str | None,
    typer.Argument(metavar="ADDRESS", help="Type, like schemaGroups, or group; all without it."),
]
Type = Annotated[
    str | None, typer.Argument(metavar="TYPE", help="Type of groups, like schemaGroups.")
]
Most = Annotated[int, typer.Option("--limit", help="Most to list; 0 for all of them.", min=0)]
File = Annotated[str, typer.Argument(metavar="FILE", help="File with the document; - for stdin.")]
Model = Annotated[
    str | None,
    typer.Argument(metavar="FILE", help="File with a new model as JSON; - for stdin."),
]
_GROUP, _COLLECTION, _RESOURCE, _VERSION = 2, 3, 4, 6
_USUAL = 1000
_MEDIA_TYPES = {".proto": "text/plain", ".xsd": "application/xml", ".xml": "application/xml"}


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be known of a document."""

    format: Annotated[
        str | None,
        typer.Option(metavar="NAME/VERSION", help="Format of a schema, like JsonSchema/draft-07."),
    ] = None
    name: Annotated[str | None, typer.Option(help="Name for people.")] = None
    description: Annotated[str | None, typer.Option(help="What it is.")] = None

    def attributes(self) -> dict[str, str]:
        """Return the attributes that the options give."""
        found = {"format": self.format, "name": self.name, "description": self.description}
        return {name: value for name, value in found.items() if value is not None}


def groups(server: Server, output: Output, type: Type = None, limit: Most = _USUAL) -> None:  # noqa: A002
    """List groups of schemas and of definitions, and endpoints."""
    with server.client() as client:
        found = [
            (kind, group)
            for kind in _types(client.registry_model(), type)
            for group in itertools.islice(client.registry_entities(kind["plural"]), limit or None)
        ]
    if output.json:
        screen.json([group for _, group in found])
        return
    rows = [
        (f"{kind['plural']}/{_segment(group['id'])}", _sizes(kind, group), _described(group))
        for kind, group in found
    ]
    screen.table(("GROUP", "HOLDS", "DESCRIPTION"), rows)


def list_(server: Server, output: Output, address: Place = None, limit: Most = _USUAL) -> None:
    """List the schemas, definitions and other resources of a group, of a type, or of all."""
    with server.client() as client:
        found = list(itertools.islice(_resources(client, address), limit + 1 if limit else None))
    shown = found[: limit or None]
    if output.json:
        screen.json([one for _, one in shown])
    else:
        rows = [
            (place, one.get("format", ""), one.get("versionId", ""), _described(one))
            for place, one in shown
        ]
        screen.table(("RESOURCE", "FORMAT", "LATEST", "DESCRIPTION"), rows)
    if len(found) > len(shown):
        screen.note("there are more: raise --limit, or name a group")


def show(
    address: Which,
    server: Server,
    output: Output,
    meta: Annotated[  # noqa: FBT002
        bool, typer.Option("--meta", help="Show the attributes, not the document.")
    ] = False,
) -> None:
    """Show a group, or the document of a resource or version as it was stored.

    With --json, everything: attributes, the document, and all that is inside.
    """
    depth = _depth(address, _GROUP, _RESOURCE, _VERSION)
    with server.client() as client:
        if output.json:
            screen.json(client.registry_entity(address, not meta))
            return
        if meta or depth == _GROUP:
            screen.fields(client.registry_entity(address))
            return
        found = client.registry_document(address)
    if found.elsewhere:
        screen.note("the registry only knows where the document is:")
        typer.echo(screen.clean(found.elsewhere))
    else:
        typer.echo(found.content, nl=not found.content.endswith(b"\n"))


def add(address: Which, file: File, wish: Wish, server: Server, output: Output) -> None:
    """Add a schema or definition from a file: a new one, or a new version of it.

    A group that is missing is made.
    """
    _depth(address, _RESOURCE)
    body = content(file, "FILE")
    above, _, name = address.strip("/").rpartition("/")
    group, _, _ = above.rpartition("/")
    kind = next((one for end, one in _MEDIA_TYPES.items() if file.endswith(end)), _JSON)
    with server.client() as client:
        _make_group(client, group)
        if _is_there(client, address):
            made = client.add_registry_version(address, body, wish.attributes(), kind)
        else:
            attributes = {"id": _plain(name), **wish.attributes()}
            made = client.create_registry_resource(above, body, attributes, kind)
    if output.json:
        screen.json(made.attributes)
    else:
        place = f"{above}/{name}/versions/{_segment(made.attributes['version'])}"
        typer.echo(screen.clean(f"added {place}"))


def versions(address: Which, server: Server, output: Output) -> None:
    """List the versions of a resource."""
    _depth(address, _RESOURCE)
    with server.client() as client:
        found = list(client.registry_entities(f"{address.strip('/')}/versions"))
    if output.json:
        screen.json(found)
        return
    rows = [(one["id"], one["epoch"], one["modifiedOn"], _described(one)) for one in found]
    screen.table(("VERSION", "EPOCH", "CHANGED", "DESCRIPTION"), rows)


def delete(
    address: Several,
    server: Server,
    output: Output,
    yes: Annotated[  # noqa: FBT002
        bool, typer.Option("--yes", "-y", help="Delete groups although something is in them.")
    ] = False,
) -> None:
    """Delete versions, resources, or groups with all that is in them."""
    with server.client() as client:
        for one in address:
            if _depth(one, _GROUP, _RESOURCE, _VERSION) == _GROUP and not yes:
                _expect_empty(one, client.registry_entity(one))
        for one in address:
            client.delete_registry_entity(one)
            if not output.json:
                typer.echo(screen.clean(f"deleted {one}"))
    if output.json:
        screen.json({"deleted": address})


def model(server: Server, output: Output, file: Model = None) -> None:
    """Show the types of groups and resources, or replace them by those in a file."""
    with server.client() as client:
        if file is None:
            found = client.registry_model()
        else:
            found = client.change_registry_model(_object(content(file, "FILE"), file))
    if output.json:
        screen.json(found)
        return
    rows = [
        (kind["plural"], kind["singular"], one["plural"], one["singular"], one["versions"] or "all")
        for kind in found["groups"]
        for one in kind.get("resources", [{"plural": "", "singular": "", "versions": " "}])
    ]
    screen.table(("GROUPS", "ONE OF THEM", "RESOURCES", "ONE OF THEM", "VERSIONS KEPT"), rows)


_JSON = "application/json"


def _depth(address: str, *allowed: int) -> int:
    depth = len(address.strip("/").split("/"))
    if depth not in allowed or "" in address.strip("/").split("/"):
        form = {
            _GROUP: "TYPE/GROUP",
            _RESOURCE: "TYPE/GROUP/RESOURCES/ID",
            _VERSION: "TYPE/GROUP/RESOURCES/ID/versions/VERSION",
        }
        forms = " or ".join(form[each] for each in allowed)
        raise typer.BadParameter(f"{address!r} is not of the form {forms}", param_hint="ADDRESS")
    return depth


def _types(model: Mapping[str, Any], wanted: str | None) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = model["groups"]
    if wanted is None:
        return found
    chosen = [one for one in found if one["plural"].casefold() == wanted.strip("/").casefold()]
    if not chosen:
        known = ", ".join(one["plural"] for one in found)
        raise NotFoundError(f"there are no {wanted!r}, but {known}", address=wanted)
    return chosen


def _resources(client: Client, address: str | None) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the resources below an address, with theirs."""
    parts = address.strip("/").split("/") if address else []
    for kind in _types(client.registry_model(), parts[0] if parts else None):
        if len(parts) >= _GROUP:
            groups = iter([parts[1]])
        else:
            found = client.registry_entities(kind["plural"])
            groups = (_segment(one["id"]) for one in found)
        for group in groups:
            yield from _inside(client, kind, group, parts[2] if len(parts) >= _COLLECTION else None)


def _inside(
    client: Client, kind: Mapping[str, Any], group: str, wanted: str | None
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for one in kind.get("resources", ()):
        if wanted is None or wanted.casefold() == one["plural"].casefold():
            place = f"{kind['plural']}/{group}/{one['plural']}"
            for each in client.registry_entities(place):
                yield f"{place}/{_segment(each['id'])}", each


def _is_there(client: Client, address: str) -> bool:
    try:
        client.registry_entity(address)
    except NotFoundError:
        return False
    return True


def _make_group(client: Client, address: str) -> None:
    kind, _, group = address.partition("/")
    _types(client.registry_model(), kind)
    if not _is_there(client, address):
        client.create_registry_group(kind, {"id": _plain(group)})


def _expect_empty(address: str, group: Mapping[str, Any]) -> None:
    inside = sum(value for name, value in group.items() if name.endswith("Count"))
    if inside:
        message = f"{inside} are in {address}: give --yes to delete them, too"
        raise ResourceError([Problem(address, message)])


def _sizes(kind: Mapping[str, Any], group: Mapping[str, Any]) -> str:
    names = [one["plural"] for one in kind.get("resources", ())]
    return ", ".join(f"{group[f'{name}Count']} {name}" for name in names)


def _described(entity: Mapping[str, Any]) -> str:
    if "description" in entity:
        return str(entity["description"])
    return str(entity["name"]) if entity.get("name") != entity["id"] else ""


def _object(body: bytes, file: str) -> Mapping[str, Any]:
    import msgspec

    try:
        return msgspec.json.decode(body, type=dict[str, Any])
    except msgspec.MsgspecError as exc:
        raise FormatError(f"{file} holds no JSON object: {exc}", format="json") from exc


def _segment(text: str) -> str:
    from urllib.parse import quote

    return quote(text, safe="!$&'()*+,;=:@~")


def _plain(text: str) -> str:
    from urllib.parse import unquote

    return unquote(text)
