"""Judgments in a file, which has each of them as soon as it is given."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
from pandas import DataFrame

from svc_notebook.editors.judging.table import SCHEMA
from svc_notebook.errors import BadOption

KINDS = (".csv", ".parquet")


def find_file(file: str | os.PathLike[str]) -> Path:
    """Check the name of a file that judgments are to be kept in."""
    path = Path(file)
    if path.suffix not in KINDS:
        raise BadOption(f"judgments are kept in a file ending in {' or '.join(KINDS)}, not {path}")
    if not path.parent.is_dir():
        raise BadOption(f"there is no folder {path.parent} to keep {path.name} in")
    return path


def read_file(path: Path) -> DataFrame:
    """Read what `write_file` wrote: texts that look like numbers, or like nothing, stay texts."""
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    texts = {name: str for name, dtype in SCHEMA.items() if dtype == "str"}
    names = map(str, pd.read_csv(path, nrows=0))
    others = {name: [""] for name in names if name not in texts}
    frame = pd.read_csv(path, dtype=texts, keep_default_na=False, na_values=others)
    if "judged_at" in frame:
        frame["judged_at"] = pd.to_datetime(frame["judged_at"], utc=True, format="ISO8601")
    return frame


def write_file(path: Path, frame: DataFrame) -> None:
    """Put judgments in the place of a file at one moment."""
    beside = path.with_name(f".{path.name}.new")
    try:
        if path.suffix == ".parquet":
            frame.to_parquet(beside, index=False)
        else:
            frame.to_csv(beside, index=False)
        beside.replace(path)
    except OSError as error:
        raise BadOption(f"cannot keep judgments in {path}: {error}") from error
