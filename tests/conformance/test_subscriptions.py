"""The CloudEvents Subscriptions API: the object and its operations, over real HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from penstock.events import event
from penstock.ports import Document
from penstock.routing import DEFAULT, ROUTE, Route
from penstock.routing.index import Index
from tests.api.served import BINARY, Reply, Served, serving

S0: dict[str, Any] = {"protocol": "HTTP", "sink": "https://example.com/event-processor"}
EXACT = {"exact": {"type": "a"}}
NESTED: dict[str, Any] = {"all": [{"not": {"nosuch": {}}}]}
covers = pytest.mark.covers


def wrong(ids: str, path: str, **more: object) -> Any:  # noqa: ANN401 - pytest hides the type
    """A proposal with one fault at a path."""
    return pytest.param(path, more, marks=covers(*ids.split()), id=f"{ids} {path}")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("data")) as running:
        yield running


def create(served: Served, **more: object) -> Reply:
    return served.post("/subscriptions", {**S0, **more})


def created(served: Served, **more: object) -> str:
    reply = create(served, **more)
    assert reply.status == 201, reply.body
    return str(reply.document["id"])


def listed(served: Served) -> list[Any]:
    found = served.get("/subscriptions").document
    assert isinstance(found, list)
    return found


def routes(served: Served) -> list[Document]:
    return served.control.store.page(ROUTE, limit=100_000)


def wanted_by(served: Served, **attributes: Any) -> set[str]:  # noqa: ANN401
    """The subscriptions that an event would be sent to, by what is in the store."""
    index = Index(msgspec.json.decode(each.body, type=Route) for each in routes(served))
    given = {"type": "t", "source": "/s", **attributes}
    return {route.id for route in index.matches(DEFAULT.key, event(**given))}


class TestObject:
    """What a subscription is made of."""

    @covers("SUB-012", "SUB-132")
    def test_ids_are_distinct_strings(self, served: Served) -> None:
        ids = [create(served).document["id"] for _ in range(60)]

        assert all(isinstance(each, str) for each in ids)
        assert len(set(ids)) == 60
        assert set(ids) <= wanted_by(served)

    @covers("SUB-015", "SUB-131", "SUB-129")
    def test_proposed_id_is_ignored(self, served: Served) -> None:
        first, second = created(served, id="mine"), created(served, id="mine")

        assert "mine" not in {first, second}
        assert first != second

    @covers("SUB-013")
    def test_id_stays_when_all_else_changes(self, served: Served) -> None:
        key = created(served)

        reply = served.request("PUT", f"/subscriptions/{key}", {**S0, "sink": "http://other/"})

        assert (reply.status, reply.document["id"]) == (200, key)

    @covers("SUB-014")
    def test_every_returned_object_has_its_id(self, served: Served) -> None:
        key = created(served)
        path = f"/subscriptions/{key}"

        replies = [
            served.get(path),
            served.request("PUT", path, S0),
            served.request("DELETE", path),
        ]

        assert [reply.document["id"] for reply in replies] == [key] * 3

    @covers("SUB-016")
    def test_id_may_be_percent_encoded(self, served: Served) -> None:
        key = created(served)
        encoded = "".join(f"%{ord(letter):02X}" for letter in key)

        assert served.get(f"/subscriptions/{encoded}").document["id"] == key

    @covers("SUB-017", "SUB-018")
    def test_source_narrows(self, served: Served) -> None:
        every, one = created(served), created(served, source="/sensors/tn-1234567/alerts")

        assert {every, one} <= wanted_by(served, source="/sensors/tn-1234567/alerts")
        assert wanted_by(served, source="/sensors/x") & {every, one} == {every}

    @covers("SUB-020", "SUB-021")
    def test_types_narrow(self, served: Served) -> None:
        every = created(served)
        two = created(
            served, types=["com.github.pull_request.opened", "com.example.object.deleted"]
        )

        assert {every, two} <= wanted_by(served, type="com.github.pull_request.opened")
        assert {every, two} <= wanted_by(served, type="com.example.object.deleted")
        assert two not in wanted_by(served, type="com.example.object.created")

    @covers("SUB-023")
    @pytest.mark.parametrize("wrong", ["source", "type", "subject"])
    def test_source_types_and_filters_combine_by_and(self, served: Served, wrong: str) -> None:
        key = created(served, source="/s", types=["t"], filters=[{"exact": {"subject": "x"}}])
        right = {"source": "/s", "type": "t", "subject": "x"}

        assert key in wanted_by(served, **right)
        assert key not in wanted_by(served, **{**right, wrong: "other"})

    @covers("SUB-024")
    def test_config_comes_back_unchanged(self, served: Served) -> None:
        config = {"data": "hello", "interval": 5, "deep": {"a": [1.5, None, True]}}

        reply = create(served, config=config)

        assert reply.document["config"] == config

    @covers("SUB-030", "SUB-033")
    @pytest.mark.parametrize("more", [{}, {"filters": []}])
    def test_without_filters_everything_passes(self, served: Served, more: dict[str, Any]) -> None:
        assert created(served, **more) in wanted_by(served, type="anything")

    @covers("SUB-031", "SUB-039")
    @pytest.mark.parametrize("step", [1, -1])
    def test_every_filter_must_hold_in_any_order(self, served: Served, step: int) -> None:
        key = created(served, filters=[EXACT, {"exact": {"subject": "s"}}][::step])

        assert key in wanted_by(served, type="a", subject="s")
        assert key not in wanted_by(served, type="a")

    @covers("SUB-156")
    def test_placeholder_filter_becomes_filters(self, served: Served) -> None:
        reply = create(served, filter={"prefix": {"type": "com."}})

        assert reply.status == 201
        assert reply.document["filters"] == [{"prefix": {"type": "com."}}]
        assert "filter" not in reply.document

    @covers("SUB-073", "SUB-127")
    def test_defaults_are_shown(self, served: Served) -> None:
        reply = create(served)

        assert reply.document["protocolsettings"]["method"] == "POST"

    @covers("SUB-118")
    def test_secret_header_never_comes_back(self, served: Served) -> None:
        settings = {"headers": {"Authorization": "Bearer p4ss", "X-Tenant": "t1"}}
        reply = create(served, protocolsettings=settings)
        path = f"/subscriptions/{reply.document['id']}"
        changed = {**S0, "protocolsettings": {"headers": {"Authorization": "Bearer p4ss2"}}}

        replies = [
            *(reply, served.get(path), served.get("/subscriptions")),
            *(served.request("PUT", path, changed), served.request("DELETE", path)),
        ]

        assert [answer.status for answer in replies] == [201, 200, 200, 200, 200]
        assert not any(b"p4ss" in answer.body for answer in replies)


class TestRefusals:
    """Bad proposals: 400, the path of the fault, and nothing is stored."""

    @pytest.mark.parametrize(
        ("path", "more"),
        [
            wrong("SUB-019", "source", source=""),
            wrong("SUB-019", "source", source="http://[bad"),
            wrong("SUB-022", "types[0]", types=[""]),
            wrong("SUB-022", "types[0]", types=[1]),
            wrong("SUB-025", "config", config={"": 1}),
            wrong("SUB-035", "filters[0].nosuch", filters=[{"nosuch": {}}]),
            wrong("SUB-036", "filters[0].all[0].not.nosuch", filters=[NESTED]),
            wrong("SUB-038", "filters[0]", filters=[{}]),
            wrong("SUB-064", "filters[0].sql", filters=[{"sql": "ABC("}]),
            wrong("SUB-066 SUB-125", "sink", sink=None),
            wrong("SUB-068", "sink", sink="amqp://h/q"),
            wrong("SUB-069 SUB-125", "protocol", protocol=None),
            wrong("SUB-071", "protocol", protocol="http"),
            wrong("SUB-009 SUB-072", "protocol", protocol="FTP"),
            wrong("SUB-075", "protocolsettings.headers", protocolsettings={"headers": []}),
            wrong("SUB-074", "protocolsettings.nosuch", protocolsettings={"nosuch": 1}),
        ],
    )
    def test_bad_proposal_changes_nothing(
        self, served: Served, path: str, more: dict[str, Any]
    ) -> None:
        key = created(served, types=["kept"])
        before = served.get(f"/subscriptions/{key}").document
        count = len(listed(served))

        post = create(served, **more)
        put = served.request("PUT", f"/subscriptions/{key}", {**S0, **more})

        assert (post.status, put.status) == (400, 400)
        assert post.paths == put.paths == [path]
        assert len(listed(served)) == count
        assert served.get(f"/subscriptions/{key}").document == before

    @covers("SUB-130", "SUB-145", "SUB-162")
    def test_all_faults_are_told_at_once(self, served: Served) -> None:
        reply = served.post("/subscriptions", {"source": "", "filters": [{}], "types": [1]})

        assert reply.status == 400
        assert reply.document["error"] == "invalid"
        assert set(reply.paths) == {"protocol", "sink", "source", "filters[0]", "types[0]"}

    @covers("SUB-160")
    @pytest.mark.parametrize("body", [b"{", b"[]", b"", b'"x"', b"\xff", b"[" * 10_000])
    def test_what_is_no_json_object_is_invalid(self, served: Served, body: bytes) -> None:
        reply = served.post("/subscriptions", body)

        assert reply.status == 400
        assert reply.headers["content-type"] == "application/problem+json"
        assert reply.document["error"] == "invalid"

    @covers("SUB-161")
    @pytest.mark.parametrize(
        ("media_type", "status"),
        [
            ("text/xml", 415),
            ("application/cloudevents+json", 415),
            ("application/json; charset=utf-8", 201),
            ("Application/JSON", 201),
        ],
    )
    def test_other_media_types_are_refused(
        self, served: Served, media_type: str, status: int
    ) -> None:
        reply = served.post("/subscriptions", S0, {"content-type": media_type})

        assert reply.status == status

    def test_missing_media_type_counts_as_json(self, served: Served) -> None:
        assert served.request("POST", "/subscriptions", S0).status == 201


class TestOperations:
    """Create, Retrieve, Query, Update, Delete, and how to find out about them."""

    @covers("SUB-002", "SUB-120", "SUB-126", "SUB-128", "SUB-151", "SUB-134", "SUB-119", "SUB-152")
    def test_create_says_where_the_object_is(self, served: Served) -> None:
        reply = create(served)

        base = f"http://127.0.0.1:{served.port}"
        assert reply.status == 201
        assert reply.headers["content-type"] == "application/json"
        assert reply.headers["location"].startswith(f"{base}/subscriptions/")
        found = served.get(reply.headers["location"].removeprefix(base))
        assert (found.status, found.document) == (200, reply.document)

    @covers("SUB-133")
    def test_events_published_after_the_answer_are_taken_and_no_others(
        self, served: Served
    ) -> None:
        served.post("/events", b"", BINARY)
        before = served.head()

        key = created(served)

        served.post("/events", b"", BINARY)
        document = served.control.store.get(ROUTE, key)
        assert document is not None
        route = msgspec.json.decode(document.body, type=Route)
        assert not route.takes(0, before - 1)
        assert route.takes(0, before)

    @covers("SUB-135", "SUB-162")
    @pytest.mark.parametrize("method", ["GET", "DELETE"])
    def test_unknown_id_is_not_found(self, served: Served, method: str) -> None:
        reply = served.request(method, "/subscriptions/nosuch")

        assert reply.status == 404
        assert reply.document["error"] == "notfound"

    @covers("SUB-141", "SUB-147")
    def test_update_of_an_unknown_id_makes_nothing(self, served: Served) -> None:
        count = len(listed(served))

        reply = served.request("PUT", "/subscriptions/nosuch", S0)

        assert reply.status == 404
        assert len(listed(served)) == count

    @covers("SUB-123", "SUB-142", "SUB-154")
    def test_update_replaces_the_object(self, served: Served) -> None:
        key = created(served)
        other = {
            "protocol": "HTTP",
            "sink": "http://other/",
            "filters": [EXACT],
            "config": {"a": 1},
            "types": ["a"],
            "source": "/x",
        }

        reply = served.request("PUT", f"/subscriptions/{key}", {**other, "id": key})

        assert reply.status == 200
        found = served.get(f"/subscriptions/{key}").document
        assert {name: found[name] for name in other} == other

    @covers("SUB-143", "SUB-144")
    def test_update_brings_defaults_back(self, served: Served) -> None:
        key = created(served, filters=[EXACT], protocolsettings={"method": "PUT"})

        reply = served.request("PUT", f"/subscriptions/{key}", S0)

        assert reply.document["protocolsettings"]["method"] == "POST"
        assert reply.document["filters"] == []

    @covers("SUB-146")
    def test_update_takes_effect(self, served: Served) -> None:
        key = created(served, types=["old"])

        served.request("PUT", f"/subscriptions/{key}", {**S0, "types": ["new"]})

        assert key in wanted_by(served, type="new")
        assert key not in wanted_by(served, type="old")

    def test_id_in_the_body_must_be_that_of_the_path(self, served: Served) -> None:
        key = created(served)

        reply = served.request("PUT", f"/subscriptions/{key}", {**S0, "id": "another"})

        assert (reply.status, reply.paths) == (400, ["id"])

    @covers("SUB-121", "SUB-148", "SUB-149", "SUB-150", "SUB-155")
    def test_delete_returns_the_object_and_ends_it(self, served: Served) -> None:
        reply = create(served)
        path = f"/subscriptions/{reply.document['id']}"

        gone = served.request("DELETE", path)

        assert (gone.status, gone.document) == (200, reply.document)
        assert served.request("DELETE", path).status == 404
        assert served.get(path).status == 404
        assert reply.document["id"] not in wanted_by(served)

    @covers("SUB-157", "SUB-124")
    def test_options_of_the_collection(self, served: Served) -> None:
        reply = served.request("OPTIONS", "/subscriptions")

        assert (reply.status, reply.headers["allow"]) == (200, "GET,POST,OPTIONS")

    @covers("SUB-158")
    @pytest.mark.parametrize("known", [True, False])
    def test_options_of_an_item(self, served: Served, known: bool) -> None:  # noqa: FBT001
        key = created(served) if known else "nosuch"

        reply = served.request("OPTIONS", f"/subscriptions/{key}")

        assert reply.status == 200
        assert reply.headers["allow"] == "GET,PUT,PATCH,DELETE,OPTIONS"
        assert reply.headers["accept-patch"] == "application/merge-patch+json"

    @covers("SUB-159")
    @pytest.mark.parametrize(
        ("method", "path", "allow"),
        [
            ("POST", "/subscriptions/x", "GET,PUT,PATCH,DELETE,OPTIONS"),
            ("PATCH", "/subscriptions", "GET,POST,OPTIONS"),
            ("DELETE", "/subscriptions", "GET,POST,OPTIONS"),
        ],
    )
    def test_other_methods_are_refused(
        self, served: Served, method: str, path: str, allow: str
    ) -> None:
        reply = served.request(method, path)

        assert (reply.status, reply.headers["allow"]) == (405, allow)
