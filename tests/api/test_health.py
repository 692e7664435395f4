from __future__ import annotations

from pathlib import Path

from penstock import folder
from penstock.config import Settings
from tests.api.served import serving


def test_process_lives_whatever_else_is_missing(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        served.control.log.close()

        reply = served.get("/healthz")

        assert (reply.status, reply.document) == (200, {"status": "ok"})


def test_not_ready_without_the_pipeline(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        reply = served.get("/readyz")

        assert reply.status == 503
        assert [each["what"] for each in reply.document["missing"]] == ["pipeline"]


def test_not_ready_without_the_log(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        folder.beat(Settings(data=str(tmp_path)))
        served.control.log.close()

        reply = served.get("/readyz")

        assert reply.status == 503
        assert [each["what"] for each in reply.document["missing"]] == ["log"]


def test_ready_when_everything_is(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        folder.beat(Settings(data=str(tmp_path)))

        reply = served.get("/readyz")

        assert (reply.status, reply.document["missing"]) == (200, [])
