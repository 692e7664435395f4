"""Lists of subscriptions: what one may ask for, and the index that answers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import msgspec

from penstock.errors import ConflictError
from penstock.ports import Document, ResourceStore
from penstock.subscriptions.subscription import Subscription

SUBSCRIPTION = "subscription"
INDEX = "subscription.index"
"""The kind of entries whose keys alone say which subscriptions have a property."""
_READ = 500
_LOOKED_AT = 2_000
"""How many subscriptions are looked at for one page of those with several properties."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The subscriptions with these properties; what is None does not matter."""

    sink: str | None = None
    type: str | None = None
    protocol: str | None = None

    def takes(self, subscription: Subscription) -> bool:
        """Tell whether a subscription has all the properties."""
        return (
            self.sink in (None, subscription.sink)
            and self.protocol in (None, subscription.protocol)
            and (self.type is None or self.type in subscription.types)
        )

    @property
    def several(self) -> bool:
        """Whether the index, which knows one property, leaves something to look at."""
        return [self.sink, self.type, self.protocol].count(None) < 2  # noqa: PLR2004

    def group(self, stream: str) -> str | None:
        """Return what the index keys of those with the rarest property start with."""
        for name in ("sink", "type", "protocol"):
            value = getattr(self, name)
            if value is not None:
                return _group(stream, name, value)
        return None


ANY = Wanted()


@dataclass(frozen=True, slots=True)
class Page:
    """Some subscriptions in the order of their ids, and after which id the next page starts."""

    items: tuple[Subscription, ...]
    after: str | None = None


def index_keys(subscription: Subscription) -> set[str]:
    """Return the index entries of a subscription."""
    return {f"{group}{subscription.id}" for group in _groups(subscription)}


def _groups(subscription: Subscription) -> Iterator[str]:
    yield _group(subscription.stream, "sink", subscription.sink)
    yield _group(subscription.stream, "protocol", subscription.protocol)
    for type_ in subscription.types:
        yield _group(subscription.stream, "type", type_)


def _group(stream: str, name: str, value: str) -> str:
    # A digest, because a sink may be longer than a key.
    text = f"{stream}\0{name}\0{value}".encode("utf-8", "surrogatepass")
    return f"{hashlib.blake2b(text, digest_size=16).hexdigest()}/"


class Listing:
    """The subscriptions in the order of their ids."""

    def __init__(self, store: ResourceStore) -> None:
        self._store = store

    def all(self, stream: str, wanted: Wanted, after: str) -> Iterator[Subscription]:
        """Yield those of a stream that are wanted, after an id."""
        return filter(wanted.takes, self._candidates(stream, wanted, after, _READ))

    def page(self, stream: str, wanted: Wanted, after: str, limit: int) -> Page:
        """Return up to `limit` of them.

        It may be fewer although there are more, for only so many are looked at.
        """
        items: list[Subscription] = []
        size = _READ if wanted.several else min(limit + 1, _READ)
        found = self._candidates(stream, wanted, after, size)
        for one in islice(found, limit + _LOOKED_AT):
            if len(items) == limit:
                return Page(tuple(items), after)
            if wanted.takes(one):
                items.append(one)
            after = one.id
        return Page(tuple(items), None if next(found, None) is None else after)

    def _candidates(
        self, stream: str, wanted: Wanted, after: str, size: int
    ) -> Iterator[Subscription]:
        group = wanted.group(stream)
        if group is None:
            yield from map(decoded, self._range(SUBSCRIPTION, key_of(stream, ""), after, size))
            return
        for entry in self._range(INDEX, group, after, size):
            found = self._store.get(SUBSCRIPTION, key_of(stream, entry.key.removeprefix(group)))
            if found is not None:
                yield decoded(found)

    def _range(self, kind: str, prefix: str, after: str, size: int) -> Iterator[Document]:
        # Not every store knows NUL, not even to look for it.
        last = prefix + after.replace("\0", "")
        while page := self._store.page(kind, last, size, prefix):
            yield from page
            last = page[-1].key


class Count:
    """How many subscriptions there are, counted again only where it could matter."""

    def __init__(self, store: ResourceStore) -> None:
        self._store = store
        self._known = (0, 0)

    def expect_room(self, most: int) -> None:
        """Refuse another subscription where there are as many as may be (SUB-008)."""
        version = self._store.version()
        count, counted = self._known
        # A version adds one subscription at most, so this many there can be by now.
        if count + version - counted < most:
            return
        count = self._store.count(SUBSCRIPTION)
        self._known = (count, version)
        if count >= most:
            msg = f"there are {count} subscriptions, and {most} are allowed: delete some first"
            raise ConflictError(msg, address=SUBSCRIPTION)


def key_of(stream: str, id: str) -> str:  # noqa: A002 - the word of the specification
    """Return where a subscription is kept: those of one stream lie side by side."""
    return f"{stream}/{id}"


def decoded(document: Document) -> Subscription:
    """Return the subscription in a document, with its version."""
    found = msgspec.json.decode(document.body, type=Subscription)
    return msgspec.structs.replace(found, version=document.version)
