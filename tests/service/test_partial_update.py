"""Partial updates do what the API says of each operation."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.errors import BadInput
from svc_notebook.service.tasks.batch_operations import OPERATIONS, check_changes, update_record

SMALL = st.integers(-3, 3)
ITEM = SMALL | st.sampled_from(["a", "b"])
FLAT = st.lists(ITEM, max_size=4)
NESTED = st.lists(ITEM | FLAT | st.fixed_dictionaries({"x": SMALL}), max_size=4)
CURRENT = st.none() | SMALL | st.sampled_from(["a", True]) | FLAT | NESTED
ABSENT = object()


def operation(word: str, value: Any) -> dict[str, Any]:
    return {"_operation": word, "value": value}


def model(word: str, current: Any, value: Any) -> Any:
    """The rules, one sentence after the other; returns ABSENT where the update is ignored."""
    number = type(current) in (int, float)
    nested = isinstance(current, list) and any(isinstance(i, (list, dict)) for i in current)
    if word in ("Increment", "Decrement"):
        sign = 1 if word == "Increment" else -1
        return (current or 0) + sign * value if current is None or number else current
    if word == "IncrementFrom":
        holds = (current is None or number) and value == (current or 0)
        return (current or 0) + 1 if holds else ABSENT
    if word == "IncrementSet":
        holds = (current is None or number) and value > (current or 0)
        return value if holds else ABSENT
    if word == "Remove":
        keeps = not isinstance(current, list) or nested
        return current if keeps else [i for i in current if i != value]
    if current is None:
        return [value]
    if not isinstance(current, list) or (word == "AddUnique" and (nested or value in current)):
        return current
    return [*current, value]


@given(word=st.sampled_from(sorted(OPERATIONS)), current=CURRENT, number=SMALL, item=ITEM)
def test_operations_agree_with_a_model(word: str, current: Any, number: int, item: Any) -> None:
    value = item if word in ("Add", "Remove", "AddUnique") else number
    record = {"objectID": "1"} if current is None else {"objectID": "1", "n": current}
    change = {"n": operation(word, value)}
    check_changes(change, "")

    updated = update_record(record, change, create=True)

    wanted = model(word, current, value)
    if wanted is ABSENT:
        assert updated is None
    else:
        assert (updated or {}).get("n") == wanted


def test_attributes_that_are_not_named_stay() -> None:
    assert update_record({"a": 1, "b": 2}, {"a": 3}, create=True) == {"a": 3, "b": 2}


def test_naming_a_nested_attribute_replaces_its_first_level_ancestor() -> None:
    record = {"author": {"name": "Ann", "born": 1970}}

    updated = update_record(record, {"author": {"name": "Bea"}}, create=True)

    assert updated == {"author": {"name": "Bea"}}


@pytest.mark.parametrize(
    ("change", "made"),
    [
        ({"n": 1}, {"n": 1}),
        ({"n": operation("Increment", 2)}, {"n": 2}),
        ({"n": operation("IncrementFrom", 0)}, {"n": 1}),
        ({"n": operation("IncrementFrom", 1)}, None),
        ({"n": operation("IncrementSet", 5)}, {"n": 5}),
        ({"n": operation("IncrementSet", 0)}, None),
        ({"n": operation("Remove", 5)}, {}),
    ],
)
def test_a_missing_record_is_made_where_the_operation_allows(
    change: dict[str, Any], made: dict[str, Any] | None
) -> None:
    assert update_record(None, change, create=True) == made
    assert update_record(None, change, create=False) is None


def test_one_failed_condition_cancels_the_whole_update() -> None:
    change = {"a": 9, "n": operation("IncrementFrom", 4)}

    assert update_record({"a": 1, "n": 5}, change, create=True) is None


def test_a_sum_beyond_64_bits_is_not_made() -> None:
    record = {"n": 2**64 - 1}

    assert update_record(record, {"n": operation("Increment", 1)}, create=True) == record


def test_the_record_before_is_not_touched() -> None:
    record = {"tags": ["a"]}

    update_record(record, {"tags": operation("Add", "b")}, create=True)

    assert record == {"tags": ["a"]}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (operation("Incremnt", 1), r"`n._operation`.*did you mean `Increment`"),
        (operation("Increment", "1"), "`n.value`: Increment takes a number"),
        (operation("Increment", True), "`n.value`: Increment takes a number"),
        (operation("Add", [1]), "`n.value`: Add takes a number or a string"),
        (operation("IncrementSet", 1.5), "`n.value`: IncrementSet takes an integer"),
        ({"_operation": "Add"}, "`n.value` is missing"),
        ({"_operation": "Add", "value": 1, "valeu": 2}, "`n.valeu` is not part"),
        ({"_operation": ["Add"], "value": 1}, "`n._operation`"),
    ],
)
def test_an_operation_that_is_wrong_is_refused_with_its_place(
    change: dict[str, Any], told: str
) -> None:
    with pytest.raises(BadInput, match=told):
        check_changes({"n": change}, "")
