from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.discovery import Services
from penstock.errors import ConflictError, NotFoundError
from tests.discovery.catalogue import BASE, HERE, SAYS, Kept, a_service, catalogue

EVENTS = [{"type": "com.example.widget.create"}]


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    with catalogue(tmp_path) as made:
        yield made


def own(kept: Kept, base: str = BASE) -> dict[str, Any]:
    return kept.services.named("penstock", base).document(base)


def again(kept: Kept, **more: object) -> Services:
    """The same catalogue after a restart of a server that may say something else of itself."""
    says = dataclasses.replace(SAYS, **more)  # type: ignore[arg-type]
    return Services(kept.store, kept.clock, lambda: str(uuid.uuid4()), says)


def test_entry_tells_how_to_subscribe(kept: Kept) -> None:
    found = own(kept)

    assert found["protocols"] == ["HTTP"]
    assert found["subscriptionurl"] == HERE
    assert found["docsurl"] == f"{BASE}/docs"
    assert found["discversion"] == 1
    assert "subscriptionconfig" not in found
    assert "events" not in found


def test_entry_is_the_same_by_any_name_of_the_host(kept: Kept) -> None:
    one, other = own(kept), own(kept, "https://other.example.com/x")

    differing = {name for name in one if one[name] != other[name]}
    assert differing == {"url", "subscriptionurl", "docsurl"}
    assert other["url"] == f"https://other.example.com/x/services/{one['id']}"
    assert other["subscriptionurl"] == "https://other.example.com/x/subscriptions"


def test_entry_outlives_a_restart(kept: Kept) -> None:
    before = own(kept)

    assert again(kept).named("penstock", BASE).document(BASE) == before


def test_change_of_what_it_can_do_is_a_new_version(kept: Kept) -> None:
    before = own(kept)
    kept.clock.advance(60)

    after = again(kept, protocols=("HTTP", "KAFKA")).named("penstock", BASE).document(BASE)

    assert after["id"] == before["id"]
    assert (before["discversion"], after["discversion"]) == (1, 2)
    assert after["updated"] > before["updated"]


def test_time_of_a_new_version_never_goes_back(kept: Kept) -> None:
    before = own(kept)
    kept.clock.advance(-60)

    after = again(kept, protocols=("KAFKA",)).named("penstock", BASE)

    assert after.updated == before["updated"]


def test_events_of_services_that_emit_here_are_its_own(kept: Kept) -> None:
    kept.services.create(a_service(subscriptionurl=HERE, events=EVENTS), BASE)
    kept.services.create(a_service("elsewhere", events=[{"type": "other"}]), BASE)
    place = f"{BASE}/brokers/shop/orders/subscriptions"
    kept.services.create(a_service("orders", subscriptionurl=place, events=EVENTS), BASE)

    assert own(kept)["events"] == EVENTS


def test_entry_lists_the_keys_that_subscriptions_may_have(kept: Kept) -> None:
    kept.services.create(
        a_service(subscriptionurl=HERE, subscriptionconfig={"interval": "integer"}), BASE
    )

    assert own(kept)["subscriptionconfig"] == {"interval": "Integer", "startfrom": "String"}


def test_entry_is_found_by_its_id_and_in_the_list(kept: Kept) -> None:
    kept.services.create(a_service("a"), BASE)
    key = own(kept)["id"]

    assert kept.services.retrieve(key.upper(), BASE).document(BASE) == own(kept)
    assert [each.name for each in kept.services.query(BASE)] == ["a", "penstock"]


def test_entry_cannot_be_changed_or_deleted(kept: Kept) -> None:
    before = own(kept)

    with pytest.raises(ConflictError, match="the server itself"):
        kept.services.update(before["id"], a_service(), BASE)
    with pytest.raises(ConflictError, match="the server itself"):
        kept.services.delete(before["id"])
    with pytest.raises(ConflictError, match="already"):
        kept.services.create(a_service(id=before["id"]), BASE)
    assert own(kept) == before


def test_nobody_else_takes_its_name(kept: Kept) -> None:
    other = kept.services.create(a_service(), BASE)

    with pytest.raises(ConflictError, match="named"):
        kept.services.create(a_service("Penstock"), BASE)
    with pytest.raises(ConflictError, match="named"):
        kept.services.update(other.id, a_service("PENSTOCK"), BASE)


def test_server_without_a_name_is_not_listed(tmp_path: Path) -> None:
    with catalogue(tmp_path, dataclasses.replace(SAYS, name="")) as kept:
        assert kept.services.query(BASE) == []
        with pytest.raises(NotFoundError):
            own(kept)
        assert kept.services.create(a_service("penstock"), BASE).name == "penstock"
