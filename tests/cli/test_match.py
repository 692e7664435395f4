from __future__ import annotations

import pytest
import typer

from penstock.cli.match import Match


def test_options_become_filters() -> None:
    match = Match(
        exact=["type=a"],
        prefix=["source=/x", "subject=y"],
        suffix=["type=z"],
        filter=['{"not":{"exact":{"id":"1"}}}', '[{"prefix":{"id":"2"}},{"prefix":{"id":"3"}}]'],
    )

    assert match.filters() == (
        {"exact": {"type": "a"}},
        {"prefix": {"source": "/x", "subject": "y"}},
        {"suffix": {"type": "z"}},
        {"not": {"exact": {"id": "1"}}},
        {"prefix": {"id": "2"}},
        {"prefix": {"id": "3"}},
    )


def test_nothing_given_wants_everything() -> None:
    made = Match().subscription("http://h/", {})

    assert (made.types, made.source, made.filters) == ((), None, ())


@pytest.mark.parametrize("text", ["{", "1", '"type"', "[1]"])
def test_what_is_no_filter_is_wrong_usage(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="neither a JSON object nor an array"):
        Match(filter=[text]).filters()
