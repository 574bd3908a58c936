"""A draft of a value."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.core.api.validation import same
from svc_notebook.faces.editors.changes import MAX_UNDO_STEPS, Draft

STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["put", "merge"]), st.integers(0, 3)),
        st.tuples(st.sampled_from(["undo", "redo", "revert", "keep"]), st.just(0)),
    ),
    max_size=40,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 1) | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=1), inner),
)


def walk(steps: list[tuple[str, int]]) -> Draft:
    draft = Draft.of(0)
    for name, value in steps:
        match name:
            case "put":
                draft = draft.put(value)
            case "merge":
                draft = draft.put(value, merge=True)
            case "keep":
                draft = draft.keep(draft.value)
            case _:
                draft = getattr(draft, name)()
    return draft


@given(STEPS)
def test_undoing_everything_leads_to_the_beginning(steps: list[tuple[str, int]]) -> None:
    draft = walk(steps)

    while draft.past:
        draft = draft.undo()

    assert draft.value == 0


@given(STEPS)
def test_redo_takes_back_an_undo(steps: list[tuple[str, int]]) -> None:
    draft = walk(steps)

    if draft.past:
        assert draft.undo().redo() == draft


@given(STEPS, st.integers(4, 9))
def test_a_change_forgets_what_was_undone(steps: list[tuple[str, int]], value: int) -> None:
    draft = walk(steps).put(value)

    assert draft.future == ()
    assert draft.past


@given(STEPS)
def test_no_step_leads_to_the_same_value(steps: list[tuple[str, int]]) -> None:
    draft = walk(steps)
    values = [*draft.past, draft.value, *draft.future]

    assert all(not same(a, b) for a, b in pairwise(values))


@given(STEPS)
def test_reverting_can_be_undone(steps: list[tuple[str, int]]) -> None:
    draft = walk(steps)
    reverted = draft.revert()

    assert not reverted.is_dirty
    assert reverted.undo().value == draft.value or not draft.is_dirty


@given(JSON, JSON)
def test_equality_is_that_of_json(one: Any, other: Any) -> None:
    assert same(one, other) == (
        json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    )


def test_steps_that_merge_are_undone_at_once() -> None:
    draft = Draft.of("").put("l").put("la", merge=True).put("lam", merge=True)

    assert draft.undo().value == ""


def test_only_so_many_steps_are_kept() -> None:
    draft = Draft.of(0)
    for value in range(1, MAX_UNDO_STEPS + 50):
        draft = draft.put(value)

    assert len(draft.past) == MAX_UNDO_STEPS


@pytest.mark.parametrize(
    ("draft", "value"),
    [(Draft.of("a"), "new"), (Draft.of("a").put("b"), "b")],
    ids=["untouched", "edited"],
)
def test_what_is_saved_anew_is_followed_unless_edited(draft: Draft, value: str) -> None:
    rebased = draft.rebase("new")

    assert rebased.value == value
    assert rebased.saved == "new"
