"""Batches are applied in order, as one task for each index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.errors import BadInput
from svc_notebook.service.tasks.batch_operations import (
    BatchOperation,
    check_operation,
    check_operations,
    decode_operations,
    encode_operations,
    resolve_operations,
)
from tests.conftest import Inside


def step(action: str, name: str = "", **body: Any) -> dict[str, Any]:
    return {"action": action, "body": {"objectID": name, **body} if name else body}


def test_the_seven_actions_are_applied_in_order(inside: Inside) -> None:
    inside.fill("films", {"objectID": "old"}, searchableAttributes=["t"])
    steps = [
        step("clear"),
        step("addObject", "1", t="one"),
        step("updateObject", "2", t="two", x=1),
        step("partialUpdateObject", "2", t="deux"),
        step("partialUpdateObject", "3", t="trois"),
        step("partialUpdateObjectNoCreate", "4", t="quatre"),
        step("deleteObject", "1"),
    ]

    answer = inside.done("POST", "/1/indexes/films/batch", {"requests": steps})

    assert answer["objectIDs"] == ["", "1", "2", "2", "3", "4", "1"]
    assert inside.ids("films") == ["2", "3"]
    assert inside.call("GET", "/1/indexes/films/2").json() == {"objectID": "2", "t": "deux", "x": 1}


@pytest.mark.parametrize(("action", "settings_stay"), [("clear", True), ("delete", False)])
def test_operations_after_a_clear_are_applied(
    inside: Inside, action: str, settings_stay: bool
) -> None:
    inside.fill("films", {"objectID": "old"}, hitsPerPage=3)
    steps = [step("addObject", "lost"), step(action), step("addObject", "kept")]

    inside.done("POST", "/1/indexes/films/batch", {"requests": steps})

    assert inside.ids("films") == ["kept"]
    settings = inside.call("GET", "/1/indexes/films/settings").json()
    assert (settings["hitsPerPage"] == 3) == settings_stay


def test_a_batch_that_clears_an_index_first_is_atomic(inside: Inside) -> None:
    records = [{"objectID": str(n), "t": "lamp", "v": n % 50} for n in range(1500)]
    inside.fill("films", *records)
    steps = [step("clear"), *({"action": "addObject", "body": one} for one in records)]
    service = inside.app.service
    engine = service.catalog.find("films").engine.get()

    task = inside.call("POST", "/1/indexes/films/batch", {"requests": steps}).json()["taskID"]
    seen = set()
    while service.tasks.published < task:
        seen.add(len(engine))
    seen.add(len(engine))

    assert seen == {1500}


def test_a_delete_as_last_operation_removes_the_index(inside: Inside) -> None:
    steps = [step("addObject", "1"), step("delete")]

    inside.done("POST", "/1/indexes/films/batch", {"requests": steps})

    assert inside.call("POST", "/1/indexes/films/query", {}).status_code == 404


@pytest.mark.parametrize("together", [True, False])
def test_a_record_added_and_deleted_in_one_batch_leaves_an_empty_index(
    inside: Inside, together: bool
) -> None:
    steps = [step("addObject", "1"), step("deleteObject", "1")]

    for some in [steps] if together else [[one] for one in steps]:
        inside.done("POST", "/1/indexes/films/batch", {"requests": some})

    assert inside.ids("films") == []


def test_a_batch_over_several_indices_is_one_task_an_index(inside: Inside) -> None:
    requests = [
        {"indexName": "a", **step("addObject", "1")},
        {"indexName": "b", **step("addObject", "2")},
        {"indexName": "a", **step("addObject", "3")},
    ]

    answer = inside.done("POST", "/1/indexes/*/batch", {"requests": requests})

    assert answer["objectIDs"] == ["1", "2", "3"]
    assert sorted(answer["taskID"]) == ["a", "b"]
    assert inside.ids("a") == ["1", "3"]
    assert inside.ids("b") == ["2"]


@pytest.mark.parametrize(
    ("requests", "told"),
    [
        ([{"action": "addObjects", "body": {}}], "`addObjects` is not one of addObject, "),
        ([{"action": "addObject"}], "`requests[0].body` must be an object"),
        ([step("addObject", "1"), {"action": "updateObject", "body": {}}],
         "`requests[1].body.objectID` is missing"),
        ([{"action": "deleteObject", "body": {"id": "1"}}], "`requests[0].body.objectID`"),
        ([{"action": "addObject", "body": [1]}], "requests[0].body"),
        ([{"action": "addObject", "body": {}, "boddy": {}}], "did you mean `body`?"),
        ([step("partialUpdateObject", "1", n={"_operation": "Grow", "value": 1})],
         "`requests[0].body.n._operation`"),
        ({"action": "addObject"}, "requests"),
    ],
)  # fmt: skip
def test_one_wrong_step_refuses_the_whole_batch_and_is_named(
    inside: Inside, requests: Any, told: str
) -> None:
    answer = inside.call("POST", "/1/indexes/films/batch", {"requests": requests})

    assert answer.status_code == 400
    assert told in answer.json()["message"]
    assert inside.call("POST", "/1/indexes/films/query", {}).status_code == 404


def test_an_empty_batch_is_a_task_too(inside: Inside) -> None:
    assert inside.done("POST", "/1/indexes/films/batch", {"requests": []})["objectIDs"] == []
    answer = inside.call("POST", "/1/indexes/*/batch", {"requests": []})
    assert answer.json() == {"taskID": {}, "objectIDs": []}


IDS = st.sampled_from(["1", "2", "3"])
ACTIONS = st.sampled_from(
    ["addObject", "updateObject", "partialUpdateObject", "partialUpdateObjectNoCreate",
     "deleteObject", "clear", "delete"]
)  # fmt: skip
STEPS = st.lists(st.tuples(ACTIONS, IDS, st.integers(0, 3)), max_size=8)


@given(before=st.dictionaries(IDS, st.integers(0, 3)), steps=STEPS, cut=st.integers(0, 8))
def test_operations_give_the_same_result_in_one_batch_and_one_by_one(
    before: dict[str, int], steps: list[tuple[str, str, int]], cut: int
) -> None:
    made = [check_operation(a, {"objectID": i, "n": n, "x": n}, "") for a, i, n in steps]
    start = {
        i: check_operation("addObject", {"objectID": i, "n": n}, "").body for i, n in before.items()
    }

    together = play(start, made)

    apart = play(play(start, made[:cut]), made[cut:])
    singly = start
    for one in made:
        singly = play(singly, [one])
    assert together == apart == singly


def play(records: dict[str, bytes], steps: list[BatchOperation]) -> dict[str, bytes]:
    before = dict(records)
    for change in resolve_operations(
        decode_operations(encode_operations(steps)), lambda ids: before
    ):
        if change.emptied:
            records = {}
        gone = set(change.deleted)
        records = {i: b for i, b in (records | dict(change.put)).items() if i not in gone}
    return records


RECORDS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {}, optional={"objectID": st.sampled_from(["1", "é" * 130, "", "a\0", "x" * 600, 7, None, []])}
) | st.just({"objectID": "2", "text": "x" * 100_001})
REQUESTS = st.fixed_dictionaries(
    {"action": st.sampled_from(["addObject", "updateObject", "deleteObject", "clear"])},
    optional={"body": st.just({"objectID": "1", "t": 1}) | RECORDS},
)


@given(st.lists(REQUESTS, max_size=3))
def test_operations_are_validated_together_as_one_by_one(requests: list[Any]) -> None:
    found, expected = [
        _outcome(requests, check)
        for check in (
            check_operations,
            lambda some: [
                check_operation(one["action"], one.get("body"), f"requests[{n}].body", n)
                for n, one in enumerate(some)
            ],
        )
    ]

    assert found == expected


def _outcome(requests: list[Any], check: Callable[[list[Any]], list[BatchOperation]]) -> Any:
    """Return the operations, those with new objectIDs without them, or the error."""
    try:
        operations = check(requests)
    except BadInput as error:
        return str(error)
    return [
        one if request.get("body", {}).get("objectID") else one.action
        for request, one in zip(requests, operations, strict=True)
    ]
