"""The types of the values that each attribute of many records has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from svc_notebook.data.loading.options import Kind

# Floats represent all whole numbers up to the first; those from the second on exceed 64 bits.
MAX_EXACT_FLOAT_INTEGER, INTEGER_LIMIT = 2**53, 2**63
SCALARS: dict[type, Kind] = {str: "string", bool: "boolean", int: "integer", float: "number"}
LARGE = "large integer"
LIST = "list of "
# The common type of several types, where it is not `json`.
COMMON_TYPES: dict[frozenset[str], str] = {
    frozenset(["integer", LARGE]): "integer",
    frozenset([LARGE]): "integer",
    frozenset(["integer", "number"]): "number",
    frozenset([LIST]): "json",
    frozenset(): "string",
}


@dataclass
class AttributeTypes:
    """The types of the values of each attribute, collected from records."""

    kinds: dict[str, set[str]] = field(default_factory=lambda: {"objectID": {"string"}})

    def add(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Add the types of more records."""
        for record in records:
            for name, value in record.items():
                types = self.kinds.setdefault(name, set())
                if value is not None:
                    types.add(type_of(value))

    def decide(self) -> dict[str, str]:
        """Return each attribute's type: a scalar, `list of` scalars, or `json` for all others."""
        return {name: _common_type(types) for name, types in self.kinds.items()}

    def dtypes(self) -> dict[str, Kind]:
        """Return the `dtype` with which a load of the exported texts restores the values."""
        names: dict[str, Kind] = {name: name for name in SCALARS.values()}
        return {name: names.get(type_name, "json") for name, type_name in self.decide().items()}


def type_of(value: Any) -> str:
    """Return the type of one value that is not null."""
    if isinstance(value, list):
        return _type_of_list(value)
    if type(value) is int and abs(value) > MAX_EXACT_FLOAT_INTEGER:
        return LARGE if abs(value) < INTEGER_LIMIT else "json"
    return SCALARS.get(type(value), "json")


def _type_of_list(values: list[Any]) -> str:
    types = frozenset(map(type_of, values))
    if not types:
        return LIST
    item = _common_type(types) if len(types) == 1 else "json"
    return f"{LIST}{item}" if item in SCALARS.values() else "json"


def _common_type(types: Iterable[str]) -> str:
    distinct = frozenset(types)
    if len(distinct) > 1 and all(type_name.startswith(LIST) for type_name in distinct):
        distinct -= {LIST}  # an empty list can be a list of any type
    if len(distinct) == 1 and distinct not in COMMON_TYPES:
        return next(iter(distinct))
    return COMMON_TYPES.get(distinct, "json")
