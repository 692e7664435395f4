"""The CloudEvents Subscriptions API: subscriptions and their manager."""

from __future__ import annotations

from penstock.subscriptions.listing import SUBSCRIPTION, Wanted
from penstock.subscriptions.manager import SubscriptionManager, Terms
from penstock.subscriptions.subscription import Subscription

__all__ = ["SUBSCRIPTION", "Subscription", "SubscriptionManager", "Terms", "Wanted"]
