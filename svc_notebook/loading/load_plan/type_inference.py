"""Type inference: the kind of values that each attribute of many records has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from svc_notebook.loading.options import Kind

# Whole numbers up to this are floats, too; those beyond the other need more than 64 bits.
EXACT, LARGEST = 2**53, 2**63
SCALARS: dict[type, Kind] = {str: "string", bool: "boolean", int: "integer", float: "number"}
LARGE = "large integer"
LIST = "list of "
# What several kinds are together, where that is more than `json`.
TOGETHER: dict[frozenset[str], str] = {
    frozenset(["integer", LARGE]): "integer",
    frozenset([LARGE]): "integer",
    frozenset(["integer", "number"]): "number",
    frozenset([LIST]): "json",
    frozenset(): "string",
}


@dataclass
class Kinds:
    """Which kinds of values each attribute was seen to have."""

    seen: dict[str, set[str]] = field(default_factory=lambda: {"objectID": {"string"}})

    def add(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Look at some more records."""
        for record in records:
            for name, value in record.items():
                kinds = self.seen.setdefault(name, set())
                if value is not None:
                    kinds.add(kind_of(value))

    def decide(self) -> dict[str, str]:
        """Settle each attribute's kind: a scalar, `list of` one, or `json` for anything else."""
        return {name: _together(kinds) for name, kinds in self.seen.items()}

    def dtypes(self) -> dict[str, Kind]:
        """Name the `dtype` by which a load reads each attribute's text as what it was."""
        names: dict[str, Kind] = {name: name for name in SCALARS.values()}
        return {name: names.get(kind, "json") for name, kind in self.decide().items()}


def kind_of(value: Any) -> str:
    """Name the kind of one value that is not null."""
    if isinstance(value, list):
        return _kind_of_list(value)
    if type(value) is int and abs(value) > EXACT:
        return LARGE if abs(value) < LARGEST else "json"
    return SCALARS.get(type(value), "json")


def _kind_of_list(values: list[Any]) -> str:
    kinds = frozenset(map(kind_of, values))
    if not kinds:
        return LIST
    kind = _together(kinds) if len(kinds) == 1 else "json"
    return f"{LIST}{kind}" if kind in SCALARS.values() else "json"


def _together(kinds: Iterable[str]) -> str:
    found = frozenset(kinds)
    if len(found) > 1 and all(kind.startswith(LIST) for kind in found):
        found -= {LIST}  # an empty list is a list of anything
    if len(found) == 1 and found not in TOGETHER:
        return next(iter(found))
    return TOGETHER.get(found, "json")
