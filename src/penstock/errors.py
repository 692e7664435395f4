"""Every error Penstock raises on purpose.

PenstockError
  EventError        the event breaks the specification             .problems
  FormatError       the bytes are not that format                  .format .offset
  ExpressionError   a filter or CESQL text is wrong; underlined    .text .offset
  ResourceError     a manifest or document is wrong                .problems
  NotFoundError     nothing lives at that address                  .address
  ConflictError     something else already lives or happened there .address .current .problems
    PreconditionError  it is not in the state that was asked for   .address
    ExistsError     what shall be created is there already         .address
    OwnershipError  fields belong to somebody else                 .address .problems
  ExpiredError      what was there once is forgotten               .address
  ForbiddenError    it is never allowed at that address            .address
  LimitError        larger or more than a limit allows             .limit .retry_after
  UnsupportedError  legal, but this build or engine cannot         .what
  StoreError        log or store failed; cause chained             .address
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
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
        return f"{self.message}\n{self.excerpt()}"

    def excerpt(self) -> str:
        """Return what stands around the fault, on two lines: the second marks it."""
        before = self.text[max(0, self.offset - _AROUND) : self.offset].rpartition("\n")[2]
        after = self.text[self.offset : self.offset + _AROUND].partition("\n")[0]
        mark = "".join(map(_blank, before))
        return f"  {_printable(before)}{_printable(after)}\n  {mark}^"


# How much of a long line is shown on either side of a fault.
_AROUND = 40


def _printable(text: str) -> str:
    return "".join(one if one.isprintable() or one == "\t" else "\ufffd" for one in text)


def _blank(character: str) -> str:
    """Return what is as wide as a character on a terminal."""
    if character == "\t":
        return "\t"
    if unicodedata.combining(character):
        return ""
    return "  " if unicodedata.east_asian_width(character) in "WF" else " "


class _AddressError(PenstockError):
    def __init__(self, message: str, *, address: str) -> None:
        self.address = address
        super().__init__(message)


class NotFoundError(_AddressError):
    """Nothing lives at that address."""


class ConflictError(_AddressError):
    """Something else already lives, or happened, at that address."""

    def __init__(
        self,
        message: str,
        *,
        address: str,
        problems: Sequence[Problem] = (),
        current: Mapping[str, object] | None = None,
    ) -> None:
        self.problems = tuple(problems)
        self.current = current
        super().__init__(message, address=address)


class PreconditionError(ConflictError):
    """What lives at that address is not in the state that was asked for."""


class ExistsError(ConflictError):
    """What shall be created is there already."""


class OwnershipError(ConflictError):
    """Fields belong to somebody else, who gave them another value."""


class ExpiredError(_AddressError):
    """What was there once is forgotten: start from what is there now."""


class ForbiddenError(_AddressError):
    """It is never allowed at that address."""


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
