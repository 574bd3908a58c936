"""Delimited files: CSV, TSV and their kin, as tables of text."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from svc_notebook.bulk import sql
from svc_notebook.bulk.database import Database
from svc_notebook.bulk.dialect import Dialect, longest_record, sniff_dialect
from svc_notebook.bulk.encoding import SAMPLE, holds_utf8, rewrite, sniff_encoding
from svc_notebook.bulk.options import Options
from svc_notebook.bulk.quotes import may_swallow, refuse_swallowed
from svc_notebook.bulk.table import Fault, Field, Table
from svc_notebook.errors import BadInput

# Records a plain scan has room for, and those that are given it; more is a quote never closed.
LONGEST, LARGEST = 2_000_000, 64_000_000
# What a scan reads at once: smaller pieces are more of them, and each takes a beginning and an end.
PIECE = 12_000_000
REASONS = {
    "MISSING COLUMNS": "has fewer columns than the header",
    "TOO MANY COLUMNS": "has more columns than the header",
    "UNQUOTED VALUE": "has a quote that is never closed, or text after a closing quote",
    "INVALID ENCODING": "holds bytes that are not UTF-8",
    "LINE SIZE OVER MAXIMUM": "is longer than 2 MB",
}
# What a quote that swallows rows is told as.
QUOTED = (REASONS["UNQUOTED VALUE"], REASONS["LINE SIZE OVER MAXIMUM"])


def open_delimited(
    paths: Sequence[Path],
    name: str,
    options: Options,
    db: Database,
    *,
    plain: bool = False,
    longest: int = LONGEST,
) -> Table:
    """Open files of one header as one table; `plain` says that they are rewritten already."""
    if not plain:
        paths, notes = _as_utf8(paths, options, db)
    else:
        notes = []
    dialect = _common_dialect(paths, options)
    fields = tuple(Field(n, f"c{i}", "VARCHAR") for i, n in enumerate(dialect.names))
    if not fields:
        raise BadInput(f"{name} is empty: there is no header and no row")

    def otherwise(faults: list[Fault] | None) -> Table | None:
        if longest == LONGEST and (found := _longest_record(paths, dialect)) > LONGEST:
            db.rows("SET threads = 1")
            db.rows(f"SET memory_limit = '{128 + found // 100_000}MB'")
            table = open_delimited(paths, name, options, db, plain=True, longest=2 * found)
            return replace(table, notes=(*notes, *table.notes))
        return None if plain else _rewritten(paths, name, options, db, faults)

    return Table(
        db=db,
        # With `ignore_errors` alone, DuckDB leaves out good rows after a broken one.
        sql=_scan(paths, dialect, longest, "rejects_limit=1"),
        watched_sql=_scan(paths, dialect, longest, "rejects_limit=0"),
        fields=fields,
        name=name,
        untyped=True,
        notes=(*notes, *dialect.notes),
        skipped=lambda: _skipped(db, dialect, several=len(paths) > 1),
        otherwise=otherwise,
        refuse_lost=lambda longest, rows, faults: _refuse_lost(
            paths, name, dialect, options, may_swallow(paths, longest, rows), faults
        ),
    )


def _as_utf8(paths: Sequence[Path], options: Options, db: Database) -> tuple[list[Path], list[str]]:
    readable, notes = [], []
    for path in paths:
        with path.open("rb") as file:
            sample = file.read(SAMPLE)
        encoding = options.encoding or sniff_encoding(sample)
        plain = encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig")
        # DuckDB's versions disagree on how many lines blank ones at the start are.
        blank = sample.removeprefix(BOM_UTF8).startswith((b"\n", b"\r"))
        readable.append(path if plain and not blank else rewrite(path, db.folder, encoding))
        if not plain:
            notes.append(f"{path.name} is read as {encoding}")
    return readable, notes


def _longest_record(paths: Sequence[Path], dialect: Dialect) -> int:
    """Measure the longest record of files, as far as one can be too long for a plain scan."""
    large = [path for path in paths if path.stat().st_size > LONGEST]
    found = max((longest_record(path, dialect) for path in large), default=0)
    return found if found <= LARGEST else 0


def _common_dialect(paths: Sequence[Path], options: Options) -> Dialect:
    first, *others = [sniff_dialect(_sample(path), options) for path in paths]
    for path, dialect in zip(paths[1:], others, strict=True):
        if dialect.names != first.names or dialect.separator != first.separator:
            raise BadInput(f"{path.name} has not the header of {paths[0].name}; load it by itself")
    return first


def _sample(path: Path) -> str:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        return file.read(SAMPLE // 4)


def _scan(paths: Sequence[Path], dialect: Dialect, longest: int, mode: str) -> str:
    columns = sql.struct({f"c{i}": "VARCHAR" for i, _ in enumerate(dialect.names)})
    call = (
        f"read_csv({sql.listing(map(str, paths))}, auto_detect=false, strict_mode=true, "
        f"delim={sql.text(dialect.separator)}, quote={sql.text(dialect.quote)}, "
        f"escape={sql.text(dialect.escape)}, header={str(dialect.header).lower()}, "
        f"skip=0, columns={columns}, max_line_size={longest}, "
        f"buffer_size={max(2 * longest, PIECE)}, store_rejects=true, {mode})"
    )
    # A blank line is no row; only in a file of one column is it taken for one.
    return f"(SELECT * FROM {call} WHERE c0 IS NOT NULL)" if len(dialect.names) == 1 else call


def _skipped(db: Database, dialect: Dialect, *, several: bool) -> list[Fault]:
    """Tell which rows the last watched scan could not read."""
    rows = db.rows(
        "SELECT DISTINCT ON (file_id, line) line, csv_line, error_type::VARCHAR, error_message, "
        "file_path FROM reject_errors JOIN reject_scans USING (scan_id, file_id) ORDER BY line"
    )
    # Another scan should not be told of them: a way to read the file anew follows.
    db.rows("DELETE FROM reject_errors")
    db.rows("DELETE FROM reject_scans")
    return [
        Fault(
            int(line) - dialect.header,
            None,
            _shown(found),
            REASONS.get(kind, message),
            file=file if several else None,
        )
        for line, found, kind, message, file in rows
    ]


def _refuse_lost(
    paths: Sequence[Path],
    name: str,
    dialect: Dialect,
    options: Options,
    suspect: bool,
    faults: Sequence[Fault],
) -> None:
    if suspect or any(fault.reason in QUOTED for fault in faults):
        refuse_swallowed(paths, name, dialect, options)


def _shown(line: str | None) -> str:
    line = (line or "").strip("\r\n")
    return line if len(line) <= 200 else f"{line[:200]}…"


def _rewritten(
    paths: Sequence[Path], name: str, options: Options, db: Database, faults: list[Fault] | None
) -> Table | None:
    """Read again what a scan stumbled over: mixed line ends, or another encoding after all."""
    if faults is not None and not any(f.reason == REASONS["INVALID ENCODING"] for f in faults):
        return None
    if faults and (options.encoding or any(map(holds_utf8, paths))):
        return None
    encoding = "cp1252" if faults else "utf-8-sig"
    note = "read as cp1252: it is not UTF-8" if faults else "line ends are mixed: made alike"
    again = [rewrite(path, db.folder, encoding) for path in paths]
    table = open_delimited(again, name, options, db, plain=True)
    return replace(table, notes=(*table.notes, note))
