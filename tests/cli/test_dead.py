from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator

import pytest

from penstock import runtime
from penstock.client import Client, Subscription
from penstock.config import Settings
from penstock.events import event
from penstock.events.entry import Entry
from penstock.formats import arrow
from penstock.ports import Dead, Settlement
from tests.cli.command import Done, run

pytestmark = pytest.mark.network

Give = Callable[[str, int], list[int]]
SINK = "http://127.0.0.1:9/"


@pytest.fixture
def give_up(client: Client, server: Settings) -> Iterator[Give]:
    """Have deliveries of a route given up, as the pipeline does, and return their numbers."""
    ledger = runtime.open_ledger(server)

    def give_up(route: str, count: int) -> list[int]:
        before = {one.number for one in client.dead_letters()}
        made = event(type="t", source="/s", data={"a": 1})
        entry = arrow.freeze(Entry("brokers/default/default", made, 0))
        dead = Dead(route, SINK, 0, 0, 3, 503, "it said \x1bno", time.time(), entry)
        ledger.settle(Settlement(ledger.begin(), dead=[dead] * count))
        return sorted({one.number for one in client.dead_letters()} - before, reverse=True)

    yield give_up
    ledger.close()
    for one in list(client.dead_letters()):
        client.delete_dead_letter(one.number)


def command(client: Client, *arguments: str) -> Done:
    return run("dead", *arguments, "--url", client.url)


def numbers(client: Client) -> list[int]:
    return [one.number for one in client.dead_letters()]


def test_list_shows_the_newest_first(client: Client, give_up: Give) -> None:
    given = give_up("a", 3)

    lines = command(client, "list").out.splitlines()

    assert [int(line.split()[0]) for line in lines[1:]] == given
    assert lines[1].split()[2:5] == ["a", SINK, "3"]
    assert lines[1].rstrip().endswith(r"it said \x1bno")


def test_list_goes_on_where_it_stopped(client: Client, give_up: Give) -> None:
    given = give_up("a", 3)

    first = command(client, "list", "--limit", "2", "--json")
    rest = command(client, "list", "--before", str(given[1]), "--json")

    assert [one["number"] for one in json.loads(first.out)] == given[:2]
    assert f"--before {given[1]}" in first.err
    assert [one["number"] for one in json.loads(rest.out)] == given[2:]


def test_list_may_be_of_one_route(client: Client, give_up: Give) -> None:
    give_up("a", 1)
    given = give_up("b", 2)

    done = command(client, "list", "--route", "b", "--json")

    assert [one["number"] for one in json.loads(done.out)] == given


def test_all_pages_are_listed(client: Client, give_up: Give) -> None:
    given = give_up("a", 5)

    assert [one.number for one in client.dead_letters(limit=2)] == given


def test_show_has_the_event_and_the_cause(client: Client, give_up: Give) -> None:
    (number,) = give_up("a", 1)

    text = command(client, "show", str(number)).out
    document = json.loads(command(client, "show", str(number), "--json").out)

    assert "status       503\n" in text
    assert '    "a": 1\n' in text
    assert document["event"]["data"] == {"a": 1}
    assert document["cause"] == "it said \x1bno"


def test_retried_letters_leave_the_list(client: Client, give_up: Give) -> None:
    route = client.create_subscription(Subscription(sink=SINK)).id
    first, second, third = give_up(route, 3)

    done = command(client, "retry", str(first), str(third))

    assert (done.code, done.out) == (0, "retried 2\n")
    assert numbers(client) == [second]


def test_all_letters_of_a_route_are_retried(client: Client, give_up: Give) -> None:
    route = client.create_subscription(Subscription(sink=SINK)).id
    give_up(route, 3)
    others = give_up("b", 1)

    done = command(client, "retry", "--all", "--route", route, "--json")

    assert json.loads(done.out) == {"retried": 3}
    assert numbers(client) == others


def test_letter_that_cannot_be_retried_is_a_failure(client: Client, give_up: Give) -> None:
    (number,) = give_up("gone", 1)

    done = command(client, "retry", str(number))

    assert (done.code, done.out) == (1, "retried 0\n")
    assert "route gone is gone" in done.err


def test_deleted_letters_are_gone(client: Client, give_up: Give) -> None:
    first, second = give_up("a", 2)

    one = command(client, "delete", str(first))
    rest = command(client, "delete", "--all")

    assert (one.out, rest.out) == ("deleted 1\n", "deleted 1\n")
    assert numbers(client) == []
    assert command(client, "show", str(second)).code == 1


@pytest.mark.parametrize("options", [(), ("1", "--all"), ("1", "--route", "a")], ids=str)
@pytest.mark.parametrize("action", ["retry", "delete"])
def test_choice_must_be_clear(client: Client, action: str, options: tuple[str, ...]) -> None:
    assert command(client, action, *options).code == 2
