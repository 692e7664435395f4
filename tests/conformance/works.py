"""The API over real HTTP, and behind it the work of the pipeline, in this process without Spark."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock import runtime
from penstock.config import Settings
from penstock.pipeline import rows
from penstock.pipeline.epoch import Epoch
from penstock.pipeline.homes import Homes, Pace, desk
from penstock.pipeline.settle import settle
from penstock.pipeline.sink import DeliveryWriter
from penstock.pipeline.worker import worker
from penstock.ports import Span
from tests.api.served import Reply, Served, serving

PACE = Pace(parallel=1, epoch_seconds=0.2)
EVENT = {"specversion": "1.0", "source": "/s", "type": "t", "data": {"n": 1}}


@dataclass
class Works:
    """A served API, and one worker of the pipeline on the same data."""

    served: Served
    homes: Homes
    generation: int

    def subscribe(self, sink: str, **members: Any) -> str:  # noqa: ANN401
        answer = self.served.post("/subscriptions", {"protocol": "HTTP", "sink": sink, **members})
        assert answer.status == 201, answer.body
        return str(answer.document["id"])

    def publish(self, *ids: str) -> None:
        """Publish events, and let one micro-batch deliver them."""
        start = self.served.head()
        headers = {"content-type": "application/cloudevents-batch+json"}
        answer = self.served.post("/events", [{**EVENT, "id": one} for one in ids], headers)
        assert answer.status == 202, answer.body
        log = self.served.control.log
        span = Span(0, start, self.served.head())
        batch = rows.placed(log.read(span), self.served.control.store.version())
        assert batch is not None
        work = DeliveryWriter(self.homes, PACE, self.generation).write(iter([batch]))
        assert work.done is not None
        settle(desk(self.homes), [work.done], 0.1)

    def retry(self, seconds: float = 0.8) -> None:
        """Let the retry query work for some seconds, as long as there is work to do."""
        here, until = worker(self.homes), time.time() + seconds
        waiting = here.desk.waiting(self.generation)
        while min(waiting.destinations().values(), default=until) < until > time.time():
            if waiting.wait(0.0, until - time.time()):
                here.run(Epoch(here, PACE, self.generation, 0).run())

    def deliver(self, *ids: str) -> None:
        """Publish events, and let both queries do their work."""
        self.publish(*ids)
        self.retry()

    def status(self, key: str) -> Any:  # noqa: ANN401
        return self.served.get(f"/subscriptions/{key}/status").document

    def put(self, key: str, **document: Any) -> Reply:  # noqa: ANN401
        return self.served.request("PUT", f"/subscriptions/{key}", document)


@contextmanager
def working(data: Path, **settings: Any) -> Iterator[Works]:  # noqa: ANN401 - any setting
    with serving(data, **settings) as served:
        homes = runtime.homes(Settings(data=str(data), **settings))
        yield Works(served, homes, desk(homes).ledger.begin())
