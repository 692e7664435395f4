"""Options that commands share: groups of them are dataclasses, spread into a command's own."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from penstock.errors import Problem, ResourceError

if TYPE_CHECKING:
    from penstock.client import Client

Command = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Server:
    """Which server a command talks to."""

    url: Annotated[
        str | None,
        typer.Option(
            help="Address of the server; also PENSTOCK_URL.",
            show_default="http://127.0.0.1:8080",
            metavar="URL",
        ),
    ] = None

    def client(self) -> Client:
        """Return a client of the server."""
        from penstock.client import Client

        return Client(self.url)


@dataclass(frozen=True, slots=True)
class Broker:
    """Which broker of the server is meant."""

    broker: Annotated[
        str | None,
        typer.Option(
            help="Broker, as namespace/name.", show_default="default/default", metavar="NAME"
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class Place(Server):
    """Which broker of which server is meant."""

    broker: Annotated[
        str | None,
        typer.Option(
            help="Broker, as namespace/name.", show_default="default/default", metavar="NAME"
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class Output:
    """For whom a command prints."""

    json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False


def spread(function: Command, more: Sequence[inspect.Parameter] = ()) -> Command:
    """Return the command with the fields of its option groups, and more options, as parameters."""
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {
        name: kind for name, kind in hints.items() if dataclasses.is_dataclass(kind)
    }

    @wraps(function)
    def command(**values: Any) -> None:  # noqa: ANN401 - whatever the options are
        for name, kind in groups.items():
            fields = [field.name for field in dataclasses.fields(kind)]
            values[name] = kind(**{field: values.pop(field) for field in fields})
        function(**values)

    parameters = [*_parameters(function, hints, groups), *more]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {}
    return command


def _parameters(
    function: Command, hints: dict[str, Any], groups: dict[str, Any]
) -> Iterator[inspect.Parameter]:
    for name, parameter in inspect.signature(function).parameters.items():
        if name in groups:
            yield from _fields(groups[name])
        elif parameter.kind is not parameter.VAR_KEYWORD:
            yield parameter.replace(kind=parameter.KEYWORD_ONLY, annotation=hints[name])


def _fields(group: type[Any]) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    for field in dataclasses.fields(group):
        default = field.default
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        yield option(field.name, hints[field.name], default)


def option(name: str, annotation: object, default: object) -> inspect.Parameter:
    """Return a parameter of a command."""
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


def pairs(values: Iterable[str], name: str) -> dict[str, str]:
    """Return the values of an option like `--ext name=value`; usage errors name the option."""
    found = {}
    for text in values:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise typer.BadParameter(f"{text!r} is not of the form name=value", param_hint=name)
        if key in found:
            raise typer.BadParameter(f"{key!r} is given twice", param_hint=name)
        found[key] = value
    return found


def content(place: str, name: str) -> bytes:
    """Return what is in a file, or in standard input for `-`."""
    try:
        return sys.stdin.buffer.read() if place == "-" else Path(place).read_bytes()
    except OSError as exc:
        raise ResourceError([Problem(name, f"cannot read {place}: {exc.strerror}")]) from exc


def examples(*lines: str) -> str:
    """Return the end of a help text: commands to try."""
    return "\n\n".join(["Examples:", *(f"$ {line}" for line in lines)])
