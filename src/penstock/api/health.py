"""Health: whether the process lives, and whether everything is ready."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.responses import Response
from starlette.routing import Route

from penstock.api.resource import Call, Resource, json
from penstock.control import Control
from penstock.errors import StoreError


def routes(control: Control) -> Sequence[Route]:
    """Return the routes of /healthz and /readyz."""

    def healthz(_call: Call) -> Response:
        return json({"status": "ok"})

    def readyz(_call: Call) -> Response:
        missing = lacking(control)
        if missing:
            return json({"status": "not ready", "missing": missing}, 503, {"retry-after": "1"})
        return json({"status": "ready", "missing": []})

    return (
        Route("/healthz", Resource(control.url, GET=healthz)),
        Route("/readyz", Resource(control.url, GET=readyz)),
    )


def lacking(control: Control) -> list[dict[str, str]]:
    """Return what is not ready, and why."""
    missing = []
    for what, look in (("log", control.log.bounds), ("store", control.store.version)):
        try:
            look()
        except StoreError as exc:
            missing.append({"what": what, "why": str(exc)})
    if not control.pipeline_is_well():
        why = "it has not reported lately: it is starting, or it failed (see its log)"
        missing.append({"what": "pipeline", "why": why})
    return missing
