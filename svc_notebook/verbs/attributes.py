"""What a frame holds of its records: attributes, and ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pandas import DataFrame

from svc_notebook.errors import BadInput
from svc_notebook.frames.schemas import RANKING

# What each reader puts before the attributes.
AHEAD = {"search": ("rank",), "search_many": ("query", "rank")}
MARKED = "highlighted."


def without_told(source: Any, options: Mapping[str, Any]) -> Any:
    """Leave behind what a search told about its hits, so that only records are sent.

    Ranks, queries, marked texts and criteria are no attributes; a column that the options name
    stays, and so does every column of a frame that no search made.
    """
    if not isinstance(source, DataFrame):
        return source
    origin = source.attrs.get("svc", {})
    wanted = {*(options.get("columns") or ()), *(options.get("operations") or ())}
    told = set(_told(list(source.columns), origin, wanted | {options.get("id")}))
    return source.iloc[:, [n for n in range(source.shape[1]) if n not in told]] if told else source


def _told(names: list[Any], origin: Mapping[str, Any], wanted: set[Any]) -> Iterator[int]:
    """Give the positions of those columns: attributes may have their names as well."""
    reader, asked = origin.get("reader"), origin.get("arguments", {})
    if reader not in AHEAD:
        return
    yield from (names.index(n) for n in AHEAD[reader] if n in names and n not in wanted)
    last = {name: at for at, name in enumerate(names) if name not in wanted}
    if asked.get("highlight"):
        yield from (at for name, at in last.items() if str(name).startswith(MARKED))
    if asked.get("criteria"):
        yield from (last[name] for name in RANKING if name in last)


def ids_in(given: Any) -> Any:
    """Take ids as they are, or those in the column `objectID` of a frame."""
    if not isinstance(given, DataFrame):
        return given
    if "objectID" not in given:
        raise BadInput("there is no column `objectID`; give the column of the ids: df['id']")
    return given["objectID"]
