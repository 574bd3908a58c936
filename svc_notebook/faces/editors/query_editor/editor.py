"""The query editor: its value is the parameters of a search, which runs whenever they change."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, ClassVar, Literal

import traitlets

from svc_notebook.core.api.parameters import SearchParams, Settings
from svc_notebook.core.api.validation import check_members
from svc_notebook.core.display import format_count, write_table
from svc_notebook.data.session import advise
from svc_notebook.errors import BadInput, BadOption, KeyRefused, SvcError
from svc_notebook.faces.editors import event_loop
from svc_notebook.faces.editors.base import JSON, Editor, find_missing_right
from svc_notebook.faces.editors.bundle import read_module, read_styles
from svc_notebook.faces.editors.changes import Draft
from svc_notebook.faces.editors.curation_editors import pins
from svc_notebook.faces.editors.fallback import write_line
from svc_notebook.faces.editors.hit_cards import (
    RankExplanation,
    explain_rank,
    list_searchable,
    ranking_of,
)
from svc_notebook.faces.editors.parameter_panel import list_parameters, read_parameter
from svc_notebook.faces.editors.query_editor import facets as faceting
from svc_notebook.faces.editors.query_editor import search
from svc_notebook.faces.editors.query_editor.facets import (
    list_active_filters,
    name_chosen_filters,
)
from svc_notebook.faces.editors.query_editor.search import (
    DraftTarget,
    find_places,
    mark_moves,
)
from svc_notebook.faces.editors.rpc import call, explain, finish
from svc_notebook.faces.editors.snippets import write_search
from svc_notebook.faces.functions import empty_search
from svc_notebook.faces.functions.curation import WriteSummary

Params = dict[str, Any]
Action = Literal["pin", "hide"]
Curate = Callable[[dict[str, Any]], object]
FACET_DELAY_SECONDS = 0.06  # between the hits and the count of facets, to draw the hits first

BIN_DELAY_SECONDS = 0.5  # between facets and the bins that take many counts


class QueryEditor(Editor):
    """Search an index as you type, with an explanation of each hit's rank.

    `value` is the search parameters, `query` and `parameters` the query and the others of them,
    `hits` their hits, `selected` the objectID of the hit selected last. A hit that is pinned or
    hidden becomes a draft of a rule for the query, in `drafts`, which is reviewed and applied in
    the view. `on_pin` and `on_hide` register callbacks that are called instead, with
    `{query, objectID, position}`.
    """

    title: ClassVar[str] = "Query editor"
    _esm = read_module("query.js")
    _css = read_styles("kit/kit.css", "query.css")

    decided = ("query", "parameters", "selected", "drafts")

    query = traitlets.Unicode(read_only=True).tag(sync=True)
    parameters: Any = traitlets.Dict(read_only=True).tag(sync=True, **JSON)
    hits: Any = traitlets.List()
    selected = traitlets.Unicode(allow_none=True, default_value=None).tag(sync=True)
    answer = traitlets.Dict().tag(sync=True, **JSON)
    facets: Any = traitlets.List().tag(sync=True, **JSON)
    drafts: Any = traitlets.List().tag(sync=True, **JSON)

    def __init__(self, index: str, *, images: bool = False, **options: Any) -> None:
        self.settings: Mapping[str, Any] = {}
        self._search_count = 0
        self._found: Any = None
        self._second_search: search.SecondSearch | None = None
        self._is_open = False
        self._can_curate = False
        self._search_lock = asyncio.Lock()
        self._hit_counts: dict[str, int] = {}
        self._target: DraftTarget | None = None
        self._places: dict[str, int] | None = None
        self._listeners: dict[str, list[Curate]] = {"pin": [], "hide": []}
        super().__init__(index, images=images, **options)

    # Methods of the base class.

    async def find_missing_right(self) -> str:
        """Find whether the key may write rules, and therefore pin and hide hits."""
        self._can_curate = not await find_missing_right(self.client, "editSettings", self.index)
        return ""

    async def load(self) -> Params:
        """Read the settings of the index; searches are not stored."""
        await self._read_settings()
        return {}

    def check(self, value: Any) -> Params:
        """Validate search parameters and their types."""
        if not isinstance(value, dict):
            raise BadInput("the value of a query editor must be a dict: search parameters")
        return check_members(value, SearchParams, "")

    def list_decisions(self, draft: Draft) -> dict[str, Any]:
        """Return the query, and the other search parameters."""
        others = {name: value for name, value in draft.value.items() if name != "query"}
        return {"query": draft.value.get("query") or "", "parameters": others}

    def write_html(self) -> str:
        """Return the hits as an HTML table."""
        cards = self.answer.get("hits", [])
        hits = format_count(self.answer.get("nbHits", 0), "hit")
        summary = f"{hits} for {search.describe_search(self.value)}"
        rows = [
            (card["place"], card["id"], search.unmark(card["title"]), search.text_lines(card))
            for card in cards
        ]
        return write_line(summary) + write_table(("", "objectID", "", ""), rows)

    def codes(self) -> dict[str, str]:
        """Return the search as Python, as a magic and as curl."""
        return write_search(self.client.connection, self.index, self.value)

    def draw_hits_again(self) -> None:
        """Draw the hits of the last search in another display."""
        if self._found:
            self.answer = {**self.answer, **self._draw_found()}

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
        values_by_key = {search.key_of(value): value for value in (*self._draft.past, self.value)}
        return [
            {"value": value, "label": search.label_of(value), "hits": self._hit_counts.get(key)}
            for key, value in reversed(values_by_key.items())
            if value or key in self._hit_counts  # an editor begins empty before its first search
        ]

    async def try_draft(self, target: DraftTarget | None) -> None:
        """Search with a draft of the index's configuration, and mark moved hits; None ends it."""
        self._target = target
        await self._search()

    async def follow_saved(self) -> None:
        """Read the settings again, and search: the saved configuration has changed."""
        await self._read_settings()
        await self._search()

    def close(self) -> None:
        """Close the editor, and drop the copy that a comparison made."""
        # An editor that could not be opened is closed, too.
        if self._second_search and self._second_search.copy_name:
            finish(self.drop_copy)
        super().close()

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
        await self._read_settings()
        self._update_state(index=index)
        await self._search()

    @call
    async def values(self, facet: str, text: str) -> list[list[Any]]:
        """Search the values of a facet."""
        index, searched, settings = self._searched()
        if not faceting.is_searchable(settings, facet):
            return faceting.find_values(self.facets, facet, text)
        params = faceting.without_facet(searched, facet)
        params = {k: v for k, v in params.items() if k not in ("page", "offset", "length")}
        tags: Any = {"highlightPreTag": "", "highlightPostTag": ""}
        answer = await self.client.search_facet(index, facet, text, **{**params, **tags})
        chosen = faceting.chosen_facets(self.value).get(facet, ([], "any"))[0]
        return [[hit["value"], hit["count"], hit["value"] in chosen] for hit in answer["facetHits"]]

    @call
    def record(self, id: str) -> dict[str, Any]:  # noqa: A002 - the name in the view
        """Return one complete hit, and select it."""
        self.selected = id
        hit = next((hit for hit in self.hits if hit["objectID"] == id), None)
        if hit is None:
            raise BadOption(f"`{id}` is not among the current hits")
        return {name: value for name, value in hit.items() if name[:1] != "_" or name == "_geoloc"}

    @call
    def explain(self, id: str) -> RankExplanation:  # noqa: A002
        """Explain the rank of one of the current hits."""
        cards = self.answer.get("hits", [])
        position = next((at for at, hit in enumerate(self.hits) if hit["objectID"] == id), None)
        if position is None or position >= len(cards):
            raise BadOption(f"`{id}` is not among the current hits")
        titles = [search.unmark(card["title"]) for card in cards]
        _, params, settings = self._searched()
        ranking = ranking_of(settings, params, name_chosen_filters(params))
        before = search.count_before(self.answer)
        return explain_rank(self.hits, titles, position, ranking, before)

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
        self.drafts = pins.put_placement(self.drafts, {
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
    async def review_drafts(self) -> list[pins.DraftedRule]:
        """Return the rules that applying the drafts writes."""
        return await pins.draft_rules(self.client, self.drafts)

    @call
    async def apply_drafts(self) -> list[WriteSummary]:
        """Write the drafted rules, and search again; return the changes in the journal."""
        written = await pins.write_rules(self.client, self.drafts)
        self.drafts = []
        await self._search()
        return written

    @call
    def describe_parameters(self, settings: bool = False) -> list[Any]:
        """List every search parameter, and with `settings` every setting."""
        return list(list_parameters(self.settings, with_settings=settings))

    @call
    def past(self) -> list[dict[str, Any]]:
        """List the searches so far."""
        return self.history

    @call(latest=True)
    async def relax(self) -> empty_search.Diagnosis:
        """Find the reasons of a search without results, and searches that have results."""
        index, params, _ = self._searched()
        return await empty_search.relax(self.client, index, params)

    @call(latest=True)
    async def compare(
        self, index: str, value: Any, may_copy: bool = False
    ) -> search.SettingsComparison:
        """Search a second time with other parameters or settings; return the hits that moved.

        `value` has search parameters and settings. Without `may_copy`, settings that need a copy
        of the index are only named.
        """
        if not isinstance(value, dict):
            raise BadInput("the other search must be a dict: search parameters and settings")
        params, settings = search.split_settings(value)
        other = (index or self.index, self.check(params))
        checked: dict[str, Any] = check_members(settings, Settings, "")
        this = (self.index, self.value)
        self._second_search = self._second_search or search.SecondSearch(self.client)
        return await self._second_search.compare(
            this, other, checked, self.searchable, may_copy=may_copy
        )

    @call
    async def drop_copy(self) -> None:
        """Delete the copy that a comparison made."""
        if self._second_search:
            await self._second_search.drop()

    @call
    def read(self, name: str, text: str) -> Any:
        """Return the value of a typed text for a search parameter or setting."""
        return read_parameter(name, text)

    # Internals.

    async def _read_settings(self) -> None:
        """Read the settings of the index that is searched, if the key can."""
        try:
            self.settings = await self.client.get_settings(self.index)
        except KeyRefused:
            self.settings = {}
        self.searchable = list_searchable(self.settings)

    async def _begin(self, value: Any) -> None:
        self._primary = self.index
        await super()._begin(value)
        self._is_open = True
        replicas = list(self.settings.get("replicas") or [])
        self._update_state(primary=self.index, replicas=replicas, curates=self._can_curate)
        await self._search()

    def _set_draft(self, draft: Draft) -> None:
        super()._set_draft(draft)
        if self._is_open:
            self._begin_follow_up(self._search())

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

    def _searched(self) -> tuple[str, Params, Mapping[str, Any]]:
        """Return the searched index, its parameters and its settings: with a draft, those of it.

        A draft is of the index itself; a replica is searched without it.
        """
        if self._target is None or self.index != self._primary:
            return self.index, self.value, self.settings
        return self._target.index, {**self._target.params, **self.value}, self._target.settings

    async def _find(self) -> None:
        (index, params, _), start = self._searched(), time.perf_counter()
        value = self.value
        try:
            answer, places = await asyncio.gather(
                search.search(self.client, index, params), self._find_places(value)
            )
        except SvcError as error:
            await advise(error, {**params, "client": self.client, "index": index})
            raise
        self._hit_counts[search.key_of(value)] = answer["nbHits"]
        self.hits = search.with_tags(answer["hits"], *search.highlight_tags(value))
        self._found, self._places = answer, places
        took = round((time.perf_counter() - start) * 1000, 1)
        self.answer = {**self._draw_found(), "held": list_active_filters(value), "took": took}

    async def _find_places(self, params: Params) -> dict[str, int] | None:
        """Return the places of the first hits without the draft; None without a draft.

        They are also unknown if the saved configuration does not allow the search.
        """
        if self._target is None or self.index != self._primary:
            return None
        try:
            return await find_places(self.client, self.index, params)
        except SvcError:
            return None

    def _draw_found(self) -> dict[str, Any]:
        _, params, settings = self._searched()
        ranking = ranking_of(settings, params, name_chosen_filters(params))
        drawn = search.draw_answer(self._found, ranking, self._hit_display)
        return drawn if self._places is None else mark_moves(drawn, self._places)

    async def _count(self, number: int) -> None:
        """Count facets after the hits are drawn, without delaying the next hits."""
        facets = await search.count(self.client, *self._searched())
        if number == self._search_count:
            self.facets = _with_known_bins(facets, self.facets)
            event_loop.begin(self._count_bins(number, facets))

    async def _count_bins(self, number: int, facets: list[faceting.FacetCard]) -> None:
        """Count the bins of numeric facets with many values once no more searches follow."""
        await asyncio.sleep(BIN_DELAY_SECONDS)
        if number != self._search_count:
            return
        with contextlib.suppress(SvcError):  # without bins, the range still works
            index, params, _ = self._searched()
            counted = await search.count_missing_bins(self.client, index, params, facets)
            if number == self._search_count and counted != facets:
                self.facets = counted

    def _listen(self, action: Action, callback: Curate) -> None:
        self._listeners[action].append(callback)
        self._update_state(curates=True)


def _with_known_bins(
    facets: list[faceting.FacetCard], before: list[faceting.FacetCard]
) -> list[faceting.FacetCard]:
    """Keep the bins of the previous search until those of this search are counted."""
    bins_by_name = {card["name"]: card["bins"] for card in before}
    return [{**card, "bins": card["bins"] or bins_by_name.get(card["name"], [])} for card in facets]
