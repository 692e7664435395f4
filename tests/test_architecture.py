"""Imports point inwards: what each room may use, and where the world begins."""

from __future__ import annotations

import ast
import graphlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parent.parent / "src" / "penstock"
MODULES = [path.relative_to(SRC) for path in sorted(SRC.rglob("*.py"))]

LANGUAGE = {"events", "formats", "bindings", "schemas", "cesql", "filters"}
CONTROL = {"registry", "discovery", "routing", "subscriptions", "knative", "delivery"}
PURE = LANGUAGE | CONTROL | {"ports", "control"}

# `errors` is open to all; the room itself always is.
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "config": set(),
    "telemetry": set(),
    # language
    "events": set(),
    "formats": {"events"},
    "bindings": {"formats", "events"},
    "schemas": set(),
    "cesql": {"events"},
    "filters": {"cesql", "events"},
    "ports": {"bindings", "events"},
    # control
    # Types of message properties are those of CloudEvents.
    "registry": {"schemas", "ports", "events"},
    "discovery": {"registry", "ports", "events"},
    # The index matches whole Arrow batches; a dead letter keeps its event in the same form.
    "routing": {"filters", "ports", "events", "formats"},
    "subscriptions": {"routing", "filters", "ports", "events"},
    "knative": {"routing", "filters", "ports", "events"},
    "delivery": {"routing", "bindings", "ports", "events", "formats", "config", "telemetry"},
    "control": CONTROL | {"ports"},
    # rim
    "store": {"ports", "config", "telemetry"},
    "log": {"formats", "ports", "events", "config", "telemetry"},
    "sinks": {"bindings", "ports", "config", "telemetry"},
    "pipeline": {
        "routing",
        "delivery",
        "filters",
        "cesql",
        "schemas",
        "bindings",
        "formats",
        "events",
        "ports",
        "config",
        "telemetry",
    },
    "folder": {"config"},
    "logs": {"config"},
    "processes": {"folder", "logs", "runtime", "config"},
    "api": CONTROL | {"control", "bindings", "formats", "events", "ports", "config", "telemetry"},
    "console": {"client", "config", "telemetry"},
    "client": {"bindings", "events", "config", "telemetry"},
    "sdk": {"events"},
    "testing": LANGUAGE | {"ports"},
    # `penstock filter` and `penstock registry validate` need no server: these rooms are pure.
    "cli": {
        "runtime",
        "processes",
        "folder",
        "control",
        "client",
        "filters",
        "registry",
        "config",
        "telemetry",
    },
    # They compose the rest: one the process, two the names a user types.
    "runtime": {
        *PURE,
        *("store", "log", "sinks", "pipeline", "api", "console", "client"),
        *("config", "telemetry", "folder", "logs"),
    },
    "__init__": {"errors", "events", "formats", "bindings", "filters", "cesql", "client", "sdk"},
    "__main__": {"cli"},
}

# Sockets, files, clocks, threads, chance, and the libraries that bring them.
WORLD = {
    *("os", "pathlib", "shutil", "tempfile", "sqlite3", "mmap", "fcntl", "glob"),
    *("socket", "ssl", "select", "selectors", "http.client", "http.server", "urllib.request"),
    *("time", "random", "secrets"),
    *("threading", "multiprocessing", "concurrent", "queue", "subprocess", "signal", "asyncio"),
    *("aiohttp", "psutil", "prometheus_client", "pyreqwest", "pyspark", "py4j", "requests"),
    *("rich", "sqlalchemy", "starlette", "typer", "uvicorn", "uvloop", "httpx", "anyio"),
    *("aiomqtt", "confluent_kafka", "kubernetes", "nats", "paho", "proton", "psycopg"),
}
# The same, reached without an import of its own.
WORLDLY_CALLS = {
    *("datetime.now", "datetime.utcnow", "datetime.datetime.now", "datetime.datetime.utcnow"),
    *("date.today", "datetime.today", "datetime.date.today", "uuid.uuid1", "uuid.uuid4", "uuid4"),
    *("open", "print", "input", "io.open"),
}
# The dispatcher awaits the sinks that it is given; it opens nothing itself.
# The Protobuf compiler reads files only, so it gets a temporary one; nothing of it stays.
EXCUSED = {
    Path("delivery/dispatch.py"): {"asyncio"},
    Path("schemas/protoc.py"): {"pathlib", "tempfile"},
}
# `event()` is for producers who want a fresh id and the present time; nothing inside calls it.
EXCUSED_CALLS = {Path("events/build.py"): {"datetime.now", "uuid4", "uuid.uuid4"}}

LAZY = re.compile(r"(penstock(?:\.\w+)+):\w+")


def imported(tree: ast.AST) -> Iterator[str]:
    """Every dotted name that the code imports, wherever it does so, variant tables included."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield from (f"{module}.{alias.name}" for alias in names)
            case ast.Constant(value=str(text)) if lazy := LAZY.fullmatch(text):
                yield lazy[1]


def called(tree: ast.AST) -> set[str]:
    """The names that the code calls, as they are written."""
    return {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}


def parsed(path: Path) -> ast.Module:
    return ast.parse((SRC / path).read_text(encoding="utf-8"), filename=str(path))


def room(path: Path) -> str:
    return path.with_suffix("").parts[0]


def rooms_used(tree: ast.AST) -> set[str]:
    return {name.split(".")[1] for name in imported(tree) if name.startswith("penstock.")}


def within(name: str, modules: set[str]) -> bool:
    """Whether a dotted name is one of these modules or lies inside one."""
    return any(name == module or name.startswith(f"{module}.") for module in modules)


def dotted(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(("penstock", *parts)).removesuffix(".__init__")


def without_typing_blocks(tree: ast.Module) -> ast.Module:
    """The code less what only the type checker reads, which cannot loop at run time."""

    class Drop(ast.NodeTransformer):
        def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
            is_typing = ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}
            return node.orelse if is_typing else self.generic_visit(node)

    stripped = Drop().visit(tree)
    assert isinstance(stripped, ast.Module)
    return stripped


def imported_modules(tree: ast.Module, known: set[str]) -> set[str]:
    """The modules of Penstock that this code loads when it is itself loaded or called."""
    names = [name for name in imported(without_typing_blocks(tree)) if name.startswith("penstock")]
    # `from penstock.a import b` names a module b, or something inside module a.
    candidates = {name if name in known else name.rpartition(".")[0] for name in names}
    return candidates & known


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_room_imports_only_what_it_may(path: Path) -> None:
    used = rooms_used(parsed(path))

    assert room(path) in MAY_IMPORT, "a new room needs a line in MAY_IMPORT"
    assert used <= MAY_IMPORT[room(path)] | {room(path), "errors"}


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_only_the_pipeline_knows_spark(path: Path) -> None:
    used = {name for name in imported(parsed(path)) if within(name, {"pyspark", "py4j"})}

    assert not used or room(path) == "pipeline"


@pytest.mark.parametrize("path", [path for path in MODULES if room(path) in PURE], ids=str)
def test_pure_room_does_not_touch_the_world(path: Path) -> None:
    forbidden = WORLD - EXCUSED.get(path, set())

    touched = {name for name in imported(parsed(path)) if within(name, forbidden)}

    assert not touched
    assert not called(parsed(path)) & (WORLDLY_CALLS - EXCUSED_CALLS.get(path, set()))


def test_modules_do_not_import_each_other_in_circles() -> None:
    known = {dotted(path) for path in MODULES}
    graph = {dotted(path): imported_modules(parsed(path), known) for path in MODULES}

    # A name taken from the own package's __init__ resolves to the module itself there.
    sorter = graphlib.TopologicalSorter({name: used - {name} for name, used in graph.items()})

    sorter.prepare()


def test_table_names_no_room_that_it_does_not_describe() -> None:
    named = set().union(*MAY_IMPORT.values())

    assert named <= MAY_IMPORT.keys()


def test_rooms_do_not_allow_each_other_in_circles() -> None:
    sorter = graphlib.TopologicalSorter(MAY_IMPORT)

    sorter.prepare()


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("import penstock.log.sqlite", {"penstock.log.sqlite"}),
        ("from penstock import log", {"penstock.log"}),
        ("from penstock.log import sqlite as s", {"penstock.log.sqlite"}),
        ("def f():\n    from penstock.api import app", {"penstock.api.app"}),
        ("if TYPE_CHECKING:\n    import pyspark.sql", {"pyspark.sql"}),
        ('TABLE = {"http": "penstock.sinks.http:HttpSink"}', {"penstock.sinks.http"}),
        ('"""Text about penstock.sinks.http."""', set()),
    ],
)
def test_imports_are_found_wherever_they_stand(code: str, names: set[str]) -> None:
    assert set(imported(ast.parse(code))) == names


def test_imports_for_the_type_checker_close_no_circle() -> None:
    code = "if TYPE_CHECKING:\n    from penstock.a import A\nelse:\n    import penstock.b"
    known = {"penstock.a", "penstock.b"}

    assert imported_modules(ast.parse(code), known) == {"penstock.b"}


def test_a_clock_is_found_where_it_is_read() -> None:
    code = "from datetime import datetime\ndef age(event): return datetime.now() - event.time"

    assert called(ast.parse(code)) & WORLDLY_CALLS == {"datetime.now"}


@pytest.mark.parametrize(
    ("name", "inside"),
    [
        ("os.path.join", True),
        ("time.monotonic", True),
        ("timeit", False),
        ("http.HTTPStatus", False),
    ],
)
def test_a_name_is_inside_a_module_by_whole_words(name: str, inside: bool) -> None:  # noqa: FBT001
    assert within(name, WORLD) is inside
