"""The plan of a load: columns, ids, a sample and the rejected rows.

A saved plan is a contract: the options of a load, and the columns that its source must have.
"""

from __future__ import annotations

import html
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pandas as pd

from svc_notebook.core.display import format_count, write_frame
from svc_notebook.core.files import expand_path, write_named_file
from svc_notebook.data.loading.load_plan.row_errors import ERROR_COLUMNS
from svc_notebook.data.loading.table import advice_of, changes_of, write_notes
from svc_notebook.data.loading.text_cells.signals import Decision, ReadingSignal
from svc_notebook.errors import BadInput


class ColumnRow(NamedTuple):
    """A row of the table of columns."""

    name: str
    type: str
    sent_as: str
    missing: int
    refused: int
    note: str


class Proposal(NamedTuple):
    """An option of a load that the values of a column suggest, with the evidence."""

    option: str
    value: Any
    evidence: str

    @property
    def value_name(self) -> str:
        """The column that it concerns, if the option has a value for each column."""
        return next(iter(self.value)) if isinstance(self.value, dict) else ""

    def describe(self) -> str:
        """Describe it in one line, with the option to copy."""
        return f"proposal: {self.option}={self.value!r} ({self.evidence})"


@dataclass(frozen=True)
class LoadDifference:
    """The difference between the rows of a merge or a synchronization and the stored records.

    Attributes
    ----------
    new : int
        Number of rows without a stored record.
    changed : int
        Number of rows whose stored record differs.
    unchanged : int
        Number of rows whose stored record is identical; they are not sent.
    vanished : int
        Number of stored records without a row, which a synchronization deletes.
    columns : DataFrame
        One row per column that differs: `column` (str), `changed` (int64, number of records) and
        `samples` (str, objectIDs with the stored value and that of the row).
    """

    new: int
    changed: int
    unchanged: int
    vanished: int
    columns: pd.DataFrame

    @property
    def operations(self) -> int:
        """The number of write operations, which hosted services bill."""
        return self.new + self.changed + self.vanished

    def describe(self) -> str:
        """Describe the counts in one line."""
        return (
            f"difference to the index: {self.new:,} new, {self.changed:,} changed, "
            f"{self.unchanged:,} unchanged, {self.vanished:,} to delete; "
            f"{self.operations:,} operations"
        )


COLUMN_NAMES = ["column", "type", "sent as", "missing", "refused", "note"]


@dataclass(frozen=True, repr=False)
class LoadPlan:
    """The plan of a load, before anything is sent; displayed as HTML in notebooks.

    Attributes
    ----------
    source : str
        Name of the source.
    index : str
        Name of the index.
    rows : int
        Number of rows.
    ids : str
        Origin of the objectIDs.
    columns : DataFrame
        One row per column of the source, with its type.
    column_rows : tuple of tuple
        The rows of `columns`.
    sample : tuple of dict
        First records.
    rejected : DataFrame
        Rejected rows with row, column, value and reason, then the columns of the source.
    rejected_rows : int
        Number of rejected rows, also of those that `rejected` does not list.
    notes : tuple of str
        Notes on the source: what was changed or left out, and advice.
    skipped_lines : int
        Number of lines of a delimited file that are neither a header, a row nor blank, such as
        titles, comments and further tables; the notes name them.
    deleted_attributes : tuple of str
        Attributes of existing records that the load would delete, because its rows replace whole
        records and do not have them. A dry run compares up to 1,000 records with their rows;
        `svc.plan` knows only with which columns a DataFrame was read.
    options : dict
        Options of the load that differ from their defaults.
    proposals : tuple of tuple
        Options that up to 2,000 rows suggest, spread over the source: the option, its value and
        the evidence. `accept="plan"` loads with all of them.
    suggested_settings : dict
        Facets, searchable attributes and custom ranking that the columns suggest, for
        `svc.set_settings`; a load does not change settings.
    difference : LoadDifference or None
        For a dry run with `merge` or `sync`, what differs from the stored records.
    reading : DelimitedReading or None
        The decisions by which a delimited file is read; `explain` shows them.

    Examples
    --------
    >>> plan = svc.plan("products.csv", "products", id="sku")
    >>> plan.sendable
    240
    """

    source: str
    index: str
    rows: int
    ids: str
    column_rows: tuple[ColumnRow, ...]
    sample: tuple[Mapping[str, Any], ...]
    rejected: pd.DataFrame
    rejected_rows: int
    notes: tuple[str, ...]
    skipped_lines: int = 0
    deleted_attributes: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    proposals: tuple[Proposal, ...] = ()
    suggested_settings: Mapping[str, list[str]] = field(default_factory=dict)
    difference: LoadDifference | None = None
    reading: tuple[Decision, ...] = field(default=(), compare=False)

    def explain(self) -> pd.DataFrame:
        """Return the signals by which the source is read, as a table.

        Of a delimited file, each decision (`encoding`, `reading`, `quote`, `separator`, `titles`,
        `table`, `footer`, `header`) has a row for each signal of each reading, the best reading
        first. `reading` compares whole readings by the points of their decisions, if several
        separators are likely. Each column of any source has a row with its type. Signals are those
        of the first 250,000 characters.

        Returns
        -------
        DataFrame
            With the columns

            - `decision` (text): what is decided, such as `separator` or `column price`,
            - `reading` (text): a possible reading, such as `;` or `number`,
            - `chosen` (bool): whether the source is read so,
            - `signal` (text): what was observed,
            - `points` (float64): what the signal adds to the reading; negative ones speak against
              it. Of a column, the share of the rows that have a value which can be sent,
            - `distance` (float64): the points by which a chosen reading leads the next one, or by
              which another one is behind the chosen one (negative).

        Examples
        --------
        >>> plan = svc.plan("products.csv", "products", id="sku")
        >>> table = plan.explain()
        >>> table.loc[(table["decision"] == "separator") & table["chosen"], "reading"].unique()[0]
        ','
        """
        signals = [row for decision in self.reading for row in decision.rows()]
        for name, type_, sent_as, missing, refused, note in self.column_rows:
            points = (self.rows - missing - refused) / max(self.rows, 1)
            what = note or f"the values are of the type {type_}"
            signals.append(ReadingSignal(f"column {name}", sent_as, True, what, points, points))
        table = pd.DataFrame(signals, columns=list(ReadingSignal._fields))
        return table.astype({"chosen": bool, "points": "float64", "distance": "float64"})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the plan as a contract: a YAML file with its options and columns.

        `svc.load(source, index, plan=path)` loads with these options, and refuses a source with
        new or missing columns, other types, or more missing values (5 percentage points).

        Parameters
        ----------
        path : path
            File to write, for example `products.plan.yaml`.
        """
        yaml = _import_yaml()
        columns = [
            ContractColumn(row.name, row.sent_as, round(row.missing / max(self.rows, 1), 4))
            for row in self.column_rows
        ]
        saved = _SavedPlan(self.source, self.index, self.rows, dict(self.options), columns)
        text = yaml.safe_dump(msgspec.to_builtins(saved), sort_keys=False, allow_unicode=True)
        write_named_file(expand_path(path), text)

    @cached_property
    def columns(self) -> pd.DataFrame:
        """The columns as a table, which is made when it is looked at."""
        return pd.DataFrame(self.column_rows, columns=COLUMN_NAMES)

    @property
    def changes(self) -> tuple[str, ...]:
        """The notes that say what was changed or left out."""
        return changes_of(self.notes)

    @property
    def advice(self) -> tuple[str, ...]:
        """The notes that propose an option or a column."""
        return advice_of(self.notes)

    @property
    def sendable(self) -> int:
        """The number of rows that will be sent."""
        return self.rows - self.rejected_rows

    def __repr__(self) -> str:
        parts = [
            self._headline(),
            self.columns.to_string(index=False),
            *self._lines(),
            *(msgspec.json.encode(record).decode() for record in self.sample[:1]),
        ]
        if self.difference:
            parts.append(self.difference.describe())
            if len(self.difference.columns):
                parts.append(self.difference.columns.to_string(index=False))
        if len(self.rejected):
            parts.append(self.rejected[ERROR_COLUMNS].head(10).to_string(index=False))
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        notes = "".join(f"<li>{html.escape(line)}</li>" for line in self._lines())
        shown = self.rejected[ERROR_COLUMNS].head(10)
        rejected = write_frame(shown) if len(self.rejected) else ""
        sample = "\n".join(msgspec.json.encode(record).decode() for record in self.sample)
        difference = ""
        if self.difference:
            columns = write_frame(self.difference.columns)
            difference = f"<p>{self.difference.describe()}</p>{columns}"
        return (
            f"<p>{html.escape(self._headline())}</p>{write_frame(self.columns)}"
            f"<ul>{notes}</ul><pre>{html.escape(sample)}</pre>{difference}{rejected}"
        )

    def _lines(self) -> list[str]:
        """Return the notes, the proposals and the suggested settings, each in one line."""
        proposals = [proposal.describe() for proposal in self.proposals]
        settings = self.suggested_settings
        code = f"`svc.set_settings({self.index!r}, {dict(settings)!r})`"
        suggested = [f"settings that the columns suggest: {code}"] if settings else []
        return [*write_notes(self.notes), *proposals, *suggested]

    def _headline(self) -> str:
        rejected = f", {self.rejected_rows:,} cannot be sent" if self.rejected_rows else ""
        rows = format_count(self.rows, "row")
        return f"{self.source} -> {self.index}: {rows}{rejected}; ids: {self.ids}"


# How much the share of missing values of a column may differ from the saved one.
MAX_MISSING_RISE = 0.05
MAX_NAMED_DIFFERENCES = 20
# From the dtypes of a pandera schema to what a plan says of a column.
PANDERA_TYPES = {"int": "integer", "uint": "integer", "float": "number", "bool": "boolean",
                 "str": "text", "string": "text", "object": "", "datetime": "time"}  # fmt: skip


class ContractColumn(msgspec.Struct):
    """A column of a contract: its type, and its share of missing values from 0 to 1.

    An empty type allows every type, and a share of None every share.
    """

    name: str
    type: str = ""
    missing: float | None = None
    required: bool = True


class _SavedPlan(msgspec.Struct, forbid_unknown_fields=True):
    source: str
    index: str
    rows: int
    options: dict[str, Any]
    columns: list[ContractColumn]


@dataclass(frozen=True)
class LoadContract:
    """The options of a load, and the columns that its source must have."""

    name: str
    options: Mapping[str, Any]
    columns: Mapping[str, ContractColumn]
    # Whether a column that the contract does not name is refused.
    strict: bool = True

    def check(self, plan: LoadPlan) -> None:
        """Raise `BadInput` with all differences if the columns of a plan are not these."""
        differences = [*self._differences(plan)]
        if differences:
            shown = "; ".join(differences[:MAX_NAMED_DIFFERENCES])
            raise BadInput(
                f"{plan.source} is not sent, because it differs from {self.name}: {shown}. Correct "
                "the source, or save a new plan"
            )

    def _differences(self, plan: LoadPlan) -> Iterator[str]:
        rows = {row.name: row for row in plan.column_rows}
        for name, column in self.columns.items():
            if name not in rows and column.required:
                yield f"`{name}` is missing"
        for name, row in rows.items():
            if saved := self.columns.get(name):
                yield from _compare_column(row, saved, plan.rows)
            elif self.strict:
                yield f"`{name}` is new"


def _compare_column(row: ColumnRow, saved: ContractColumn, rows: int) -> Iterator[str]:
    """Yield how a column of a plan differs from that of a contract."""
    if saved.type and row.sent_as != saved.type and row.missing != rows:
        yield f"`{row.name}` is sent as {row.sent_as}, not {saved.type}"
    share = row.missing / rows if rows else 0
    if saved.missing is not None and share > saved.missing + MAX_MISSING_RISE:
        yield f"`{row.name}` lacks {share:.0%} of its values, not {saved.missing:.0%}"


def read_contract(given: Any) -> LoadContract:
    """Return the contract of a plan, of the file of a saved plan, or of a pandera schema."""
    if isinstance(given, LoadPlan):
        columns = {row.name: ContractColumn(row.name, row.sent_as,
                                            row.missing / max(given.rows, 1))
                   for row in given.column_rows}  # fmt: skip
        return LoadContract("the plan", given.options, columns)
    if isinstance(given, (str, os.PathLike)):
        return _read_file(expand_path(given))
    return _of_schema(given)


def _read_file(path: Path) -> LoadContract:
    yaml = _import_yaml()
    try:
        saved = msgspec.convert(yaml.safe_load(path.read_text("utf-8")), _SavedPlan)
    except OSError as error:
        raise BadInput(f"the plan {path} cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, msgspec.ValidationError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} is not a saved plan: {error}") from None
    columns = {column.name: column for column in saved.columns}
    return LoadContract(str(path), saved.options, columns)


def _of_schema(schema: Any) -> LoadContract:
    # A model of pandera is a class that makes a schema.
    made = schema.to_schema() if hasattr(schema, "to_schema") else schema
    columns = getattr(made, "columns", None)
    if not isinstance(columns, Mapping):
        raise BadInput(
            "`plan` must be a plan, the file of a saved plan or a schema of pandera, not "
            f"{type(schema).__name__}"
        )
    required = {}
    for name, column in columns.items():
        kind = PANDERA_TYPES.get(re.split("[^a-z]", str(column.dtype).lower())[0], "")
        missing = None if column.nullable else 0.0
        required[name] = ContractColumn(name, kind, missing, column.required)
    strict = getattr(made, "strict", False) is True
    about = f"the schema {getattr(made, 'name', '') or ''}".strip()
    return LoadContract(about, {}, required, strict)


def _import_yaml() -> Any:
    try:
        import yaml
    except ImportError:
        raise BadInput("saved plans need PyYAML: pip install 'svc-notebook[config]'") from None
    return yaml
