from __future__ import annotations

import pytest
from starlette.datastructures import Headers

from penstock.api.conditions import allowed, etag, is_known
from penstock.errors import ResourceError


def test_tag_is_the_version_in_quotes() -> None:
    assert etag(17) == {"etag": '"17"'}


@pytest.mark.parametrize(
    ("name", "value", "allows"),
    [
        ("if-match", '"5"', True),
        ("if-match", '"4", "5"', True),
        ("if-match", "*", True),
        ("if-match", '"4"', False),
        ("if-match", 'W/"5"', False),
        ("if-match", '"05"', False),
        ("if-none-match", '"5"', False),
        ("if-none-match", 'W/"5"', False),
        ("if-none-match", "*", False),
        ("if-none-match", '"4"', True),
        ("x-other", "y", True),
    ],
)
def test_condition_decides_whether_a_version_may_be_changed(
    name: str,
    value: str,
    allows: bool,  # noqa: FBT001
) -> None:
    assert allowed(Headers({name: value}))(5) is allows


def test_both_conditions_must_hold() -> None:
    headers = Headers({"if-match": "*", "if-none-match": '"5"'})

    assert not allowed(headers)(5)
    assert allowed(headers)(6)


def test_header_may_be_there_twice() -> None:
    headers = Headers(raw=[(b"if-match", b'"4"'), (b"if-match", b'"5"')])

    assert allowed(headers)(5)


@pytest.mark.parametrize("value", ["5", "", ",", '"5', "*, *", 'w/"5"', '"5" "6"'])
def test_what_is_no_tag_is_refused(value: str) -> None:
    with pytest.raises(ResourceError) as raised:
        allowed(Headers({"if-match": value}))

    assert [problem.path for problem in raised.value.problems] == ["if-match"]


@pytest.mark.parametrize(
    ("value", "known"), [('"5"', True), ('W/"5"', True), ("*", True), ('"4"', False)]
)
def test_client_may_know_the_version_already(value: str, known: bool) -> None:  # noqa: FBT001
    assert is_known(Headers({"if-none-match": value}), 5) is known
    assert not is_known(Headers({}), 5)
