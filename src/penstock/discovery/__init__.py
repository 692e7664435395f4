"""Discovery: the catalogue of services (CloudSubscriptions Discovery 0.1)."""

from __future__ import annotations

from penstock.discovery.own import Advertisement
from penstock.discovery.service import Service
from penstock.discovery.services import SERVICE, Services

__all__ = ["SERVICE", "Advertisement", "Service", "Services"]
