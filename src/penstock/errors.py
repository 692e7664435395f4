"""Every error Penstock raises on purpose.

PenstockError
  EventError        the event breaks the specification             .problems
  FormatError       the bytes are not that format                  .format .offset
  ExpressionError   a filter or CESQL text is wrong; underlined    .text .offset
  ResourceError     a manifest or document is wrong                .problems
  NotFoundError     nothing lives at that address                  .address
  ConflictError     something else already lives or happened there .address
  LimitError        larger or more than a limit allows             .limit .retry_after
  UnsupportedError  legal, but this build or engine cannot         .what
  StoreError        log or store failed; cause chained             .address
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault of an input: where it is, and what is wrong there."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class PenstockError(Exception):
    """The root of all errors raised by Penstock."""


class _ProblemsError(PenstockError):
    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(str(problem) for problem in self.problems))


class EventError(_ProblemsError):
    """The event breaks the CloudEvents specification."""


class ResourceError(_ProblemsError):
    """A manifest, subscription or other document is wrong."""


class FormatError(PenstockError):
    """The bytes are not in the format they claim to be in."""

    def __init__(self, message: str, *, format: str, offset: int | None = None) -> None:  # noqa: A002
        self.format = format
        self.offset = offset
        super().__init__(message)


class ExpressionError(PenstockError):
    """A filter or CESQL text is wrong; the message underlines the fault."""

    def __init__(self, message: str, *, text: str, offset: int) -> None:
        self.message = message
        self.text = text
        self.offset = offset
        super().__init__(message)

    def __str__(self) -> str:
        line_start = self.text.rfind("\n", 0, self.offset) + 1
        line_end = self.text.find("\n", self.offset)
        line = self.text[line_start : line_end if line_end >= 0 else None]
        return f"{self.message}\n  {line}\n  {' ' * (self.offset - line_start)}^"


class _AddressError(PenstockError):
    def __init__(self, message: str, *, address: str) -> None:
        self.address = address
        super().__init__(message)


class NotFoundError(_AddressError):
    """Nothing lives at that address."""


class ConflictError(_AddressError):
    """Something else already lives, or happened, at that address."""


class StoreError(_AddressError):
    """The log or the store failed; the cause is chained."""


class LimitError(PenstockError):
    """A request is larger, or asks for more, than a limit allows."""

    def __init__(self, message: str, *, limit: str, retry_after: int | None = None) -> None:
        self.limit = limit
        self.retry_after = retry_after
        super().__init__(message)


class UnsupportedError(PenstockError):
    """The request is legal, but this build or engine cannot serve it."""

    def __init__(self, message: str, *, what: str) -> None:
        self.what = what
        super().__init__(message)
