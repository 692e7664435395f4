"""The Registry Service: what flows, with which schemas, as which messages, at which addresses."""

from __future__ import annotations

from penstock.registry.model import GroupType, Model, ResourceType
from penstock.registry.placing import Terms
from penstock.registry.producing import produced
from penstock.registry.proposal import Proposal
from penstock.registry.registry import Registry
from penstock.registry.validation import Judgement, Validator, validate

__all__ = [
    "GroupType",
    "Judgement",
    "Model",
    "Proposal",
    "Registry",
    "ResourceType",
    "Terms",
    "Validator",
    "produced",
    "validate",
]
