"""Which attributes of a record are returned."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.service.search.visible_attributes import select_attributes, select_from_bodies

RECORDS: list[dict[str, Any]] = [
    {"objectID": "1", "a": 1, "b": {"c": 2, "d": [1.50]}, "e": [{"f": 1}], "": 3, 'é"x': 4},
    {"b": None, "objectID": "2", "A": "ä"},
]
NAMES = ["a", "b", "b.c", "-a", "*", "objectID", "none", "e.f", "", 'é"x', "ä", "-e.f"]


@given(st.lists(st.sampled_from(NAMES)), st.lists(st.sampled_from(["a", "b", "b.c", "objectID"])))
def test_many_records_are_cut_as_one_is(wanted: list[str], hidden: list[str]) -> None:
    bodies = [msgspec.json.encode(record) for record in RECORDS]

    cut = msgspec.json.decode(msgspec.json.encode(select_from_bodies(bodies, wanted, hidden)))

    assert cut == [select_attributes(record, wanted, hidden) for record in RECORDS]


def test_an_empty_list_of_attributes_returns_none_although_some_are_hidden() -> None:
    assert select_attributes(RECORDS[0], [], ["a"]) == {"objectID": "1"}
