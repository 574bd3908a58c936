"""Limits of what a file may become when it is read: they follow its size, so that it stays small.

A file of a few megabytes can hold gigabytes of equal bytes. Each reader calls the check of its
format before it reads: a file that exceeds a limit is refused with what to do, and the limit.
"""

from __future__ import annotations

import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO

from svc_notebook.core.child_process import script_command, start_process
from svc_notebook.errors import BadInput

CHUNK_BYTES = 1 << 20
# What a compressed file may unpack to: so many bytes, or so many times its own size.
MIN_UNPACKED_BYTES, UNPACKED_FACTOR = 256 * 2**20, 100
# The same for a workbook, whose cells take several times as much memory.
MIN_WORKBOOK_BYTES, WORKBOOK_FACTOR = 64 * 2**20, 50
# Rows that a Parquet file may have: so many, or so many for each of its bytes.
MIN_PARQUET_ROWS, PARQUET_ROWS_PER_BYTE = 20_000_000, 64
# Maximum bytes of one line of a file of delimited text: a record has at most 100 kB.
MAX_LINE_BYTES = 32 * 2**20
# Cells that a table of XML elements may have: so many, or one for each byte of its files.
MIN_CELLS = 20_000_000
# How long a source may be read: the larger of both, tenfold what the slowest format needs.
MIN_READING_SECONDS, READING_SECONDS_PER_MEGABYTE = 120.0, 20.0
# What a value, and what a cell of a sheet or a page counts at least of what a file unpacks to.
VALUE_BYTES, CELL_BYTES = 8, 64
# Larger files are read without a trial: their limit is beyond what a trial saves.
MAX_TRIAL_FILE_BYTES = 16 * 2**20
# Memory of a trial for its libraries, beside what the file may unpack to.
TRIAL_BASE_BYTES = 512 * 2**20
DAMAGED_STATUS = 3
# Maximum columns of a source; a row of 16,384 texts exceeds a block of DuckDB.
MAX_COLUMNS = 16_000
UNPACK = (
    "if its content is as it should be, unpack it and load the file inside, or write it without "
    "compression"
)


def unpacked_limit(packed_bytes: int) -> int:
    """Return how many bytes a compressed file of a size may unpack to."""
    return max(MIN_UNPACKED_BYTES, UNPACKED_FACTOR * packed_bytes)


class ReadingBudget:
    """Counts what the files of a source unpack to and the time, while they are read.

    `advice` says what the user can do where a limit is exceeded.
    """

    def __init__(self, name: Path | str, packed_bytes: int, advice: str = UNPACK) -> None:
        self._name, self._packed, self._advice = name, packed_bytes, advice
        self._limit, self._size = unpacked_limit(packed_bytes), 0
        self._seconds = reading_limit(packed_bytes)
        self._end = monotonic() + self._seconds

    @classmethod
    def of_files(cls, paths: Sequence[Path], name: str, advice: str = UNPACK) -> ReadingBudget:
        """Return the budget of some files."""
        return cls(name, sum(path.stat().st_size for path in paths), advice)

    @property
    def is_late(self) -> bool:
        """Whether the time is over."""
        return monotonic() > self._end

    def add(self, size: int) -> None:
        """Count bytes before they are stored; raises `BadInput` beyond a limit."""
        self._size += size
        if self._size > self._limit:
            raise BadInput(
                f"{self._name} has {_megabytes(self._packed)} and unpacks to more than "
                f"{_megabytes(self._limit)}, {_how_much(self._limit)}: {self._advice}"
            )
        self.check_time()

    def check_time(self) -> None:
        """Raise `BadInput` if the time is over."""
        if self.is_late:
            raise BadInput(
                f"{self._name} has {_megabytes(self._packed)} and is not read after "
                f"{self._seconds:,.0f} s, the limit for files of its size: {self._advice}; a large "
                "file is read faster in parts"
            )


def size_of(value: Any) -> int:
    """Return what a value counts of what its file unpacks to."""
    return VALUE_BYTES + (len(value) if isinstance(value, (str, bytes)) else 0)


def reading_limit(packed_bytes: int) -> float:
    """Return how many seconds files of a size may be read."""
    return max(MIN_READING_SECONDS, READING_SECONDS_PER_MEGABYTE * packed_bytes / 2**20)


def copy_unpacked(source: Any, sink: BinaryIO, given: Path, packed_bytes: int) -> None:
    """Copy the unpacked bytes of a compressed file; raises `BadInput` beyond its limit.

    `given` is the file that the caller named.
    """
    budget = ReadingBudget(given, packed_bytes)
    while piece := source.read(CHUNK_BYTES):
        budget.add(len(piece))
        sink.write(piece)


def try_reading(code: str, path: Path, name: str, advice: str) -> None:
    """Raise `BadInput` for a small file that needs far more memory or time than its size allows.

    A process with these limits reads the file by `code`, to which `path` is its path: libraries
    that allocate what a file states end their process where there is no memory. The file is
    damaged if the code raises an exception; its reader says so.
    """
    size = path.stat().st_size
    if size > MAX_TRIAL_FILE_BYTES:
        return
    memory, seconds = unpacked_limit(size) + TRIAL_BASE_BYTES, reading_limit(size)
    script = TRIAL.format(memory=memory, status=DAMAGED_STATUS, code=code)
    process = start_process(
        script_command(script, str(path.absolute())),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        if process.wait(seconds) in (0, DAMAGED_STATUS):
            return
        need = f"needs more than {_megabytes(unpacked_limit(size))} of memory"
    except subprocess.TimeoutExpired:
        need = f"is not read after {seconds:,.0f} s"
    finally:
        process.kill()
        process.wait()
    raise BadInput(
        f"{name} has {_megabytes(size)} and {need}, the limit for files of its size: {advice}"
    )


# Where the system has no such limit, the time is limited only.
TRIAL = """
import sys
path = sys.argv[1]
try:
    import resource
    resource.setrlimit(resource.RLIMIT_DATA, ({memory}, {memory}))
except (ImportError, ValueError, OSError):
    pass
try:
    {code}
except MemoryError:
    raise
except Exception as error:
    sys.exit(1 if "memory" in str(error) or "alloc" in str(error) else {status})
"""


def check_workbook(path: Path, given: Path | str) -> None:
    """Raise `BadInput` for a workbook whose sheets and texts unpack to far more than its size."""
    packed = path.stat().st_size
    limit = max(MIN_WORKBOOK_BYTES, WORKBOOK_FACTOR * packed)
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, OSError):
        return  # a damaged workbook, or one that is no archive: its reader says so
    if sum(part.file_size for part in parts) <= limit:
        return
    largest = max(parts, key=lambda part: part.file_size)
    raise BadInput(
        f"{given} is a workbook of {_megabytes(packed)} that unpacks to more than "
        f"{_megabytes(limit)}, {_how_much(limit)}; its largest part is `{largest.filename}` with "
        f"{_megabytes(largest.file_size)}: save the sheet as .csv in a spreadsheet, and load that"
    )


def check_parquet(path: Path, rows: int, unpacked_bytes: int, name: str) -> None:
    """Raise `BadInput` for a Parquet file with far more rows or bytes than its size allows."""
    packed = path.stat().st_size
    most_rows, limit = max(MIN_PARQUET_ROWS, PARQUET_ROWS_PER_BYTE * packed), unpacked_limit(packed)
    if rows > most_rows or unpacked_bytes > limit:
        raise BadInput(
            f"{name}: {path.name} has {_megabytes(packed)}, and by its footer {rows:,} rows of "
            f"{_megabytes(unpacked_bytes)}; the limit for files of its size is {most_rows:,} rows "
            f"of {_megabytes(limit)}. Write it in parts, or without compression"
        )


def check_lines(paths: Sequence[Path], name: str) -> None:
    """Raise `BadInput` for a file of delimited text with a line that no record can have."""
    for path in paths:
        if path.stat().st_size <= MAX_LINE_BYTES:
            continue
        if (number := _find_long_line(path)) is not None:
            raise BadInput(
                f"{name}: line {number:,} of {path.name} is longer than "
                f"{_megabytes(MAX_LINE_BYTES)}; a record has at most 100 kB. Check that the file "
                "has line ends and is of the format that its name says"
            )


def check_columns(count: int, name: str) -> None:
    """Raise `BadInput` for a source with more columns than a service takes."""
    if count > MAX_COLUMNS:
        raise BadInput(
            f"{name} has {count:,} columns, the maximum is {MAX_COLUMNS:,}: check the separator, "
            "or write it as records with a list of names and values"
        )


def check_cells(rows: int, columns: int, size: int, name: str) -> None:
    """Raise `BadInput` for a sparse table that takes far more cells than its source has bytes."""
    check_columns(columns, name)
    most = max(MIN_CELLS, size)
    if rows * columns > most:
        raise BadInput(
            f"{name} has {rows:,} rows and {columns:,} columns, of which few are filled; the limit "
            f"for files of its size is {most:,} cells. Load it in parts, or write it as records "
            "with a list of names and values"
        )


def _find_long_line(path: Path) -> int | None:
    """Return the number of the first line that is too long, from 1; None without one."""
    since_end = 0
    with path.open("rb") as file:
        while piece := file.read(CHUNK_BYTES):
            first = piece.find(b"\n")
            since_end += len(piece) if first < 0 else first
            if since_end > MAX_LINE_BYTES:
                # Lines are counted here only: counting takes longer than reading.
                return 1 + _count_line_ends(path, file.tell() - len(piece))
            if first >= 0:
                since_end = len(piece) - piece.rfind(b"\n") - 1
    return None


def _count_line_ends(path: Path, size: int) -> int:
    """Return the number of line ends in the first bytes of a file."""
    with path.open("rb") as file:
        return sum(file.read(CHUNK_BYTES).count(b"\n") for _ in range(0, size, CHUNK_BYTES))


def _megabytes(size: int) -> str:
    return f"{size / 2**20:,.0f} MB" if size >= 2**20 else f"{size / 1000:,.1f} kB"


def _how_much(limit: int) -> str:
    return f"the limit for files of its size ({limit:,} bytes)"
