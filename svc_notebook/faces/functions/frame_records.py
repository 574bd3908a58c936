"""Records and objectIDs in DataFrames: which columns are attributes, which are objectIDs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from pandas import DataFrame

from svc_notebook.core.api.warning import warn_user
from svc_notebook.data.client import AsyncClient, check_attributes
from svc_notebook.data.frames import added_to, hits_of
from svc_notebook.errors import BadInput, did_you_mean

SEARCH_COLUMNS = ("query", "rank", "queryID")
HIGHLIGHTED = "highlighted."
MAX_LISTED_COLUMNS = 5  # columns named in a warning


def record_columns(source: Any, options: Mapping[str, Any]) -> Any:
    """Remove the columns that a search added to its hits, so that only records are sent.

    Such columns are ranks, queries, highlighted texts and criteria. A column that the options name
    stays, and so does every column of a DataFrame that is not the result of a search. A row for a
    query without hits is removed.
    """
    if not isinstance(source, DataFrame):
        return source
    named = {*(options.get("columns") or ()), *(options.get("operations") or ())}
    source = hits_of(source)
    if "svc" not in source.attrs and not named:
        _warn_of_search_columns([str(name) for name in source.columns])
    ids = options.get("id") or ()
    added = {*added_to(source).values()} - named - {*([ids] if isinstance(ids, str) else ids)}
    return source.loc[:, ~source.columns.isin([*added])] if added else source


async def warn_of_columns(
    client: AsyncClient,
    index: str,
    frame: DataFrame,
    columns: Iterable[str] | None,
    params: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Warn of requested columns that no record has.

    Only for columns that are empty in all records found, a sample of the index is checked.
    """
    names = params.get("attributesToRetrieve") if columns is None else columns
    if names is None or hits_of(frame).empty:
        return
    added = added_to(frame).values()
    empty = [
        name
        for name in names
        if name[:1] not in ("*", "-")
        and (name not in frame or (name not in added and frame[name].isna().all()))
    ]
    if empty:
        (await check_attributes(client, index, {"attributesToRetrieve": empty})).warn()


def _warn_of_search_columns(names: list[str]) -> None:
    """Warn of columns named like those that a search adds: pandas drops `attrs` in a merge."""
    places = names[: names.index("objectID")] if "objectID" in names else []
    marked = [name for name in names if name.startswith(HIGHLIGHTED)]
    searched = "rank" in places and places[-1] in SEARCH_COLUMNS
    added = [name for name in places if searched and name in SEARCH_COLUMNS] + marked
    if added:
        warn_user(
            f"columns that a search adds are sent as attributes of the records: "
            f"{', '.join(added[:MAX_LISTED_COLUMNS])}; select the columns to send by `columns=`"
        )


def ids_in(given: Any) -> Any:
    """Return the given ids, or the column `objectID` of the hits in a DataFrame."""
    if not isinstance(given, DataFrame):
        return given
    if "objectID" not in given:
        raise BadInput(
            "the DataFrame has no column `objectID`; pass the column of ids, such as df['id']"
        )
    return hits_of(given)["objectID"]


def check_column(frame: DataFrame, column: str) -> str:
    """Return the name of a column; raise `BadInput` if the DataFrame does not have it."""
    if column not in frame.columns:
        names = [str(name) for name in frame.columns]
        raise BadInput(
            f"the DataFrame has no column `{column}`{did_you_mean(column, names)}; "
            "pass the column of ids as `id=`"
        )
    return column
