"""The query editor: its value is the parameters of a search, which runs whenever they change."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from typing import Any, ClassVar, Literal

import traitlets

from svc_notebook.api.parameters import SearchParams, default_of
from svc_notebook.api.validation import check_members
from svc_notebook.display import format_count, write_table
from svc_notebook.editors import event_loop
from svc_notebook.editors.base import JSON, Editor, find_missing_right
from svc_notebook.editors.bundle import read_module, read_styles
from svc_notebook.editors.draft import Draft
from svc_notebook.editors.error_display import explain
from svc_notebook.editors.query_editor import comparison, relaxation, rule_drafts, search
from svc_notebook.editors.query_editor import facets as faceting
from svc_notebook.editors.query_editor.active_filters import list_active_filters
from svc_notebook.editors.query_editor.panel import list_parameters, read_parameter
from svc_notebook.editors.ranking_explanation import criteria_of
from svc_notebook.editors.rpc import call
from svc_notebook.editors.snapshot import write_line
from svc_notebook.editors.snippets import write_search
from svc_notebook.errors import BadInput, BadOption, KeyRefused
from svc_notebook.functions.curation import WriteSummary

Params = dict[str, Any]
Action = Literal["pin", "hide"]
Curate = Callable[[dict[str, Any]], object]
FACET_DELAY_SECONDS = 0.06  # between the hits and the count of facets, to draw the hits first


class QueryEditor(Editor):
    """Search an index as you type, with an explanation of each hit's rank.

    `value` is the search parameters, `hits` their hits, `selected` the objectID of the hit selected
    last. A hit that is pinned or hidden becomes a draft of a rule for the query, in `drafts`, which
    is reviewed and applied in the view. `on_pin` and `on_hide` register callbacks that are called
    instead, with `{query, objectID, position}`.
    """

    title: ClassVar[str] = "Query editor"
    _esm = read_module("query.js")
    _css = read_styles("kit/kit.css", "query.css")

    hits: Any = traitlets.List()
    selected = traitlets.Unicode(allow_none=True, default_value=None).tag(sync=True)
    answer = traitlets.Dict().tag(sync=True, **JSON)
    facets: Any = traitlets.List().tag(sync=True, **JSON)
    drafts: Any = traitlets.List().tag(sync=True, **JSON)
    images = traitlets.Bool(False).tag(sync=True)

    def __init__(self, index: str, *, images: bool = False, **options: Any) -> None:
        self.settings: Mapping[str, Any] = {}
        self._search_count = 0
        self._is_open = False
        self._can_curate = False
        self._search_lock = asyncio.Lock()
        self._searching: Future[None] | None = None
        self._hit_counts: dict[str, int] = {}
        self._listeners: dict[str, list[Curate]] = {"pin": [], "hide": []}
        super().__init__(index, images=images, **options)

    # Methods of the base class.

    async def find_missing_right(self) -> str:
        """Find whether the key may write rules, and therefore pin and hide hits."""
        self._can_curate = not await find_missing_right(self.client, "editSettings", self.index)
        return ""

    async def load(self) -> Params:
        """Read the settings of the index, if the key can; searches are not stored."""
        try:
            self.settings = await self.client.get_settings(self.index)
        except KeyRefused:
            self.settings = {}
        return {}

    def check(self, value: Any) -> Params:
        """Validate search parameters and their types."""
        if not isinstance(value, dict):
            raise BadInput("the value of a query editor must be a dict: search parameters")
        return check_members(value, SearchParams, "")

    def write_html(self) -> str:
        """Return the hits as an HTML table."""
        cards = self.answer.get("hits", [])
        hits = format_count(self.answer.get("nbHits", 0), "hit")
        found = f"{hits} for {json.dumps(self.value)}"
        rows = [
            (card["place"], card["id"], search.unmark(card["title"]), _lines(card))
            for card in cards
        ]
        return write_line(found) + write_table(("", "objectID", "", ""), rows)

    def codes(self) -> dict[str, str]:
        """Return the search as Python, as a magic and as curl."""
        return write_search(self.client.connection, self.index, self.value)

    # Methods for cells.

    def on_pin(self, callback: Curate) -> None:
        """Call `callback` for hits to pin, instead of drafting a rule."""
        self._listen("pin", callback)

    def on_hide(self, callback: Curate) -> None:
        """Call `callback` for hits to hide, instead of drafting a rule."""
        self._listen("hide", callback)

    @property
    def history(self) -> list[dict[str, Any]]:
        """The searches so far, newest first: `{value, label, hits}`."""
        known = {_key(value): value for value in (*self._draft.past, self.value)}
        return [
            {"value": value, "label": _label(value), "hits": self._hit_counts.get(key)}
            for key, value in reversed(known.items())
        ]

    # Calls for views.

    @call
    def toggle(self, facet: str, value: str, mode: faceting.Mode) -> None:
        """Select a facet's value, or deselect it."""
        self.edit(faceting.toggle_facet(self.value, facet, value, mode))

    @call
    def switch(self, facet: str, mode: faceting.Mode) -> None:
        """Make a facet disjunctive or conjunctive."""
        chosen = faceting.chosen_facets(self.value).get(facet, ([], mode))[0]
        self.edit(faceting.put_facet(self.value, facet, chosen, mode))

    @call
    def clear(self, facet: str | None = None) -> None:
        """Deselect all values of a facet, or of all facets."""
        value = self.value
        for name in [facet] if facet else faceting.active_facets(self.value):
            value = faceting.put_bounds(faceting.put_facet(value, name, []), name, None, None)
        self.edit(value)

    @call
    def hold(self, facet: str, least: float | None, most: float | None) -> None:
        """Restrict a numeric facet to a range."""
        self.edit(faceting.put_bounds(self.value, facet, least, most))

    @call
    def put(self, name: str, text: str) -> None:
        """Set one parameter to the typed text; an empty text unsets it."""
        rest = {key: value for key, value in self.value.items() if key != name}
        self.edit({**rest, name: read_parameter(name, text)} if text.strip() else rest)

    @call
    async def look(self) -> None:
        """Repeat the search."""
        await self._search()

    @call
    async def sort(self, index: str) -> None:
        """Search the index itself, or a replica with a different order."""
        if index not in (self._primary, *self.state["replicas"]):
            raise BadOption(f"`{index}` is not a replica of `{self._primary}`")
        self.index = index
        self._update_state(index=index)
        await self._search()

    @call
    async def values(self, facet: str, text: str) -> list[list[Any]]:
        """Search the values of a facet."""
        if not faceting.is_searchable(self.settings, facet):
            return faceting.find_values(self.facets, facet, text)
        params = faceting.without_facet(self.value, facet)
        params = {k: v for k, v in params.items() if k not in ("page", "offset", "length")}
        tags: Any = {"highlightPreTag": "", "highlightPostTag": ""}
        found = await self.client.search_facet(self.index, facet, text, **{**params, **tags})
        chosen = faceting.chosen_facets(self.value).get(facet, ([], "any"))[0]
        return [[hit["value"], hit["count"], hit["value"] in chosen] for hit in found["facetHits"]]

    @call
    def record(self, id: str) -> dict[str, Any]:  # noqa: A002 - the name in the view
        """Return one complete hit, and select it."""
        self.selected = id
        hit = next((hit for hit in self.hits if hit["objectID"] == id), None)
        if hit is None:
            raise BadOption(f"`{id}` is not among the current hits")
        return {name: value for name, value in hit.items() if name[:1] != "_" or name == "_geoloc"}

    @call
    def curate(self, action: Action, id: str, place: int) -> None:  # noqa: A002
        """Draft a rule that pins or hides a hit, or call the registered callbacks."""
        query = self.value.get("query", "")
        if listeners := self._listeners[action]:
            event = {"query": query, "objectID": id, "position": place - 1}
            for callback in listeners:
                callback(event)
            return
        cards = self.answer.get("hits", ())
        title = next((card["title"] for card in cards if card["id"] == id), "")
        self.drafts = rule_drafts.put(self.drafts, {
            "index": self.index, "query": query, "objectID": id,
            "title": search.unmark(title), "where": action, "position": place - 1,
        })  # fmt: skip

    @call
    def revise_draft(self, draft: int, position: int | None = None) -> None:
        """Change the position of a draft, by its number; remove it without a position."""
        before = list(self.drafts)
        if not 0 <= draft < len(before):
            raise BadOption(f"there is no draft {draft}")
        kept = [] if position is None else [{**before[draft], "position": position}]
        self.drafts = [*before[:draft], *kept, *before[draft + 1 :]]

    @call
    def discard_drafts(self) -> None:
        """Discard all drafts."""
        self.drafts = []

    @call
    async def review_drafts(self) -> list[rule_drafts.DraftedRule]:
        """Return the rules that applying the drafts writes."""
        return await rule_drafts.draft_rules(self.client, self.drafts)

    @call
    async def apply_drafts(self) -> list[WriteSummary]:
        """Write the drafted rules, and search again; return the changes in the journal."""
        written = await rule_drafts.write_rules(self.client, self.drafts)
        self.drafts = []
        await self._search()
        return written

    @call
    def parameters(self) -> list[Any]:
        """List every search parameter."""
        return list(list_parameters(self.settings))

    @call
    def past(self) -> list[dict[str, Any]]:
        """List the searches so far."""
        return self.history

    @call(latest=True)
    async def relax(self) -> relaxation.Diagnosis:
        """Find the reasons of a search without results, and searches that have results."""
        return await relaxation.relax(self.client, self.index, self.value)

    @call(latest=True)
    async def compare(self, index: str, value: Any) -> comparison.SideBySide:
        """Search a second time with other parameters, and return the hits that moved."""
        other = self.check(value)
        sides = [(self.index, self.value), (index or self.index, other)]
        return await comparison.compare(self.client, sides)

    # Internals.

    async def _begin(self, value: Any) -> None:
        await super()._begin(value)
        self._is_open = True
        self._primary = self.index
        replicas = list(self.settings.get("replicas") or [])
        self._update_state(primary=self.index, replicas=replicas, curates=self._can_curate)
        await self._search()

    def _set_draft(self, draft: Draft) -> None:
        super()._set_draft(draft)
        if not self._is_open:
            return
        self._searching = event_loop.begin(self._search())

    async def _follow_up(self) -> None:
        if self._searching:
            await asyncio.wrap_future(self._searching)

    async def _search(self) -> None:
        """Search with the current value; of several waiting searches only the last runs."""
        self._search_count += 1
        number = self._search_count
        async with self._search_lock:
            if number == self._search_count:
                await self._run_part(number, self._find())
        await asyncio.sleep(FACET_DELAY_SECONDS)
        if number == self._search_count and not self.state["error"]:
            await self._run_part(number, self._count(number))

    async def _run_part(self, number: int, work: Coroutine[Any, Any, None]) -> None:
        """Run one part of a search; show its error unless a later search has started."""
        failure = None
        try:
            await work
        except Exception as error:
            failure = explain(error)
        if number == self._search_count:
            self._update_state(error=failure)

    async def _find(self) -> None:
        params, start = self.value, time.perf_counter()
        found = await search.search(self.client, self.index, params)
        self._hit_counts[_key(params)] = found["nbHits"]
        self.hits = search.with_tags(found["hits"], *_tags(params))
        drawn = search.draw_answer(found, criteria_of(self.settings))
        took = round((time.perf_counter() - start) * 1000, 1)
        self.answer = {**drawn, "held": list_active_filters(params), "took": took}

    async def _count(self, number: int) -> None:
        """Count facets after the hits are drawn, without delaying the next hits."""
        facets = await search.count(self.client, self.index, self.value)
        if number == self._search_count:
            self.facets = facets

    def _listen(self, action: Action, callback: Curate) -> None:
        self._listeners[action].append(callback)
        self._update_state(curates=True)


def _tags(params: Params) -> tuple[str, str]:
    names = ("highlightPreTag", "highlightPostTag")
    pre, post = (params.get(name) or default_of(name) for name in names)
    return pre, post


def _key(value: Params) -> str:
    return json.dumps(value, sort_keys=True)


def _label(value: Params) -> str:
    others = [
        f"{name}={json.dumps(member, ensure_ascii=False)}"
        for name, member in value.items()
        if name != "query"
    ]
    return " · ".join([value.get("query") or "(everything)", *others])


def _lines(card: Mapping[str, Any]) -> str:
    return "; ".join(f"{name}: {search.unmark(text)}" for name, text in card["lines"])
