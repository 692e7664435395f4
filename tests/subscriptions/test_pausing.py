"""Start, pause and resume, as the manager keeps them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from penstock.errors import NotFoundError, ResourceError
from penstock.log import SqliteLog
from penstock.ports import Put
from penstock.routing import DEFAULT, ROUTE, STREAM, Gap
from penstock.store import SqlResourceStore
from penstock.subscriptions import SubscriptionManager, Terms
from tests.log.entries import some

LEAST: dict[str, Any] = {"protocol": "HTTP", "sink": "https://example.com/"}
EARLIEST = {**LEAST, "config": {"startfrom": "earliest"}}
KEY = "1"
STREAM_KEY = DEFAULT.key


@dataclass(frozen=True, slots=True)
class Kept:
    """A manager with one subscription at a time, and the store behind it."""

    manager: SubscriptionManager
    store: SqlResourceStore

    def pause(self) -> int:
        """Pause, and return the version of that."""
        return self.manager.pause(STREAM_KEY, KEY).version

    def resume(self) -> int:
        return self.manager.resume(STREAM_KEY, KEY).version


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    with (
        closing(SqlResourceStore(f"sqlite:///{tmp_path / 'store.db'}")) as store,
        closing(SqliteLog.open(tmp_path / "log.db")) as log,
    ):
        log.append(some(range(3)))
        store.write([Put(STREAM, STREAM_KEY, msgspec.json.encode(DEFAULT))])
        terms = Terms(now=lambda: 1_000_000.0)
        yield Kept(SubscriptionManager(store, log, lambda: KEY, terms), store)


def test_subscription_that_starts_early_has_a_gap_of_its_own_version(kept: Kept) -> None:
    made = kept.manager.create(STREAM_KEY, EARLIEST)

    route = kept.manager.route(KEY)
    assert (route.start, route.gaps) == ((0,), (Gap(made.version, made.version, (0,)),))
    assert made.document()["config"] == {"startfrom": "earliest"}


@pytest.mark.parametrize("start", ["soon", "1970-01-13T00:00:00Z"])
def test_start_that_cannot_be_leaves_nothing(kept: Kept, start: str) -> None:
    before = kept.store.version()

    with pytest.raises(ResourceError, match=r"config\.startfrom"):
        kept.manager.create(STREAM_KEY, {**LEAST, "config": {"startfrom": start}})

    assert kept.store.version() == before


def test_unknown_start_is_named_among_the_other_problems(kept: Kept) -> None:
    with pytest.raises(ResourceError) as refused:
        kept.manager.create(
            STREAM_KEY, {"protocol": "HTTP", "sink": "no", "config": {"startfrom": 1}}
        )

    assert {problem.path for problem in refused.value.problems} == {"sink", "config.startfrom"}


def test_pause_and_resume_enclose_what_is_left_to_a_catch_up(kept: Kept) -> None:
    kept.manager.create(STREAM_KEY, LEAST)

    paused = kept.pause()
    held = kept.manager.route(KEY)
    resumed = kept.resume()

    assert (held.held, held.gaps) == (True, (Gap(paused),))
    assert kept.manager.route(KEY).gaps == (Gap(paused, resumed),)
    assert not kept.manager.route(KEY).held


def test_document_tells_that_it_is_paused_only_while_it_is(kept: Kept) -> None:
    plain = kept.manager.create(STREAM_KEY, LEAST).document()

    kept.pause()
    paused = kept.manager.retrieve(STREAM_KEY, KEY).document()
    kept.resume()

    assert paused == {**plain, "paused": True}
    assert kept.manager.retrieve(STREAM_KEY, KEY).document() == plain


def test_pause_and_resume_a_second_time_change_nothing(kept: Kept) -> None:
    kept.manager.create(STREAM_KEY, LEAST)

    assert kept.pause() == kept.pause()
    assert kept.resume() == kept.resume()


def test_paused_subscription_stays_paused_when_it_is_updated(kept: Kept) -> None:
    kept.manager.create(STREAM_KEY, LEAST)
    paused = kept.pause()

    changed = kept.manager.update(STREAM_KEY, KEY, {**LEAST, "types": ["t"], "paused": False})

    route = kept.manager.route(KEY)
    assert (changed.paused, route.held, route.types) == (True, True, ("t",))
    assert route.gaps == (Gap(paused),)


def test_update_keeps_what_is_not_caught_up_yet(kept: Kept) -> None:
    made = kept.manager.create(STREAM_KEY, EARLIEST)

    kept.manager.update(STREAM_KEY, KEY, {**LEAST, "types": ["t"]})

    assert kept.manager.route(KEY).gaps == (Gap(made.version, made.version, (0,)),)


def test_update_cannot_move_the_start(kept: Kept) -> None:
    kept.manager.create(STREAM_KEY, LEAST)

    with pytest.raises(ResourceError, match=r"config\.startfrom"):
        kept.manager.update(STREAM_KEY, KEY, EARLIEST)


def test_paused_subscription_can_be_deleted(kept: Kept) -> None:
    kept.manager.create(STREAM_KEY, LEAST)
    kept.pause()

    gone = kept.manager.delete(STREAM_KEY, KEY)

    assert gone.paused
    assert kept.store.get(ROUTE, KEY) is None


def test_pause_and_resume_do_not_wake_a_stopped_route(kept: Kept) -> None:
    kept.manager.create(STREAM_KEY, LEAST)
    stopped = msgspec.structs.replace(kept.manager.route(KEY), stopped=True)
    kept.store.write([Put(ROUTE, KEY, msgspec.json.encode(stopped))])

    kept.pause()
    assert kept.manager.route(KEY).stopped
    kept.resume()

    assert kept.manager.route(KEY).stopped


def test_unknown_subscription_cannot_be_paused(kept: Kept) -> None:
    with pytest.raises(NotFoundError):
        kept.manager.pause(STREAM_KEY, "nosuch")
