"""The options of a load, validated once: how rows become records, and how these are sent.

The cursor of an increment is the highest value of a column, or the files, of the last load.
"""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypedDict, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from svc_notebook.core.api.plain_types import plain_type
from svc_notebook.core.api.values import read_pairs
from svc_notebook.core.foreign_names import suggest_argument
from svc_notebook.errors import BadInput, did_you_mean

if TYPE_CHECKING:
    from svc_notebook.data.client.tasks import OnProgress
    from svc_notebook.data.loading.load_plan.plan import LoadContract

# The cursor that compares files, and not the values of a column.
FILES = "files"
# Options by column, which `price=number,stock=integer` writes, too; those that have no other form.
PAIRED = {"computed", "dtype", "nulls", "operations", "rename"}
MAPPINGS = {"computed", "dtype", "operations", "rename"}
Nulls = Literal["omit", "null", "error"]
Duplicates = Literal["reject", "last", "keep", "error"]
IfExists = Literal["append", "replace", "fail", "merge", "sync"]
Accept = Literal["plan"]
CompareWith = Literal["index", "hashes"]
# The order of day, month and year.
Dates = Literal["dmy", "mdy", "ymd"]
Action = Literal["replace", "update", "update_existing", "delete"]
Kind = Literal[
    "string", "integer", "number", "boolean", "date", "timestamp", "epoch", "epoch_ms", "json",
    "list", "levels",
]  # fmt: skip
# Names of types in pandas, SQL and Python.
KIND_ALIASES: Mapping[str, Kind] = {
    **dict.fromkeys(("str", "text", "object", "varchar", "char", "category"), "string"),
    **dict.fromkeys(("int", "int8", "int16", "int32", "int64", "bigint", "smallint"), "integer"),
    **dict.fromkeys(("float", "float32", "float64", "double", "real", "decimal"), "number"),
    **dict.fromkeys(("numeric", "currency", "amount"), "number"),
    **dict.fromkeys(("bool",), "boolean"),
    **dict.fromkeys(("datetime", "datetime64", "datetime64[ns]", "time"), "timestamp"),
    **dict.fromkeys(("dict",), "json"),
}

ACTIONS: Mapping[str, str] = {
    "replace": "updateObject",
    "update": "partialUpdateObject",
    "update_existing": "partialUpdateObjectNoCreate",
    "delete": "deleteObject",
}
OPERATIONS = (
    "Increment", "Decrement", "Add", "AddUnique", "Remove", "IncrementFrom", "IncrementSet",
)  # fmt: skip
OPERATIONS_BY_NAME = {name.lower(): name for name in OPERATIONS}
# Operations that are not idempotent.
UNREPEATABLE = {"Increment", "Decrement", "Add"}
# Services refuse requests of 10 MB and records of 100 KB.
MAX_BATCH_BYTES = 8_000_000
DEFAULT_UNDO_ROWS = 100_000
# Concurrent batches or partitions; each is a task of the event loop.
MAX_IN_FLIGHT = 1024
# Options that belong to one load, and not to the form of its source.
OPTIONS_OF_ONE_LOAD = ("limit", "cursor", "salt", "spread")
# The attribute that all parts of a text share.
DEFAULT_DISTINCT = "document_id"
# The smallest size of a part of a long text.
MIN_PART_CHARACTERS = 20
CHARACTER_OPTIONS = ("separator", "quote", "comment")
# The `path` of a JSON document that is one record, whatever lists are inside.
WHOLE_PATH = ""
# The options that name columns.
COLUMN_OPTIONS = {"columns", "geo", "id", *PAIRED, "split", "list_separator"}
# The forms of options that a caller gives otherwise than they are kept.
FORMS = {
    **dict.fromkeys(("columns", "geo"), "Sequence[str]"),
    **dict.fromkeys(("rename", "computed"), "Mapping[str, str]"),
    "list_separator": "str | Mapping[str, Any]",
    "split": "Mapping[str, Any]",
}
COUNT_OPTIONS = ("limit", "record_bytes", "batch", "batch_bytes", "header_rows")


class RowOptions(TypedDict, total=False):
    """The options of `load`, `plan` and `push` that determine how rows become records."""

    id: str | Sequence[str] | None
    columns: Sequence[str] | None
    rename: Mapping[str, str] | None
    computed: Mapping[str, str] | None
    dtype: Mapping[str, Kind] | None
    list_separator: str | Mapping[str, str] | None
    geo: Sequence[str] | None
    split: Mapping[str, int] | None
    distinct: str
    nulls: Nulls | Mapping[str, Nulls]
    timezone: str | dt.tzinfo | None
    duplicates: Duplicates
    action: Action
    operations: Mapping[str, str] | None
    nest: bool
    replace_records: bool
    limit: int | None
    record_bytes: int
    batch: int
    batch_bytes: int
    separator: str | None
    quote: str | None
    header: bool | None
    header_rows: int | None
    strict: bool
    skip: int | None
    comment: str | None
    encoding: str | None
    decimal: str | None
    thousands: str | None
    dates: Dates | None
    path: str | None
    sheet: str | None


@dataclass(frozen=True)
class LoadSettings:
    """Validated options; the fields are those of `RowOptions`."""

    id: str | None = None
    columns: tuple[str, ...] | None = None
    # New names of columns, which all other options use.
    rename: Mapping[str, str] = field(default_factory=dict)
    # Templates such as `{title} {size}`, by the name of the column that they make.
    computed: Mapping[str, str] = field(default_factory=dict)
    dtype: Mapping[str, Kind] = field(default_factory=dict)
    # The separator of lists and levels, of all such columns or by column.
    list_separator: str | Mapping[str, str] = ""
    # The columns of latitudes and longitudes.
    geo: tuple[str, ...] | None = None
    # The column whose texts are split into records, with the size of a part in characters, and the
    # attribute that all parts of a text share.
    split: Mapping[str, int] = field(default_factory=dict)
    distinct: str = DEFAULT_DISTINCT
    nulls: Nulls | Mapping[str, Nulls] = "omit"
    timezone: str | None = None
    duplicates: Duplicates = "reject"
    action: Action = "replace"
    operations: Mapping[str, str] = field(default_factory=dict)
    nest: bool = False
    # Whether rows may delete attributes of existing records that they do not have.
    replace_records: bool = False
    limit: int | None = None
    record_bytes: int = 100_000
    batch: int = 10_000
    batch_bytes: int = 2_000_000
    separator: str | None = None
    quote: str | None = None
    header: bool | None = None
    header_rows: int | None = None
    # Whether rows with another number of cells than the header, or misplaced quotes, are rejected.
    strict: bool = False
    skip: int | None = None
    comment: str | None = None
    encoding: str | None = None
    # The separator of decimals, and of groups of digits, in columns of text.
    decimal: str | None = None
    thousands: str | None = None
    # The order of day, month and year in columns of text.
    dates: Dates | None = None
    # The path of the list of records in a JSON document.
    path: str | None = None
    # The sheet of an Excel workbook.
    sheet: str | None = None
    # Where the last load ended, if only what is beyond is read.
    cursor: LoadCursor | None = None
    # Part of hashed ids, so that equal rows of different partitions get different ids.
    salt: str = ""
    # Whether the rows are a partition of a distributed load, which another worker may send again.
    spread: bool = False

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Validate the options of a caller; raise `BadInput` with advice."""
        names = [row.name for row in fields(cls)]
        for name in given.keys() - set(names):
            raise BadInput(f"`{name}` is not an option of a load{suggest_argument(name, names)}")
        named = {name: value for name, value in given.items() if value is not None}
        _read_mappings(named)
        if isinstance(named.get("timezone"), dt.tzinfo):
            named["timezone"] = _name_zone(named["timezone"])
        for name in COLUMN_OPTIONS & named.keys():
            named[name] = _name_columns(named[name])
        if "id" in named:
            named["id"] = _name_column(named["id"])
        if isinstance(named.get("columns"), str):
            raise BadInput(f"`columns` must be a list of names: columns=[{named['columns']!r}]")
        for name in {*FORMS} & named.keys():
            if plain := plain_type(FORMS[name]):
                plain.check(named[name], name)
        for name in {"columns", "geo"} & named.keys():
            named[name] = tuple(named[name])
        if not isinstance(named.get("id", ""), str):
            named["id"] = join_names(named["id"])
        return cls(**named)

    def __post_init__(self) -> None:
        for option in fields(self):
            if plain := plain_type(str(option.type)):
                plain.check(getattr(self, option.name), option.name)
        given = self.nulls if isinstance(self.nulls, Mapping) else {"": self.nulls}
        _check_each("nulls", given.values(), get_args(Nulls))
        _check_each("dtype", self.dtype.values(), get_args(Kind))
        _check_each("duplicates", [self.duplicates], get_args(Duplicates))
        _check_each("decimal", filter(None, [self.decimal]), (".", ","))
        _check_each("thousands", filter(None, [self.thousands]), (".", ",", " ", "'"))
        _check_each("dates", filter(None, [self.dates]), get_args(Dates))
        if self.decimal is not None and self.decimal == self.thousands:
            raise BadInput("`decimal` and `thousands` must differ")
        _check_each("action", [self.action], get_args(Action))
        _check_each("operations", self.operations.values(), OPERATIONS)
        if self.operations and not self.action.startswith("update"):
            raise BadInput("`operations` change stored records: pass action='update', too")
        if self.timezone is not None:
            _check_zone(self.timezone)
        if self.geo is not None and len(self.geo) != 2:
            raise BadInput("`geo` must be two columns: geo=['latitude', 'longitude']")
        self._check_split()
        self._check_layout()

    def _check_layout(self) -> None:
        for name in CHARACTER_OPTIONS:
            _check_character(name, getattr(self, name))
        if self.quote is not None and self.quote == (self.separator or ","):
            raise BadInput("`quote` and `separator` must differ; if `quote` is ',', pass both")
        if self.header is not None and not isinstance(self.header, bool):
            raise BadInput("`header` must be True or False; `skip` is the number of lines above")
        for name in COUNT_OPTIONS:
            _check_count(name, getattr(self, name))
        _check_count("skip", self.skip, minimum=0)
        if self.batch_bytes > MAX_BATCH_BYTES:
            raise BadInput(
                f"`batch_bytes` must be at most {MAX_BATCH_BYTES:,}; services refuse more"
            )

    def _check_split(self) -> None:
        sizes = self.split.values()
        if len(sizes) > 1 or any(type(n) is not int or n < MIN_PART_CHARACTERS for n in sizes):
            raise BadInput(
                "`split` must be one column with a size of its parts in characters, "
                f"{MIN_PART_CHARACTERS} or more: split={{'text': 2000}}"
            )
        if sizes and self.action != "replace":
            raise BadInput("`split` makes whole records of parts: omit `action`")

    @property
    def part_id(self) -> str:
        """The hidden column of the ids of parts."""
        return f"{self.id or 'objectID'}#n"

    @property
    def unrepeatable(self) -> str:
        """Return a requested operation that is not idempotent, if any."""
        return min(UNREPEATABLE.intersection(self.operations.values()), default="")

    @property
    def derives_columns(self) -> bool:
        """Whether an option makes columns of the columns of the source."""
        kinds = {"list", "levels"}.intersection(self.dtype.values())
        is_template = self.id is not None and "{" in self.id
        return bool(self.rename or self.computed or self.geo or kinds or is_template or self.split)

    def to_save(self) -> dict[str, Any]:
        """Return the options that differ from their defaults, as JSON has them."""
        default = type(self)()
        names = [row.name for row in fields(self) if row.name not in OPTIONS_OF_ONE_LOAD]
        values = {name: getattr(self, name) for name in names}
        changed = {n: value for n, value in values.items() if value != getattr(default, n)}
        return {n: list(v) if isinstance(v, tuple) else v for n, v in changed.items()}

    def separator_of(self, column: str) -> str:
        """Return the separator of a column's lists or levels; empty if it is to be found."""
        if isinstance(self.list_separator, str):
            return self.list_separator
        return self.list_separator.get(column, "")

    def nulls_of(self, column: str) -> Nulls:
        """Return how a column's missing values are treated."""
        if isinstance(self.nulls, str):
            return self.nulls
        return self.nulls.get(column, "omit")

    def named_columns(self) -> set[str]:
        """Return every column that some option names."""
        by_nulls = set() if isinstance(self.nulls, str) else set(self.nulls)
        by_separator = set() if isinstance(self.list_separator, str) else set(self.list_separator)
        named = by_nulls | by_separator | set(self.dtype) | set(self.operations)
        return named | set(self.columns or ())


@dataclass(frozen=True)
class SendSettings:
    """How the records of a load are sent; the fields are parameters of `load`."""

    if_exists: IfExists = "append"
    min_share: float | None = None
    dry_run: bool = False
    resume: bool = False
    verify: bool = False
    # Batches, or partitions, that are sent at the same time; None for the default number.
    in_flight: int | None = None
    on_progress: OnProgress | None = None
    # The columns that the source must have.
    contract: LoadContract | None = None
    # The maximum number of rows that are sent in a second.
    per_second: int | None = None
    # The maximum number of records that are kept for an undo.
    undo_rows: int = DEFAULT_UNDO_ROWS
    # What the rows of a merge are compared with.
    compare_with: CompareWith = "index"
    # Whether rejected rows do not prevent a replacement.
    skip_rejected: bool = True

    def __post_init__(self) -> None:
        if self.in_flight is not None and not 1 <= self.in_flight <= MAX_IN_FLIGHT:
            raise BadInput(f"`in_flight` must be from 1 to {MAX_IN_FLIGHT:,}, not {self.in_flight}")
        _check_count("per_second", self.per_second)
        if self.undo_rows < 0:
            raise BadInput(f"`undo_rows` must be a whole number, 0 or more, not {self.undo_rows!r}")
        check_min_share(self.min_share, self.if_exists)

    def check_comparison(self) -> None:
        """Reject a comparison that does not exist, or that the load does not make."""
        if self.compare_with not in get_args(CompareWith):
            raise BadInput(f"`compare_with` must be 'index' or 'hashes', not {self.compare_with!r}")
        if self.compare_with == "hashes" and not self.merges:
            raise BadInput("`compare_with` applies to if_exists='merge' and 'sync'; pass one, too")

    @property
    def merges(self) -> bool:
        """Whether rows are compared with the records that exist."""
        return self.if_exists in ("merge", "sync")

    @property
    def replaces_index(self) -> bool:
        """Whether records that exist, and that no row has, are deleted."""
        return self.if_exists in ("replace", "sync")


def check_min_share(min_share: float | None, if_exists: IfExists) -> None:
    """Reject an invalid share, and a share for a load that does not replace."""
    if min_share is None:
        return
    if (
        isinstance(min_share, bool)
        or not isinstance(min_share, (int, float))
        or not 0 <= min_share <= 1
    ):
        raise BadInput(f"`min_share` must be a share from 0 to 1, not {min_share!r}")
    if if_exists not in ("replace", "sync"):
        raise BadInput("`min_share` applies to if_exists='replace' and 'sync'; pass one, too")


def _read_mappings(named: dict[str, Any]) -> None:
    """Read the options by column; raise `BadInput` for those of another form."""
    for name in PAIRED & named.keys():
        if isinstance(named[name], str) and (pairs := read_pairs(named[name])):
            named[name] = pairs
    for name in MAPPINGS & named.keys():
        if not isinstance(named[name], Mapping):
            raise BadInput(f"`{name}` must be a dict by column: {name}={{'price': ...}}")
    for name, read in VALUE_READERS.items():
        if isinstance(named.get(name), Mapping):
            named[name] = {column: read(value) for column, value in named[name].items()}


def _name_columns(given: Any) -> Any:
    """Return names of columns, or values by column, with the texts that integers are sent as.

    A table without a header has integers as names.
    """
    if isinstance(given, Mapping):
        return {_name_column(column): value for column, value in given.items()}
    if isinstance(given, str) or not isinstance(given, Iterable):
        return given
    return list(map(_name_column, given))


def _name_column(name: Any) -> Any:
    return str(name) if hasattr(name, "__index__") and not isinstance(name, bool) else name


def _name_zone(zone: dt.tzinfo) -> str:
    """Return the name of a time zone; an offset without a name has none, and is refused later."""
    return str(getattr(zone, "key", None) or getattr(zone, "zone", None) or zone.tzname(None))


def join_names(names: Sequence[str]) -> str:
    """Return the id of one column, or the template of an id of several columns."""
    if not names or not all(isinstance(name, str) for name in names):
        raise BadInput(f"`id` must be the name of a column, or several of them, not {names!r}")
    return names[0] if len(names) == 1 else "-".join(f"{{{name}}}" for name in names)


def _check_each(option: str, values: Any, allowed: Sequence[str]) -> None:
    for value in values:
        if value not in allowed:
            raise BadInput(
                f"`{option}` must be one of {', '.join(allowed)}, not {value!r}"
                f"{did_you_mean(str(value), allowed)}"
            )


def _check_character(option: str, value: object) -> None:
    if value is not None and (not isinstance(value, str) or len(value) != 1 or value in "\r\n"):
        raise BadInput(
            f"`{option}` must be one character, not {value!r}; convert a file that uses several"
        )


def _check_count(option: str, value: int | None, minimum: int = 1) -> None:
    if value is not None and value < minimum:
        raise BadInput(f"`{option}` must be a whole number, {minimum} or more, not {value!r}")
    if value is not None and value > sys.maxsize:
        raise BadInput(f"`{option}` must be at most {sys.maxsize:,}, not {value!r}")


def _check_zone(zone: str) -> None:
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise BadInput(f"`{zone}` is not a time zone; pass one such as 'Europe/Paris'") from error


def _read_kind(kind: Any) -> Any:
    """Return the kind of values of a type that is given as a text or as a class."""
    name = kind.__name__ if isinstance(kind, type) else str(kind)
    return KIND_ALIASES.get(name.lower(), kind)


# How the values of an option by column are read; others stay, and are checked afterwards.
VALUE_READERS: dict[str, Callable[[Any], Any]] = {
    "dtype": _read_kind,
    "split": lambda size: int(size) if str(size).isdecimal() else size,
    "operations": lambda given: OPERATIONS_BY_NAME.get(str(given).lower(), given),
}


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
