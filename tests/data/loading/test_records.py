"""Dicts as sources: one, several, or a stream."""

from __future__ import annotations

import datetime as dt
import decimal
import gc
import itertools
import sqlite3
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import attrs
import msgspec
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import svc_notebook as svc
from svc_notebook.data.client import Client
from svc_notebook.errors import BadInput
from tests.conftest import examples
from tests.data.loading.conftest import buffer_of
from tests.data.loading.encoded_records import pack, values

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
VALUES = st.recursive(
    st.none() | st.booleans() | TEXT | st.integers(-(2**63), 2**63 - 1) | st.floats(-1e9, 1e9),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
MEMBERS = st.dictionaries(TEXT.filter(lambda name: name != "objectID"), VALUES, max_size=3)


@pytest.fixture
def index() -> str:
    return f"records-{uuid4().hex[:8]}"


def without_nulls(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if value is not None}


@pytest.mark.parametrize("rows", [1, 100], ids=["pieces of one", "one piece"])
@settings(max_examples=examples(12), deadline=None)
@given(given=st.lists(MEMBERS, min_size=1, max_size=4))
def test_records_are_sent_as_they_are(given: list[dict[str, Any]], rows: int) -> None:
    numbered = [{"objectID": f"{n}", **members} for n, members in enumerate(given)]
    with buffer_of(rows):
        sent = pack(iter(numbered)).records

    assert sent == [without_nulls(record) for record in numbered]


@pytest.mark.slow
@settings(max_examples=examples(8), deadline=None)
@given(given=st.lists(MEMBERS.filter(bool), min_size=2, max_size=4))
def test_ids_do_not_depend_on_how_many_records_there_are(given: list[dict[str, Any]]) -> None:
    with buffer_of(1):
        in_pieces = [record["objectID"] for record in pack(given).records]

    assert [record["objectID"] for record in pack(given).records] == in_pieces


def test_values_become_what_they_become_in_a_frame() -> None:
    record = {
        "objectID": 7,
        "count": np.int64(3),
        "price": decimal.Decimal("1.50"),
        "day": dt.date(2024, 1, 2),
        "time": pd.Timestamp("2024-01-02T03:04:05Z"),
        "none": np.nan,
    }

    (sent,) = pack(record).records

    assert sent == {
        "objectID": "7",
        "count": 3,
        "price": 1.5,
        "day": "2024-01-02",
        "time": "2024-01-02T03:04:05Z",
    }


def test_a_member_that_some_records_lack_is_missing_there() -> None:
    given = [{"objectID": "1", "a": 1}, {"objectID": "2", "b": None}]

    sent = pack(given, nulls="null").records

    assert sent == [{"objectID": "1", "a": 1, "b": None}, {"objectID": "2", "a": None, "b": None}]


@pytest.mark.usefixtures("short_pieces")
def test_what_cannot_be_sent_is_told_by_its_place_and_costs_itself_alone() -> None:
    given = [{"objectID": "1"}, 5, {"objectID": "2", "s": {1}}, {3: 4}, {"objectID": "4"}, None]

    packed = pack(given)

    assert [record["objectID"] for record in packed.records] == ["1", "4"]
    assert [(row, reason[:12]) for row, _, reason in packed.rejected] == [
        (2, "has the type"),
        (3, "is a set, wh"),
        (4, "has members "),
        (6, "has the type"),
    ]
    assert packed.plan.rows == 6


def test_nothing_is_a_load_of_nothing(client: Client, index: str) -> None:
    result = svc.push([], index, client=client)

    assert (result.plan.rows, result.sent, result.complete) == (0, 0, True)


@pytest.mark.parametrize(
    "source",
    [["lamp", "sofa"], [1], iter("abc"), ({1, 2},)],
    ids=["words", "number", "letters", "set"],
)
def test_a_source_without_dicts_is_refused(source: Any) -> None:
    with pytest.raises(BadInput, match=r"a record is a dict"):
        pack(source)


def test_a_stream_without_records_is_not_gone_through() -> None:
    numbers = itertools.count()

    with pytest.raises(BadInput, match="a record is a dict"):
        pack(numbers)

    assert next(numbers) < 1000


def test_no_more_is_taken_of_a_stream_than_asked_for() -> None:
    numbers = itertools.count()

    packed = pack(({"n": n} for n in numbers), limit=3)

    assert [record["n"] for record in packed.records] == [0, 1, 2]
    assert next(numbers) == 3


@pytest.mark.usefixtures("short_pieces")
def test_a_stream_is_loaded_replaced_and_verified(client: Client, index: str) -> None:
    thread = []

    def films() -> Iterator[dict[str, Any]]:
        thread.append(threading.current_thread())
        for n in range(9):
            yield {"objectID": f"{n}", "title": f"film {n}", "cast": [{"name": "x", "age": None}]}

    result = svc.load(films(), index, if_exists="replace", verify=True, client=client)

    assert (result.published, result.complete) == (9, True)
    assert client.get_object(index, "3")["cast"] == [{"name": "x", "age": None}]
    assert thread == [threading.current_thread()]


def test_a_cursor_of_a_database_is_a_stream(client: Client, index: str) -> None:
    with sqlite3.connect(":memory:") as database:
        cursor = database.execute("SELECT '1' AS objectID, 2 AS n")
        cursor.row_factory = lambda row, values: {row.description[0][0]: values[0], "n": values[1]}

        svc.push(cursor, index, client=client)
    database.close()

    assert client.get_object(index, "1") == {"objectID": "1", "n": 2}


@pytest.mark.parametrize(
    "use",
    [
        lambda source: svc.plan(source, "films"),
        lambda source: svc.load(source, "films", dry_run=True),
        lambda source: svc.load(source, "films", resume=True),
        lambda source: svc.load(source, "films", batch=0),
    ],
    ids=["plan", "dry run", "resume", "option"],
)
def test_a_stream_is_whole_after_a_refusal(use: Any) -> None:
    source = iter([{"objectID": "1"}])

    with pytest.raises(BadInput):
        use(source)

    assert list(source) == [{"objectID": "1"}]


@pytest.mark.usefixtures("short_pieces")
def test_what_a_stream_raises_is_raised_and_nothing_is_left_or_sent(
    client: Client, index: str, temporary_files_in: Callable[[Path], None], tmp_path: Path
) -> None:
    temporary_files_in(tmp_path)

    def broken() -> Iterator[dict[str, Any]]:
        yield from ({"n": n} for n in range(3))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        svc.load(broken(), index, client=client)

    assert "after record 3 of the source; nothing was sent" in caught.value.__notes__[0]
    assert index not in {entry["name"] for entry in client.list_indices()["items"]}
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_rejected_records_are_mended_and_sent_again(client: Client, index: str) -> None:
    result = svc.push([{"objectID": "1", "s": {2, 1}, "t": "x"}], index, client=client)

    result.rejected.assign(s=pd.Series([[1, 2]])).svc.push(index, client=client)

    assert client.get_object(index, "1") == {"objectID": "1", "s": [1, 2], "t": "x"}


def test_records_are_compared_with_what_is_stored(client: Client, index: str) -> None:
    svc.push([{"objectID": "1", "n": 1}, {"objectID": "2", "n": 2}], index, client=client)

    told = svc.diff_records(
        [{"objectID": "1", "n": 1}, {"objectID": "2", "n": 3}], index, client=client
    )

    assert told["state"].tolist() == ["unchanged", "changed"]


@pytest.mark.parametrize("kind", [list, tuple, np.array], ids=["lists", "tuples", "arrays"])
def test_a_dict_of_lists_is_a_table_by_columns(kind: Callable[[list[Any]], Any]) -> None:
    source = {"id": kind(["a", "b"]), "n": kind([1, 2])}

    packed = pack(source)

    assert packed.records == [{"objectID": i, "id": i, "n": n} for i, n in (("a", 1), ("b", 2))]
    assert "the rows are the lists of the dict, each as a column" in packed.plan.notes


@pytest.mark.parametrize(
    "record", [{"tags": ["a", "b"]}, {"tags": ["a"], "sizes": [1, 2]}, {"n": 1, "tags": ["a"]}],
    ids=["one list", "lengths", "value"],
)  # fmt: skip
def test_a_dict_with_lists_and_other_values_is_a_record(record: dict[str, Any]) -> None:
    assert values(record) == [record]


@dataclass
class Film:
    """A record with named fields."""

    id: str
    tags: list[str]


class FilmTuple(NamedTuple):
    """The same as a named tuple."""

    id: str
    tags: list[str]


class FilmStruct(msgspec.Struct):
    """The same as a struct of msgspec."""

    id: str
    tags: list[str]


@attrs.define
class FilmOfAttrs:
    """The same as a class of attrs."""

    id: str
    tags: list[str]


class FilmModel:
    """The same with the method of pydantic's models."""

    def __init__(self, **members: Any) -> None:
        self._members = members

    def model_dump(self) -> dict[str, Any]:
        return self._members


@pytest.mark.parametrize("kind", [Film, FilmTuple, FilmStruct, FilmOfAttrs, FilmModel, dict])
def test_objects_with_named_fields_are_records(kind: Callable[..., Any]) -> None:
    films = [kind(id="1", tags=["a"]), kind(id="2", tags=[])]

    assert pack(films, id="id").records == [
        {"objectID": "1", "id": "1", "tags": ["a"]},
        {"objectID": "2", "id": "2", "tags": []},
    ]


def test_the_rows_of_a_frame_are_records() -> None:
    frame = pd.DataFrame({"id": ["1", "2"], "n": [5, 6]})

    rows = pack(frame.itertuples(index=False), id="id").records

    assert rows == pack(frame, id="id").records
