"""A hundred clients that change and delete their subscriptions at once, while events flow."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field

import aiohttp
import pytest

from tests.end_to_end.conftest import Note
from tests.end_to_end.harness import Server
from tests.end_to_end.load import Load
from tests.end_to_end.loop import Loop, eventually
from tests.end_to_end.receiver import Answer, Received, Receiver, Sink

CLIENTS = 100
UPDATES = 8
SHARED = 10
PATIENCE = 60.0
_TIMEOUT = aiohttp.ClientTimeout(total=60.0)
_JSON = {"content-type": "application/json"}


@dataclass
class Client:
    """One client with a subscription of its own, which it changes, uses and deletes."""

    name: str
    topic: str
    sinks: list[Sink] = field(default_factory=list)
    """One for each state of the subscription."""
    published: dict[str, int] = field(default_factory=dict)
    """Every event, with the state that was acknowledged when it was published."""
    after: list[str] = field(default_factory=list)
    """Events that were published after the deletion was acknowledged."""
    deleted: float = 0.0
    reached: set[str] = field(default_factory=set)
    complete: asyncio.Event = field(default_factory=asyncio.Event)

    def take(self, request: Received) -> Answer:
        """Be the behaviour of all sinks."""
        self.reached.add(request.event)
        if len(self.reached) == len(self.sinks):
            self.complete.set()
        return Answer()

    @property
    def kind(self) -> str:
        return f"{self.topic}.{self.name}"

    def document(self, state: int) -> dict[str, object]:
        return {"protocol": "HTTP", "sink": self.sinks[state].url, "types": [self.kind]}

    def arrivals(self) -> dict[str, list[int]]:
        """Return for every event that arrived the states whose sink it reached."""
        found: dict[str, list[int]] = {}
        for state, sink in enumerate(self.sinks):
            for one in list(sink.received):
                found.setdefault(one.event, []).append(state)
        return found

    def lateness(self) -> float:
        """Return how long after the deletion the last request came."""
        last = max((one.at for sink in self.sinks for one in list(sink.received)), default=0.0)
        return last - self.deleted


class Crowd:
    """The session of all clients."""

    def __init__(self, server: Server, session: aiohttp.ClientSession) -> None:
        self._url = server.url
        self._session = session

    async def call(
        self, method: str, path: str, document: object = None, **headers: str
    ) -> tuple[int, dict[str, object], str]:
        body = None if document is None else json.dumps(document)
        fields = {**_JSON, **{name.replace("_", "-"): text for name, text in headers.items()}}
        url = f"{self._url}{path}"
        async with self._session.request(method, url, data=body, headers=fields) as answer:
            return answer.status, await answer.json(), answer.headers.get("etag", "")

    async def publish(self, kind: str, event: str) -> None:
        headers = {"ce-specversion": "1.0", "ce-id": event, "ce-source": "/c", "ce-type": kind}
        async with self._session.post(f"{self._url}/events", headers=headers, data=b"x") as answer:
            assert answer.status == 202

    async def live(self, client: Client, *, patient: bool) -> None:
        """Create, change and use a subscription, delete it, and publish once more."""
        status, made, _ = await self.call("POST", "/subscriptions", client.document(0))
        assert status == 201
        path = f"/subscriptions/{made['id']}"
        for state in range(UPDATES + 1):
            if state:
                assert (await self.call("PUT", path, client.document(state)))[0] == 200
            event = f"{client.name}-{state}"
            await self.publish(client.kind, event)
            client.published[event] = state
        if patient:
            await client.complete.wait()
        assert (await self.call("DELETE", path))[0] == 200
        client.deleted = time.time()
        client.after.append(f"{client.name}-gone")
        await self.publish(client.kind, client.after[0])

    async def count(self, path: str) -> None:
        """Add one to a number that others count up as well, by reading and writing back."""
        while True:
            _, found, tag = await self.call("GET", path)
            settings = found["protocolsettings"]
            assert isinstance(settings, dict)
            number = int(settings.get("headers", {}).get("X-Count", "0"))
            change = {"protocolsettings": {"headers": {"X-Count": str(number + 1)}}}
            kind = "application/merge-patch+json"
            status, _, _ = await self.call("PATCH", path, change, if_match=tag, content_type=kind)
            if status == 200:
                return
            assert status == 412


@pytest.mark.covers("SUB-146")
def test_update_and_delete_are_obeyed_at_once_by_all_clients(
    server: Server, receiver: Receiver, loop: Loop, topic: str, note: Note
) -> None:
    clients = [Client(str(number), topic) for number in range(CLIENTS)]
    for client in clients:
        places = (f"{client.name}/{state}" for state in range(UPDATES + 1))
        client.sinks += [receiver.sink(place, client.take) for place in places]
    witness = receiver.sink("witness")
    server.subscribe(witness.url, types=[f"{topic}.flow", f"{topic}.end"])
    flow = Load(loop, f"{server.url}/events", lambda _: {"type": f"{topic}.flow"}, 50.0)

    async def crowd() -> None:
        async with aiohttp.ClientSession(timeout=_TIMEOUT) as session:
            everyone = Crowd(server, session)
            lives = (
                everyone.live(client, patient=number % 2 == 0)
                for number, client in enumerate(clients)
            )
            await asyncio.wait_for(asyncio.gather(*lives), PATIENCE)

    started = time.monotonic()
    with flow:
        loop.run(crowd())
    end = server.publish(type=f"{topic}.end")
    witness.wait_for(end, PATIENCE)
    eventually(
        lambda: set(flow.acknowledged) <= set(witness.events()), PATIENCE, "the flow has arrived"
    )

    for client in clients:
        arrivals = client.arrivals()
        # An event is never judged by a state older than the one acknowledged before it.
        old = {e: s for e, s in arrivals.items() if min(s) < client.published.get(e, 0)}
        assert old == {}
        assert not set(client.after) & set(arrivals)
    for client in clients[::2]:
        assert set(client.published) <= set(client.arrivals())
    latest = max(client.lateness() for client in clients)
    seconds = time.monotonic() - started
    note(
        f"{CLIENTS} clients, {UPDATES} updates and a delete each, in {seconds:.1f} s; last request "
        f"of an event from before a delete {latest * 1000:.0f} ms after it"
    )


def test_no_update_is_lost_among_many_writers(
    server: Server, receiver: Receiver, loop: Loop
) -> None:
    sink = receiver.sink("counted").url
    paths = [f"/subscriptions/{server.subscribe(sink, types=['none'])}" for _ in range(SHARED)]

    async def crowd() -> None:
        async with aiohttp.ClientSession(timeout=_TIMEOUT) as session:
            everyone = Crowd(server, session)
            counting = (everyone.count(paths[number % SHARED]) for number in range(CLIENTS))
            await asyncio.wait_for(asyncio.gather(*counting), PATIENCE)

    loop.run(crowd())

    found = [server.call("GET", path).document()["protocolsettings"]["headers"] for path in paths]
    assert found == [{"X-Count": str(CLIENTS // SHARED)}] * SHARED
