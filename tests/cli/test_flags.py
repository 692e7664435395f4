from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from penstock.cli.flags import flags, meanings, settings
from penstock.config import Settings
from penstock.errors import ResourceError


def test_every_setting_has_a_meaning() -> None:
    assert list(meanings()) == list(Settings.__struct_fields__)
    assert all(text.endswith(".") for text in meanings().values())


def test_every_setting_is_an_option() -> None:
    assert [one.name for one in flags()] == list(Settings.__struct_fields__)


def test_chosen_settings_are_options() -> None:
    assert [one.name for one in flags("port", "host")] == ["host", "port"]


def test_option_shows_the_default_without_setting_it() -> None:
    (port,) = flags("port")

    _, details = get_args(port.annotation)
    assert details.show_default == "8080"
    assert details.help == meanings()["port"]
    assert port.default is None


def test_option_wins_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "penstock.toml"
    file.write_text("port = 1\nhost = '::1'\n")

    chosen = settings({"port": 2, "data": None}, str(file))

    assert (chosen.port, chosen.host, chosen.data) == (2, "::1", Settings().data)


def test_all_wrong_settings_are_named(tmp_path: Path) -> None:
    file = tmp_path / "penstock.toml"
    file.write_text("port = -1\nnonsense = 1\n")

    with pytest.raises(ResourceError) as caught:
        settings({"event_bytes": 1}, str(file))

    assert {problem.path for problem in caught.value.problems} == {
        "port",
        "nonsense",
        "event_bytes",
    }
