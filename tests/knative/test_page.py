"""The page on Knative says what runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.api.served import Served, serving
from tests.cli.command import run
from tests.knative.cluster import a_cluster, ready

pytestmark = pytest.mark.network

PAGE = (Path(__file__).parent.parent.parent / "docs" / "knative.md").read_text(encoding="utf-8")
MANIFESTS = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("data")) as running:
        yield running


@pytest.mark.parametrize("text", MANIFESTS, ids=range(len(MANIFESTS)))
def test_manifest_becomes_ready(served: Served, text: str) -> None:
    cluster = a_cluster(served)

    made = [cluster.made(document) for document in yaml.safe_load_all(text)]

    assert [ready(one) for one in made if "status" in one] == ["True"] * ("Broker" in text) * 2


def test_commands_print_what_the_page_shows(served: Served, tmp_path: Path) -> None:
    (tmp_path / "shop.yaml").write_text(MANIFESTS[0])
    (shown,) = re.findall(r"```console\n(\$ penstock.*?)```", PAGE, re.DOTALL)
    applied, got = shown.split("$ ")[1:]
    server = ("--url", f"http://127.0.0.1:{served.port}")

    done = run("apply", "-f", str(tmp_path / "shop.yaml"), *server)
    table = run("get", "triggers", *server)

    assert done.out.splitlines() == applied.splitlines()[1:]
    assert table.out.split()[:-1] == " ".join(got.splitlines()[1:]).split()[:-1]
