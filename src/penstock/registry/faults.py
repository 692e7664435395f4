"""Problems of a document, gathered while it is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from penstock.errors import Problem, ResourceError
from penstock.events.values import is_timestamp, is_uri, is_uri_reference


class Faults:
    """Gathers the problems of one document; each reader returns None where there is one."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def add(self, path: str, message: str) -> None:
        self.problems.append(Problem(path, message))

    def finish(self) -> None:
        """Refuse the document if it has problems."""
        if self.problems:
            raise ResourceError(self.problems)

    def text(self, value: object, path: str) -> str | None:
        """Return a text that is not empty."""
        if not isinstance(value, str):
            self.add(path, "must be a string")
        elif not value:
            self.add(path, "must not be empty")
        else:
            return value
        return None

    def mapping(self, value: object, path: str) -> Mapping[str, object] | None:
        """Return a JSON object whose names are not empty."""
        if not isinstance(value, Mapping):
            self.add(path, "must be an object")
            return None
        if "" in value:
            self.add(path, "must not have an empty name")
        return value

    def array(self, value: object, path: str) -> Sequence[object] | None:
        if isinstance(value, list | tuple):
            return value
        self.add(path, "must be an array")
        return None

    def boolean(self, value: object, path: str) -> bool | None:
        if isinstance(value, bool):
            return value
        self.add(path, "must be true or false")
        return None

    def whole(self, value: object, path: str) -> int | None:
        """Return a whole number that is not negative."""
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        self.add(path, "must be a whole number from 0 on")
        return None

    def uri(self, value: object, path: str) -> str | None:
        found = self.text(value, path)
        if found is not None and not is_uri(found):
            self.add(path, "must be an absolute URI (RFC 3986)")
        return found

    def reference(self, value: object, path: str) -> str | None:
        """Return a URI reference; templates in braces are no part of one."""
        found = self.text(value, path)
        if found is not None and not is_uri_reference(found):
            self.add(path, "must be a URI reference (RFC 3986)")
        return found

    def moment(self, value: object, path: str) -> str | None:
        found = self.text(value, path)
        if found is not None and not is_timestamp(found):
            self.add(path, "must be a timestamp (RFC 3339), like 2030-12-19T06:00:00Z")
            return None
        return found

    def one_of(self, value: object, path: str, choices: Sequence[str]) -> str | None:
        if value not in choices:
            self.add(path, f"must be one of {', '.join(choices)}")
            return None
        return str(value)


def refusal(path: str, message: str) -> ResourceError:
    return ResourceError([Problem(path, message)])


def within(path: str, name: str) -> str:
    """Return the path of a member."""
    return f"{path}.{name}" if path else name
