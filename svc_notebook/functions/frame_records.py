"""What a frame holds of its records: attributes, and ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from pandas import DataFrame

from svc_notebook.api.warning import warn_user
from svc_notebook.client import AsyncClient
from svc_notebook.client.attribute_checks import check_attributes
from svc_notebook.errors import BadInput
from svc_notebook.frames.provenance import added_to, hits_of

AHEAD = ("query", "rank", "queryID")
MARKED = "highlighted."
MAX_LISTED_COLUMNS = 5  # columns named in a warning


def without_told(source: Any, options: Mapping[str, Any]) -> Any:
    """Leave behind what a search told about its hits, so that only records are sent.

    Ranks, queries, marked texts and criteria are no attributes; a column that the options name
    stays, and so does every column of a frame that no search made. A row for a query without hits
    is no record.
    """
    if not isinstance(source, DataFrame):
        return source
    wanted = {*(options.get("columns") or ()), *(options.get("operations") or ())}
    source = hits_of(source)
    if "svc" not in source.attrs and not wanted:
        _warn_of_told([str(name) for name in source.columns])
    told = {*added_to(source).values()} - wanted - {options.get("id")}
    return source.loc[:, ~source.columns.isin([*told])] if told else source


async def warn_of_columns(
    client: AsyncClient,
    index: str,
    found: DataFrame,
    columns: Iterable[str] | None,
    params: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Warn of columns that were asked for by a name that no record has.

    What a record that was found has is there; only for what none of them has is more looked at.
    """
    names = params.get("attributesToRetrieve") if columns is None else columns
    if names is None or hits_of(found).empty:
        return
    added = added_to(found).values()
    empty = [
        name
        for name in names
        if name[:1] not in ("*", "-")
        and (name not in found or (name not in added and found[name].isna().all()))
    ]
    if empty:
        (await check_attributes(client, index, {"attributesToRetrieve": empty})).warn()


def _warn_of_told(names: list[str]) -> None:
    """Warn of columns that look as a search adds them: merging makes pandas forget where from."""
    places = names[: names.index("objectID")] if "objectID" in names else []
    marked = [name for name in names if name.startswith(MARKED)]
    searched = "rank" in places and places[-1] in AHEAD
    if found := [name for name in places if searched and name in AHEAD] + marked:
        warn_user(
            f"{', '.join(found[:MAX_LISTED_COLUMNS])}: this looks like what a search adds, and is "
            "written as attributes of the records; `columns` names those that should be"
        )


def ids_in(given: Any) -> Any:
    """Take ids as they are, or those in the column `objectID` of a frame, of its hits."""
    if not isinstance(given, DataFrame):
        return given
    if "objectID" not in given:
        raise BadInput("there is no column `objectID`; give the column of the ids: df['id']")
    return hits_of(given)["objectID"]
