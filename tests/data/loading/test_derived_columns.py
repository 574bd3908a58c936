"""Columns that options make of the columns of a source, from files and from DataFrames."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from svc_notebook.data.loading.database import Database
from svc_notebook.data.loading.load_plan.derived_columns import derive_columns
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sources.source import open_source
from svc_notebook.errors import BadInput
from svc_notebook.faces.commands.binding import bind_words
from svc_notebook.faces.commands.registry import find_verb
from tests.data.loading.encoded_records import pack

ROWS: dict[str, list[Any]] = {
    "brand": ["Arc", "Arc", "Bo"],
    "no": ["07", "08", "07"],
    "Product Name": ["Lamp", "Desk", 'A "B"'],
    "genres": ["Drama|Film-Noir", "War", None],
    "tags": ['["a", "b, c"]', "['x', \"y\"]", "u, v"],
    "category": ["Home > Light > Desk", "Home", None],
    "lat": ["52.5", "91", "x"],
    "lng": ["13,4", "2", "2"],
}
OPTIONS: dict[str, Any] = {
    "id": ["brand", "no"],
    "rename": {"Product Name": "name"},
    "computed": {"title": "{brand}: {name}"},
    "dtype": {"genres": "list", "tags": "list", "category": "levels", "no": "string"},
    "list_separator": {"tags": ","},
    "geo": ("lat", "lng"),
}
LAMP = {
    "objectID": "Arc-07",
    "brand": "Arc",
    "no": "07",
    "name": "Lamp",
    "genres": ["Drama", "Film-Noir"],
    "tags": ["a", "b, c"],
    "category": {"lvl0": "Home", "lvl1": "Home > Light", "lvl2": "Home > Light > Desk"},
    "_geoloc": {"lat": 52.5, "lng": 13.4},
    "title": "Arc: Lamp",
}


def sources(folder: Path, frame: pd.DataFrame) -> dict[str, Any]:
    frame.to_csv(folder / "a.csv", index=False)
    frame.to_json(folder / "a.ndjson", orient="records", lines=True)
    frame.to_parquet(folder / "a.parquet")
    return {
        "csv": folder / "a.csv",
        "ndjson": folder / "a.ndjson",
        "parquet": folder / "a.parquet",
        "query": f"SELECT * FROM '{folder / 'a.parquet'}'",
        "frame": frame,
        "dicts": frame.to_dict("records"),
    }


@pytest.mark.slow
@pytest.mark.timeout(180)  # one load for each kind of source
def test_options_make_columns_of_columns_in_every_source(tmp_path: Path) -> None:
    for kind, source in sources(tmp_path, pd.DataFrame(ROWS)).items():
        packed = pack(source, **OPTIONS)

        assert packed.records == [LAMP], kind
        assert [(row, column) for row, column, _ in packed.rejected] == [
            (2, "_geoloc"),
            (3, "_geoloc"),
        ], kind
        assert "91" in json.dumps(packed.plan.rejected["value"].tolist()), kind


def test_no_derived_column_repeats_the_sql_of_another(tmp_path: Path) -> None:
    path = sources(tmp_path, pd.DataFrame(ROWS))["csv"]
    options = LoadSettings.of(OPTIONS)
    with Database() as db:
        table = derive_columns(open_source(path, options, db), options)

        # The words for missing values are in the SQL once for each text that columns are made of.
        assert [field.column for field in table.fields if not field.column.isidentifier()] == []
        assert table.sql.count("'#N/A'") <= 2 * len(ROWS) + 2


def test_lists_of_python_and_lists_without_a_separator(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": [1, 2, 3], "t": ["['x', \"y z\"]", "[]", "one"]})

    records = pack(frame, dtype={"t": "list"}).records

    assert [record["t"] for record in records] == [["x", "y z"], [], ["one"]]


def test_a_missing_part_of_an_id_rejects_its_row() -> None:
    frame = pd.DataFrame({"a": ["x", None], "b": ["1", "2"]})

    packed = pack(frame, id="{a}/{b}", computed={"c": "{a} {b}"})

    assert packed.records == [{"objectID": "x/1", "a": "x", "b": "1", "c": "x 1"}]
    assert packed.rejected == [(2, "{a}/{b}", "has no id")]


def test_a_column_with_braces_is_a_column() -> None:
    frame = pd.DataFrame({"{a}": ["x"], "b: c": ["y"]})

    packed = pack(frame, id="{a}", computed={"d": "{b: c}!"})

    assert packed.records == [{"objectID": "x", "{a}": "x", "b: c": "y", "d": "y!"}]


def test_wrong_options_are_refused_with_advice() -> None:
    frame = pd.DataFrame({"brand": ["x"], "lat": [1.0], "name": ["n"]})
    refused: list[tuple[dict[str, Any], str]] = [
        ({"rename": {"bran": "b"}}, "no column `bran`, which `rename` names.*brand"),
        ({"rename": {"brand": "name"}}, "two columns `name`"),
        ({"geo": ("lat",)}, "two columns"),
        ({"geo": ("lat", "lng")}, "no column `lng`"),
        ({"computed": {"a": "b"}}, "names no column"),
        ({"computed": {"a": "{b"}}, "not a template"),
        ({"id": ["brand", "sku"]}, "no column `sku`, which `id` names"),
        ({"id": []}, "the name of a column"),
    ]
    for options, message in refused:
        with pytest.raises(BadInput, match=message):
            pack(frame, **options)


@pytest.mark.slow
def test_commands_take_the_same_options(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("brand,no,g,lat,lng\nArc,07,a|b,1,2\n")
    words = [
        *("products", "--id", "{brand}/{no}", "--geo", "lat,lng", "--dtype", "genres=list"),
        *("--rename", "g=genres", "--computed", "t={brand} {no}"),
    ]

    arguments = bind_words(find_verb("load", "command"), [str(path), *words], "command").arguments

    options = {n: v for n, v in arguments.items() if n not in ("source", "index")}
    assert pack(path, **options).records == [
        {"objectID": "Arc/07", "brand": "Arc", "no": "07", "genres": ["a", "b"],
         "_geoloc": {"lat": 1.0, "lng": 2.0}, "t": "Arc 07"}
    ]  # fmt: skip
