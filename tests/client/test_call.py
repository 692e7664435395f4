from __future__ import annotations

import pytest

from penstock.client import calls
from penstock.client.answer import Answer
from penstock.errors import ResourceError, StoreError

BASE = "http://host"
NEXT = '<http://inside:9/subscriptions?limit=1&after=a>; rel="next"'


def listed(link: str, body: bytes = b'[{"id":"a","sink":"http://s/","protocol":"HTTP"}]') -> Answer:
    return Answer(200, {"link": link} if link else {}, body)


def test_next_page_is_asked_for_at_our_own_address() -> None:
    page = calls.subscriptions(limit=1).read(listed(NEXT), BASE)

    assert [one.id for one in page.items] == ["a"]
    assert page.following is not None
    assert page.following.path == "/subscriptions?limit=1&after=a"


def test_pages_go_on_from_page_to_page() -> None:
    page = calls.subscriptions(limit=1).read(listed(NEXT), BASE)
    assert page.following is not None

    again = page.following.read(listed(NEXT.replace("after=a", "after=b")), BASE)

    assert again.following is not None
    assert again.following.path == "/subscriptions?limit=1&after=b"


@pytest.mark.parametrize("link", ["", '<http://host/x?a=b>; rel="prev"'])
def test_page_without_a_next_link_is_the_last(link: str) -> None:
    page = calls.subscriptions().read(listed(link), BASE)

    assert page.following is None


def test_empty_page_may_be_followed_by_another() -> None:
    page = calls.subscriptions(limit=1).read(listed(NEXT, b"[]"), BASE)

    assert page.following is not None


def test_page_that_leads_to_itself_is_the_last() -> None:
    page = calls.subscriptions(limit=1).read(listed(NEXT), BASE)
    assert page.following is not None

    again = page.following.read(listed(NEXT), BASE)

    assert again.following is None


@pytest.mark.parametrize("body", [b"<html>", b"{}", b'[{"sink":1}]'])
def test_answer_that_is_not_penstock_is_an_error(body: bytes) -> None:
    with pytest.raises(StoreError, match="is it Penstock"):
        calls.subscriptions().read(listed("", body), BASE)


def test_paths_of_another_broker_are_below_it() -> None:
    assert calls.subscription("a/b", "team x/orders").path == (
        "/brokers/team%20x/orders/subscriptions/a%2Fb"
    )


@pytest.mark.parametrize("broker", ["", "orders", "/orders", "team/", "a/b/c"])
def test_broker_is_namespace_and_name(broker: str) -> None:
    with pytest.raises(ResourceError, match="namespace/name"):
        calls.subscriptions(broker)


def test_dead_letters_are_asked_for_by_route_and_number() -> None:
    assert calls.dead_letters("a&b", 7, 20).path == "/dead?limit=20&before=7&route=a%26b"
