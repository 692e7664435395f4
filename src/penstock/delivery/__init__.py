"""Delivery: when to try, how to judge an answer, and how to send many requests at once."""

from __future__ import annotations

from penstock.delivery.judge import Outcome, judge
from penstock.delivery.policy import deadline, next_attempt, wait

__all__ = ["Outcome", "deadline", "judge", "next_attempt", "wait"]
