"""Protocol settings: what each protocol knows, its defaults, and what delivery makes of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from penstock.errors import Problem, ResourceError
from penstock.routing import Backoff, ContentMode, Policy
from penstock.routing.durations import seconds
from penstock.subscriptions import handling
from penstock.subscriptions.credentials import Read
from penstock.subscriptions.reading import Reading, http_address, mapping, refuse, text

_FRAMING = frozenset({"content-type", "content-length", "transfer-encoding", "host", "connection"})
_BODILESS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "CONNECT"})
_STANDARD = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+\-.^_`|~]+")
_VALUE = re.compile(r"[\t -~]*")
_LONGEST_TIMEOUT = 3_600.0
_LONGEST_DELAY = 86_400.0
_MOST_RETRIES = 1_000
_MOST_IN_FLIGHT = 1_000


def _agree(_sink: str, _settings: Mapping[str, object]) -> str | None:
    return None


def mapping_of(value: object, path: str) -> dict[str, object]:
    """Return settings as they are."""
    return dict(mapping(value, path))


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """What a subscription may say when it names this protocol."""

    schemes: tuple[str, ...]
    settings: Mapping[str, Read]
    defaults: Mapping[str, object]
    required: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Further names of settings, in lower case."""
    dropped: frozenset[str] = frozenset()
    """Settings that are checked but have no effect, so they are not kept."""
    place: str = ""
    """The setting that says where at the sink the events go, if the sink itself may say it."""
    agree: Callable[[str, Mapping[str, object]], str | None] = _agree
    """Tells what is wrong with `place`, given the sink and the settings."""
    complete: Callable[[object, str], dict[str, object]] = mapping_of
    """Fills in what depends on other settings, or raises ResourceError."""

    def read(self, value: object, path: str, sink: str = "") -> dict[str, object]:
        """Return the settings with defaults filled in, or raise ResourceError with every fault."""
        reading = Reading()
        given = mapping(value, path)
        found, unknown = reading.folded(given, self.settings, f"{path}.", self.aliases)
        for name in unknown:
            known = ", ".join(sorted(self.settings))
            reading.fault(f"{path}.{name}", f"is no setting of this protocol; known are {known}")
        for name in self.required:
            if name not in found:
                reading.fault(f"{path}.{name}", "is required")
        settings = {
            name: reading.attempt(self.settings[name], content, f"{path}.{name}")
            for name, content in found.items()
        }
        if not reading.problems and sink and (fault := self.agree(sink, settings)):
            reading.fault(f"{path}.{self.place}", fault)
        kept = {name: content for name, content in settings.items() if name not in self.dropped}
        made = reading.attempt(self.complete, {**self.defaults, **kept}, path)
        reading.finish()
        return made or {}


def _method(value: object, path: str) -> str:
    method = text(value, path)
    if not _TOKEN.fullmatch(method):
        raise refuse(path, "is no HTTP method")
    if method.upper() in _BODILESS:
        raise refuse(path, f"{method.upper()} cannot carry an event")
    return method.upper() if method.upper() in _STANDARD else method


def _headers(value: object, path: str) -> dict[str, str]:
    headers = mapping(value, path)
    problems = [
        Problem(f"{path}.{name}", fault)
        for name, content in headers.items()
        for fault in (_name_fault(name), _content_fault(content))
        if fault
    ]
    if len({name.lower() for name in headers}) < len(headers):
        problems.append(Problem(path, "has one name twice, in two spellings"))
    if problems:
        raise ResourceError(problems)
    # Each value stays what it is: it may be marked as sealed.
    return {name: content for name, content in headers.items() if isinstance(content, str)}


def _name_fault(name: str) -> str | None:
    if not _TOKEN.fullmatch(name):
        return "is no HTTP header name"
    if name.lower() in _FRAMING or name.lower().startswith("ce-"):
        return "is set by the delivery itself"
    return None


def _content_fault(content: object) -> str | None:
    if not isinstance(content, str):
        return "must be a string"
    return None if _VALUE.fullmatch(content) else "must be printable ASCII on one line"


def choice(*options: str) -> Read:
    """Return a reader of one of some texts."""

    def read(value: object, path: str) -> str:
        if value in options:
            return str(value)
        raise refuse(path, f"must be {' or '.join(options)}")

    return read


def whole(least: int, most: int) -> Read:
    """Return a reader of a whole number within bounds."""

    def read(value: object, path: str) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
            return value
        raise refuse(path, f"must be a whole number from {least} to {most}")

    return read


def _timeout(value: object, path: str) -> float | int:
    fault = refuse(path, f"must be seconds above 0, up to {_LONGEST_TIMEOUT:.0f}")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise fault
    if not 0 < value <= _LONGEST_TIMEOUT:
        raise fault
    return value


def _delay(value: object, path: str) -> str:
    found = seconds(value) if isinstance(value, str) else None
    if isinstance(value, str) and found is not None and 0 < found <= _LONGEST_DELAY:
        return value
    raise refuse(path, "must be an ISO 8601 duration above zero, up to one day, such as PT0.5S")


DELIVERY: Mapping[str, Read] = {
    "contentmode": choice(ContentMode.BINARY, ContentMode.STRUCTURED),
    "timeout": _timeout,
    "retry": whole(0, _MOST_RETRIES),
    "backoffdelay": _delay,
    "backoffpolicy": choice(*Backoff),
    "deadlettersink": http_address,
    "maxinflight": whole(1, _MOST_IN_FLIGHT),
}
"""What every protocol lets a subscription say about its deliveries."""

DELIVERY_DEFAULTS: Mapping[str, object] = {
    "contentmode": ContentMode.BINARY.value,
    "timeout": 30,
    "backoffdelay": "PT1S",
    "backoffpolicy": Backoff.EXPONENTIAL.value,
    "maxinflight": 32,
}

HTTP = Protocol(
    schemes=("http", "https"),
    settings={
        **DELIVERY,
        "headers": _headers,
        "method": _method,
        "contentmode": choice(*ContentMode),
        **handling.SETTINGS,
    },
    defaults={"method": "POST", **DELIVERY_DEFAULTS, **handling.DEFAULTS},
    complete=handling.complete,
)


def policy(settings: Mapping[str, object]) -> Policy:
    """Return the delivery policy that settings, defaults filled in, ask for."""
    plain = Policy()
    delay = seconds(str(settings["backoffdelay"])) or plain.delay
    retries, dead_letter = settings.get("retry"), settings.get("deadlettersink")
    return Policy(
        retries=retries if isinstance(retries, int) else None,
        delay=delay,
        backoff=Backoff(str(settings["backoffpolicy"])),
        # A first wait beyond the usual cap was asked for, so it is not cut.
        longest_delay=max(plain.longest_delay, delay),
        timeout=float(str(settings["timeout"])),
        dead_letter=dead_letter if isinstance(dead_letter, str) else None,
    )
