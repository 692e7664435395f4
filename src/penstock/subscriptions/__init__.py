"""The CloudEvents Subscriptions API: subscriptions and their manager."""

from __future__ import annotations

from penstock.subscriptions.manager import SUBSCRIPTION, SubscriptionManager
from penstock.subscriptions.subscription import Subscription

__all__ = ["SUBSCRIPTION", "Subscription", "SubscriptionManager"]
