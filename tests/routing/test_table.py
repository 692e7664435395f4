from __future__ import annotations

from penstock.routing import RoutingTable
from tests.routing.routes import a_route


def test_changed_table_has_the_new_routes_and_not_the_dropped_ones() -> None:
    table = RoutingTable(1, {key: a_route(key) for key in "abc"})

    later = table.changed(4, [a_route("b", "http://new/"), a_route("d")], ["a", "nosuch"])

    assert later.version == 4
    assert {key: route.target.uri for key, route in later.routes.items()} == {
        "b": "http://new/",
        "c": a_route().target.uri,
        "d": a_route().target.uri,
    }


def test_earlier_table_stays_as_it_was() -> None:
    table = RoutingTable(1, {"a": a_route("a")})

    table.changed(2, [a_route("b")], ["a"])

    assert set(table.routes) == {"a"}
