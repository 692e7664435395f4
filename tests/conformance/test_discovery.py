"""CloudSubscriptions Discovery: the catalogue and its operations, over real HTTP."""

from __future__ import annotations

import json
import re
import subprocess
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from tests.api.served import Reply, Served, serving

V0: dict[str, Any] = {
    "specversions": ["1.0"],
    "subscriptionurl": "https://events.example.com/subscriptions",
    "protocols": ["HTTP"],
    "events": [{"type": "com.example.widget.create"}],
}
# The two services that the document prints, as they stand there.
WIDGETS = """\
{
  "id": "cbdd62e8-c095-11ea-b3de-0242ac130004",
  "discversion": 1,
  "updated": "2018-04-05T17:31:00Z",
  "url": "https://example.com/services/widgetService",
  "name": "widgets",
  "specversions": ["1.0"],
  "subscriptionurl": "https://events.example.com",
  "protocols": ["HTTP"],
  "events": [
    {
      "type": "com.example.widget.create"
    },
    {
      "type": "com.example.widget.delete"
    }
  ]
}
"""
STORAGE = """\
{
  "id": "3db60532-e839-417e-8644-e255f338776a",
  "url": "https://storage.example.com/service/storage",
  "name": "storage",
  "description": "Blob storage in the cloud",
  "protocols": ["HTTP"],
  "subscriptionurl": "https://cloud.example.com/docs/storage",
  "events": [
    {
      "type": "com.example.storage.object.create",
      "specversions": ["1.x-wip"],
      "datacontenttype": "application/json",
      "dataschema": "http://schemas.example.com/download/com.example.storage.object.create.json",
      "sourcetemplate": "https://storage.example.com/service/storage/{objectID}"
    }
  ]
}
"""
OLD = "2018-04-05T17:31:00Z"
covers = pytest.mark.covers


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("data")) as running:
        yield running


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Served]:
    """A server that is nothing but a catalogue: it does not list itself."""
    with serving(tmp_path, service_name="") as running:
        yield running


def fresh(**more: object) -> dict[str, Any]:
    """A valid service under a name that nobody else has."""
    return {"name": f"service {uuid.uuid4()}", **V0, **more}


def imported(**more: object) -> dict[str, Any]:
    return fresh(id=str(uuid.uuid4()), discversion=7, updated=OLD, **more)


def created(served: Served, **more: object) -> Any:  # noqa: ANN401 - a JSON object
    reply = served.post("/services", fresh(**more))
    assert reply.status == 201, reply.body
    return reply.document


def put(served: Served, key: str, document: dict[str, Any]) -> Reply:
    return served.request("PUT", f"/services/{key}", document)


def read(served: Served, key: str) -> Any:  # noqa: ANN401 - a JSON object
    return served.get(f"/services/{key}").document


def local(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def wrong(ids: str, path: str, **more: object) -> Any:  # noqa: ANN401 - pytest hides the type
    """A proposal with one fault at a path."""
    return pytest.param(path, more, marks=covers(*ids.split()), id=f"{ids} {path} {more}")


def right(ids: str, **more: object) -> Any:  # noqa: ANN401 - pytest hides the type
    """A proposal without a fault, which is read back as it was given."""
    return pytest.param(more, marks=covers(*ids.split()), id=f"{ids} {more}")


def event(**more: object) -> list[dict[str, object]]:
    return [{"type": "t", **more}]


def extension(**more: object) -> list[dict[str, object]]:
    return event(extensions=[more])


class TestEndpoint:
    """What a discovery endpoint is."""

    @covers("DIS-001")
    def test_all_three_reads_are_answered(self, served: Served) -> None:
        made = created(served)

        replies = [
            served.get("/services"),
            served.get(f"/services/{made['id']}"),
            served.get(f"/services?name={quote(made['name'])}"),
        ]

        assert [reply.status for reply in replies] == [200, 200, 200]

    @covers("DIS-002", "DIS-014")
    def test_entry_is_the_same_at_two_endpoints(self, served: Served, bare: Served) -> None:
        made = created(served, description="known here and there")

        bare.post("/services", made)

        there = read(bare, made["id"])
        assert there.pop("url") != made.pop("url")
        assert there == made

    @covers("DIS-003")
    def test_entry_has_no_source(self, served: Served) -> None:
        reply = served.post("/services", fresh(source="/a", events=event(source="/b")))

        assert (reply.status, sorted(reply.paths)) == (400, ["events[0].source", "source"])

    @covers("DIS-006", "DIS-085")
    def test_form_does_not_depend_on_who_asks(self, served: Served) -> None:
        created(served)

        replies = [
            served.request("GET", "/services", headers=headers)
            for headers in ({}, {"authorization": "Bearer a"}, {"authorization": "Basic Yjpi"})
        ]

        assert {reply.status for reply in replies} == {200}
        assert replies[0].document == replies[1].document == replies[2].document

    @covers("DIS-086")
    def test_content_type_is_json(self, served: Served) -> None:
        made = created(served)
        path = f"/services/{made['id']}"

        replies = [
            served.get("/services"),
            served.get(path),
            served.get(f"/services?name={quote(made['name'])}"),
            put(served, made["id"], made),
            served.request("DELETE", path),
        ]

        assert {reply.status for reply in replies} == {200}
        assert {reply.headers["content-type"] for reply in replies} == {"application/json"}

    @covers("DIS-087")
    @pytest.mark.parametrize(
        ("method", "path", "allow"),
        [
            ("PATCH", "/services", "GET,POST,OPTIONS"),
            ("DELETE", "/services", "GET,POST,OPTIONS"),
            ("POST", "/services/x", "GET,PUT,DELETE,OPTIONS"),
        ],
    )
    def test_other_methods_are_refused(
        self, served: Served, method: str, path: str, allow: str
    ) -> None:
        reply = served.request(method, path)

        assert (reply.status, reply.headers["allow"]) == (405, allow)


class TestStamps:
    """`id`, `discversion` and `updated`."""

    @covers("DIS-007", "DIS-008", "DIS-010", "DIS-012")
    def test_ids_are_made_by_the_endpoint(self, served: Served) -> None:
        ids = [created(served)["id"] for _ in range(20)]

        assert len({str(uuid.UUID(each)) for each in ids} & set(ids)) == 20
        assert set(ids) <= {each["id"] for each in served.get("/services").document}

    @covers("DIS-009", "DIS-013")
    def test_id_stays_when_all_else_changes(self, served: Served) -> None:
        key = created(served)["id"]

        changed = put(served, key, fresh(description="new"))
        refused = put(served, key, fresh(id=str(uuid.uuid4())))

        assert (changed.status, changed.document["id"]) == (200, key)
        assert (refused.status, refused.paths) == (400, ["id"])
        assert read(served, key)["description"] == "new"

    @covers("DIS-011", "DIS-019", "DIS-027")
    def test_import_keeps_what_it_brings(self, served: Served) -> None:
        document = imported()

        reply = served.post("/services", document)

        found = read(served, document["id"])
        assert reply.status == 201
        assert reply.document == found
        assert (found["discversion"], found["updated"]) == (7, OLD)
        assert put(served, found["id"], found).document["discversion"] == 8

    @covers("DIS-011")
    def test_import_may_lack_version_and_time(self, served: Served) -> None:
        document = fresh(id=str(uuid.uuid4()).upper())

        made = served.post("/services", document).document

        assert made["id"] == document["id"].lower()
        assert made["discversion"] == 1
        assert served.get(f"/services/{document['id']}").document == made

    @covers("DIS-011")
    def test_import_does_not_overwrite(self, served: Served) -> None:
        made = created(served)

        reply = served.post("/services", {**made, "name": "another", "description": "x"})

        assert reply.status == 409
        assert read(served, made["id"]) == made

    @covers("DIS-015", "DIS-016", "DIS-017")
    def test_version_counts_updates(self, served: Served) -> None:
        made = created(served)

        versions = [put(served, made["id"], fresh()).document["discversion"] for _ in range(3)]

        assert [made["discversion"], *versions] == [1, 2, 3, 4]
        assert type(read(served, made["id"])["discversion"]) is int

    @covers("DIS-018", "DIS-026")
    def test_create_has_no_stamps(self, served: Served) -> None:
        reply = served.post("/services", fresh(discversion=1, updated=OLD))

        assert (reply.status, sorted(reply.paths)) == (400, ["discversion", "updated"])

    @covers("DIS-020", "DIS-022", "DIS-028", "DIS-030")
    def test_update_may_carry_the_current_stamps_or_none(self, served: Served) -> None:
        made = created(served)

        both = put(served, made["id"], made)
        none = put(served, made["id"], fresh())
        digits = put(served, made["id"], fresh(discversion="3"))

        assert [each.status for each in (both, none, digits)] == [200, 200, 200]
        assert digits.document["discversion"] == 4

    @covers("DIS-021", "DIS-029", "DIS-034")
    @pytest.mark.parametrize(
        "stale",
        [
            {"discversion": 3},
            {"updated": "2018-04-05T17:30:59Z"},
            {"updated": OLD.lower()},
            {"discversion": 7, "updated": "2018-04-05T17:30:59Z"},
        ],
        ids=str,
    )
    def test_stale_update_changes_nothing(self, served: Served, stale: dict[str, object]) -> None:
        document = imported()
        made = served.post("/services", document).document

        reply = put(served, document["id"], fresh(**stale))

        assert reply.status == 409
        assert reply.document["current"] == {"discversion": 7, "updated": OLD}
        assert read(served, document["id"]) == made

    @covers("DIS-024", "DIS-025")
    def test_time_is_that_of_the_last_change(self, served: Served) -> None:
        key = served.post("/services", imported()).document["id"]
        before = datetime.now(UTC).replace(microsecond=0)

        changed = put(served, key, fresh()).document["updated"]

        assert before <= datetime.fromisoformat(changed) <= datetime.now(UTC)
        assert read(served, key)["updated"] == changed

    @covers("DIS-024", "DIS-034")
    def test_time_never_goes_back(self, served: Served) -> None:
        ahead = "9998-01-01T00:00:00Z"
        key = served.post("/services", {**imported(), "updated": ahead}).document["id"]

        assert put(served, key, fresh()).document["updated"] == ahead

    @covers("DIS-032", "DIS-033")
    def test_own_times_are_whole_seconds_in_utc(self, served: Served) -> None:
        times = [each["updated"] for each in served.get("/services").document]

        form = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
        assert all(form.fullmatch(each) for each in [*times, created(served)["updated"]])

    @pytest.mark.parametrize(
        ("path", "more"),
        [
            wrong("DIS-008", "id", id="abc"),
            wrong("DIS-008", "id", id="3db60532e839417e8644e255f338776a"),
            wrong("DIS-008", "id", id=""),
            wrong("DIS-008", "id", id=7),
            wrong("DIS-015", "discversion", discversion="one"),
            wrong("DIS-015", "discversion", discversion=0),
            wrong("DIS-015", "discversion", discversion=True),
            wrong("DIS-015", "discversion", discversion=1.5),
            wrong("DIS-031", "updated", updated="2018-04-05t17:31:00z"),
            wrong("DIS-031", "updated", updated="2018-04-05T17:31:00z"),
            wrong("DIS-032", "updated", updated="2018-04-05T17:31:00.1Z"),
            wrong("DIS-033", "updated", updated="2018-04-05T17:31:00+00:00"),
            wrong("DIS-024", "updated", updated="2018-02-30T17:31:00Z"),
            wrong("DIS-024", "updated", updated=5),
        ],
    )
    def test_wrong_stamp_is_refused(
        self, served: Served, path: str, more: dict[str, object]
    ) -> None:
        reply = served.post("/services", {**imported(), **more})

        assert (reply.status, reply.paths) == (400, [path])


class TestAttributes:
    """What a service says of itself."""

    @pytest.mark.parametrize(
        ("path", "more"),
        [
            wrong("DIS-035", "name", name=None),
            wrong("DIS-035", "name", name=""),
            wrong("DIS-035", "name", name=5),
            wrong("DIS-043", "description", description=""),
            wrong("DIS-045", "docsurl", docsurl=""),
            wrong("DIS-045", "docsurl", docsurl="/docs"),
            wrong("DIS-046", "authscope", authscope=["storage.read"]),
            wrong("DIS-047", "specversions", specversions=None),
            wrong("DIS-048", "specversions", specversions=[]),
            wrong("DIS-048", "specversions[0]", specversions=[""]),
            wrong("DIS-048", "specversions", specversions="1.0"),
            wrong("DIS-049", "protocols", protocols=None),
            wrong("DIS-050", "protocols", protocols=[]),
            wrong("DIS-050", "protocols[1]", protocols=["HTTP", ""]),
            wrong("DIS-053", "subscriptionurl", subscriptionurl=None),
            wrong("DIS-053", "subscriptionurl", subscriptionurl="/subscriptions"),
            wrong("DIS-053", "subscriptionurl", subscriptionurl="http://[::1"),
            wrong("DIS-053", "subscriptionurl", subscriptionurl="http://h:99999/"),
            wrong("DIS-055", "subscriptionconfig", subscriptionconfig=["interval"]),
            wrong("DIS-057", "subscriptionconfig.a", subscriptionconfig={"a": "Float"}),
            wrong("DIS-058", "subscriptionconfig.a", subscriptionconfig={"a": 5}),
            wrong("DIS-058", "subscriptionconfig", subscriptionconfig={"": "String"}),
            wrong("DIS-059", "events", events={}),
            wrong("DIS-060", "events[0].type", events=[{}]),
            wrong("DIS-060", "events[0].type", events=[{"type": ""}]),
            wrong("DIS-060", "events[0].type", events=[{"type": "a\u0001"}]),
            wrong("DIS-060", "events[0]", events=["t"]),
            wrong("DIS-061", "events[0].description", events=event(description="")),
            wrong("DIS-062", "events[0].datacontenttype", events=event(datacontenttype="json")),
            wrong("DIS-063", "events[0].dataschema", events=event(dataschema="")),
            wrong("DIS-063", "events[0].dataschema", events=event(dataschema="/relative")),
            wrong("DIS-064", "events[0].dataschematype", events=event(dataschematype="xsd")),
            wrong("DIS-065", "events[0].dataschemacontent", events=event(dataschemacontent="")),
            wrong(
                "DIS-065",
                "events[0].dataschemacontent",
                events=event(
                    datacontenttype="application/json",
                    dataschematype="application/schema+json",
                    dataschemacontent="{",
                ),
            ),
            wrong(
                "DIS-066",
                "events[0].dataschemacontent",
                events=event(dataschema="http://s/", dataschemacontent="{}"),
            ),
            *(
                wrong("DIS-068", "events[0].sourcetemplate", events=event(sourcetemplate=template))
                for template in (
                    *("http://x/{+path}", "http://x/{a,b}", "http://x/{a*}", "http://x/{a:3}"),
                    *("http://x/{a", "http://x/a}", "http://x/{}", "http://x/ {a}", ""),
                )
            ),
            wrong("DIS-069", "events[0].extensions", events=event(extensions={})),
            wrong("DIS-070", "events[0].extensions[0].name", events=extension(type="String")),
            wrong(
                "DIS-070",
                "events[0].extensions[0].name",
                events=extension(name="dataRef", type="String"),
            ),
            wrong("DIS-071", "events[0].extensions[0].type", events=extension(name="a")),
            wrong(
                "DIS-071", "events[0].extensions[0].type", events=extension(name="a", type="Float")
            ),
        ],
    )
    def test_wrong_attribute_is_refused_by_name(
        self, served: Served, path: str, more: dict[str, object]
    ) -> None:
        before = served.get("/services").document

        reply = served.post("/services", fresh(**more))

        assert (reply.status, reply.paths) == (400, [path])
        assert served.get("/services").document == before

    @pytest.mark.parametrize(
        "more",
        [
            right("DIS-044 DIS-045", docsurl="http://cloud.example.com/docs/blobstorage"),
            right("DIS-046", authscope="storage.read"),
            right("DIS-051", protocols=["HTTP", "AMQP", "KAFKA"]),
            right("DIS-051", protocols=["AMQP", "MQTT3", "MQTT5", "HTTP", "KAFKA", "NATS"]),
            right("DIS-052", protocols=["HTTP", "X-CUSTOM"]),
            right("DIS-055", subscriptionconfig={"interval": "Integer"}),
            right("DIS-055", subscriptionconfig={}),
            right("DIS-059", events=[]),
            right("DIS-061", events=event(description="made")),
            right("DIS-062", events=event(datacontenttype="application/json")),
            right("DIS-063", events=event(dataschema="http://schemas.example.com/a")),
            right(
                "DIS-064 DIS-065",
                events=event(
                    datacontenttype="application/json",
                    dataschematype="application/json",
                    dataschemacontent='{ "type": "object" }',
                ),
            ),
            right("DIS-067", events=event(sourcetemplate="http://blob.store/{bucket}")),
            right("DIS-067", events=event(sourcetemplate="/a%20b/{x_1.y}/ä")),
            right(
                "DIS-069 DIS-070 DIS-071",
                events=extension(
                    name="dataref",
                    type="URI-reference",
                    specurl="https://github.com/cloudevents/spec/blob/master/extensions/dataref.md",
                ),
            ),
            right("DIS-072", events=extension(name="dataref", type="URI-reference")),
        ],
    )
    def test_right_attribute_is_read_back(self, served: Served, more: dict[str, object]) -> None:
        key = created(served, **more)["id"]

        assert {name: read(served, key)[name] for name in more} == more

    @covers("DIS-042", "DIS-059")
    def test_what_is_not_given_is_not_there(self, served: Served) -> None:
        document = fresh(events=None, description=None)

        made = served.post("/services", document).document

        optional = {"events", "description", "docsurl", "authscope", "subscriptionconfig"}
        assert not optional & made.keys()

    @covers("DIS-047")
    def test_versions_may_be_those_of_the_events(self, served: Served) -> None:
        events = [{"type": "a", "specversions": ["1.0"]}, {"type": "b", "specversions": ["0.2"]}]

        made = created(served, specversions=None, events=events)

        assert (made["specversions"], made["events"]) == (["1.0", "0.2"], events)

    @covers("DIS-057", "DIS-071")
    def test_type_names_get_their_proper_spelling(self, served: Served) -> None:
        made = created(
            served,
            subscriptionconfig={"a": "uri-REFERENCE", "b": "any"},
            events=extension(name="x", type="TIMESTAMP"),
        )

        assert made["subscriptionconfig"] == {"a": "URI-reference", "b": "Any"}
        assert made["events"][0]["extensions"][0]["type"] == "Timestamp"

    @covers("DIS-036")
    def test_names_differ_in_more_than_case(self, served: Served) -> None:
        one, other = created(served, name="Straße"), created(served, name="Strasse")

        again = served.post("/services", fresh(name="STRASSE"))
        renamed = put(served, one["id"], fresh(name="strasse"))

        assert (again.status, renamed.status) == (409, 409)
        assert read(served, one["id"]) == one
        assert read(served, other["id"]) == other

    @covers("DIS-037")
    def test_name_may_have_spaces(self, served: Served) -> None:
        made = created(served, name="my storage service")

        assert served.get("/services?name=my%20storage%20service").document == made

    @covers("DIS-038")
    def test_case_of_the_own_name_may_change(self, served: Served) -> None:
        made = created(served, name="Own Name")

        changed = put(served, made["id"], fresh(name="OWN NAME"))

        assert (changed.status, changed.document["name"]) == (200, "OWN NAME")
        assert served.get("/services?name=own+name").document == changed.document

    @covers("DIS-039", "DIS-040", "DIS-041")
    def test_url_leads_back(self, served: Served) -> None:
        reply = served.post("/services", fresh(url="https://elsewhere.example.com/x"))

        url = reply.document["url"]
        assert url == reply.headers["location"]
        assert url == f"http://127.0.0.1:{served.port}/services/{reply.document['id']}"
        assert served.get(local(url)).document == reply.document

    def test_all_problems_are_named_at_once(self, served: Served) -> None:
        document = {"id": "x", "name": "", "protocols": [], "events": [{"datacontenttype": "x"}]}

        reply = served.post("/services", document)

        assert sorted(reply.paths) == [
            *("events[0].datacontenttype", "events[0].type", "id", "name"),
            *("protocols", "specversions", "subscriptionurl"),
        ]

    def test_unknown_attributes_are_kept(self, served: Served) -> None:
        later = {"epoch": 5, "deprecated": {"effective": OLD}, "huge": 10**40}

        key = created(served, **later, nothing=None)["id"]

        found = read(served, key)
        assert {name: found[name] for name in later} == later
        assert "nothing" not in found


class TestSubscribing:
    """From the catalogue to a subscription."""

    @covers("DIS-054")
    def test_consumer_that_knows_only_the_catalogue_can_subscribe(self, served: Served) -> None:
        own = served.get("/services?name=penstock").document
        wish = {"protocol": own["protocols"][0], "sink": "http://127.0.0.1:9/"}

        made = served.post(local(own["subscriptionurl"]), wish)

        assert made.status == 201
        assert served.get(f"/subscriptions/{made.document['id']}").status == 200

    @covers("DIS-056")
    def test_subscription_has_only_keys_that_the_service_knows(self, tmp_path: Path) -> None:
        with serving(tmp_path) as served:
            here = served.get("/services?name=penstock").document["subscriptionurl"]
            created(served, subscriptionurl=here, subscriptionconfig={"interval": "Integer"})
            wish = {"protocol": "HTTP", "sink": "http://127.0.0.1:9/"}

            other = served.post("/subscriptions", {**wish, "config": {"intervall": 5}})
            text = served.post("/subscriptions", {**wish, "config": {"interval": "soon"}})
            good = served.post("/subscriptions", {**wish, "config": {"interval": 5}})

            assert (other.status, other.paths) == (400, ["config.intervall"])
            assert (text.status, text.paths) == (400, ["config.interval"])
            assert (good.status, good.document["config"]) == (201, {"interval": 5})

    @covers("SUB-010")
    def test_own_entry_lists_what_create_accepts(self, tmp_path: Path) -> None:
        with serving(tmp_path) as served:
            before = served.get("/services?name=penstock").document
            created(
                served,
                subscriptionurl=before["subscriptionurl"],
                subscriptionconfig={"interval": "Integer"},
            )

            after = served.get("/services?name=penstock").document

            assert "subscriptionconfig" not in before
            assert after["subscriptionconfig"]["interval"] == "Integer"
            assert after["protocols"] == ["HTTP"]


class TestQueries:
    """The three reads."""

    @covers("DIS-073")
    def test_no_services_are_an_empty_array(self, bare: Served) -> None:
        reply = bare.get("/services")

        assert (reply.status, reply.document) == (200, [])

    @covers("DIS-074", "DIS-075")
    def test_all_services_are_in_one_array(self, bare: Served) -> None:
        made = [created(bare, name=f"{number:03}") for number in reversed(range(300))]

        listed = bare.get("/services").document

        assert listed == made[::-1]
        assert [read(bare, each["id"]) for each in listed[:5]] == listed[:5]

    @covers("DIS-076")
    def test_catalogue_may_lie_below_another_path(self, tmp_path: Path) -> None:
        with serving(tmp_path, url="https://example.com/myAggregator") as served:
            made = served.post("/myAggregator/services", fresh()).document

            assert made["url"] == f"https://example.com/myAggregator/services/{made['id']}"
            assert served.get(local(made["url"])).document == made
            assert made in served.get("/myAggregator/services").document
            assert made in served.get("/services").document

    @covers("DIS-077")
    def test_id_gives_one_object(self, served: Served) -> None:
        made = created(served)

        reply = served.get(f"/services/{made['id'].upper()}")

        assert (reply.status, reply.document) == (200, made)

    @covers("DIS-078")
    @pytest.mark.parametrize("key", [str(uuid.UUID(int=0)), "nosuch", "%00", "a" * 2000])
    def test_unknown_id_is_not_found(self, served: Served, key: str) -> None:
        path = f"/services/{key}"

        replies = [
            served.get(path),
            served.request("PUT", path, fresh()),
            served.request("DELETE", path),
        ]

        assert [reply.status for reply in replies] == [404, 404, 404]

    @covers("DIS-079", "DIS-080")
    def test_name_gives_one_object_whatever_its_case(self, served: Served) -> None:
        made = created(served, name="Gadgets")

        reply = served.get("/services?name=gADGETS&color=blue")

        assert (reply.status, reply.body[:1]) == (200, b"{")
        assert reply.document == made

    @covers("DIS-079", "DIS-081")
    @pytest.mark.parametrize("name", ["gizmo", "gizmos%20", "", "%00", "gi%CC%87zmos"])
    def test_other_name_is_not_found(self, served: Served, name: str) -> None:
        served.post("/services", fresh(name="gizmos"))

        assert served.get(f"/services?name={name}").status == 404

    def test_two_names_are_refused(self, served: Served) -> None:
        reply = served.get("/services?name=a&name=b")

        assert (reply.status, reply.paths) == (400, ["name"])

    def test_slash_head_and_options_are_answered(self, served: Served) -> None:
        assert served.get("/services/").document == served.get("/services").document
        assert served.request("HEAD", "/services").body == b""
        options = served.request("OPTIONS", "/services")
        assert (options.status, options.headers["allow"]) == (200, "GET,POST,OPTIONS")

    def test_deleted_service_is_gone_with_its_name(self, served: Served) -> None:
        made = created(served, name="short-lived")

        reply = served.request("DELETE", f"/services/{made['id']}")

        assert (reply.status, reply.document) == (200, made)
        assert served.get(f"/services/{made['id']}").status == 404
        assert served.get("/services?name=short-lived").status == 404
        assert served.post("/services", fresh(name="Short-Lived")).status == 201


class TestExamples:
    """What the document prints works as it stands, pasted with curl."""

    @pytest.mark.network
    @covers("DIS-001", "DIS-047")
    @pytest.mark.parametrize("text", [WIDGETS, STORAGE], ids=["widgets", "storage"])
    def test_printed_service_is_taken(self, bare: Served, text: str) -> None:
        given = json.loads(text)
        address = f"http://127.0.0.1:{bare.port}/services"

        made = curl(address, "-H", "Content-Type: application/json", "-d", text)

        kept = given.keys() - {"url"}
        assert {name: made[name] for name in kept} == {name: given[name] for name in kept}
        assert curl(made["url"]) == made
        assert curl(f"{address}?name={given['name'].upper()}") == made
        assert curl(address) == [made]


def curl(*arguments: str) -> Any:  # noqa: ANN401 - any JSON value
    """Run curl, which must succeed, and return the JSON that it prints."""
    command = ["curl", "--silent", "--show-error", "--fail-with-body", "--noproxy", "*"]
    done = subprocess.run([*command, *arguments], check=True, capture_output=True, timeout=20)
    return json.loads(done.stdout)
