"""Any endpoint called by its name, on a real service."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.core.api import ENDPOINTS
from tests.faces.commands.conftest import Typed


@pytest.fixture(autouse=True)
def lamps(admin: svc.Client) -> None:
    """An index with one record."""
    svc.push(pd.DataFrame({"objectID": ["1"], "name": ["lamp"]}), "calling")


def test_endpoint_is_called_and_its_response_is_unchanged(typed: Typed) -> None:
    assert typed("call get_object index=calling object_id=1") == {"objectID": "1", "name": "lamp"}


def test_arguments_are_read_by_their_types(typed: Typed) -> None:
    found = typed("call search index=calling query=lamp hitsPerPage=0 'facets=[\"*\"]'")

    assert (found["hitsPerPage"], found["nbHits"], found["hits"]) == (0, 1, [])


@pytest.mark.parametrize(
    "body",
    ['{"requests": [{"indexName": "calling", "query": "lamp"}]}',
     'requests: [{"indexName": "calling", "query": "lamp"}]'],
)  # fmt: skip
def test_body_contains_more_arguments(typed: Typed, body: str) -> None:
    found = typed("call search_many strategy=none", body)

    assert found["results"][0]["nbHits"] == 1


def test_variable_contains_more_arguments(typed: Typed) -> None:
    record = {"record": {"name": "desk"}}

    answer = typed("call add_object index=calling --from record --yes", record=record)

    svc.wait(answer, index="calling")
    assert svc.search("calling", "desk")["objectID"].tolist() == [answer["objectID"]]


def test_what_writes_asks_first_and_what_reads_does_not(
    typed: Typed, answer_questions: Callable[..., list[str]]
) -> None:
    answer_questions("no")

    with pytest.raises(svc.errors.Stopped, match="call clear_objects"):
        typed("call clear_objects index=calling")

    assert typed("call list_indices")["items"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("call get_objekt", "not an endpoint; did you mean `get_object`"),
        (
            "call get_object index",
            "unexpected argument `index`; .* takes index, object_id",
        ),
        ("call get_object indx=a", "did you mean `index`"),
        ("call get_object index=a", "object_id"),
        ("call search index=a hitsPerPage=x", "hitsPerPage"),
        ("call get_object index=a --from more", "`index` is given twice"),
        ("call get_object --from wrong", "does not take `indx`; did you mean `index`"),
    ],
)
def test_mistake_is_an_error_before_anything_is_sent(typed: Typed, line: str, message: str) -> None:
    more: dict[str, Any] = {"index": "b"}

    with pytest.raises(svc.errors.BadInput, match=message):
        typed(line, more=more, wrong={"indx": "b"})


def test_every_endpoint_can_be_called_by_its_name(admin: svc.Client) -> None:
    for row in ENDPOINTS:
        needed = [p for p in row.signature.parameters.values() if p.default is p.empty]
        if any(p.kind is not p.VAR_KEYWORD for p in needed):
            with pytest.raises(svc.errors.BadInput, match="missing"):
                svc.call(row.name)
