"""Routes for tests of whatever matches or delivers."""

from __future__ import annotations

from typing import Any

from penstock.routing import DEFAULT, Policy, Route, Rules, Target

URI = "http://sink.example/"


def a_route(key: str = "r", uri: str = URI, **fields: Any) -> Route:  # noqa: ANN401
    """A route of the default broker that takes everything."""
    return Route(key, fields.pop("stream", DEFAULT.key), Target(uri), **fields)


def a_knative_route(key: str = "r", uri: str = URI, **policy: Any) -> Route:  # noqa: ANN401
    """A route that follows the rules of Knative, with quick retries."""
    plain = {"retries": 1, "delay": 0.05, "timeout": 5.0}
    return a_route(key, uri, rules=Rules.KNATIVE, policy=Policy(**plain | policy))
