"""Knative Eventing without Kubernetes: its resources, kept and reconciled in one place."""

from __future__ import annotations

from penstock.knative.resources import Resources

__all__ = ["Resources"]
