from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import penstock
from penstock import errors

# Libraries that cost time or memory to load, or that a user of the event class may not have.
HEAVY = {
    "aiohttp",
    "numpy",
    "pandas",
    "prometheus_client",
    "psutil",
    "py4j",
    "pyarrow",
    "pyreqwest",
    "pyspark",
    "rich",
    "sqlalchemy",
    "starlette",
    "typer",
    "uvicorn",
}


def loaded_by(statements: str) -> set[str]:
    """The top-level modules that a new interpreter has loaded after these statements."""
    script = f"{statements}\nimport json, sys\nprint(json.dumps(list(sys.modules)))"
    answer = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    return {name.partition(".")[0] for name in json.loads(answer.stdout)}


def test_public_names_are_sorted_and_unique() -> None:
    names = penstock.__all__

    assert names == sorted(set(names))


@pytest.mark.parametrize("name", penstock.__all__)
def test_public_name_can_be_imported(name: str) -> None:
    value = getattr(penstock, name)

    home = getattr(value, "__module__", "penstock")
    assert getattr(importlib.import_module(home), name) is value


def test_every_error_is_public() -> None:
    tree = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type)
        and issubclass(value, errors.PenstockError)
        and not name.startswith("_")
    }

    assert tree <= set(penstock.__all__)


def test_dir_lists_the_public_names() -> None:
    assert set(dir(penstock)) == set(penstock.__all__)


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nosuch"):
        _ = penstock.nosuch


@pytest.mark.parametrize(
    "statements",
    ["import penstock", "from penstock import *"],
    ids=["import", "use of every name"],
)
def test_public_names_load_no_heavy_library(statements: str) -> None:
    loaded = loaded_by(statements)

    assert "penstock" in loaded
    assert not loaded & HEAVY


def test_package_ships_its_types() -> None:
    package = Path(penstock.__file__).parent

    assert (package / "py.typed").is_file()
