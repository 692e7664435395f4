from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.discovery.services import folded
from penstock.errors import ConflictError, NotFoundError, ResourceError
from tests.discovery.catalogue import BASE, HERE, Kept, a_service, catalogue

INTERVAL: dict[str, Any] = {"subscriptionurl": HERE, "subscriptionconfig": {"interval": "Integer"}}


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    with catalogue(tmp_path) as made:
        yield made


def paths(kept: Kept, config: dict[str, Any]) -> list[str]:
    return [problem.path for problem in kept.services.config_problems(config)]


def test_time_passes_between_create_and_update(kept: Kept) -> None:
    made = kept.services.create(a_service(), BASE)
    kept.clock.advance(90)

    changed = kept.services.update(made.id, a_service(), BASE)

    assert (made.updated, changed.updated) == ("1970-01-12T13:46:40Z", "1970-01-12T13:48:10Z")


def test_clock_that_goes_back_does_not_move_the_time_back(kept: Kept) -> None:
    made = kept.services.create(a_service(), BASE)
    kept.clock.advance(-90)

    assert kept.services.update(made.id, a_service(), BASE).updated == made.updated


def test_renamed_service_frees_its_name(kept: Kept) -> None:
    made = kept.services.create(a_service("old"), BASE)

    kept.services.update(made.id, a_service("new"), BASE)

    assert kept.services.named("NEW", BASE).id == made.id
    with pytest.raises(NotFoundError):
        kept.services.named("old", BASE)
    assert kept.services.create(a_service("Old"), BASE).id != made.id


def test_refused_update_changes_neither_entry_nor_name(kept: Kept) -> None:
    made = kept.services.create(a_service("kept"), BASE)

    with pytest.raises(ConflictError) as caught:
        kept.services.update(made.id, a_service("other", discversion=2), BASE)

    assert caught.value.current == {"discversion": 1, "updated": made.updated}
    assert kept.services.named("kept", BASE) == made
    with pytest.raises(NotFoundError):
        kept.services.named("other", BASE)


def test_very_long_name_is_no_trouble(kept: Kept) -> None:
    name = "ä" * 5000

    made = kept.services.create(a_service(name), BASE)

    assert kept.services.named(name.upper(), BASE) == made


def test_deeply_nested_attribute_is_refused(kept: Kept) -> None:
    deep: list[Any] = []
    for _ in range(500):
        deep = [deep]

    with pytest.raises(ResourceError, match="deep"):
        kept.services.create(a_service(later=deep), BASE)

    assert [each.name for each in kept.services.query(BASE)] == ["penstock"]


def test_any_key_will_do_while_nobody_declares_some(kept: Kept) -> None:
    kept.services.create(a_service("silent", subscriptionurl=HERE), BASE)
    kept.services.create(a_service("elsewhere", subscriptionconfig={"a": "String"}), BASE)

    assert paths(kept, {"whatever": 1}) == []


def test_declared_keys_are_those_of_all_services_here(kept: Kept) -> None:
    kept.services.create(a_service("one", **INTERVAL), BASE)
    place = f"{BASE}/brokers/shop/orders/subscriptions"
    two: dict[str, Any] = {"subscriptionurl": place, "subscriptionconfig": {"deep": "Boolean"}}
    kept.services.create(a_service("two", **two), BASE)

    assert paths(kept, {"interval": 5, "deep": True, "startfrom": "now"}) == []
    assert paths(kept, {"interval": "soon", "other": 1}) == ["config.interval", "config.other"]


def test_empty_declaration_allows_nothing_more(kept: Kept) -> None:
    kept.services.create(a_service(subscriptionurl=HERE, subscriptionconfig={}), BASE)

    assert paths(kept, {"interval": 5}) == ["config.interval"]


@pytest.mark.parametrize("end", ["delete", "move", "undeclare"])
def test_declaration_ends_with_its_service(kept: Kept, end: str) -> None:
    made = kept.services.create(a_service(**INTERVAL), BASE)
    if end == "delete":
        kept.services.delete(made.id)
    elif end == "move":
        changed = a_service(subscriptionconfig={"interval": "Integer"})
        kept.services.update(made.id, changed, BASE)
    else:
        kept.services.update(made.id, a_service(subscriptionurl=HERE), BASE)

    assert paths(kept, {"other": 1}) == []


def test_one_of_many_at_once_gets_the_name(kept: Kept) -> None:
    won, lost = [], []

    def create(number: int) -> None:
        try:
            key = f"00000000-0000-4000-8000-{number:012}"
            won.append(kept.services.create(a_service(id=key), BASE).id)
        except ConflictError:
            lost.append(number)

    threads = [threading.Thread(target=create, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (len(won), len(lost)) == (1, 7)
    assert kept.services.named("widgets", BASE).id == won[0]


def test_one_of_many_updates_at_once_is_the_next(kept: Kept) -> None:
    made = kept.services.create(a_service(), BASE)
    won, lost = [], []

    def update(number: int) -> None:
        document = a_service(description=f"by {number}", discversion=1)
        try:
            won.append(kept.services.update(made.id, document, BASE))
        except ConflictError:
            lost.append(number)

    threads = [threading.Thread(target=update, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (len(won), len(lost)) == (1, 7)
    assert kept.services.retrieve(made.id, BASE) == won[0]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("WIDGETS", "widgets", True),
        ("Ärger", "äRGER", True),
        ("ΣΊΣΥΦΟΣ", "σίσυφος", True),
        ("Straße", "STRASSE", False),
        ("ẞ", "ß", True),
        ("İ", "i", False),
        ("a ", "a", False),
        ("é", "e\u0301", False),
    ],
)
def test_names_are_folded_letter_by_letter(one: str, other: str, same: bool) -> None:  # noqa: FBT001
    assert (folded(one) == folded(other)) is same
