from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from penstock import formats
from penstock.errors import UnsupportedError
from penstock.formats import FORMATS, Format, load
from penstock.formats.json import JsonFormat


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_of_the_table_loads(name: str) -> None:
    found: Format = load(name)

    assert found.media_type.startswith("application/cloudevents")
    assert found is load(name)


def test_unknown_format_is_unsupported() -> None:
    with pytest.raises(UnsupportedError) as caught:
        load("nosuch")

    assert caught.value.what == "nosuch"


def test_stranger_joins_by_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("guest", "penstock.formats.json:JsonFormat", "penstock.formats")
    monkeypatch.setattr(formats, "entry_points", lambda group: [entry] if group else [])
    formats._strangers.cache_clear()  # noqa: SLF001

    found = load("guest")

    assert isinstance(found, JsonFormat)
    load.cache_clear()
    formats._strangers.cache_clear()  # noqa: SLF001
