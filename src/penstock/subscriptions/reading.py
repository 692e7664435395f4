"""Documents read with all their problems gathered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar
from urllib.parse import urlsplit

from penstock.errors import Problem, ResourceError
from penstock.events.values import is_uri

Read = TypeVar("Read")


class Reading:
    """Gathers the problems of one document."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def fault(self, path: str, message: str) -> None:
        self.problems.append(Problem(path, message))

    def attempt(self, read: Callable[[object, str], Read], value: object, path: str) -> Read | None:
        """Return what `read` makes of a value, or None and keep its problems."""
        try:
            return read(value, path)
        except ResourceError as exc:
            self.problems += exc.problems
            return None

    def member(
        self, read: Callable[[object, str], Read], found: Mapping[str, object], name: str
    ) -> Read | None:
        """Return what `read` makes of a member, or None where it is absent or wrong."""
        return self.attempt(read, found[name], name) if name in found else None

    def folded(
        self,
        document: Mapping[str, object],
        known: Iterable[str],
        path: str = "",
        aliases: Mapping[str, str] | None = None,
    ) -> tuple[dict[str, object], list[str]]:
        """Return the members under their proper names, and the names that are not known.

        Names are compared without regard to case; null counts as absent.
        """
        proper = {name.lower(): name for name in known} | dict(aliases or {})
        found: dict[str, object] = {}
        unknown = []
        for spelled, value in document.items():
            name = proper.get(spelled.lower())
            if value is None:
                continue
            if name is None:
                unknown.append(spelled)
            elif name in found:
                self.fault(path + name, "is there twice, in two spellings")
            else:
                found[name] = value
        return found, unknown

    def finish(self) -> None:
        """Refuse the document if it has problems."""
        if self.problems:
            raise ResourceError(self.problems)


def refuse(path: str, message: str) -> ResourceError:
    return ResourceError([Problem(path, message)])


def text(value: object, path: str) -> str:
    """Return a text that is not empty."""
    if not isinstance(value, str):
        raise refuse(path, "must be a string")
    if not value:
        raise refuse(path, "must not be empty")
    return value


def mapping(value: object, path: str) -> Mapping[str, object]:
    """Return a JSON object whose names are not empty."""
    if not isinstance(value, Mapping):
        raise refuse(path, "must be an object")
    if "" in value:
        raise refuse(path, "must not have an empty name")
    return value


def http_address(value: object, path: str) -> str:
    """Return an absolute http or https address."""
    return address(value, path, ("http", "https"))


def address(value: object, path: str, schemes: tuple[str, ...]) -> str:
    """Return an absolute address with one of the schemes."""
    found = text(value, path)
    parts = urlsplit(found) if is_uri(found) and _has_good_port(found) else None
    if parts is None:
        raise refuse(path, "must be an absolute URI (RFC 3986)")
    if parts.scheme.lower() not in schemes:
        raise refuse(path, f"must start with {' or '.join(f'{name}:' for name in schemes)}")
    if not parts.hostname:
        raise refuse(path, "must name a host")
    if parts.username is not None or parts.password is not None:
        raise refuse(path, "must not carry a user name or a password")
    return found


def _has_good_port(found: str) -> bool:
    try:
        return urlsplit(found).port != 0
    except ValueError:
        return False
