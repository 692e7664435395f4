"""Manifests: files of objects, in YAML or JSON."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.cli.options import content
from penstock.errors import Problem, ResourceError

Files = Annotated[
    list[str] | None,
    typer.Option(
        "--filename",
        "-f",
        help="File or directory with manifests; - for stdin.",
        metavar="FILE",
    ),
]
_ENDINGS = {".yaml", ".yml", ".json"}


def documents(files: list[str]) -> list[dict[str, Any]]:
    """Return all objects in some files, or raise ResourceError with everything wrong in them."""
    found: list[dict[str, Any]] = []
    problems: list[Problem] = []
    for place in _places(files):
        for number, document in enumerate(_read(place)):
            at = f"{place}[{number}]"
            problems += [Problem(at, text) for text in _faults(document)]
            found += _flat(document)
    if problems:
        raise ResourceError(problems)
    return found


def _places(files: list[str]) -> Iterator[str]:
    for file in files:
        if file != "-" and Path(file).is_dir():
            below = sorted(Path(file).iterdir())
            yield from (str(path) for path in below if path.suffix in _ENDINGS)
        else:
            yield file


def _read(place: str) -> list[Any]:
    import yaml

    class Loader(yaml.SafeLoader):
        """Reads YAML as Kubernetes does: what looks like a date stays a text."""

    Loader.yaml_implicit_resolvers = {
        first: [one for one in found if one[0] != "tag:yaml.org,2002:timestamp"]
        for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    try:
        found = list(yaml.load_all(content(place, "--filename"), Loader))
    except yaml.YAMLError as exc:
        raise ResourceError([Problem(place, f"is not YAML: {exc}")]) from exc
    return [one for one in found if one is not None]


def _faults(document: object) -> Iterator[str]:
    if not isinstance(document, dict):
        yield "is no object"
        return
    if document.get("kind") == "List" and isinstance(document.get("items"), list):
        for one in document["items"]:
            yield from _faults(one)
        return
    for name in ("apiVersion", "kind"):
        if not isinstance(document.get(name), str) or not document[name]:
            yield f"has no {name}"
    metadata = document.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        yield "has no metadata.name"


def _flat(document: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - any YAML value
    if isinstance(document, dict) and document.get("kind") == "List":
        return [one for item in document.get("items") or [] for one in _flat(item)]
    return [document] if isinstance(document, dict) else []
