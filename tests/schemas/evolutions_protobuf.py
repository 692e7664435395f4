"""Changes of Protobuf documents; for each that is incompatible, where."""

from __future__ import annotations

from tests.schemas.evolution import UNDECIDED, Evolution


def proto3(body: str, before: str = "") -> str:
    """Return a document with one message."""
    return f'syntax = "proto3"; {before} message M {{ {body} }}'


def proto2(body: str, before: str = "") -> str:
    """Return a document with one message, in the older syntax."""
    return f'syntax = "proto2"; {before} message M {{ {body} }}'


def typed(old: str, new: str, path: str | None = None, verdict: str = "") -> Evolution:
    """Return the change of one field's type."""
    name = f"{old} to {new}"
    return Evolution(name, proto3(f"{old} f = 1;"), proto3(f"{new} f = 1;"), path, verdict)


ENUM = "enum E { ZERO = 0; ONE = 1; }"

EVOLUTIONS = [
    Evolution("nothing", proto3("int32 a = 1;"), proto3("int32 a = 1;")),
    Evolution("comments only", proto3("int32 a = 1;"), proto3("int32 a = 1; /* more */")),
    Evolution("field added", proto3("int32 a = 1;"), proto3("int32 a = 1; string b = 2;")),
    Evolution("field renamed", proto3("int32 a = 1;"), proto3("int32 z = 1;")),
    Evolution("field renumbered", proto3("int32 a = 1;"), proto3("int32 a = 2;"), "M.a"),
    Evolution("field removed", proto3("int32 a = 1; int32 b = 2;"), proto3("int32 a = 1;"), "M.b"),
    Evolution(
        "field removed and reserved",
        proto3("int32 a = 1; int32 b = 2;"),
        proto3('int32 a = 1; reserved 2; reserved "b";'),
    ),
    Evolution(
        "field removed and only its name reserved",
        proto3("int32 a = 1; int32 b = 2;"),
        proto3('int32 a = 1; reserved "b";'),
        "M.b",
    ),
    Evolution(
        "fields in another order",
        proto3("int32 a = 1; int32 b = 2;"),
        proto3("int32 b = 2; int32 a = 1;"),
    ),
    Evolution("number used again", proto3("reserved 2;"), proto3("int32 b = 2;"), "M.b"),
    Evolution(
        "reserved range kept", proto3("reserved 2 to 5;"), proto3("reserved 2 to 9; int32 a = 1;")
    ),
    typed("int32", "int64"),
    typed("uint32", "uint64"),
    typed("uint32", "int64"),
    typed("sint32", "sint64"),
    typed("bool", "int32"),
    typed("bool", "uint64"),
    typed("string", "bytes"),
    typed("int64", "int32", "M.f", UNDECIDED),
    typed("int32", "uint32", "M.f", UNDECIDED),
    typed("fixed32", "sfixed32", "M.f", UNDECIDED),
    typed("bytes", "string", "M.f", UNDECIDED),
    typed("int32", "string", "M.f"),
    typed("string", "int32", "M.f"),
    typed("int32", "sint32", "M.f"),
    typed("int32", "fixed32", "M.f"),
    typed("fixed32", "fixed64", "M.f"),
    typed("float", "double", "M.f"),
    typed("float", "fixed32", "M.f"),
    typed("double", "int64", "M.f"),
    typed("bool", "string", "M.f"),
    typed("string", "repeated string"),
    typed("int32", "repeated int32"),
    typed("int32", "optional int32"),
    typed("optional int32", "int32"),
    typed("repeated string", "string", "M.f"),
    typed("repeated int32", "int32", "M.f"),
    typed("map<string, int32>", "map<string, int64>"),
    typed("map<string, int32>", "map<string, string>", "M.FEntry.value"),
    typed("map<int32, string>", "map<string, string>", "M.FEntry.key"),
    typed("map<string, int32>", "int32", "M.f"),
    Evolution(
        "map to list of entries",
        proto3("map<string, int32> f = 1;"),
        proto3("repeated P f = 1;", "message P { string key = 1; int32 value = 2; }"),
    ),
    Evolution(
        "list of entries to map",
        proto3("repeated P f = 1;", "message P { string key = 1; int32 value = 2; }"),
        proto3("map<string, int32> f = 1;", "message P { string key = 1; int32 value = 2; }"),
        "M.f",
        UNDECIDED,
    ),
    Evolution("enum to int32", proto3("E f = 1;", ENUM), proto3("int32 f = 1;", ENUM)),
    Evolution("int32 to enum", proto3("int32 f = 1;"), proto3("E f = 1;", ENUM), "M.f", UNDECIDED),
    Evolution("enum to string", proto3("E f = 1;", ENUM), proto3("string f = 1;"), "M.f"),
    Evolution(
        "enum value added",
        proto3("E f = 1;", ENUM),
        proto3("E f = 1;", "enum E { ZERO = 0; ONE = 1; TWO = 2; }"),
    ),
    Evolution(
        "enum value renamed",
        proto3("E f = 1;", ENUM),
        proto3("E f = 1;", "enum E { ZERO = 0; UNO = 1; }"),
    ),
    Evolution(
        "enum value removed",
        proto3("E f = 1;", ENUM),
        proto3("E f = 1;", "enum E { ZERO = 0; }"),
        "M.f",
    ),
    Evolution(
        "enum value removed and reserved",
        proto3("E f = 1;", ENUM),
        proto3("E f = 1;", "enum E { ZERO = 0; reserved 1; }"),
        "M.f",
        UNDECIDED,
    ),
    Evolution(
        "enum value renumbered",
        proto3("E f = 1;", ENUM),
        proto3("E f = 1;", "enum E { ZERO = 0; ONE = 2; }"),
        "M.f",
    ),
    Evolution(
        "enum value removed in proto2",
        proto2("optional E f = 1;", ENUM),
        proto2("optional E f = 1;", "enum E { ZERO = 0; reserved 1; }"),
        "M.f",
    ),
    Evolution(
        "message renamed", 'syntax = "proto3"; message A {}', 'syntax = "proto3"; message B {}', "A"
    ),
    Evolution("message added", proto3(""), proto3("", "message N {}")),
    Evolution("message removed", proto3("", "message N {}"), proto3(""), "N"),
    Evolution("nested message added", proto3(""), proto3("message N {}")),
    Evolution("nested message removed", proto3("message N {}"), proto3(""), "M.N"),
    Evolution("package changed", proto3("", "package a;"), proto3("", "package b;"), "package"),
    Evolution("package kept", proto3("", "package a;"), proto3("int32 a = 1;", "package a;")),
    Evolution(
        "nested field changed",
        proto3("N n = 1;", "message N { int32 a = 1; }"),
        proto3("N n = 1;", "message N { string a = 1; }"),
        "N.a",
    ),
    Evolution(
        "message type replaced by an equal one",
        proto3("N n = 1;", "message N { int32 a = 1; } message O { int32 a = 1; }"),
        proto3("O n = 1;", "message N { int32 a = 1; } message O { int32 a = 1; }"),
    ),
    Evolution(
        "message type replaced by another",
        proto3("N n = 1;", "message N { int32 a = 1; } message O { string a = 1; }"),
        proto3("O n = 1;", "message N { int32 a = 1; } message O { string a = 1; }"),
        "N.a",
    ),
    Evolution(
        "message to string",
        proto3("N n = 1;", "message N {}"),
        proto3("string n = 1;", "message N {}"),
        "M.n",
        UNDECIDED,
    ),
    Evolution("recursive message", proto3("M next = 1;"), proto3("M next = 1; int32 a = 2;")),
    Evolution(
        "field into a new oneof",
        proto3("int32 a = 1;"),
        proto3("oneof o { int32 a = 1; string b = 2; }"),
    ),
    Evolution(
        "two fields into a oneof",
        proto3("int32 a = 1; string b = 2;"),
        proto3("oneof o { int32 a = 1; string b = 2; }"),
        "M.o",
    ),
    Evolution(
        "field into an existing oneof",
        proto3("oneof o { int32 a = 1; } string b = 2;"),
        proto3("oneof o { int32 a = 1; string b = 2; }"),
        "M.o",
    ),
    Evolution(
        "oneof grown",
        proto3("oneof o { int32 a = 1; int32 b = 2; }"),
        proto3("oneof o { int32 a = 1; int32 b = 2; int32 c = 3; }"),
    ),
    Evolution(
        "field out of a oneof",
        proto3("oneof o { int32 a = 1; int32 b = 2; }"),
        proto3("oneof o { int32 a = 1; } int32 b = 2;"),
    ),
    Evolution(
        "required to optional", proto2("required int32 a = 1;"), proto2("optional int32 a = 1;")
    ),
    Evolution(
        "optional to required",
        proto2("optional int32 a = 1;"),
        proto2("required int32 a = 1;"),
        "M.a",
    ),
    Evolution("required added", proto2(""), proto2("required int32 a = 1;"), "M.a"),
    Evolution("optional added", proto2(""), proto2("optional int32 a = 1;")),
    Evolution(
        "default changed",
        proto2("optional int32 a = 1 [default = 1];"),
        proto2("optional int32 a = 1 [default = 2];"),
        "M.a",
        UNDECIDED,
    ),
    Evolution(
        "group to message",
        proto2("optional group G = 1 { optional int32 a = 1; }"),
        proto2("optional G g = 1; message G { optional int32 a = 1; }"),
        "M.g",
    ),
    Evolution(
        "extension kept",
        proto2("extensions 100 to 199;", "extend M { optional int32 x = 100; }"),
        proto2("extensions 100 to 199;", "extend M { optional int64 x = 100; }"),
    ),
    Evolution(
        "extension changed",
        proto2("extensions 100 to 199;", "extend M { optional int32 x = 100; }"),
        proto2("extensions 100 to 199;", "extend M { optional string x = 100; }"),
        "M.(x)",
    ),
    Evolution(
        "extension gone",
        proto2("extensions 100 to 199;", "extend M { optional int32 x = 100; }"),
        proto2("extensions 100 to 199;"),
        "M.(x)",
    ),
    Evolution(
        "field in the range of extensions",
        proto2("extensions 100 to 199;"),
        proto2("optional string a = 100;"),
        "M.a",
    ),
    Evolution(
        "packed", proto2("repeated int32 a = 1;"), proto2("repeated int32 a = 1 [packed = true];")
    ),
    Evolution("service added", proto3(""), proto3("") + " service S { rpc Get(M) returns (M); }"),
    Evolution(
        "well-known type added",
        proto3("int32 a = 1;"),
        proto3(
            "int32 a = 1; google.protobuf.Timestamp t = 2;",
            'import "google/protobuf/timestamp.proto";',
        ),
    ),
]
