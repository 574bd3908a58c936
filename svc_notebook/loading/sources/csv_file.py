"""Delimited files (CSV, TSV and similar) as tables of text."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from svc_notebook.errors import BadInput
from svc_notebook.loading import sql
from svc_notebook.loading.database import Database
from svc_notebook.loading.options import LoadSettings
from svc_notebook.loading.sources.csv_dialect import Dialect, longest_record, sniff_dialect
from svc_notebook.loading.sources.csv_quotes import may_swallow, refuse_swallowed
from svc_notebook.loading.sources.csv_ragged_rows import (
    SURPLUS,
    TOLD,
    UNCLOSED,
    Regular,
    broken_row,
    describe_filled,
    has_rows,
    is_plain_header,
    look_over,
    write_regular,
)
from svc_notebook.loading.sources.encoding import SAMPLE_BYTES, holds_utf8, rewrite, sniff_encoding
from svc_notebook.loading.table import RowError, SourceTable, TableColumn

# Records a plain scan has room for, and those that are given it; more is a quote never closed.
LONGEST, LARGEST = 2_000_000, 64_000_000
# What a scan reads at once: smaller pieces are more of them, and each takes a beginning and an end.
SCAN_BUFFER_BYTES = 12_000_000
REASONS = {
    "MISSING COLUMNS": "has fewer columns than the header",
    "TOO MANY COLUMNS": SURPLUS,
    "UNQUOTED VALUE": UNCLOSED,
    "INVALID ENCODING": "holds bytes that are not UTF-8",
    "LINE SIZE OVER MAXIMUM": "is longer than 2 MB",
}
# What a quote that swallows rows is told as.
QUOTED = (REASONS["UNQUOTED VALUE"], REASONS["LINE SIZE OVER MAXIMUM"])


def open_delimited(
    paths: Sequence[Path], name: str, options: LoadSettings, db: Database
) -> SourceTable:
    """Open files of one header as one table."""
    readable, notes = _as_utf8(paths, options, db)
    dialect = _common_dialect(readable, options)
    if not dialect.names:
        raise BadInput(f"{name} is empty: there is no header and no row")
    given = {str(copy): str(path) for copy, path in zip(readable, paths, strict=True)}
    reading = _CsvReading(tuple(readable), name, options, db, dialect, given, tuple(notes), LONGEST)
    return reading.regular_if_needed().table()


@dataclass(frozen=True)
class _CsvReading:
    """One way to read the files; where it fails, or leaves rows out, there is another."""

    paths: tuple[Path, ...]
    name: str
    options: LoadSettings
    db: Database
    dialect: Dialect
    # From the files that are read, copies maybe, to those that were given.
    given: Mapping[str, str]
    notes: tuple[str, ...]
    # Bytes that a scan has room for in one record.
    longest: int
    # Whether some quoted cell may hold a line end.
    quoted_lines: bool = False
    # Whether encoding and line ends were made alike.
    rewritten: bool = False
    # The copies, in which every row has the cells of the header.
    copies: tuple[Regular, ...] = ()

    def table(self) -> SourceTable:
        """Make the table of text."""
        names = enumerate(self.dialect.names)
        # Where a thread begins to read amid a quoted cell, DuckDB takes a line of it for a row if
        # that has the cells of one. With one thread it reads on from the row before.
        parallel = not self.quoted_lines
        return SourceTable(
            db=self.db,
            # With `ignore_errors` alone, DuckDB leaves out good rows after a broken one.
            sql=self._scan(self._read, f"rejects_limit=1, parallel={parallel}"),
            watched_sql=self._scan(self._read, f"rejects_limit=0, parallel={parallel}"),
            fields=tuple(TableColumn(name, f"c{i}", "VARCHAR") for i, name in names),
            name=self.name,
            untyped=True,
            notes=(*self.notes, *self.dialect.notes, *self._filled()),
            rows_of_files=self._rows_of_files,
            skipped=self._skipped,
            otherwise=self._otherwise,
            refuse_lost=self._refuse_lost,
        )

    def regular_if_needed(self) -> _CsvReading:
        """Read copies of the files where DuckDB would lose a header, or a cell, and say nothing."""
        shapes = [look_over(path, self.dialect) for path in self.paths]
        reading = replace(self, quoted_lines=any(shape.quoted_lines for shape in shapes))
        headed = self.dialect.header
        if (
            (headed and not all(is_plain_header(path, self.dialect) for path in self.paths))
            or any(shape.open_end for shape in shapes)
            or (not self.dialect.trailing and any(shape.empty_surplus for shape in shapes))
        ):
            return reading._regular()
        return reading

    def _scan(self, paths: Sequence[Path], mode: str) -> str:
        columns = sql.struct({f"c{i}": "VARCHAR" for i, _ in enumerate(self.dialect.names)})
        header = self.dialect.header or bool(self.copies)
        call = (
            f"read_csv({sql.listing(map(str, paths))}, auto_detect=false, strict_mode=true, "
            f"delim={sql.text(self.dialect.separator)}, quote={sql.text(self.dialect.quote)}, "
            f"escape={sql.text(self.dialect.escape)}, header={str(header).lower()}, "
            f"skip=0, columns={columns}, max_line_size={self.longest}, "
            f"buffer_size={max(2 * self.longest, SCAN_BUFFER_BYTES)}, store_rejects=true, {mode})"
        )
        # A blank line is no row; only in a file of one column is it taken for one.
        alone = len(self.dialect.names) == 1
        return f"(SELECT * FROM {call} WHERE c0 IS NOT NULL)" if alone else call

    @property
    def _read(self) -> list[Path]:
        return [copy.path for copy in self.copies] or list(self.paths)

    def _rows_of_files(self) -> list[int]:
        scans = (self._scan([path], "rejects_limit=1, parallel=false") for path in self._read)
        return [int(self.db.rows(f"SELECT count(*) FROM {scan}")[0][0]) for scan in scans]

    def _filled(self) -> list[str]:
        names = [Path(self.given.get(str(path), path)).name for path in self.paths]
        return list(describe_filled(self.copies, names)) if self.copies else []

    def _skipped(self) -> list[RowError]:
        """Tell which rows the last watched scan could not read, and which no copy has."""
        rows = self.db.rows(
            "SELECT DISTINCT ON (file_id, line) line, csv_line, error_type::VARCHAR, "
            "error_message, file_path "
            "FROM reject_errors JOIN reject_scans USING (scan_id, file_id) ORDER BY line"
        )
        headed = self.dialect.header or bool(self.copies)
        told = [
            broken_row(
                int(line) - headed, found if n < TOLD else None, REASONS.get(kind, message),
                self.dialect,
            )._replace(file=file)
            for n, (line, found, kind, message, file) in enumerate(rows)
        ]  # fmt: skip
        return self._as_given(told)

    def _forget_skipped(self) -> None:
        """Keep another scan from being told of them: a way to read the file anew follows."""
        self.db.rows("DELETE FROM reject_errors")
        self.db.rows("DELETE FROM reject_scans")

    def _as_given(self, told: Sequence[RowError]) -> list[RowError]:
        """Name rows as in the files that were given, with those that the copies do not have."""
        several = len(self.paths) > 1
        every: list[RowError] = []
        for number, (path, read) in enumerate(zip(self.paths, self._read, strict=True)):
            removed = self.copies[number].removed if self.copies else []
            rows = np.array([fault.row for fault in removed], dtype=np.int64)
            before = rows - np.arange(len(rows)) - 1
            own = [fault for fault in told if fault.file == str(read)] if several else told
            shifts = np.searchsorted(before, [fault.row - 1 for fault in own], side="right")
            moved = [f._replace(row=f.row + int(n)) for f, n in zip(own, shifts, strict=True)]
            file = self.given.get(str(path), str(path)) if several else None
            every += [fault._replace(file=file) for fault in (*moved, *removed)]
        return sorted(every, key=lambda fault: (fault.file or "", fault.row))

    def _otherwise(self, faults: list[RowError] | None) -> SourceTable | None:
        """Read again what a scan failed at, or left rows of out; nothing if no way is left."""
        with suppress(BadInput):  # there are no such tables where nothing was read
            self._forget_skipped()
        if self.longest == LONGEST and (found := self._longest_record()) > LONGEST:
            self.db.grant(128 + found // 100_000, threads=1)
            return replace(self, longest=2 * found).table()
        if not self.rewritten and (again := self._rewritten(faults)):
            return again.regular_if_needed().table()
        return self._regular().table() if faults and not self.copies else None

    def _regular(self) -> _CsvReading:
        # A record that swallows most of a file is too long to be copied.
        refuse_swallowed(self.paths, self.name, self.dialect, self.options)
        copies = [write_regular(path, self.db.folder, self.dialect) for path in self.paths]
        return replace(self, copies=tuple(copies))

    def _longest_record(self) -> int:
        """Measure the longest record, as far as one can be too long for a plain scan."""
        large = [path for path in self.paths if path.stat().st_size > LONGEST]
        found = max((longest_record(path, self.dialect) for path in large), default=0)
        return found if found <= LARGEST else 0

    def _rewritten(self, faults: list[RowError] | None) -> _CsvReading | None:
        """Make mixed line ends alike, or read another encoding after all."""
        if faults is not None and not any(f.reason == REASONS["INVALID ENCODING"] for f in faults):
            return None
        if faults and (self.options.encoding or any(map(holds_utf8, self.paths))):
            return None
        encoding = "cp1252" if faults else "utf-8-sig"
        note = "read as cp1252: it is not UTF-8" if faults else "line ends are mixed: made alike"
        again = [rewrite(path, self.db.folder, encoding) for path in self.paths]
        given = {
            str(copy): self.given.get(str(path), str(path))
            for copy, path in zip(again, self.paths, strict=True)
        }
        return replace(
            self,
            paths=tuple(again),
            dialect=_common_dialect(again, self.options),
            given=given,
            notes=(*self.notes, note),
            rewritten=True,
            copies=(),
        )

    def _refuse_lost(self, longest: int, rows: int, faults: Sequence[RowError]) -> None:
        suspect = may_swallow(self.paths, longest, rows)
        if suspect or any(fault.reason in QUOTED for fault in faults):
            refuse_swallowed(self.paths, self.name, self.dialect, self.options)
        if not rows and not faults and any(has_rows(path, self.dialect) for path in self.paths):
            raise BadInput(
                f"{self.name} has lines but no row could be read of them: look at its header, and "
                "name what the file is written with, for example separator=';' or quote=\"'\""
            )


def _as_utf8(
    paths: Sequence[Path], options: LoadSettings, db: Database
) -> tuple[list[Path], list[str]]:
    readable, notes = [], []
    for path in paths:
        with path.open("rb") as file:
            sample = file.read(SAMPLE_BYTES)
        encoding = options.encoding or sniff_encoding(sample)
        plain = encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig")
        # DuckDB's versions disagree on how many lines blank ones at the start are.
        blank = sample.removeprefix(BOM_UTF8).startswith((b"\n", b"\r"))
        readable.append(path if plain and not blank else rewrite(path, db.folder, encoding))
        if not plain:
            notes.append(f"{path.name} is read as {encoding}")
    return readable, notes


def _common_dialect(paths: Sequence[Path], options: LoadSettings) -> Dialect:
    first, *others = [sniff_dialect(_sample(path), options) for path in paths]
    for path, dialect in zip(paths[1:], others, strict=True):
        if dialect.names != first.names or dialect.separator != first.separator:
            raise BadInput(f"{path.name} has not the header of {paths[0].name}; load it by itself")
    return first


def _sample(path: Path) -> str:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        return file.read(SAMPLE_BYTES // 4)
