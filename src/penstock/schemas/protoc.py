"""The Protobuf compiler, which reads files only: texts in, file descriptors out.

The compiler sees a fresh directory with one file, and the well-known types that come with it;
nothing else can be imported. It returns Python modules, each of which holds its descriptor as one
bytes literal; that is the only form in which it gives both descriptors and errors in memory.
"""

from __future__ import annotations

import ast
import importlib.resources
import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.message import DecodeError
from grpc_tools import _protoc_compiler  # type: ignore[import-untyped]

from penstock.errors import Problem, ResourceError
from penstock.schemas.base import MOST_PROBLEMS, document_text, refuse

FILE = "schema.proto"
_LITERAL = re.compile(
    rb"AddSerializedFile\((b(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"))\)", re.DOTALL
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_SYNTAX = re.compile(r"\s*(syntax|edition)\s*=")
# Without it the compiler takes proto2 as well, and writes a warning to the error output.
_PROTO2 = 'syntax = "proto2"; '


def compiled(document: object) -> tuple[FileDescriptorProto, ...]:
    """Return the descriptors of a document and of what it imports, itself last."""
    text = document_text(document)
    prefix = "" if _SYNTAX.match(_COMMENT.sub(" ", text)) else _PROTO2
    modules = _run(f"{prefix}{text}".encode(), len(prefix))
    return tuple(_descriptor(code) for name, code in modules if name.endswith(b"_pb2.py"))


def _run(source: bytes, shift: int) -> list[tuple[bytes, bytes]]:
    with TemporaryDirectory(prefix="penstock-schema-") as folder:
        Path(folder, FILE).write_bytes(source)
        try:
            found = _protoc_compiler.get_protos(FILE.encode(), [folder.encode(), _well_known()])
        except _protoc_compiler.ProtocErrors as exc:
            errors = [one for one in exc.errors() if one.filename.decode() == FILE]
            raise ResourceError([_problem(one, shift) for one in errors[:MOST_PROBLEMS]]) from exc
    if not found:
        raise refuse("", "the schema cannot be compiled")
    return list(found)


def _problem(error: _protoc_compiler.ProtocError, shift: int) -> Problem:
    line, column = error.line + 1, error.column + 1
    if line == 1:
        column = max(1, column - shift)
    return Problem(f"line {line}, column {column}", error.message.decode("utf-8", "replace"))


def _descriptor(code: bytes) -> FileDescriptorProto:
    literal = _LITERAL.search(code)
    if literal is None:
        raise refuse("", "the compiler returned no descriptor for the schema")
    try:
        return FileDescriptorProto.FromString(ast.literal_eval(literal[1].decode("latin-1")))
    except DecodeError as exc:
        raise refuse("", f"the compiler returned a broken descriptor: {exc}") from exc


@cache
def _well_known() -> bytes:
    return str(importlib.resources.files("grpc_tools") / "_proto").encode()
