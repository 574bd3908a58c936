"""Files of tuning tables: CSV for people, Parquet for large tables; others are only read."""

from __future__ import annotations

import codecs
import csv
import json
import math
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from zipfile import BadZipFile

import msgspec
import numpy as np
import pandas as pd
from pandas import DataFrame

from svc_notebook.core.files import expand_path, replace_file
from svc_notebook.errors import BadInput, unreadable, unwritable

if TYPE_CHECKING:
    from svc_notebook.tuning.tables.schema import ColumnSchema

# The formats that are written, and all that are read.
KINDS = (".csv", ".parquet")
JSON_KINDS, WORKBOOK = (".json", ".jsonl", ".ndjson"), ".xlsx"
READ_KINDS = (*KINDS, ".tsv", WORKBOOK, *JSON_KINDS)
# Separators of cells; a file with `;` has decimal commas.
SEPARATORS = (",", ";", "\t")
NUMERIC_DTYPES = ("float64", "Int64", "bool", "boolean")
FLAGS = {"true": True, "false": False}


def is_table_file(name: str | os.PathLike[str]) -> bool:
    """Return whether a name is that of a file that is read as a table."""
    return Path(name).suffix.lower() in READ_KINDS


def read_table(path: Path, columns: Mapping[str, ColumnSchema]) -> DataFrame:
    """Read a file; texts that look like numbers or missing values stay texts."""
    if not is_table_file(path) and not path.exists():
        raise BadInput(
            f"there is no file {str(path)!r}; pass a table, or a file of {', '.join(READ_KINDS)}. "
            "measure(index, judgments) searches an index and scores it, and run(index, queries) "
            "returns the hits to compare"
        )
    if not is_table_file(path):
        raise BadInput(f"unsupported format `{path.suffix}`; use {', '.join(READ_KINDS)}")
    try:
        return _read_parquet(path) if path.suffix.lower() == ".parquet" else _read(path, columns)
    except ImportError as error:
        extra = "excel" if path.suffix.lower() == WORKBOOK else "bulk"
        raise BadInput(f"{path}: {error}; pip install 'svc-notebook[{extra}]'") from error
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, BadZipFile) as error:  # of libraries, for files of another format
        raise BadInput(f"{path} cannot be read as a table: {error}") from error


def read_rows(path: Path) -> list[Any]:
    """Read the rows of a file of JSON: a list, or an object on each line."""
    try:
        content = path.read_bytes()
        is_list = path.suffix.lower() == ".json"
        rows = msgspec.json.decode(content) if is_list else _decode_lines(content)
    except OSError as error:
        raise unreadable(path, error) from error
    except (msgspec.DecodeError, UnicodeError) as error:
        raise BadInput(f"{path} is not valid JSON: {error}") from error
    return rows if isinstance(rows, list) else [rows]


def _decode_lines(content: bytes) -> list[Any]:
    return [msgspec.json.decode(line) for line in content.splitlines() if line.strip()]


def write_table(frame: DataFrame, path: str | os.PathLike[str]) -> None:
    """Write a table to a CSV or Parquet file.

    Objects and lists are written as JSON. An existing file is replaced when the new one is
    complete.

    Parameters
    ----------
    frame : DataFrame
        Table, such as judgments, queries or a run.
    path : path
        File to write; its suffix `.csv` or `.parquet` determines the format.

    Raises
    ------
    BadInput
        If the suffix is not supported or the file cannot be written.

    Examples
    --------
    >>> hits = svc.tuning.run("products", ["mug"])
    >>> svc.tuning.write_table(hits, "run.csv")
    >>> len(svc.tuning.check_runs("run.csv"))
    10
    """
    if not isinstance(frame, DataFrame):
        raise BadInput("a DataFrame is written: pd.DataFrame(rows) makes one of a list of rows")
    target = expand_path(path)
    if target.suffix.lower() not in KINDS:
        raise BadInput(f"unsupported format `{target.suffix}`; use {' or '.join(KINDS)}")
    plain = frame.copy(deep=False)
    for name in [name for name, dtype in plain.dtypes.items() if dtype == np.dtype(object)]:
        plain[name] = plain[name].map(_to_json)
    plain.attrs = {}
    try:
        with replace_file(target) as draft:
            if target.suffix.lower() == ".parquet":
                plain.to_parquet(draft, index=False)
            else:
                plain.to_csv(draft, index=False, quoting=_quoting(plain))
    except OSError as error:
        raise unwritable(target, error) from error


def _quoting(frame: DataFrame) -> Literal[0, 2]:
    """Quote every text if one contains a lone carriage return, which Python 3.11 does not quote."""
    texts = [frame[name] for name, dtype in frame.dtypes.items() if dtype == "str"]
    returns = any(bool(text.str.contains("\r", regex=False, na=False).any()) for text in texts)
    return csv.QUOTE_NONNUMERIC if returns else csv.QUOTE_MINIMAL


def _to_json(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def _read_parquet(path: Path) -> DataFrame:
    return pd.read_parquet(path)


def _read(path: Path, columns: Mapping[str, ColumnSchema]) -> DataFrame:
    """Read CSV, also as spreadsheets save it, or a workbook; rows of empty cells are skipped."""
    is_workbook = path.suffix.lower() == WORKBOOK
    csv_format = {} if is_workbook else _detect_format(path, columns)
    header = (
        pd.read_excel(path, nrows=0, engine="openpyxl")
        if is_workbook
        else pd.read_csv(path, nrows=0, index_col=False, **csv_format)
    )
    names = [str(name) for name in header]
    texts = {name: str for name in names if name in columns and columns[name].dtype == "str"}
    others = {name: [""] for name in names if name not in texts}
    kept: dict[str, Any] = {"dtype": texts, "keep_default_na": False, "na_values": others}
    if is_workbook:
        frame = DataFrame(pd.read_excel(path, engine="openpyxl", **kept))
    else:
        frame = _read_all(path, names, **kept, **csv_format)
    frame = frame[~(frame.isna() | (frame == "")).all(axis=1)].reset_index(drop=True)
    for name in texts.keys() & {"objectID"}:
        frame[name] = frame[name].where(frame[name] != "")
    for name in others.keys() & columns.keys():
        if frame[name].dtype.kind not in "biuf" and columns[name].dtype in NUMERIC_DTYPES:
            frame[name] = frame[name].astype(object).map(_plain)
    return frame


def _read_all(path: Path, names: list[str], **options: Any) -> DataFrame:
    """Read CSV; cells beyond the header are rejected unless they are empty."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            return DataFrame(pd.read_csv(path, index_col=False, **options))
        except pd.errors.ParserWarning:
            csv_format = {name: options[name] for name in ("sep", "encoding")}
            width = pd.read_csv(path, header=None, skiprows=1, nrows=1, **csv_format).shape[1]
            wide = [*names, *(f"beyond {number}" for number in range(len(names), width))]
            frame = pd.read_csv(path, header=0, names=wide, index_col=False, **options)
    beyond = frame[wide[len(names) :]]
    if not (beyond.isna() | (beyond == "")).all(axis=None):
        raise ValueError("its rows have more cells than its first line has names")
    return DataFrame(frame[names])


def _detect_format(path: Path, columns: Mapping[str, ColumnSchema]) -> dict[str, Any]:
    """Detect separator and encoding, including those of spreadsheets."""
    with path.open("rb") as file:
        encoding = "utf-16" if file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else None
    with path.open(encoding=encoding or "utf-8-sig", errors="replace") as file:
        first = file.readline().strip()
    columns_by_mark = {mark: columns.keys() & {*_cells(first, mark)} for mark in SEPARATORS}
    mark = max(SEPARATORS, key=lambda mark: len(columns_by_mark[mark]))
    return {"sep": mark, "decimal": "," if mark == ";" else ".", "encoding": encoding}


def _cells(line: str, mark: str) -> list[str]:
    return [cell.strip('"') for cell in line.split(mark)]


def _plain(value: Any) -> Any:
    """Convert one cell of a column that is not all numbers."""
    if not isinstance(value, str):
        return value
    word = value.strip().lower()
    if word in FLAGS:
        return FLAGS[word]
    try:
        number = float(word)
    except ValueError:
        return value
    return number if math.isfinite(number) else value
