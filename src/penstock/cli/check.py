"""One finding of `penstock doctor`."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class State(enum.StrEnum):
    """How serious a finding is."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    """What was found, and what to do about it."""

    name: str
    state: State
    found: str
    advice: str = ""


def ok(name: str, found: str) -> Check:
    return Check(name, State.OK, found)


def warn(name: str, found: str, advice: str) -> Check:
    return Check(name, State.WARN, found, advice)


def fail(name: str, found: str, advice: str) -> Check:
    return Check(name, State.FAIL, found, advice)
