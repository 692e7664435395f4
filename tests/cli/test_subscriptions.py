from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.client import Client, Subscription
from tests.cli.command import Done, run

pytestmark = pytest.mark.network

SINK = "http://127.0.0.1:9/in"


def command(client: Client, *arguments: str, stdin: str | None = None) -> Done:
    return run("subscriptions", *arguments, "--url", client.url, stdin=stdin)


def test_created_subscription_has_all_that_was_asked_for(client: Client) -> None:
    done = command(
        client,
        *("create", "--sink", SINK, "--type", "a", "--source", "/s", "--suffix", "subject=x"),
        *("--mode", "structured", "--header", "X-Tenant=1", "--method", "PUT", "--timeout", "5"),
        *("--retry", "2", "--backoff-delay", "PT2S", "--backoff-policy", "linear"),
        *("--dead-letter-sink", "http://127.0.0.1:9/dead", "--max-in-flight", "3"),
        *("--setting", "ratelimit=5", "--config", "startfrom=earliest"),
    )

    made = client.subscription(done.out.strip())
    assert (made.sink, made.types, made.source) == (SINK, ("a",), "/s")
    assert made.filters == ({"suffix": {"subject": "x"}},)
    assert made.config == {"startfrom": "earliest"}
    assert made.protocolsettings == {
        "ratelimit": 5,
        "handshake": "off",
        "headers": {"X-Tenant": "1"},
        "method": "PUT",
        "contentmode": "structured",
        "timeout": 5,
        "retry": 2,
        "backoffdelay": "PT2S",
        "backoffpolicy": "linear",
        "deadlettersink": "http://127.0.0.1:9/dead",
        "maxinflight": 3,
    }


def test_subscription_is_created_from_a_document(client: Client, tmp_path: Path) -> None:
    file = tmp_path / "subscription.json"
    file.write_text(json.dumps({"sink": SINK, "protocol": "HTTP", "types": "a"}))

    done = command(client, "create", "--file", str(file), "--json")

    assert json.loads(done.out)["types"] == ["a"]


def test_refused_subscription_names_every_problem(client: Client) -> None:
    done = command(client, "create", "--sink", "nowhere", "--timeout", "-1")

    assert done.code == 1
    assert [line.split(":")[1] for line in done.err.splitlines()] == [
        " sink",
        " protocolsettings.timeout",
    ]


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--sink", SINK, "--file", "x"),
        ("--file", "x", "--type", "a"),
        ("--file", "x", "--retry", "1"),
        ("--sink", SINK, "--header", "x"),
        ("--file", "x", "--protocol", "HTTP"),
        ("--sink", SINK, "--setting", "x"),
    ],
    ids=str,
)
def test_options_that_contradict_are_wrong_usage(client: Client, options: tuple[str, ...]) -> None:
    assert command(client, "create", *options).code == 2


@pytest.mark.parametrize("text", ["[]", "{", "1"])
def test_file_that_is_no_object_is_refused(client: Client, text: str) -> None:
    done = command(client, "create", "--file", "-", stdin=text)

    assert done.code == 1
    assert "holds no JSON object" in done.err


def test_list_shows_each_on_its_line(client: Client) -> None:
    some = client.create_subscription(Subscription(sink=SINK, types=("a", "b"), source="/s"))
    every = client.create_subscription(Subscription(sink=SINK))

    lines = command(client, "list").out.splitlines()

    assert lines[0].split() == ["ID", "STATE", "SINK", "EVENTS"]
    rows = {line.split()[0]: line.split(maxsplit=3)[3].strip() for line in lines[1:]}
    assert rows == {some.id: "type a or b, source /s", every.id: "all"}


def test_list_tells_when_there_are_more(client: Client) -> None:
    for _ in range(3):
        client.create_subscription(Subscription(sink=SINK))

    some = command(client, "list", "--limit", "2", "--json")
    every = command(client, "list", "--limit", "0", "--json")

    assert len(json.loads(some.out)) == 2
    assert "there are more than 2" in some.err
    assert len(json.loads(every.out)) == 3
    assert every.err == ""


def test_show_prints_one(client: Client) -> None:
    made = client.create_subscription(Subscription(sink=SINK, types=("a",)))

    text = command(client, "show", made.id).out
    document = json.loads(command(client, "show", made.id, "--json").out)

    assert f"id                {made.id}\n" in text
    assert 'types             ["a"]\n' in text
    assert (document["id"], document["sink"]) == (made.id, SINK)


def test_status_tells_how_deliveries_go(client: Client) -> None:
    made = client.create_subscription(Subscription(sink=SINK))

    text = command(client, "status", made.id).out
    document = json.loads(command(client, "status", made.id, "--json").out)

    assert "state              running\n" in text
    assert "delivered          0\n" in text
    assert document["deliveries"]["dead"] == 0


def test_list_can_be_narrowed(client: Client) -> None:
    one = client.create_subscription(Subscription(sink=SINK, types=("a",)))
    client.create_subscription(Subscription(sink=SINK, types=("b",)))

    done = command(client, "list", "--sink", SINK, "--type", "a", "--protocol", "HTTP", "--json")

    assert [each["id"] for each in json.loads(done.out)] == [one.id]


def test_update_changes_what_is_given_and_keeps_the_rest(client: Client) -> None:
    settings = {"retry": 2, "timeout": 5}
    made = client.create_subscription(
        Subscription(sink=SINK, types=("a",), source="/s", protocolsettings=settings)
    )

    done = command(
        client,
        *("update", made.id, "--type", "b", "--timeout", "7", "--unset", "source"),
        *("--unset", "retry", "--json"),
    )

    shown = json.loads(done.out)
    assert (shown["types"], shown["sink"], "source" in shown) == (["b"], SINK, False)
    assert shown["protocolsettings"]["timeout"] == 7
    assert "retry" not in shown["protocolsettings"]


def test_update_by_a_file_replaces_all(client: Client) -> None:
    made = client.create_subscription(Subscription(sink=SINK, types=("a",)))
    document = json.dumps({"protocol": "HTTP", "sink": "http://other/"})

    done = command(client, "update", made.id, "--file", "-", stdin=document)

    assert "sink              http://other/\n" in done.out
    assert client.subscription(made.id).types == ()


def test_update_that_changes_nothing_is_wrong_usage(client: Client) -> None:
    assert command(client, "update", "x").code == 2


def test_update_that_is_refused_names_every_problem(client: Client) -> None:
    made = client.create_subscription(Subscription(sink=SINK))

    done = command(client, "update", made.id, "--sink", "nowhere", "--timeout", "-1")

    assert done.code == 1
    assert len(done.err.splitlines()) == 2


def test_pause_and_resume_name_what_they_did(client: Client) -> None:
    made = client.create_subscription(Subscription(sink=SINK))

    paused = command(client, "pause", made.id)
    row = command(client, "list").out.splitlines()[1]
    resumed = command(client, "resume", made.id, "--json")

    assert paused.out == f"paused {made.id}\n"
    assert row.split()[1] == "paused"
    assert json.loads(resumed.out)[0]["id"] == made.id


def test_delete_removes_all_that_are_named(client: Client) -> None:
    one, other, kept = (client.create_subscription(Subscription(sink=SINK)).id for _ in range(3))

    done = command(client, "delete", one, other)

    assert done.out == f"deleted {one}\ndeleted {other}\n"
    assert [left.id for left in client.subscriptions()] == [kept]


def test_unknown_subscription_is_a_failure(client: Client) -> None:
    done = command(client, "delete", "nobody")

    assert done.code == 1
    assert "nobody" in done.err
