"""The file of a judgment editor, written after every judgment."""

from __future__ import annotations

import os
from pathlib import Path

from pandas import DataFrame

from svc_notebook.errors import BadOption
from svc_notebook.tuning.tables.files import KINDS, write_table
from svc_notebook.tuning.tables.tables import check_judgments


def find_file(file: str | os.PathLike[str]) -> Path:
    """Check the name of a file that judgments are to be kept in."""
    path = Path(file)
    if path.suffix not in KINDS:
        raise BadOption(f"judgments are kept in a file ending in {' or '.join(KINDS)}, not {path}")
    if not path.parent.is_dir():
        raise BadOption(f"there is no folder {path.parent} to keep {path.name} in")
    return path


def read_file(path: Path) -> DataFrame:
    """Read what `write_file` wrote."""
    return check_judgments(path)


def write_file(path: Path, frame: DataFrame) -> None:
    """Put judgments in the place of a file at one moment."""
    write_table(frame, path)
