"""Panels that show a service and write nothing: its overview and the analytics of an index."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, ClassVar, Literal

import traitlets
from pandas import DataFrame

from svc_notebook.core.api.values import list_texts
from svc_notebook.core.display import Html, write_table
from svc_notebook.errors import BadInput
from svc_notebook.faces.editors.base import JSON, Editor
from svc_notebook.faces.editors.bundle import read_module, read_styles
from svc_notebook.faces.editors.changes import Draft
from svc_notebook.faces.editors.fallback import write_line
from svc_notebook.faces.editors.rpc import call, explain, plain
from svc_notebook.faces.editors.snippets import write_analytics, write_editor
from svc_notebook.faces.functions import aio
from svc_notebook.faces.functions.analytics import read_day

DEFAULT_PERIOD = {"since": "30d", "until": "", "tags": ""}
MAX_QUERIES = 50  # of each list
Step = Literal["search", "synonym", "judge"]
TakeStep = Callable[[Step, Sequence[str], Sequence[str]], Awaitable[None]]
# The columns of the lists in static HTML, with their titles.
SEARCHES = {
    "query": "query", "frequency": "searches", "nbHits": "hits", "clickThroughRate": "clicked",
    "averageClickPosition": "position", "conversionRate": "converted",
}  # fmt: skip
NO_RESULTS = {"query": "query", "frequency": "searches", "withFilterCount": "with filters"}
DAYS = {
    "date": "day", "searchCount": "searches", "userCount": "users", "noResultRate": "no results",
    "clickThroughRate": "clicked",
}  # fmt: skip
TEXT_COLUMNS = ("query", "date")


class AnalyticsPanel(Editor):
    """Read the analytics of an index, and continue with its queries in another editor.

    `value` is the period and the tags: `since`, `until` and `tags`, as in `svc.read_top_searches`.
    `figures` has what was read: `total`, `days`, `searches` and `noResults`. With `waits`, it reads
    when a view opens.
    """

    title: ClassVar[str] = "Analytics"
    _esm = read_module("analytics.js")
    _css = read_styles("kit/kit.css", "analytics.css")

    figures: Any = traitlets.Dict().tag(sync=True, **JSON)

    def __init__(self, index: str, *, waits: bool = False, **options: Any) -> None:
        self._waits = waits
        self._is_open = False
        self._read_count = 0
        self._take_step: TakeStep | None = None
        super().__init__(index, **options)

    # Methods of the base class.

    async def load(self) -> dict[str, str]:
        """Return the default period; periods are not stored."""
        return DEFAULT_PERIOD

    def check(self, value: Any) -> dict[str, str]:
        """Validate a period; empty members are those of the service."""
        if not isinstance(value, dict) or value.keys() - DEFAULT_PERIOD.keys():
            raise BadInput(f"the value must be a dict: {', '.join(DEFAULT_PERIOD)}")
        checked = {name: str(value.get(name) or "").strip() for name in DEFAULT_PERIOD}
        for name in ("since", "until"):
            read_day(checked[name] or None, name)
        return checked

    def write_html(self) -> str:
        """Return the figures as HTML tables."""
        if not self.figures:
            return ""
        total = self.figures["total"]
        facts = [
            f"{total['searchCount']:,} searches of {total['userCount']:,} users",
            f"{_percent(total['noResultRate'])} without results",
            f"{_percent(total['clickThroughRate'])} clicked",
        ]
        parts = (
            ("Top searches", "searches", SEARCHES),
            ("Searches without results", "noResults", NO_RESULTS),
            ("By day", "days", DAYS),
        )
        tables = [write_line(_describe_period(self.value)), write_line(", ".join(facts))]
        for title, name, columns in parts:
            rows = [[_cell(row[column]) for column in columns] for row in self.figures[name]]
            numbers = [at for at, column in enumerate(columns) if column not in TEXT_COLUMNS]
            table = write_table([*columns.values()], rows, numbers=numbers)
            tables.append(write_line(title, tag="strong") + (table if rows else write_line("none")))
        return Html("".join(tables))

    def codes(self) -> dict[str, str]:
        """Return code that reads the same figures."""
        return write_analytics(self.index, _options(self.value))

    async def refresh(self) -> None:
        """Read the figures again."""
        await self._read()

    # Methods for an editor that contains this one.

    def take_steps(self, take: TakeStep) -> None:
        """Call `take` for next steps, with queries and synonyms, in place of returning code."""
        self._take_step = take

    # Calls for views.

    @call
    async def show(self) -> None:
        """Read the figures if they wait for a view."""
        if self._waits:
            self._waits = False
            await self._read()

    @call
    async def continue_with(self, step: Step, queries: list[str], words: list[str]) -> str:
        """Open queries in another editor; return its code if no editor is beside this one."""
        queries, words = list_texts(queries, "queries"), list_texts(words, "words")
        if self._take_step is None:
            return write_editor(step, self.index, queries, words)
        await self._take_step(step, queries, words)
        return ""

    # Internals.

    async def _begin(self, value: Any) -> None:
        await super()._begin(value)
        self._is_open = True
        if not self._waits:
            await self._read()

    def _set_draft(self, draft: Draft) -> None:
        super()._set_draft(draft)
        if self._is_open and not self._waits:
            self._begin_follow_up(self._read())

    async def _read(self) -> None:
        """Read the figures of the period; of several periods only the last is shown."""
        self._read_count += 1
        number = self._read_count
        self._update_state(busy="loading")
        failure = None
        try:
            figures = await self._read_figures()
        except Exception as error:
            failure, figures = explain(error), {}
        if number == self._read_count:
            self.figures = figures
            self._update_state(busy="", error=failure)
            self._fallback.follow()

    async def _read_figures(self) -> dict[str, Any]:
        options = {**_options(self.value), "client": self.client}
        searches, unanswered, counts, rates = await asyncio.gather(
            aio.read_top_searches(self.index, limit=MAX_QUERIES, **options),
            aio.read_no_results(self.index, limit=MAX_QUERIES, **options),
            aio.read_search_counts(self.index, **options),
            aio.read_conversions(self.index, **options),
        )
        days = counts.join(rates).reset_index()
        days["date"] = days["date"].dt.strftime("%Y-%m-%d")
        return {
            "total": plain({**counts.attrs["svc"]["total"], **rates.attrs["svc"]["total"]}),
            "days": _rows(days, [*DAYS, "noResultCount", "trackedSearchCount"]),
            "searches": _rows(searches, [*SEARCHES]),
            "noResults": _rows(unanswered, [*NO_RESULTS]),
        }


def _options(period: dict[str, str]) -> dict[str, Any]:
    return {name: text for name, text in period.items() if text}


def _rows(frame: DataFrame, columns: list[str]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = plain(frame[columns].to_dict("records"))
    return rows


def _describe_period(period: dict[str, str]) -> str:
    tags = f", tags {period['tags']}" if period["tags"] else ""
    return f"since {period['since'] or '8d'} until {period['until'] or 'today'}{tags}"


def _cell(value: Any) -> Any:
    return "" if value is None else f"{value:.3f}" if isinstance(value, float) else value


def _percent(share: float | None) -> str:
    return "none" if share is None else f"{share:.1%}"


class OverviewPanel(Editor):
    """The page of an overview; `name` is that of the service, for the title."""

    title: ClassVar[str] = "Overview"
    _esm = read_module("overview.js")
    _css = read_styles("kit/kit.css")

    page: Any = traitlets.Unicode().tag(sync=True)

    async def load(self) -> None:
        """Read the overview."""
        overview = await aio.overview(client=self.client)
        self.page = overview._repr_html_()

    def write_html(self) -> str:
        """Return the page."""
        return str(self.page)
