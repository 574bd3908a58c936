"""Delimited files (CSV, TSV and similar) as tables of text, and their broken rows."""

from __future__ import annotations

import os
from codecs import BOM_UTF8
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from svc_notebook.data.loading import sql
from svc_notebook.data.loading.database import Database
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sources.csv_cells import (
    Dialect,
    Texts,
    count_empty_rows,
    has_rows,
    longest_record,
    read_few_rows,
)
from svc_notebook.data.loading.sources.csv_copies import (
    MAX_SHOWN_ROWS,
    SHORT,
    SURPLUS,
    UNCLOSED,
    RegularCopy,
    RowShape,
    broken_row,
    copy_regular,
    describe_copies,
    is_plain_header,
    scan_lines,
)
from svc_notebook.data.loading.sources.csv_layout import find_layout
from svc_notebook.data.loading.sources.csv_lines import Layout, write_plain
from svc_notebook.data.loading.sources.encoding import (
    SAMPLE_BYTES,
    SAMPLE_CHARACTERS,
    find_encoding,
    is_broken_utf8,
    read_part,
    rewrite,
    sniff_encoding,
)
from svc_notebook.data.loading.sources.printed_tables import copy_printed_table, find_printed_table
from svc_notebook.data.loading.sources.read_limits import check_columns
from svc_notebook.data.loading.table import RowError, SourceTable, TableColumn
from svc_notebook.data.loading.text_cells.signals import Decision, state
from svc_notebook.errors import BadInput

# The maximum record of the first scan, and of a second scan with a larger buffer; a longer record
# is the effect of an unclosed quote.
USUAL_RECORD_BYTES, MAX_RECORD_BYTES = 2_000_000, 64_000_000
# The buffer of a scan: smaller ones are slower, because each has a start and an end to handle.
SCAN_BUFFER_BYTES = 12_000_000
# The memory that a scan with a larger buffer gets besides a MB for each 100 KB of record.
LARGE_SCAN_MEGABYTES, RECORD_BYTES_PER_MEGABYTE = 128, 100_000
# The reason of a rejected row, by DuckDB's type of the error.
REASONS = {
    "MISSING COLUMNS": SHORT,
    "TOO MANY COLUMNS": SURPLUS,
    "UNQUOTED VALUE": UNCLOSED,
    "INVALID ENCODING": "contains bytes that are not UTF-8",
    "LINE SIZE OVER MAXIMUM": "is longer than 2 MB",
}
# The bytes at the end of a large file among which a footer is looked for.
END_BYTES = 16_000
GUESSED = "read as {}, because it is not UTF-8; encoding= names another one"


def open_delimited(
    paths: Sequence[Path], name: str, options: LoadSettings, db: Database
) -> SourceTable:
    """Open files with the same header as one table."""
    readable, notes, encoding = _as_utf8(paths, options, db)
    given = {str(copy): str(path) for copy, path in zip(readable, paths, strict=True)}
    return _open_utf8(readable, given, name, options, db, notes, encoding).table()


def _open_utf8(
    sources: Sequence[Path], given: Mapping[str, str], name: str, options: LoadSettings,
    db: Database, encoding_notes: Sequence[str], encoding: Decision, *, rewritten: bool = False,
) -> _CsvReading:  # fmt: skip
    """Open files of UTF-8; `given` are the caller's files by these."""
    plain, notes, layouts, skipped = _as_plain(sources, encoding_notes, options, db)
    dialect = _common_dialect(sources, layouts, options)
    if not dialect.names:
        raise BadInput(f"{name} is empty: it has neither a header nor a row")
    check_columns(len(dialect.names), name)
    if empty := sum(count_empty_rows(path, dialect) for path in plain):
        skipped += empty
        notes.append("1 row is empty and is skipped" if empty == 1 else
                     f"{empty:,} rows are empty and are skipped")  # fmt: skip
    reading = _CsvReading(
        tuple(plain), name, options, db, dialect, tuple(sources), given, tuple(notes),
        tuple(encoding_notes), USUAL_RECORD_BYTES, skipped, (encoding, *layouts[0].decisions),
        rewritten=rewritten,
    )  # fmt: skip
    return reading.regular_if_needed()


@dataclass(frozen=True)
class _CsvReading:
    """One way to read the files; if it fails or skips rows, there may be another."""

    paths: tuple[Path, ...]
    name: str
    options: LoadSettings
    db: Database
    dialect: Dialect
    # The files of UTF-8, of which `paths` can be copies, and the caller's files by these.
    sources: tuple[Path, ...]
    given: Mapping[str, str]
    notes: tuple[str, ...]
    encoding_notes: tuple[str, ...]
    # The maximum record of a scan.
    record_bytes: int
    # The number of lines that the files have beside their headers, rows and blank lines.
    skipped_lines: int
    # The decisions by which the first file is read.
    decisions: tuple[Decision, ...]
    # Whether some quoted cell can contain a line end.
    quoted_lines: bool = False
    # Whether the files are copies with one encoding and one kind of line ends.
    rewritten: bool = False
    # Copies in which every row has the same number of cells, and the names of the columns beyond
    # the header's.
    copies: tuple[RegularCopy, ...] = ()
    surplus: tuple[str, ...] = ()
    # The number of rows that the files have; None if it is unknown.
    expected_rows: int | None = None

    def table(self) -> SourceTable:
        """Return the table, with columns of text."""
        names = enumerate(self._names)
        files = [Path(path).name for path in self._given]
        # One copy for each file, or none.
        changes = describe_copies(self.copies, files[: len(self.copies)], self.surplus)
        # If a thread starts to read inside a quoted cell, DuckDB reads a line of the cell as a row
        # if it has the right number of cells. A single thread continues after the previous row.
        parallel = not self.quoted_lines
        return SourceTable(
            db=self.db,
            # With `ignore_errors` alone, DuckDB skips good rows after a broken one.
            sql=self._scan(self._scanned, f"rejects_limit=1, parallel={parallel}"),
            watched_sql=self._scan(self._scanned, f"rejects_limit=0, parallel={parallel}"),
            fields=tuple(TableColumn(name, f"c{i}", "VARCHAR") for i, name in names),
            name=self.name,
            untyped=True,
            separator=self.dialect.separator,
            first_row=self.dialect.first_row,
            reading=self.decisions,
            notes=(*self.notes, *self.dialect.notes, *changes),
            skipped_lines=self.skipped_lines + sum(copy.repeated.number for copy in self.copies),
            rows_of_files=self._rows_of_files,
            skipped=self._skipped,
            alternative=self._alternative,
            check_lost_rows=self._check_lost_rows,
            few_rows=self._few_rows,
        )

    def _few_rows(self, max_cells: int) -> list[Texts] | None:
        """Read a file of a few rows without a scan, if it is the caller's own and regular."""
        regular = not (self.copies or self.quoted_lines or self.dialect.trailing)
        if not regular or len(self.paths) > 1 or self.dialect.escape != self.dialect.quote:
            return None
        return read_few_rows(self.paths[0], self.dialect, max_cells)

    def regular_if_needed(self) -> _CsvReading:
        """Use regular copies of files of which DuckDB would lose a header or a cell silently."""
        shapes = [scan_lines(path, self.dialect) for path in self.paths]
        has_header = self.dialect.header
        records = [shape.records for shape in shapes if shape.records is not None]
        complete = len(records) == len(shapes) and len(self._names) > 1
        reading = replace(
            self,
            quoted_lines=any(shape.quoted_lines for shape in shapes),
            expected_rows=sum(records) - has_header * len(records) if complete else None,
        )
        return reading._regular() if self._needs_copies(shapes) else reading

    def _needs_copies(self, shapes: Sequence[RowShape]) -> bool:
        dialect = self.dialect
        if dialect.header and not all(is_plain_header(path, dialect) for path in self.paths):
            return True
        return dialect.escape != dialect.quote or any(
            shape.is_misread(dialect, strict=self.options.strict) for shape in shapes
        )

    def _scan(self, paths: Sequence[Path], mode: str) -> str:
        columns = sql.struct({f"c{i}": "VARCHAR" for i, _ in enumerate(self._names)})
        header = self.dialect.header or bool(self.copies)
        call = (
            f"read_csv({sql.listing(map(str, paths))}, auto_detect=false, strict_mode=true, "
            f"delim={sql.text(self.dialect.separator)}, quote={sql.text(self.dialect.quote)}, "
            f"escape={sql.text(self.dialect.quote)}, header={str(header).lower()}, "
            f"skip=0, columns={columns}, max_line_size={self.record_bytes}, "
            f"buffer_size={max(2 * self.record_bytes, SCAN_BUFFER_BYTES)}, "
            f"store_rejects=true, {mode})"
        )
        # DuckDB skips blank lines except in a file with one column, where it reads them as rows.
        alone = len(self._names) == 1
        return f"(SELECT * FROM {call} WHERE c0 IS NOT NULL)" if alone else call

    @property
    def _names(self) -> tuple[str, ...]:
        """The names of the columns of a scan."""
        return (*self.dialect.names, *self.surplus)

    @property
    def _given(self) -> list[str]:
        """The files of the caller."""
        return [self.given[str(path)] for path in self.sources]

    @property
    def _scanned(self) -> list[Path]:
        """The files that a scan reads."""
        return [copy.path for copy in self.copies] or list(self.paths)

    def _rows_of_files(self) -> list[int]:
        scans = (self._scan([path], "rejects_limit=1, parallel=false") for path in self._scanned)
        return [int(self.db.rows(f"SELECT count(*) FROM {scan}")[0][0]) for scan in scans]

    def _skipped(self) -> list[RowError]:
        """Return the rows that the last watched scan could not read, and those no copy contains."""
        rows = self.db.rows(
            "SELECT DISTINCT ON (file_id, line) line, csv_line, error_type::VARCHAR, "
            "error_message, file_path "
            "FROM reject_errors JOIN reject_scans USING (scan_id, file_id) ORDER BY line"
        )
        header_lines = self.dialect.header or bool(self.copies)
        errors = [
            broken_row(
                int(line) - header_lines, cells if n < MAX_SHOWN_ROWS else None,
                REASONS.get(kind, message), self.dialect,
            )._replace(file=file)
            for n, (line, cells, kind, message, file) in enumerate(rows)
        ]  # fmt: skip
        return self._number_as_given(errors)

    def _number_as_given(self, errors: Sequence[RowError]) -> list[RowError]:
        """Number rows as in the caller's files; adds the rows that the copies do not contain."""
        several = len(self.paths) > 1
        every: list[RowError] = []
        for number, (given, scanned) in enumerate(zip(self._given, self._scanned, strict=True)):
            removed = self.copies[number].removed if self.copies else []
            chosen = [error for error in errors if not several or error.file == str(scanned)]
            file = given if several else None
            moved = _shift_rows(chosen, removed)
            every += [error._replace(file=file) for error in (*moved, *removed)]
        return sorted(every, key=lambda error: (error.file or "", error.row))

    def _alternative(self, skipped: list[RowError] | None) -> SourceTable | None:
        """Return another way to read files whose scan failed or skipped rows, if there is one."""
        with suppress(BadInput):  # DuckDB creates the tables with the first scan
            # The skipped rows of this scan do not count for the next one.
            self.db.rows("DELETE FROM reject_errors")
            self.db.rows("DELETE FROM reject_scans")
        if self.record_bytes == USUAL_RECORD_BYTES:
            large = [path for path in self.paths if path.stat().st_size > USUAL_RECORD_BYTES]
            longest = max((longest_record(path, self.dialect) for path in large), default=0)
            # A longer record is the effect of an unclosed quote.
            if USUAL_RECORD_BYTES < longest <= MAX_RECORD_BYTES:
                more = longest // RECORD_BYTES_PER_MEGABYTE
                self.db.grant(LARGE_SCAN_MEGABYTES + more, threads=1)
                return replace(self, record_bytes=2 * longest).table()
        if not self.rewritten and (again := self._rewritten(skipped)):
            return again.table()
        return self._regular().table() if skipped and not self.copies else None

    def _regular(self) -> _CsvReading:
        strict, folder = self.options.strict, self.db.folder
        copies, surplus = copy_regular(self.paths, folder, self.dialect, strict=strict)
        alone = len(self._names) + len(surplus) == 1  # an empty value is no row
        rows = None if alone else sum(copy.rows - len(copy.removed) for copy in copies)
        return replace(self, copies=copies, surplus=surplus, expected_rows=rows)

    def _rewritten(self, skipped: list[RowError] | None) -> _CsvReading | None:
        """Use copies with one kind of line ends; or, if rows are not UTF-8, read as cp1252."""
        if skipped is not None and not self._has_other_encoding(skipped):
            return None
        decision = find_encoding(self.sources[0]) if skipped else self.decisions[0]
        encoding = decision.chosen.value if skipped else "utf-8-sig"
        what = GUESSED.format(encoding) if skipped else "mixed line ends are read as one kind"
        again = [
            rewrite(path, self.db.folder, encoding, Path(given))
            for path, given in zip(self.sources, self._given, strict=True)
        ]
        given = dict(zip(map(str, again), self._given, strict=True))
        notes = [*self.encoding_notes, what]
        return _open_utf8(again, given, self.name, self.options, self.db, notes, decision,
                          rewritten=True)  # fmt: skip

    def _has_other_encoding(self, skipped: Sequence[RowError]) -> bool:
        """Return whether rows were skipped because the files are not UTF-8 at all."""
        not_utf8 = REASONS["INVALID ENCODING"]
        return (
            any(error.reason == not_utf8 for error in skipped)
            and not self.options.encoding
            and not any(map(is_broken_utf8, self.sources))
        )

    def _check_lost_rows(self, largest_bytes: int, rows: int, skipped: Sequence[RowError]) -> None:
        if not rows and not skipped and any(has_rows(path, self.dialect) for path in self.paths):
            raise BadInput(
                f"{self.name} has lines, but none could be read as a row: check its header, and "
                "pass the file's dialect, for example separator=';' or quote=\"'\""
            )
        lost = 0 if skipped or self.options.limit else (self.expected_rows or 0) - rows
        if lost > 0:
            raise BadInput(
                f"{self.name} has {rows + lost:,} rows, of which {lost:,} could not be read, and "
                "it is unknown which: pass the file's dialect, for example separator=';' or "
                'quote="\'"'
            )


def _shift_rows(errors: Sequence[RowError], removed: Sequence[RowError]) -> list[RowError]:
    """Number rows of a copy as in the file, which has the removed rows besides."""
    rows = np.array([error.row for error in removed], dtype=np.int64)
    before = rows - np.arange(len(rows)) - 1
    shifts = np.searchsorted(before, [error.row - 1 for error in errors], side="right")
    return [error._replace(row=error.row + int(n)) for error, n in zip(errors, shifts, strict=True)]


def _as_utf8(
    paths: Sequence[Path], options: LoadSettings, db: Database
) -> tuple[list[Path], list[str], Decision]:
    """Return copies in UTF-8, notes, and the decision on the encoding of the first file."""
    readable, notes, decisions = [], [], []
    for path in paths:
        sample = read_part(path, SAMPLE_BYTES)
        if options.encoding:
            decision = state("encoding", options.encoding, "is given")
        elif (sniffed := sniff_encoding(sample)).startswith("utf"):
            decision = state("encoding", sniffed, "all bytes are in it")
        else:
            decision = find_encoding(path)
        encoding = decision.chosen.value
        plain = encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig")
        # DuckDB's releases count blank lines at the start differently.
        blank = sample.removeprefix(BOM_UTF8).startswith((b"\n", b"\r"))
        readable.append(path if plain and not blank else rewrite(path, db.folder, encoding))
        if not plain:
            guessed = not options.encoding and not encoding.startswith("utf")
            read = GUESSED.format(encoding) if guessed else f"read as {encoding}"
            notes.append(f"{path.name} is {read}")
        decisions.append(decision)
    return readable, notes, decisions[0]


def _as_plain(
    paths: Sequence[Path], notes: Sequence[str], options: LoadSettings, db: Database
) -> tuple[list[Path], list[str], list[Layout], int]:
    """Return files that DuckDB reads, notes, the layouts, and the number of other lines."""
    plain, layouts, lines, every = [], [], 0, [*notes]
    for path in paths:
        sample, read, of_file = _sample(path), path, []
        if printed := find_printed_table(sample, options):
            table = copy_printed_table(path, db.folder, printed)
            read, sample, of_file = table.path, _sample(table.path), [*table.notes]
            lines += table.skipped_lines
            layout = find_layout(sample, replace(options, separator=",", quote='"', skip=0))
            layout = replace(layout, decisions=(printed.decision, *layout.decisions[2:]))
        else:
            whole = len(sample) < SAMPLE_CHARACTERS
            layout = find_layout(sample, options, whole=whole, end=() if whole else _read_end(path))
        of_file += layout.notes
        if not layout.is_plain:
            copy = write_plain(read, db.folder, layout)
            read = copy.path
            of_file += copy.notes
            lines += copy.skipped_lines
        plain.append(read)
        layouts.append(layout)
        every += [f"{path.name}: {note}" for note in of_file] if len(paths) > 1 else of_file
    return plain, every, layouts, lines


def _common_dialect(
    paths: Sequence[Path], layouts: Sequence[Layout], options: LoadSettings
) -> Dialect:
    first, *others = [layout.dialect for layout in layouts]
    for path, dialect in zip(paths[1:], others, strict=True):
        if dialect.names != first.names or dialect.separator != first.separator:
            raise BadInput(
                f"{path.name} has another header than {paths[0].name}; load it separately"
            )
    texts = frozenset(n for n, name in enumerate(first.names) if name in options.dtype)
    return replace(first, texts=texts)


def _sample(path: Path) -> str:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        return file.read(SAMPLE_CHARACTERS)


def _read_end(path: Path) -> list[str]:
    """Return the last lines of a file."""
    with path.open("rb") as file:
        file.seek(-min(END_BYTES, path.stat().st_size), os.SEEK_END)
        return file.read().decode("utf-8", "replace").splitlines(keepends=True)[1:]
