"""Changes of Avro schemas; for each that is incompatible, where."""

from __future__ import annotations

from typing import Any

from tests.schemas.evolution import UNDECIDED, Evolution


def record(*fields: dict[str, Any], name: str = "R", **more: object) -> dict[str, Any]:
    """Return a record schema."""
    return {"type": "record", "name": name, "fields": list(fields), **more}


def field(type_: object, name: str = "f", **more: object) -> dict[str, Any]:
    """Return a field of a record."""
    return {"name": name, "type": type_, **more}


def enum(*symbols: str, **more: object) -> dict[str, Any]:
    """Return an enum schema."""
    return {"type": "enum", "name": "E", "symbols": list(symbols), **more}


def fixed(size: int, name: str = "F", **more: object) -> dict[str, Any]:
    """Return a fixed schema."""
    return {"type": "fixed", "name": name, "size": size, **more}


def decimal(precision: int, scale: int) -> dict[str, Any]:
    """Return bytes that hold a decimal."""
    return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}


def of(type_: object) -> dict[str, Any]:
    """Return a record with one field of that type."""
    return record(field(type_))


A, B = field("string", "a"), field("int", "b")
TREE = record(field(["null", "R"], "next"), A)

EVOLUTIONS = [
    Evolution("nothing", record(A), record(A)),
    Evolution("field with default added", record(A), record(A, {**B, "default": 0})),
    Evolution("field without default added", record(A), record(A, B), "R.b"),
    Evolution("field removed", record(A, B), record(A)),
    Evolution("fields in another order", record(A, B), record(B, A)),
    Evolution("field renamed with alias", record(A), record(field("string", "z", aliases=["a"]))),
    Evolution("field renamed", record(A), record(field("string", "z")), "R.z"),
    Evolution(
        "nullable field added", record(A), record(A, field(["null", "int"], "n", default=None))
    ),
    Evolution("default dropped but field written", record(A, {**B, "default": 1}), record(A, B)),
    Evolution("int to long", of("int"), of("long")),
    Evolution("int to float", of("int"), of("float")),
    Evolution("int to double", of("int"), of("double")),
    Evolution("long to double", of("long"), of("double")),
    Evolution("float to double", of("float"), of("double")),
    Evolution("string to bytes", of("string"), of("bytes")),
    Evolution("bytes to string", of("bytes"), of("string")),
    Evolution("long to int", of("long"), of("int"), "R.f"),
    Evolution("double to float", of("double"), of("float"), "R.f"),
    Evolution("float to long", of("float"), of("long"), "R.f"),
    Evolution("int to string", of("int"), of("string"), "R.f"),
    Evolution("boolean to int", of("boolean"), of("int"), "R.f"),
    Evolution("null to string", of("null"), of("string"), "R.f"),
    Evolution("type to union with it", of("string"), of(["null", "string"])),
    Evolution("union to one of its types", of(["null", "string"]), of("string"), "R.f"),
    Evolution("union widened", of(["null", "int"]), of(["null", "int", "string"])),
    Evolution("union reordered", of(["null", "int"]), of(["int", "null"])),
    Evolution("union with a promotion", of(["null", "int"]), of(["null", "long"])),
    Evolution("union narrowed", of(["null", "int", "string"]), of(["null", "int"]), "R.f"),
    Evolution("type not in the union", of("boolean"), of(["null", "string"]), "R.f"),
    Evolution("symbol added", of(enum("X")), of(enum("X", "Y"))),
    Evolution("symbol removed", of(enum("X", "Y")), of(enum("X")), "R.f"),
    Evolution("symbol removed with default", of(enum("X", "Y")), of(enum("X", default="X"))),
    Evolution("symbols reordered", of(enum("X", "Y")), of(enum("Y", "X"))),
    Evolution("enum to string", of(enum("X")), of("string"), "R.f"),
    Evolution("fixed unchanged", of(fixed(4)), of(fixed(4))),
    Evolution("fixed resized", of(fixed(4)), of(fixed(8)), "R.f"),
    Evolution("fixed renamed", of(fixed(4)), of(fixed(4, "G")), "R.f"),
    Evolution("fixed renamed with alias", of(fixed(4)), of(fixed(4, "G", aliases=["F"]))),
    Evolution("fixed to bytes", of(fixed(4)), of("bytes"), "R.f"),
    Evolution("record renamed", record(A), record(A, name="S"), "S"),
    Evolution("record renamed with alias", record(A), record(A, name="S", aliases=["R"])),
    Evolution("namespace added", record(A), record(A, namespace="a.b")),
    Evolution(
        "array items promoted",
        of({"type": "array", "items": "int"}),
        of({"type": "array", "items": "long"}),
    ),
    Evolution(
        "array items narrowed",
        of({"type": "array", "items": "long"}),
        of({"type": "array", "items": "int"}),
        "R.f[]",
    ),
    Evolution(
        "map values promoted",
        of({"type": "map", "values": "float"}),
        of({"type": "map", "values": "double"}),
    ),
    Evolution(
        "map values changed",
        of({"type": "map", "values": "int"}),
        of({"type": "map", "values": "string"}),
        "R.f[]",
    ),
    Evolution(
        "array to map",
        of({"type": "array", "items": "int"}),
        of({"type": "map", "values": "int"}),
        "R.f",
    ),
    Evolution("nested field added", of(record(A, name="N")), of(record(A, B, name="N")), "R.f.b"),
    Evolution("nested field removed", of(record(A, B, name="N")), of(record(A, name="N"))),
    Evolution("recursive record unchanged", TREE, TREE),
    Evolution("recursive record grown", TREE, record(*TREE["fields"], B), "R.b"),
    Evolution(
        "recursive record grown with default", TREE, record(*TREE["fields"], {**B, "default": 1})
    ),
    Evolution("decimal unchanged", of(decimal(9, 2)), of(decimal(9, 2))),
    Evolution("decimal rescaled", of(decimal(9, 2)), of(decimal(9, 3)), "R.f"),
    Evolution("decimal more precise", of(decimal(9, 2)), of(decimal(12, 2)), "R.f"),
    Evolution(
        "millis to micros",
        of({"type": "long", "logicalType": "timestamp-millis"}),
        of({"type": "long", "logicalType": "timestamp-micros"}),
        "R.f",
        UNDECIDED,
    ),
    Evolution(
        "unknown logical type added", of("string"), of({"type": "string", "logicalType": "email"})
    ),
    Evolution("primitive to another", "int", "long"),
    Evolution("primitive narrowed", "long", "int", ""),
    Evolution("record to string", record(A), "string", ""),
    Evolution("string to record", "string", record(A), ""),
    Evolution("union of records narrowed", [record(A), record(B, name="S")], [record(A)], ""),
    Evolution("union of records widened", [record(A)], [record(A), record(B, name="S")]),
]
