"""The settings of the server as options."""

from __future__ import annotations

import ast
import inspect
import itertools
from collections.abc import Mapping
from functools import cache
from typing import Annotated, get_type_hints

import msgspec
import typer

from penstock import config
from penstock.cli.options import option
from penstock.config import Settings

Config = Annotated[
    str | None,
    typer.Option(help="TOML file with settings; also PENSTOCK_CONFIG.", metavar="FILE"),
]


@cache
def meanings() -> Mapping[str, str]:
    """Return what each setting means: the text below it in the source."""
    body = ast.parse(inspect.getsource(config)).body
    (struct,) = [
        node for node in body if isinstance(node, ast.ClassDef) and node.name == "Settings"
    ]
    return {
        field.target.id: inspect.cleandoc(text.value.value)
        for field, text in itertools.pairwise(struct.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


def flags(*names: str) -> list[inspect.Parameter]:
    """Return options for these settings, or for all of them."""
    kinds = get_type_hints(Settings)
    chosen = [one for one in msgspec.structs.fields(Settings) if not names or one.name in names]
    return [option(one.name, _annotation(one, kinds[one.name]), None) for one in chosen]


def _annotation(field: msgspec.structs.FieldInfo, kind: type) -> object:
    shown = str(field.default) if field.default != "" else False
    # Rich would take square brackets for its own markup.
    text = meanings().get(field.name, "").replace("[", r"\[")
    return Annotated[kind | None, typer.Option(help=text, show_default=shown)]


def settings(given: Mapping[str, object], file: str | None) -> Settings:
    """Return the settings from a file, the environment and the options given."""
    from pathlib import Path

    return config.settings(given, file=None if file is None else Path(file))
