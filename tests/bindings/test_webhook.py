from __future__ import annotations

import pytest

from penstock.bindings.webhook import Consent, Permission, allowed_rate, permission, question

ORIGIN = "eventemitter.example.com"


def test_question_names_the_origin_alone_where_nothing_else_is_asked() -> None:
    assert question(ORIGIN) == [("webhook-request-origin", ORIGIN)]


def test_question_may_name_a_callback_and_a_rate() -> None:
    headers = dict(question(ORIGIN, "https://us.example/permissions/k", 120))

    assert headers["webhook-request-callback"] == "https://us.example/permissions/k"
    assert headers["webhook-request-rate"] == "120"


@pytest.mark.parametrize("allowed", [ORIGIN, "*", ORIGIN.upper(), f" {ORIGIN} "])
def test_origin_or_asterisk_is_consent(allowed: str) -> None:
    headers = [("WebHook-Allowed-Origin", allowed), ("WebHook-Allowed-Rate", "100")]

    assert permission(headers, ORIGIN) == Permission(Consent.GIVEN, 100)


@pytest.mark.parametrize("allowed", ["other.example.com", "", "null"])
def test_another_origin_is_a_refusal(allowed: str) -> None:
    headers = [("webhook-allowed-origin", allowed)]

    assert permission(headers, ORIGIN).consent is Consent.REFUSED


def test_rate_alone_is_no_consent() -> None:
    assert permission([("webhook-allowed-rate", "*")], ORIGIN).consent is Consent.SILENT


@pytest.mark.parametrize(
    ("text", "asked", "rate"),
    [
        ("60", 0, 60),
        ("60", 120, 60),
        ("*", 120, None),
        (None, 120, 120),
        (None, 0, None),
        ("0", 120, 120),
        ("-5", 0, None),
        ("many", 120, 120),
    ],
)
def test_rate_is_what_is_granted_or_what_was_asked(
    text: str | None, asked: int, rate: int | None
) -> None:
    assert allowed_rate(text, asked) == rate
