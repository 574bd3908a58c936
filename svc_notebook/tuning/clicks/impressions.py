"""Impressions: the hits that were shown, and whether each was clicked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
import pandas as pd
from pandas import DataFrame, Series

from svc_notebook.data.declarations import check_arguments
from svc_notebook.errors import BadInput, BadRecord, did_you_mean
from svc_notebook.tuning.tables.queries import read_logged_query

Action = Literal["click", "conversion"]
KEY = ["session", "objectID"]
SHOWN = ("session", "timestamp", "query", "filters", "objectID", "position", "clicked")


@check_arguments
def impressions(
    events: DataFrame, searches: DataFrame, *, action: Action = "click", settle: float = 0
) -> DataFrame:
    """Join events to the searches that they belong to, by queryID.

    With search as you type, the hits of most searches are hardly seen; `settle` omits them.

    Parameters
    ----------
    events : DataFrame
        Events, as `svc.read_events` returns them.
    searches : DataFrame
        Searches, as `svc.read_searches` returns them.
    action : {'click', 'conversion'}, default 'click'
        Type of event that counts.
    settle : float, default 0
        Seconds within which a later search of the same user replaces a search, unless one
        of its hits was clicked.

    Returns
    -------
    DataFrame
        One row per hit that was shown: `session` (str, the queryID), `timestamp`
        (datetime64[us, UTC]), `query`, `filters` and `objectID` (str), `position` (int64, from
        1) and `clicked` (bool). `attrs["svc"]` contains the number of events that were
        `counted`, that belong to no search (`without`), and whose search or hit is unknown
        (`unmatched`).

    Raises
    ------
    BadInput
        If a column is missing.

    Examples
    --------
    >>> hits = svc.search("products", "mug", clickAnalytics=True, userToken="anna")
    >>> hits.head(1).svc.events(eventType="click", eventName="Product opened")
    >>> searches = svc.read_searches("products").query("queryID == @hits.queryID[0]")
    >>> shown = svc.tuning.clicks.impressions(svc.read_events("products"), searches)
    >>> shown.loc[shown["clicked"], ["query", "objectID", "position"]]
      query objectID  position
    0   mug  MUG-001         1
    """
    _check_columns(searches, ("queryID", "objectIDs", "first", "params"), "searches",
                   "read_searches")  # fmt: skip
    shown = _shown(searches)
    acted, without = list_actions(events, action)
    keys = pd.MultiIndex.from_frame(shown[KEY])
    acted_keys = pd.MultiIndex.from_frame(acted[KEY])
    shown["clicked"] = keys.isin(acted_keys)
    unmatched = int((~acted_keys.isin(keys)).sum())
    if settle > 0:
        shown = shown[~shown["session"].isin(_passing(searches, shown, settle))]
    shown = shown[[*SHOWN]].reset_index(drop=True)
    shown.attrs["svc"] = {
        "action": action, "counted": len(acted) - unmatched, "without": without,
        "unmatched": unmatched,
    }  # fmt: skip
    return shown


def _check_columns(frame: DataFrame, needed: Iterable[str], what: str, reader: str) -> None:
    missing = [name for name in needed if name not in frame]
    if missing:
        raise BadInput(f"{what} need a column `{missing[0]}`; svc.{reader}(…) returns them")


def _shown(searches: DataFrame) -> DataFrame:
    """A row for each hit of each search, with its position."""
    distinct = searches.drop_duplicates("queryID")
    lists = [list(ids) for ids in distinct["objectIDs"]]
    counts = np.array([len(ids) for ids in lists], dtype=np.int64)
    logged_queries = [read_logged_query(params) for params in distinct["params"]]
    rows = np.repeat(np.arange(len(distinct)), counts)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    first = distinct["first"].to_numpy(dtype=np.int64)
    times = distinct["timestamp"] if "timestamp" in distinct else Series(pd.NaT, distinct.index)
    texts = (
        distinct["query"]
        if "query" in distinct
        else Series([query for query, _ in logged_queries], distinct.index)
    )
    filters = Series([filters for _, filters in logged_queries], distinct.index, dtype="str")
    return DataFrame(
        {
            "session": distinct["queryID"].astype("str").to_numpy()[rows],
            "timestamp": times.iloc[rows].to_numpy(),
            "query": texts.astype("str").to_numpy()[rows],
            "filters": filters.to_numpy()[rows],
            "objectID": Series([object_id for ids in lists for object_id in ids], dtype="str"),
            "position": first[rows] + within,
        }
    )


def list_actions(events: DataFrame, action: Action) -> tuple[DataFrame, int]:
    """Return the distinct searches and objects of events, and the number without a search.

    The columns are `session` and `objectID`; raises `BadInput` if a column is missing.
    """
    _check_columns(events, ("eventType", "queryID", "objectIDs"), "events", "read_events")
    of_action = events[(events["eventType"] == action) & events["objectIDs"].notna()]
    data = (
        of_action["objectData"]
        if "objectData" in of_action
        else Series(None, of_action.index, dtype=object)
    )
    pairs = [
        (item.get("queryID") or query, hit_id)
        for query, ids, items in zip(
            of_action["queryID"], of_action["objectIDs"], data, strict=True
        )
        for hit_id, item in zip(ids, _items(items, len(ids)), strict=True)
    ]
    listed = DataFrame(pairs, columns=KEY, dtype="str")
    has_search = listed["session"].fillna("") != ""
    return listed[has_search].drop_duplicates(), int((~has_search).sum())


def _items(given: Any, count: int) -> list[dict[str, Any]]:
    return list(given) if isinstance(given, list) and len(given) == count else [{}] * count


def _passing(searches: DataFrame, shown: DataFrame, settle: float) -> set[str]:
    """Return searches that their user soon followed by another without a click."""
    _check_columns(searches, ("userToken", "timestamp"), "searches", "read_searches")
    identified = searches[searches["userToken"].fillna("") != ""].sort_values(
        "timestamp", kind="stable"
    )
    gap = identified.groupby("userToken")["timestamp"].diff().dt.total_seconds()
    followed = gap.groupby(identified["userToken"]).shift(-1) <= settle
    clicked = set(shown.loc[shown["clicked"], "session"])
    return set(identified.loc[followed, "queryID"]) - clicked


@check_arguments
def check_impressions(given: DataFrame) -> DataFrame:
    """Check a table of impressions.

    Parameters
    ----------
    given : DataFrame
        Table with the columns `query`, `objectID`, `position` and either `clicked` or
        `clicks` and `impressions`, and optionally `filters` and `session`.

    Returns
    -------
    DataFrame
        The table with `query`, `filters` and `objectID` (str), `position` (int64), `clicks` and
        `impressions` (float64), and `session` if it has one.

    Raises
    ------
    BadInput
        If a column is missing.
    BadRecord
        If a row is not valid; it names row and column.

    Examples
    --------
    >>> shown = pd.DataFrame({
    ...     "query": "mug", "objectID": ["MUG-001", "MUG-002"], "position": [1, 2],
    ...     "clicks": [30, 12], "impressions": 100,
    ... })
    >>> svc.tuning.clicks.check_impressions(shown)
      query filters objectID  position  clicks  impressions
    0   mug          MUG-001         1    30.0        100.0
    1   mug          MUG-002         2    12.0        100.0
    """
    advice = "clicks.impressions(events, searches) returns them"
    for name in ("query", "objectID", "position"):
        if name not in given:
            near = did_you_mean(name, map(str, given))
            raise BadInput(f"impressions need a column `{name}`{near}; {advice}")
    if "clicked" not in given and not {"clicks", "impressions"} <= {*given}:
        raise BadInput(f"impressions need `clicked`, or `clicks` and `impressions`; {advice}")
    frame = given.reset_index(drop=True)
    has_clicks = "clicked" in frame
    counts = {
        "clicks": _numbers(frame, "clicked" if has_clicks else "clicks"),
        "impressions": Series(1.0, frame.index) if has_clicks else _numbers(frame, "impressions"),
    }
    filters = frame["filters"] if "filters" in frame else Series("", frame.index)
    checked = DataFrame(
        {
            "query": frame["query"].astype("str"),
            "filters": filters.fillna("").astype("str"),
            "objectID": frame["objectID"].astype("str"),
            "position": _numbers(frame, "position"),
            **counts,
        }
    )
    _refuse(checked["position"] < 1, checked, "position", "positions start at 1")
    _refuse(checked["position"] % 1 != 0, checked, "position", "positions must be whole numbers")
    _refuse(checked["clicks"] < 0, checked, "clicks", "clicks must be 0 or more")
    more = checked["clicks"] > checked["impressions"]
    _refuse(more, checked, "clicks", "there are more clicks than impressions")
    checked["position"] = checked["position"].astype("int64")
    if "session" in frame:
        checked["session"] = frame["session"]
    return checked


def _numbers(frame: DataFrame, name: str) -> Series[float]:
    values = pd.to_numeric(frame[name], errors="coerce").astype("float64")
    _refuse(~np.isfinite(values), frame, name, "expected a number")
    return values


def _refuse(wrong: Any, frame: DataFrame, name: str, text: str) -> None:
    if wrong.any():
        row = int(np.argmax(wrong.to_numpy()))
        value = frame[name].iloc[row]
        raise BadRecord(f"row {row}, `{name}`: {text}, not {value!r}", row=row, column=name)
