"""What a change does to the most frequent queries of a log, before anything is saved."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
from pandas import DataFrame

from svc_notebook.core.display import format_count
from svc_notebook.core.files import write_named_file
from svc_notebook.data.client import AsyncClient
from svc_notebook.data.declarations import public
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput
from svc_notebook.tuning.changes.state import write_differences
from svc_notebook.tuning.evaluation.ranked_lists import find_overlaps
from svc_notebook.tuning.html_report.page import (
    check_path,
    write_figures,
    write_page,
    write_section,
    write_wide_table,
)
from svc_notebook.tuning.proposed_changes.change_impact import Impact, impact
from svc_notebook.tuning.proposed_changes.change_spec import Proposal
from svc_notebook.tuning.tables.sampling import count_queries
from svc_notebook.tuning.tables.schema import now
from svc_notebook.tuning.tables.tables import QUESTION

ANALYTICS_DAYS = 7  # of analytics, if no log is given
MAX_TOP = 1000
SHOWN_QUERIES = 30  # whose hits a page lists
KINDS = {"up": "moved", "down": "moved", "entered": "new", "left": "lost"}


@dataclass(frozen=True, repr=False, eq=False)
class TrafficPreview:
    """What a change does to frequent queries; nothing was saved.

    `impact` has the hits before and after; `counts` the frequency of each query.
    """

    impact: Impact
    counts: DataFrame = field(repr=False)

    @cached_property
    def queries(self) -> DataFrame:
        """Every query, those with the most traffic times change first.

        Columns: `query` and `filters` (str), `frequency` (int64), `change` (float64, from 0 to 1,
        of the ranking: 1 minus rank-biased overlap), `traffic` (float64, frequency times change),
        `moved`, `new` and `lost` (int64, among the first hits), `hits_before` and `hits_after`
        (Int64, total hits).
        """
        overlaps = find_overlaps(self.impact.before, self.impact.after).set_index(QUESTION)["rbo"]
        frame = self.counts[[*QUESTION, "frequency"]].set_index(QUESTION)
        frame["change"] = (1 - overlaps).clip(0, 1).round(12)
        frame["traffic"] = frame["frequency"] * frame["change"]
        moves = self.impact.moves
        kinds = moves["kind"].map(KINDS)
        counted = pd.crosstab([moves[name] for name in QUESTION], kinds)
        for name in ("moved", "new", "lost"):
            frame[name] = counted.get(name, 0)
            frame[name] = frame[name].fillna(0).astype("int64")
        frame = frame.join(self.impact.queries.set_index(QUESTION)[["hits_before", "hits_after"]])
        return frame.sort_values("traffic", ascending=False, kind="stable").reset_index()

    @property
    def affected_share(self) -> float:
        """The share of the searches whose first hits change."""
        frequency = self.queries["frequency"]
        return float(frequency[self.queries["change"] > 0].sum() / max(frequency.sum(), 1))

    @property
    def zero_results(self) -> tuple[int, int]:
        """The number of searches without results, before and after."""
        before, after = (
            int(self.queries.loc[self.queries[name] == 0, "frequency"].sum())
            for name in ("hits_before", "hits_after")
        )
        return before, after

    def __repr__(self) -> str:
        before, after = self.zero_results
        changed = int((self.queries["change"] > 0).sum())
        return (
            f"{self.impact.index}, {format_count(self.impact.tried, 'change')} tried, nothing "
            f"saved: {changed:,} of {len(self.queries):,} queries change, "
            f"{self.affected_share:.1%} of their searches; searches without results {before:,} → "
            f"{after:,}"
        )

    def report(
        self, path: str | os.PathLike[str], *, titles: Mapping[str, str] | None = None
    ) -> Path:
        """Write one HTML page: figures, every query, and the hits of the most affected ones.

        Parameters
        ----------
        path : path
            File to write; its suffix is `.html`.
        titles : dict or Series, default None
            Titles of records by objectID.

        Returns
        -------
        Path
            The path of the file.

        Raises
        ------
        BadInput
            If the suffix is not supported.

        Examples
        --------
        >>> change = {"customRanking": ["desc(reviews)"]}
        >>> seen = svc.tuning.preview("products", change, log=["mug", "mug", "lamp"])
        >>> seen.report("preview.html").name
        'preview.html'
        """
        target = check_path(path)
        parts = _write_parts(self, dict(titles) if titles is not None else {})
        about = f"Written {now()}. Nothing was saved."
        write_named_file(target, write_page(f"{self.impact.index}: preview", [about], parts))
        return target


@public()
async def preview(
    index: str,
    change: Proposal,
    *,
    log: DataFrame | Iterable[str] | None = None,
    top: int = 200,
    k: int = 10,
    client: AnyClient | None = None,
) -> TrafficPreview:
    """Show what a change does to the most frequent queries; nothing is saved.

    Parameters
    ----------
    change : dict or list of dict
        Settings, synonyms, rules and request parameters, as for `impact`.
    log : DataFrame or list of str, default the analytics of the last seven days
        Searches, as `read_searches` or `read_logs` returns them, or queries.
    top : int, default 200
        Number of queries, the most frequent ones, up to 1,000.

    Returns
    -------
    TrafficPreview
        The hits before and after, with `queries`, `affected_share`, `zero_results` and
        `report(path)`.

    Raises
    ------
    BadInput
        If the log has no queries, or the change is wrong.
    NotFound

    Examples
    --------
    >>> change = {"customRanking": ["desc(reviews)"]}
    >>> seen = svc.tuning.preview("products", change, log=["mug", "mug", "wool blanket"])
    >>> seen.queries[["query", "frequency"]].sort_values("frequency", ascending=False).head(1)
      query  frequency
    0   mug          2
    """
    if not 1 <= top <= MAX_TOP:
        raise BadInput(f"`top` must be from 1 to {MAX_TOP:,}, not {top!r}")
    caller = asynchronous(client)
    counts = await _read_top(caller, index, top) if log is None else count_queries(log).head(top)
    if counts.empty:
        raise BadInput("the log has no queries: pass `log`, as `svc.read_searches` returns it")
    tried = await impact(index, change, counts[QUESTION], k=k, client=caller)
    return TrafficPreview(tried, counts.reset_index(drop=True))


async def _read_top(client: AsyncClient, index: str, top: int) -> DataFrame:
    """Return the most frequent queries by the analytics of the service."""
    today = datetime.now(UTC).date()
    answer: Any = await client.get_top_searches(
        index=index,
        limit=top,
        startDate=str(today - timedelta(days=ANALYTICS_DAYS)),
        endDate=str(today),
    )
    rows = [
        (row["search"], "", row["count"]) for row in answer["searches"] if row["search"].strip()
    ]
    return DataFrame(rows, columns=[*QUESTION, "frequency"])


def _write_parts(preview: TrafficPreview, titles: Mapping[str, str]) -> Iterable[str]:
    before, after = preview.zero_results
    changed = preview.queries[preview.queries["change"] > 0]
    yield write_figures([
        {
            "name": "searches whose first hits change", "value": f"{preview.affected_share:.1%}",
            "span": f"{len(changed):,} of {len(preview.queries):,} queries", "words": [],
        },
        {
            "name": "searches without results", "value": f"{before:,} → {after:,}",
            "span": f"of {preview.queries['frequency'].sum():,}", "words": [],
        },
    ])  # fmt: skip
    yield write_section("Changes", write_differences(preview.impact.change))
    table = preview.queries.copy()
    table["change"] = table["change"].map("{:.0%}".format)
    table["traffic"] = table["traffic"].map("{:,.1f}".format)
    table["hits"] = [
        f"{old:,} → {new:,}"
        for old, new in zip(table.pop("hits_before"), table.pop("hits_after"), strict=True)
    ]
    if not (table["filters"] != "").any():
        table = table.drop(columns="filters")
    yield write_section("Queries by traffic times change", write_wide_table(table))
    lists = [_write_hits(preview, row, titles) for row in changed.head(SHOWN_QUERIES).itertuples()]
    yield write_section("Hits that are new, lost or moved", "".join(lists) or "<p>none</p>")


def _write_hits(preview: TrafficPreview, row: Any, titles: Mapping[str, str]) -> str:
    moves = preview.impact.moves
    moved = moves[(moves["query"] == row.query) & (moves["filters"] == row.filters)]
    moved = moved[moved["kind"] != "same"].sort_values("rank_after", kind="stable")
    columns = ["objectID", "rank_before", "rank_after"]
    shown = moved[columns].astype("object").where(moved[columns].notna(), "")
    shown.insert(1, "title", [titles.get(name, "") for name in moved["objectID"]])
    shown.insert(0, "kind", moved["kind"].map(KINDS))
    filters = f", {row.filters}" if row.filters else ""
    heading = escape(f"{row.query}{filters}: {format_count(row.frequency, 'search', 'searches')}")
    table = shown if titles else shown.drop(columns="title")
    return f"<h3>{heading}</h3>{write_wide_table(table)}"
