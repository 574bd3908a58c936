"""Tables of tuning in files: CSV for people, Parquet for tables that are large."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from pandas import DataFrame

from svc_notebook.errors import BadInput

if TYPE_CHECKING:
    from svc_notebook.tuning.columns import Column

KINDS = (".csv", ".parquet")


def is_table_file(name: str | os.PathLike[str]) -> bool:
    """Whether a name is that of a file that tables are kept in."""
    return Path(name).suffix.lower() in KINDS


def read_table(path: Path, columns: Mapping[str, Column]) -> DataFrame:
    """Read a file: texts that look like numbers, or like nothing, stay texts."""
    if not is_table_file(path):
        raise BadInput(f"tables are kept in files ending in {' or '.join(KINDS)}, not {path}")
    try:
        return _read_parquet(path) if path.suffix.lower() == ".parquet" else _read(path, columns)
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}") from error
    except ValueError as error:  # what pandas and Arrow raise for files of another kind
        raise BadInput(f"{path} is no such table: {error}") from error


def write_table(frame: DataFrame, path: str | os.PathLike[str]) -> None:
    """Put a table in the place of a CSV or Parquet file at one moment.

    Objects and lists are written as JSON.
    """
    target = Path(path).expanduser()
    if not is_table_file(target):
        raise BadInput(f"tables are kept in files ending in {' or '.join(KINDS)}, not {target}")
    beside = target.with_name(f".{target.name}.new")
    plain = frame.copy(deep=False)
    for name in [name for name, dtype in plain.dtypes.items() if dtype == np.dtype(object)]:
        plain[name] = plain[name].map(_to_json)
    plain.attrs = {}
    try:
        if target.suffix.lower() == ".parquet":
            plain.to_parquet(beside, index=False)
        else:
            plain.to_csv(beside, index=False, quoting=_quoting(plain))
        beside.replace(target)
    except OSError as error:
        raise BadInput(f"{target} cannot be written: {error.strerror or error}") from error


def _quoting(frame: DataFrame) -> Literal[0, 2]:
    """Quote every text where one holds a lone return, which Python 3.11 would not quote."""
    texts = [frame[name] for name, dtype in frame.dtypes.items() if dtype == "str"]
    returns = any(bool(text.str.contains("\r", regex=False, na=False).any()) for text in texts)
    return csv.QUOTE_NONNUMERIC if returns else csv.QUOTE_MINIMAL


def _to_json(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def _read_parquet(path: Path) -> DataFrame:
    return pd.read_parquet(path)


def _read(path: Path, columns: Mapping[str, Column]) -> DataFrame:
    """Read CSV; an empty cell is a missing value where the column is of no texts."""
    names = [str(name) for name in pd.read_csv(path, nrows=0)]
    texts = {name: str for name in names if name in columns and columns[name].dtype == "str"}
    others = {name: [""] for name in names if name not in texts}
    frame = pd.read_csv(path, dtype=texts, keep_default_na=False, na_values=others)
    for name in texts.keys() & {"objectID"}:
        frame[name] = frame[name].where(frame[name] != "")
    return frame
