"""The cursor of an increment: the highest value of a column, or the files, of the last load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

# The cursor that compares files, and not the values of a column.
FILES = "files"


class LoadCursor(NamedTuple):
    """Where the last load ended; without a type and files, all rows are loaded."""

    column: str
    # The SQL type and the text of the highest value.
    type: str = ""
    value: str = ""
    # The size in bytes and the time of change of each file that was loaded.
    files: Mapping[str, tuple[int, int]] = {}
    has_new_files: bool = True
    # The types that the columns of earlier increments were sent as.
    columns: Mapping[str, str] = {}

    def select_files(self, paths: Sequence[Path]) -> tuple[list[Path], LoadCursor]:
        """Return the new and changed files, or one if there is none, and the cursor after them."""
        states = {str(path.absolute()): _state(path) for path in paths}
        new = [path for path in paths if self.files.get(str(path.absolute())) != _state(path)]
        return new or [*paths[-1:]], self._replace(files=states, has_new_files=bool(new))


def _state(path: Path) -> tuple[int, int]:
    facts = path.stat()
    return facts.st_size, facts.st_mtime_ns
