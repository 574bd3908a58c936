"""Values as text."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from svc_notebook.faces.functions.output import as_text

FRAME = pd.DataFrame(
    {"objectID": ["1", "2"], "name": ["lamp, blue", "x" * 99], "tags": [["a"], []]}
)


def test_a_frame_is_a_table_whose_cells_are_bounded() -> None:
    lines = as_text(FRAME).splitlines()

    assert lines[0].split() == ["objectID", "name", "tags"]
    assert max(map(len, lines)) < 90


def test_a_frame_is_csv() -> None:
    assert as_text(FRAME[:1], "csv") == 'objectID,name,tags\n1,"lamp, blue","[""a""]"'


def test_a_frame_is_json_with_its_nested_values() -> None:
    assert json.loads(as_text(FRAME[:1], "json")) == [
        {"objectID": "1", "name": "lamp, blue", "tags": ["a"]}
    ]


def test_columns_of_the_same_name_are_numbered() -> None:
    frame = pd.DataFrame([[1, "7", 5]], columns=["rank", "objectID", "rank"])

    assert json.loads(as_text(frame, "json")) == [{"rank": 1, "objectID": "7", "rank.1": 5}]


def test_empty_frame_lists_its_columns() -> None:
    assert as_text(FRAME[:0]) == "(no rows; columns: objectID, name, tags)"


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("table", 'application  SHOP\nrights       ["search"]\nlimit        '),
        ("csv", 'application,rights,limit\r\nSHOP,"[""search""]",'),
        ("json", '{"application":"SHOP","rights":["search"],"limit":null}'),
    ],
)
def test_a_mapping_is_written_in_each_form(form: str, text: str) -> None:
    mapping = {"application": "SHOP", "rights": ["search"], "limit": None}

    assert as_text(mapping, form) == text


@pytest.mark.parametrize(("value", "text"), [(None, ""), ("as it is", "as it is"), (7, "7")])
def test_other_values_are_their_own_text(value: object, text: str) -> None:
    assert as_text(value) == text
