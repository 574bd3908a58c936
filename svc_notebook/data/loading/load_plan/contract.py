"""Saved plans as contracts: the options of a load, and the columns that its source must have."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from svc_notebook.core.files import write_named_file
from svc_notebook.errors import BadInput

if TYPE_CHECKING:
    from svc_notebook.data.loading.load_plan.plan import ColumnRow, LoadPlan

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


def save_plan(plan: LoadPlan, path: str | os.PathLike[str]) -> None:
    """Write the options and columns of a plan to a YAML file."""
    yaml = _import_yaml()
    saved = _SavedPlan(
        plan.source,
        plan.index,
        plan.rows,
        dict(plan.options),
        [
            ContractColumn(row.name, row.sent_as, round(row.missing / max(plan.rows, 1), 4))
            for row in plan.column_rows
        ],
    )
    text = yaml.safe_dump(msgspec.to_builtins(saved), sort_keys=False, allow_unicode=True)
    write_named_file(Path(path).expanduser(), text)


def read_contract(given: Any) -> LoadContract:
    """Return the contract of a plan, of the file of a saved plan, or of a pandera schema."""
    if hasattr(given, "column_rows"):
        columns = {row.name: ContractColumn(row.name, row.sent_as,
                                            row.missing / max(given.rows, 1))
                   for row in given.column_rows}  # fmt: skip
        return LoadContract("the plan", given.options, columns)
    if isinstance(given, (str, os.PathLike)):
        return _read_file(Path(given).expanduser())
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
    required = {
        name: ContractColumn(name, _type_of(column.dtype),
                             None if column.nullable else 0.0, column.required)
        for name, column in columns.items()
    }  # fmt: skip
    strict = getattr(made, "strict", False) is True
    return LoadContract(
        f"the schema {getattr(made, 'name', '') or ''}".strip(), {}, required, strict
    )


def _type_of(dtype: object) -> str:
    begin = re.match("[a-z]*", str(dtype).lower())
    return PANDERA_TYPES.get(begin[0] if begin else "", "")


def _import_yaml() -> Any:
    try:
        import yaml
    except ImportError:
        raise BadInput("saved plans need PyYAML: pip install 'svc-notebook[config]'") from None
    return yaml
