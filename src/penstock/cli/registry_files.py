"""`penstock registry`: files, with a server and without."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli import screen
from penstock.cli.group import FAILED
from penstock.cli.options import Output, Server, content
from penstock.errors import ConflictError, LimitError, Problem, ResourceError

if TYPE_CHECKING:
    from penstock.client import Client, Imported
    from penstock.registry.files import Difference

Documents = Sequence[tuple[str, Mapping[str, object]]]
_KINDS = ".cereg, .cereg.yaml or .cereg.yml"
Files = Annotated[
    list[str],
    typer.Argument(metavar="FILE", help=f"Registry files ({_KINDS}), read as one; - for stdin."),
]
Target = Annotated[
    str | None, typer.Argument(metavar="FILE", help="Where to write; standard output without it.")
]
_PATIENCE = 600.0


@dataclass(frozen=True, slots=True)
class Manner:
    """How strictly files are read."""

    strict: Annotated[
        bool,
        typer.Option("--strict", help="Refuse what is otherwise only warned of."),
    ] = False


def import_(
    files: Files,
    manner: Manner,
    server: Server,
    output: Output,
    dry_run: Annotated[  # noqa: FBT002
        bool, typer.Option("--dry-run", help="Only tell what would change.")
    ] = False,
) -> None:
    """Bring files into the registry: all of them or nothing; what they do not name stays."""
    document = together(read(files))
    with _client(server) as client, _patience("importing"):
        done = client.import_registry(document, dry_run=dry_run, strict=manner.strict)
    _report(done, output, "would be " if dry_run else "")


def export(
    server: Server,
    file: Target = None,
    yaml: Annotated[  # noqa: FBT002
        bool, typer.Option("--yaml", help="Write YAML, as for a file that ends so.")
    ] = False,
) -> None:
    """Write the whole registry as a file."""
    from penstock.client import REGISTRY_JSON, REGISTRY_YAML

    is_yaml = yaml or (file or "").lower().endswith((".yaml", ".yml"))
    with _client(server) as client, _patience("exporting"):
        body = client.export_registry(REGISTRY_YAML if is_yaml else REGISTRY_JSON)
    text = body if is_yaml else _pretty(body)
    if file is None:
        typer.echo(text, nl=not text.endswith(b"\n"))
        return
    try:
        Path(file).write_bytes(text)
    except OSError as exc:
        raise ResourceError([Problem("FILE", f"cannot write {file}: {exc.strerror}")]) from exc


def validate(files: Files, manner: Manner, output: Output) -> None:
    """Check files without a server, and tell everything that is wrong with them.

    The exit code is 0 when they could be imported into an empty registry, and 1 when not.
    """
    from penstock.registry import Terms
    from penstock.registry.files import opened

    documents = read(files)
    try:
        _, _, done = opened(together(documents), terms=Terms(lenient=not manner.strict))
    except (ResourceError, ConflictError) as exc:
        found = [_located(each, documents) for each in exc.problems]
        if not output.json:
            raise ResourceError(found) from exc
        screen.json({"valid": False, "problems": found})
        raise typer.Exit(FAILED) from exc
    warnings = [_located(each, documents) for each in done.warnings]
    if output.json:
        screen.json({"valid": True, "entities": len(done.created), "warnings": warnings})
        return
    for each in warnings:
        screen.note(f"warning: {screen.clean(str(each))}")
    typer.echo(f"valid: {len(done.created)} entities")


def diff(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Registry file; - for stdin.")],
    server: Server,
    output: Output,
    other: Annotated[
        str | None,
        typer.Argument(metavar="OTHER", help="Compare with this file instead of the server."),
    ] = None,
    exit_code: Annotated[  # noqa: FBT002
        bool, typer.Option("--exit-code", help="Exit with 1 when there are differences.")
    ] = False,
) -> None:
    """Show what would change if the registry were made equal to a file, or one file to another."""
    from penstock.registry import files
    from penstock.registry import model as models

    new = read([other or file])[0][1]
    if other is not None:
        found = files.diff(read([file])[0][1], new)
    else:
        with _client(server) as client, _patience("comparing"):
            model = models.read(client.registry_model())
            old = files.read("the registry", client.export_registry())
        found = files.diff(old, new, model)
    _show_differences(found, output)
    if found and exit_code:
        raise typer.Exit(FAILED)


def apply(
    files: Files,
    manner: Manner,
    server: Server,
    output: Output,
    yes: Annotated[  # noqa: FBT002
        bool, typer.Option("--yes", "-y", help="Do it without asking.")
    ] = False,
) -> None:
    """Make the registry equal to files; what would change is shown first, and asked about.

    What the files do not name is deleted.
    """
    document = together(read(files))
    with _client(server) as client:
        with _patience("comparing"):
            plan = client.import_registry(
                document, replace=True, dry_run=True, strict=manner.strict
            )
        if not plan.changes:
            _report(plan, output)
            return
        if not yes:
            _list_changes(plan, "would be ", err=output.json)
            _ask(files)
        with _patience("applying"):
            done = client.import_registry(document, replace=True, strict=manner.strict)
    _report(done, output)


def read(files: Sequence[str]) -> Documents:
    """Return the documents in files, each with its name."""
    from penstock.registry import files as room

    if list(files).count("-") > 1:
        raise typer.BadParameter("standard input can be read once", param_hint="FILE")
    named = [(file, "standard input" if file == "-" else file) for file in files]
    return [(name, room.read(name, content(file, "FILE"))) for file, name in named]


def together(documents: Documents) -> Mapping[str, object]:
    """Return documents as one."""
    from penstock.registry.files import joined

    return joined(documents)


def _located(problem: Problem, documents: Documents) -> Problem:
    """Return a problem with the file that has it."""
    owner = next((name for name, held in documents if _has(held, problem.path)), documents[0][0])
    return Problem(f"{owner}: {problem.path}" if problem.path else owner, problem.message)


def _has(document: Mapping[str, object], path: str) -> bool:
    kind, _, rest = path.partition(".")
    inside = document.get(kind)
    if not isinstance(inside, Mapping):
        return kind in document
    return any(rest == id_ or rest.startswith(f"{id_}.") for id_ in inside)


def _show_differences(found: Sequence[Difference], output: Output) -> None:
    if output.json:
        screen.json(found)
        return
    for each in found:
        typer.echo(screen.clean(f"{_SIGNS[each.what]} {each.address}"))
        for change in each.changes:
            line = f"    {change.path}: {_value(change.before)} → {_value(change.after)}"
            typer.echo(screen.clean(line))
    if not found:
        typer.echo("no differences")


_SIGNS = {"created": "+", "updated": "~", "deleted": "-"}
_WIDEST = 60


def _value(value: object) -> str:
    import msgspec

    if value is None:
        return "nothing"
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= _WIDEST else f"{text[:_WIDEST]}…"


def _report(done: Imported, output: Output, would: str = "") -> None:
    if output.json:
        screen.json(done)
        return
    _list_changes(done, would)


def _list_changes(done: Imported, would: str, *, err: bool = False) -> None:
    for warning in done.warnings:
        problem = Problem(warning.get("path", ""), warning.get("message", ""))
        screen.note(screen.clean(f"warning: {problem}"))
    for what, addresses in (
        ("created", done.created),
        ("updated", done.updated),
        ("deleted", done.deleted),
    ):
        for each in addresses:
            typer.echo(screen.clean(f"{_SIGNS[what]} {each}"), err=err)
    counts = (
        f"{len(done.created)} created, {len(done.updated)} updated, {len(done.deleted)} deleted"
    )
    typer.echo(f"{would}{counts}; {done.unchanged} stay as they are", err=err)


def _ask(files: Sequence[str]) -> None:
    if "-" in files or not sys.stdin.isatty():
        raise typer.BadParameter("nobody can be asked here: give --yes", param_hint="--yes")
    typer.confirm("Apply?", abort=True, err=True)


def _pretty(body: bytes) -> bytes:
    import msgspec

    return msgspec.json.format(body, indent=2) + b"\n"


def _client(server: Server) -> Client:
    from penstock.client import Client

    return Client(server.url, timeout=_PATIENCE)


@contextmanager
def _patience(what: str) -> Iterator[None]:
    """Show a person that something goes on, and tell what to do when it is too much."""
    try:
        if not sys.stderr.isatty():
            yield
            return
        from rich.console import Console

        with Console(stderr=True).status(what):
            yield
    except LimitError as exc:
        if exc.limit != "inline":
            raise
        msg = f"{exc}, or raise the setting registry_bytes"
        raise LimitError(msg, limit=exc.limit) from exc
