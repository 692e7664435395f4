"""Penstock: an open event platform on CloudEvents and Apache Spark."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.errors import (
        ConflictError,
        EventError,
        ExistsError,
        ExpiredError,
        ExpressionError,
        ForbiddenError,
        FormatError,
        LimitError,
        NotFoundError,
        OwnershipError,
        PenstockError,
        PreconditionError,
        Problem,
        ResourceError,
        StoreError,
        UnsupportedError,
    )
    from penstock.events import CloudEvent, DataForm

__version__ = "0.1.0"

__all__ = [
    "CloudEvent",
    "ConflictError",
    "DataForm",
    "EventError",
    "ExistsError",
    "ExpiredError",
    "ExpressionError",
    "ForbiddenError",
    "FormatError",
    "LimitError",
    "NotFoundError",
    "OwnershipError",
    "PenstockError",
    "PreconditionError",
    "Problem",
    "ResourceError",
    "StoreError",
    "UnsupportedError",
    "__version__",
]

# Names are loaded on first use: commands and workers start faster without what they never touch.
_HOMES = {
    "CloudEvent": "penstock.events",
    "ConflictError": "penstock.errors",
    "DataForm": "penstock.events",
    "EventError": "penstock.errors",
    "ExistsError": "penstock.errors",
    "ExpiredError": "penstock.errors",
    "ExpressionError": "penstock.errors",
    "ForbiddenError": "penstock.errors",
    "FormatError": "penstock.errors",
    "LimitError": "penstock.errors",
    "NotFoundError": "penstock.errors",
    "OwnershipError": "penstock.errors",
    "PenstockError": "penstock.errors",
    "PreconditionError": "penstock.errors",
    "Problem": "penstock.errors",
    "ResourceError": "penstock.errors",
    "StoreError": "penstock.errors",
    "UnsupportedError": "penstock.errors",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'penstock' has no attribute {name!r}")
    return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return __all__
