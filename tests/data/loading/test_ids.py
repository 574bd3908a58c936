"""Hash ids: equal for equal values, whatever the source."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import uuid4

import bokeh_sampledata
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc_notebook.data import loading
from svc_notebook.data.client import Client, background_loop
from svc_notebook.data.loading.database import MAX_PARALLEL_COLUMNS, Database
from svc_notebook.data.loading.encoding.json_values import (
    FUNCTION,
    canonical,
    canonical_members,
    canonical_sql,
    map_texts,
)
from svc_notebook.data.loading.load_plan.ids import HASHED
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sending.checkpoint import facts_of, open_checkpoint
from svc_notebook.data.loading.sources.source import origin_of
from svc_notebook.errors import BadInput
from tests.conftest import Running, examples
from tests.data.loading.encoded_records import pack
from tests.data.loading.test_resume import break_off

TABLES = Path(bokeh_sampledata.__file__).parent / "_data"
# Tables without a column of ids; some have rows twice, gaps, or whole numbers beside missing ones.
NATURAL = ["auto-mpg", "cows", "iris", "penguins", "titanic_all", "gapminder_regions"]


def ids(source: Any, **options: Any) -> list[str]:
    packed = pack(source, **options)
    assert packed.plan.ids == HASHED
    return [record["objectID"] for record in packed.records]


def to_parquet(frame: pd.DataFrame, folder: Path) -> Path:
    path = folder / "table.parquet"
    frame.to_parquet(path, index=False)
    return path


def to_ndjson(frame: pd.DataFrame, folder: Path) -> Path:
    path = folder / "table.ndjson"
    rows = [{k: v for k, v in row.items() if v == v} for row in frame.to_dict("records")]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


SOURCES: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "frame": lambda frame, folder: frame,
    "dicts": lambda frame, folder: frame.to_dict("records"),
    "parquet": to_parquet,
    "ndjson": to_ndjson,
    "arrow": lambda frame, folder: pa.Table.from_pandas(frame, preserve_index=False),
    "columns turned": lambda frame, folder: frame[frame.columns[::-1]],
}


@pytest.mark.sampled(8, quick=2)
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", NATURAL)
def test_a_table_has_the_same_ids_from_a_file_and_from_what_pandas_makes_of_it(
    name: str, source: str, tmp_path: Path
) -> None:
    path = TABLES / f"{name}.csv"

    found = ids(SOURCES[source](pd.read_csv(path), tmp_path))

    assert found == ids(path)


@pytest.mark.parametrize("name", NATURAL)
def test_a_table_loaded_again_as_a_frame_leaves_the_index_as_large(
    client: Client, name: str
) -> None:
    index, path = f"ids-{uuid4().hex[:8]}", TABLES / f"{name}.csv"
    background_loop.run(loading.load(client.aio, path, index))
    before = client.search(index)["nbHits"]

    with pytest.warns(UserWarning, match=f"{index} already has {before:,} records"):
        result = background_loop.run(loading.load(client.aio, pd.read_csv(path), index))

    assert client.search(index)["nbHits"] == before == result.plan.rows
    assert f"ids: {HASHED}" in repr(result)


SPELLINGS: dict[str, list[Any]] = {
    "whole numbers": [[1, 2], [1.0, 2.0], [Decimal("1.00"), Decimal("2")], [1, 2.0]],
    "numbers": [[1.5, 1e-7], [Decimal("1.50"), Decimal("0.0000001")]],
    "large numbers": [[10**17, -(10**16)], [1e17, -1e16]],
    "zero": [[0, 1], [-0.0, 1.0]],
    "text": [["a\x0b\x1f", "é\\u00e9"]],
    "nested": [
        [{"b": 1.0, "a": [1, None]}, {}],
        [{"a": [1.0, None], "b": 1, "c": None}, {}],
    ],
    "times": [
        ["2024-01-02T03:04:05.5Z", "2024-01-02T03:04:05Z"],
        pd.to_datetime(["2024-01-02T03:04:05.500Z", "2024-01-02T03:04:05Z"], format="ISO8601"),
        pd.to_datetime(
            ["2024-01-02T04:04:05.500+01:00", "2024-01-02T04:04:05+01:00"], format="ISO8601"
        ),
    ],
    "dates": [["2024-01-02", "2024-01-03"], [dt.date(2024, 1, 2), dt.date(2024, 1, 3)]],
    "flags": [[True, False], pd.array([True, False], dtype="boolean")],
}  # fmt: skip


@pytest.mark.sampled(quick=2)
@pytest.mark.parametrize("name", SPELLINGS)
def test_a_value_has_the_same_hash_in_every_source(name: str, tmp_path: Path) -> None:
    frames = [pd.DataFrame({"x": values}) for values in SPELLINGS[name]]
    sources: list[Any] = [*frames, *(frame.to_dict("records") for frame in frames)]
    for number, frame in enumerate(frames):
        path = tmp_path / f"{number}.parquet"
        try:
            pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), path)
        except pa.ArrowException:
            continue  # a column of several kinds
        sources.append(path)

    found = [ids(source) for source in sources]

    assert all(each == found[0] for each in found)
    assert len(set(found[0])) == 2


def test_missing_values_do_not_affect_the_hash(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": ["a", None], "y": [None, 1]})

    assert ids(frame) == ids(frame, nulls="null") == ids([{"x": "a"}, {"y": 1}])


def test_the_order_and_nesting_of_members_do_not_affect_the_hash() -> None:
    flat = pd.DataFrame({"size.w": [1e-7], "size.h": [2], "name": ["lamp"]})
    nested = [{"name": "lamp", "size": {"h": 2.0, "w": 1e-7}}]

    assert ids(flat, nest=True) == ids(nested)


@pytest.mark.slow
@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "columns", [MAX_PARALLEL_COLUMNS, MAX_PARALLEL_COLUMNS + 1], ids=["in SQL", "in Python"]
)
def test_a_wide_table_has_the_ids_of_its_dicts(columns: int, tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    rows = [{f"c{n}": n * 0.5 + row for n in range(columns)} for row in range(3)]
    pd.DataFrame(rows).to_csv(path, index=False)

    assert ids(path) == ids(pd.DataFrame(rows)) == ids(rows)


SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=5)
    | st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([1e16, 9e18, -1.0, 1e-7])
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None)
@given(value=VALUES)
def test_sql_and_python_write_the_same_canonical_form_without_loss(value: Any) -> None:
    text = json.dumps(value, ensure_ascii=len(str(value)) % 2 == 0)
    with Database() as db:
        db.define(FUNCTION, map_texts(canonical))
        quoted = "'" + text.replace("'", "''").replace("\0", "") + "'"
        ((by_sql,),) = db.rows(f"SELECT {canonical_sql(quoted, 'JSON')}")

    assert by_sql == canonical(text)
    assert canonical(canonical(text)) == canonical(text)
    assert _without_nulls(json.loads(canonical(text))) == _without_nulls(value)
    assert canonical_members(json.dumps({"x": value})) == (
        "" if value is None else f',"x":{canonical(text)}'
    )


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_nulls(v) for k, v in value.items() if v is not None}
    return [_without_nulls(v) for v in value] if isinstance(value, list) else value


@pytest.mark.parametrize("many", [False, True], ids=["few", "many"])
def test_a_column_that_could_be_the_id_is_proposed(many: bool) -> None:
    rows = 20_000 if many else 20
    frame = pd.DataFrame(
        {
            "year": [2004] * rows,
            "seats": range(rows),
            "model": [f"model {n}" for n in range(rows)],
            "tailnum": [f"N{n:05d}" for n in range(rows)],
        }
    )
    twice = frame.assign(tailnum=[*frame["tailnum"][:-1], "N00000"])

    assert pack(frame).plan.notes == ("`tailnum` is unique; pass id='tailnum'",)
    assert pack(twice).plan.notes == ()
    assert pack(frame, id="tailnum").plan.ids == "column `tailnum`"


@pytest.mark.parametrize("days", ["2024-01-0{}", "{}-Jan-24", "1{}-Sep-2003"])
def test_dates_are_not_proposed_as_ids(days: str) -> None:
    frame = pd.DataFrame({"day": [days.format(day) for day in (1, 2, 3)], "n": [1, 1, 1]})

    assert pack(frame).plan.notes == ()


def test_two_unique_texts_are_not_proposed_as_ids() -> None:
    frame = pd.DataFrame({"city": ["Oslo", "Bern", "Rome"], "n": [1, 1, 1]})

    assert pack(frame).plan.notes == ("`city` is unique; pass id='city'",)
    assert pack(frame.head(2)).plan.notes == ()


def test_ids_of_a_column_are_added_without_a_warning(client: Client) -> None:
    index, frame = f"ids-{uuid4().hex[:8]}", pd.DataFrame({"sku": ["a", "b"], "n": [1, 2]})

    results = [background_loop.run(loading.load(client.aio, frame, index)) for _ in range(2)]

    assert "ids: column `sku`" in repr(results[0])
    assert client.search(index)["nbHits"] == 2


def test_a_result_shows_the_notes_of_its_plan(client: Client) -> None:
    index, frame = f"ids-{uuid4().hex[:8]}", pd.DataFrame({"tailnum": ["N1", "N2"], "n": [1, 1]})

    result = background_loop.run(loading.load(client.aio, frame, index))

    assert repr(result).endswith(
        "ids: hash of the row\nadvice: `tailnum` is unique; pass id='tailnum'"
    )
    assert (
        "<li>advice: `tailnum` is unique; pass id=&#x27;tailnum&#x27;</li>" in result._repr_html_()
    )


def test_replacing_by_hashed_rows_is_not_warned_of(client: Client) -> None:
    index, frame = f"ids-{uuid4().hex[:8]}", pd.DataFrame({"n": [1, 2]})
    background_loop.run(loading.load(client.aio, frame, index))

    result = background_loop.run(loading.load(client.aio, frame, index, if_exists="replace"))

    assert result.complete


@pytest.mark.slow
def test_a_load_of_hashed_rows_is_resumed(
    service: Running, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    index, path = f"ids-{uuid4().hex[:8]}", tmp_path / "films.csv"
    path.write_text("title,year\n" + "".join(f"film {n % 900},2024\n" for n in range(1000)))
    break_off(service, 5, path, index, id=None)

    result = background_loop.run(loading.load(client.aio, path, index, batch=100, resume=True))

    assert (result.resumed, result.complete) == (500, True)
    assert client.search(index)["nbHits"] == 1000


def test_resuming_a_load_with_other_ids_is_refused(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    index, path = f"ids-{uuid4().hex[:8]}", tmp_path / "films.csv"
    path.write_text("title\nJaws\nAlien\n")
    origin = origin_of([path], None)
    place = "\n".join([origin.location, *client.connection.place, index])
    earlier = open_checkpoint(place, f"{origin.state}|{facts_of('append', LoadSettings())}")
    earlier.begin(index)

    with pytest.raises(BadInput, match="earlier release began this load with other ids"):
        background_loop.run(loading.load(client.aio, path, index, resume=True))

    assert index not in [each["name"] for each in client.list_indices()["items"]]


@pytest.mark.parametrize("source", ["frame", "dicts", "parquet", "ndjson", "arrow"])
@pytest.mark.parametrize("rows", [3, 200])
def test_a_whole_float_is_the_same_id_in_every_source(
    source: str, rows: int, tmp_path: Path
) -> None:
    # A column of whole numbers with missing values is one of floats in pandas.
    frame = pd.DataFrame({"sku": [*map(float, range(rows))], "n": [-0.0, *range(1, rows)]})
    texts = [*map(str, range(rows))]

    for column, expected in (("sku", texts), ("{sku}", texts), ("n", ["0", *texts[1:]])):
        packed = pack(SOURCES[source](frame, tmp_path), id=column)
        assert [record["objectID"] for record in packed.records] == expected
