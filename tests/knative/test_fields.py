from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import OwnershipError
from penstock.knative.fields import Owner, applied, leaves, updated
from penstock.knative.meta import Object

ME, YOU = Owner("me", "Apply"), Owner("you", "Apply")


def an_object(**spec: Any) -> Object:  # noqa: ANN401 - any JSON value
    return {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": spec}


def owners(found: Object) -> dict[str, Any]:
    return {one["manager"]: one["fieldsV1"] for one in found["metadata"].get("managedFields", [])}


def test_lists_are_owned_as_a_whole() -> None:
    found = leaves({"spec": {"a": [{"b": 1}], "c": {}, "d": {"e": 1}}, "metadata": {"name": "x"}})

    assert found == {
        ("spec", "a"): [{"b": 1}],
        ("spec", "c"): {},
        ("spec", "d", "e"): 1,
    }


def test_field_belongs_to_whoever_changed_it_last() -> None:
    first = updated({}, an_object(a=1, b=1), Owner("one"), "t1")
    second = updated(first, {**first, "spec": {"a": 2, "b": 1}}, Owner("two"), "t2")

    assert owners(second) == {
        "one": {"f:spec": {"f:b": {}}},
        "two": {"f:spec": {"f:a": {}}},
    }


def test_removed_field_belongs_to_nobody() -> None:
    first = updated({}, an_object(a=1, b=1), Owner("one"), "t1")

    second = updated(first, {**first, "spec": {"b": 1}}, Owner("two"), "t2")

    assert owners(second) == {"one": {"f:spec": {"f:b": {}}}}


def test_unchanged_object_keeps_its_owners() -> None:
    first = updated({}, an_object(a=1), Owner("one"), "t1")

    assert updated(first, first, Owner("two"), "t2") is first


def test_applying_the_same_again_changes_nothing() -> None:
    first = applied(an_object(), an_object(a=1), ME, "t1", force=False)

    assert applied(first, an_object(a=1), ME, "t2", force=False) == first


def test_field_that_is_no_longer_applied_goes_unless_others_own_it() -> None:
    first = applied(an_object(), an_object(a=1, b={"c": 1}), ME, "t", force=False)
    shared = applied(first, an_object(a=1), YOU, "t", force=False)

    left = applied(shared, an_object(), ME, "t", force=False)

    assert left["spec"] == {"a": 1}
    assert owners(left)["you"] == {"f:spec": {"f:a": {}}}


@pytest.mark.parametrize("given", [{"a": 2}, {"a": {"b": 1}}], ids=["value", "shape"])
def test_other_value_for_a_field_of_somebody_else_is_a_conflict(given: dict[str, Any]) -> None:
    first = applied(an_object(), an_object(a=1), ME, "t", force=False)

    with pytest.raises(OwnershipError) as refusal:
        applied(first, an_object(**given), YOU, "t", force=False)

    assert [problem.path for problem in refusal.value.problems] == [".spec.a"]
    forced = applied(first, an_object(**given), YOU, "t", force=True)
    assert forced["spec"] == given
    assert "me" not in owners(forced)


def test_what_others_say_about_elements_counts_for_the_list() -> None:
    entry = {
        "manager": "them",
        "operation": "Update",
        "fieldsV1": {"f:spec": {"f:ports": {".": {}, 'k:{"port":80}': {"f:name": {}}}}},
    }
    found = {**an_object(ports=[{"port": 80}])}
    found["metadata"] = {"name": "a", "managedFields": [entry, "nonsense", {"manager": "x"}]}

    with pytest.raises(OwnershipError, match=r"spec\.ports"):
        applied(found, an_object(ports=[]), ME, "t", force=False)
