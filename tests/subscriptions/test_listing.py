from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from penstock.ports import Change, Document, Drop, Put
from penstock.routing import DEFAULT, Stream, StreamKind
from penstock.store import SqlResourceStore
from penstock.subscriptions.listing import (
    ANY,
    INDEX,
    SUBSCRIPTION,
    Listing,
    Wanted,
    index_keys,
    key_of,
)
from penstock.subscriptions.subscription import Subscription

HERE = DEFAULT.key
# Its name starts like the other's, and sorts right behind it.
THERE = Stream(StreamKind.BROKER, "default", "default2").key


class CountingStore(SqlResourceStore):
    """A store that counts the documents it was asked for."""

    read = 0

    def get(self, kind: str, key: str) -> Document | None:
        self.read += 1
        return super().get(kind, key)

    def page(
        self, kind: str, after: str = "", limit: int = 1000, prefix: str = ""
    ) -> list[Document]:
        found = super().page(kind, after, limit, prefix)
        self.read += len(found)
        return found


@pytest.fixture
def store(tmp_path: Path) -> Iterator[CountingStore]:
    with closing(CountingStore(f"sqlite:///{tmp_path / 'store.db'}")) as opened:
        yield opened


def fill(store: SqlResourceStore, count: int, streams: tuple[str, ...] = (HERE, THERE)) -> None:
    """Put subscriptions into the store: every tenth wants type ten, one in 50 has sink fifty."""
    changes: list[Change] = []
    for number in range(count):
        made = Subscription(
            "http://fifty/" if number % 50 == 0 else f"http://h/{number}",
            "HTTP",
            {},
            types=("all", "ten") if number % 10 == 0 else ("all",),
            id=f"{number:05}",
            stream=streams[number % len(streams)],
        )
        changes.append(Put(SUBSCRIPTION, key_of(made.stream, made.id), msgspec.json.encode(made)))
        changes += [Put(INDEX, key, b"") for key in index_keys(made)]
    store.write(changes)


def ids(found: Iterator[Subscription] | tuple[Subscription, ...]) -> list[int]:
    return [int(one.id) for one in found]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (ANY, range(0, 200, 2)),
        (Wanted(sink="http://fifty/"), range(0, 200, 50)),
        (Wanted(type="ten"), range(0, 200, 10)),
        (Wanted(protocol="HTTP"), range(0, 200, 2)),
        (Wanted(sink="http://fifty/", type="ten", protocol="HTTP"), range(0, 200, 50)),
        (Wanted(sink="http://fifty/", type="other"), ()),
        (Wanted(protocol="KAFKA"), ()),
        (Wanted(sink=""), ()),
    ],
    ids=str,
)
def test_those_with_the_properties_are_found_at_their_stream(
    store: CountingStore, wanted: Wanted, expected: range
) -> None:
    fill(store, 200)
    listing = Listing(store)
    paged: list[int] = []
    after: str | None = ""

    while after is not None:
        page = listing.page(HERE, wanted, after, 7)
        paged += ids(page.items)
        after = page.after

    assert ids(listing.all(HERE, wanted, "")) == paged == list(expected)


@pytest.mark.parametrize("wanted", [ANY, Wanted(type="all"), Wanted(protocol="HTTP")], ids=str)
@pytest.mark.parametrize("after", ["", "00500"])
def test_page_reads_as_much_among_many_as_among_few(
    store: CountingStore, wanted: Wanted, after: str
) -> None:
    fill(store, 1_000)
    listing = Listing(store)

    found = listing.page(HERE, wanted, after, 10)

    assert len(found.items) == 10
    assert store.read <= 2 * 11


def test_page_of_rare_ones_ends_early_and_says_where_to_go_on(store: CountingStore) -> None:
    fill(store, 4_500, (HERE,))
    wanted = Wanted(type="all", protocol="none")

    page = Listing(store).page(HERE, wanted, "", 5)

    assert page.items == ()
    assert page.after is not None
    assert int(page.after) < 3_000
    assert store.read < 5_000


def test_entry_whose_subscription_is_gone_is_passed_over(store: CountingStore) -> None:
    fill(store, 30, (HERE,))
    gone = Subscription("http://x/", "HTTP", {}, types=("ten",), id="00005", stream=HERE)
    store.write([Put(INDEX, key, b"") for key in index_keys(gone)])
    store.write([Put(SUBSCRIPTION, key_of(HERE, "00005"), msgspec.json.encode(gone))])
    store.write([Drop(SUBSCRIPTION, key_of(HERE, "00005"))])

    assert ids(Listing(store).all(HERE, Wanted(type="ten"), "")) == [0, 10, 20]


@pytest.mark.parametrize("after", ["\0", "zzz", "\U0010ffff", "00005\0"])
def test_any_text_may_be_where_to_go_on(store: CountingStore, after: str) -> None:
    fill(store, 10, (HERE, THERE))

    assert set(ids(Listing(store).all(HERE, ANY, after))) <= {0, 2, 4, 6, 8}
