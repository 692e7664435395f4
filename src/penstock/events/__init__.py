"""The event itself: CloudEvents 0.2 and 1.0."""

from __future__ import annotations

from penstock.events.build import event
from penstock.events.checks import VERSIONS
from penstock.events.event import CloudEvent, Value, from_attributes
from penstock.events.media import DataForm

__all__ = ["VERSIONS", "CloudEvent", "DataForm", "Value", "event", "from_attributes"]
