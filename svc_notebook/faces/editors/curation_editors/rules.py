"""The rule editor: all rules of an index as a list and a form."""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypedDict

import traitlets

from svc_notebook.core.api.parameters import PARAMETERS
from svc_notebook.core.api.rule_checks import check_parts
from svc_notebook.core.api.shapes import RuleParams
from svc_notebook.core.api.validation import check_members
from svc_notebook.core.api.values import OneOrMany, list_texts
from svc_notebook.core.display import format_count, write_table
from svc_notebook.data.client import RULES, AsyncClient, ResourceKind
from svc_notebook.errors import BadInput, NotFound, Refused, SvcError, Unreachable
from svc_notebook.faces.editors.base import JSON
from svc_notebook.faces.editors.bundle import read_module, read_styles
from svc_notebook.faces.editors.changes import (
    Document,
    Draft,
    ObjectChange,
    ReviewedChange,
    by_id,
)
from svc_notebook.faces.editors.curation_editors.editor import CurationEditor, Faults
from svc_notebook.faces.editors.curation_editors.pins import (
    Arrangement,
    arrange,
    read_titles,
)
from svc_notebook.faces.editors.curation_editors.rule_checks import (
    MAX_CONFLICTS_PER_RULE,
    applies_at,
    as_of,
    find_conflicts,
    find_own_faults,
)
from svc_notebook.faces.editors.curation_editors.rule_description import (
    describe_conditions,
    describe_consequence,
    describe_lines,
    describe_schedule,
    list_records,
)
from svc_notebook.faces.editors.fallback import SNAPSHOT_ROWS, write_line
from svc_notebook.faces.editors.hit_cards import DENSITIES
from svc_notebook.faces.editors.parameter_panel import (
    PanelRow,
    list_parameters,
    read_parameter,
)
from svc_notebook.faces.editors.query_editor.editor import QueryEditor
from svc_notebook.faces.editors.rpc import call, run_on_loop
from svc_notebook.faces.editors.search_comparison import SkippedReason
from svc_notebook.faces.functions.pins import Place, is_for, name_rule
from svc_notebook.faces.functions.pins import move_record as move_record

MAX_FACET_VALUES = 30  # of one facet
MAX_INDICES = 200
_UNQUOTED = re.compile(r"[^\s:\"'()<>=!]+")
_OPERATORS = {"and", "or", "not", "to"}

MAX_SAMPLE_QUERIES = 8  # proposed to try a draft on
RuleChange = Callable[[Document], Document]
FILTER_PARAMS = ("filters", "facetFilters", "numericFilters", "tagFilters", "optionalFilters")


class RuleEditor(CurationEditor):
    """Edit the rules of an index, and try them on queries before they are applied.

    `words` describes by objectID when each rule applies and what it does. `follow` drafts a rule
    for each hit that is pinned or hidden in a query editor.
    """

    title: ClassVar[str] = "Rule editor"
    kind: ClassVar[ResourceKind] = RULES
    _esm = read_module("rules.js")
    _css = read_styles("kit/kit.css", "query.css", "curation.css", "rules.css")
    hit_density = traitlets.Enum(DENSITIES, "rows").tag(sync=True)

    words: Any = traitlets.Dict().tag(sync=True, **JSON)

    def __init__(self, index: str, **more: Any) -> None:
        self._revising = asyncio.Lock()
        self._waiting_revisions = 0
        # What was done to rules while revisions waited: objectIDs and the change of each rule.
        self._meanwhile: list[tuple[frozenset[str], RuleChange]] = []
        self._new_ids: dict[str, str] = {}  # of renamed rules, by each earlier objectID
        super().__init__(index, **more)

    # Methods of the base class.

    def normalize(self, document: Document) -> Document:
        """Convert the single `condition` of old rules to a list of conditions."""
        rule = {name: value for name, value in document.items() if name[:1] != "_"}
        if "condition" in rule:
            rule["conditions"] = [*rule.get("conditions", ()), rule.pop("condition")]
        return rule

    def check(self, value: Any) -> list[Document]:
        """Read rules; raise `BadInput` if the parts of a rule contradict each other."""
        rules = super().check(value)
        for rule in rules:
            try:
                check_parts(rule)
            except BadInput as error:
                raise BadInput(f"{rule['objectID']}: {error}") from None
        return rules

    def find_faults(self, value: Sequence[Document]) -> Faults:
        """Find rules that do nothing, never apply, or conflict with others."""
        faults: Faults = {rule["objectID"]: list(find_own_faults(rule)) for rule in value}
        count: Counter[str] = Counter()
        for name, other, about in find_conflicts(value, MAX_CONFLICTS_PER_RULE + 1):
            count[name] += 1
            if count[name] <= MAX_CONFLICTS_PER_RULE:
                text = f"conflicts with `{other}`: {about}"
                faults[name].append({"level": "warning", "text": text, "other": other})
        for name in (name for name, number in count.items() if number > MAX_CONFLICTS_PER_RULE):
            faults[name].append({"level": "warning", "text": "conflicts with further rules"})
        return {name: listed for name, listed in faults.items() if listed}

    def as_of(self, documents: Sequence[Document], at: float | None) -> Sequence[Document]:
        """Return rules without schedules, as they apply at a time."""
        return documents if at is None else as_of(documents, at)

    def find_skipped(
        self, applied: Collection[str], params: Mapping[str, Any], at: float | None
    ) -> dict[str, SkippedReason]:
        """Return why rules of the draft did not apply to a search."""
        contexts = params.get("ruleContexts") or ()
        return {
            rule["objectID"]: _explain_skipped(rule, contexts, time.time() if at is None else at)
            for rule in self.value
            if rule["objectID"] not in applied
        }

    def typical_queries(self, changes: Iterable[ObjectChange]) -> list[str]:
        """Return the patterns of changed rules without placeholders; "" if there is no pattern."""
        sides = (side for change in changes for side in (change["after"], change["before"]) if side)
        conditions = [entry for rule in sides for entry in rule.get("conditions") or [{}]]
        patterns = dict.fromkeys(entry.get("pattern", "") for entry in conditions)
        return [pattern for pattern in patterns if "{" not in pattern][:MAX_SAMPLE_QUERIES]

    def write_html(self) -> str:
        """Write the rules as a table."""
        rows = [
            (
                ", ".join(filter(None, (_name_state(rule), describe_schedule(rule)))),
                describe_conditions(rule),
                describe_consequence(rule),
                rule["objectID"],
            )
            for rule in self.value
        ]
        summary = format_count(len(rows), "rule") + (", unsaved changes" if self.dirty else "")
        more = f", the first {SNAPSHOT_ROWS}:" if len(rows) > SNAPSHOT_ROWS else ""
        return write_line(summary + more) + write_table(
            ("", "when", "then", "objectID"), rows[:SNAPSHOT_ROWS]
        )

    # Methods for cells.

    def pin(self, query: str, object_id: str, position: int) -> str:
        """Draft a rule that pins a record for a query; return the rule's objectID."""
        return run_on_loop(lambda: self._curate(query, object_id, "pin", position))

    def hide(self, query: str, object_id: str) -> str:
        """Draft a rule that hides a record for a query; return the rule's objectID."""
        return run_on_loop(lambda: self._curate(query, object_id, "hide", 0))

    def follow(self, editor: QueryEditor) -> None:
        """Draft a rule for each hit that is pinned or hidden in a query editor."""
        editor.on_pin(lambda hit: self.pin(hit["query"], hit["objectID"], hit["position"]))
        editor.on_hide(lambda hit: self.hide(hit["query"], hit["objectID"]))

    # Calls for views and cells.

    @call
    async def review(self) -> list[ReviewedChange]:
        """List the changes that applying makes in sentences, with their warnings."""
        changes = await super().review()
        sides = [rule for change in changes for rule in (change["before"], change["after"]) if rule]
        titles = await self.titles([name for rule in sides for name in list_records(rule)])
        for change in changes:
            before, after = (
                describe_lines(rule, titles) if rule else []
                for rule in (change["before"], change["after"])
            )
            change["lines"] = (before, after)
        return changes

    @call
    def place(self, object_id: str, where: Place, position: int, id: str) -> str:  # noqa: A002
        """Pin a record, hide it, or remove its pin; return the rule's objectID."""

        def move(rule: Document) -> Document:
            consequence = move_record(rule["consequence"], object_id, where, position)
            return {**rule, "consequence": consequence}

        self._revise_each([id], move)
        return id

    @call
    def enable(self, ids: OneOrMany, enabled: bool = True) -> None:
        """Enable or disable rules."""
        names = list_texts(ids, "ids", column="objectID")
        self._revise_each(names, lambda rule: set_enabled(rule, enabled))

    @call
    async def revise(self, document: dict[str, Any], id: str) -> str:  # noqa: A002
        """Replace a rule after the service has parsed its filters.

        `id` may be an earlier objectID of the rule: a view sends edits before it knows that an
        earlier edit renamed the rule. Records that are pinned and hidden meanwhile remain so.
        """
        sent_id, earlier_changes = id, len(self._meanwhile)
        self._waiting_revisions += 1
        try:
            async with self._revising:  # a later edit contains the earlier ones
                if id not in by_id(self.value):
                    id = self._new_ids.get(id, id)  # noqa: A001
                await self._read_filters(document, self.get(id))
                new_id = self.put(document, id)
                for ids, change in self._meanwhile[earlier_changes:]:
                    if ids & {sent_id, id}:
                        self._change_rules({new_id}, change, merge=True)
        finally:
            self._waiting_revisions -= 1
            if not self._waiting_revisions:
                self._meanwhile.clear()
        if new_id != id:
            earlier = [name for name, now in self._new_ids.items() if now == id]
            self._new_ids |= dict.fromkeys([*earlier, id], new_id)
        return new_id

    @call
    def read_param(self, name: str, text: str) -> Any:
        """Parse the typed value of a search parameter."""
        value = read_parameter(name, text) if name in PARAMETERS else text
        return check_members({name: value}, RuleParams, "params")[name]

    @call
    def describe_parameters(self) -> list[PanelRow]:
        """List the search parameters that a rule can set."""
        return list(list_parameters({}))

    @call
    async def suggest(self) -> RuleSuggestions:
        """Return the facets, facet values and indices that a rule can name and the key can read."""
        return await suggest(self.client, self.index)

    @call
    async def titles(self, ids: OneOrMany) -> dict[str, str]:
        """Return the titles of records; missing records are left out."""
        return await read_titles(self.client, self.index, list_texts(ids, "ids"), self._hit_display)

    @call(latest=True)
    async def arrange(self, query: str, id: str) -> Arrangement:  # noqa: A002
        """Return the hits of a query with a rule's pins in position."""
        consequence = self.get(id)["consequence"]
        return await arrange(
            self.client, self.index, query, consequence, self.params, self._hit_display
        )

    @call(latest=True)
    async def find(self, query: str) -> list[dict[str, str]]:
        """Search for records to pin."""
        arranged = await arrange(self.client, self.index, query, {}, self.params, self._hit_display)
        return [{"id": hit["id"], "title": hit["title"]} for hit in arranged["hits"]]

    # Internals.

    def _set_draft(self, draft: Draft) -> None:
        self.words = {
            rule["objectID"]: [describe_conditions(rule), describe_consequence(rule)]
            for rule in draft.value
        }
        super()._set_draft(draft)

    def _revise_each(self, ids: Iterable[str], change: RuleChange) -> None:
        """Change rules in one undo step, and again after the revisions that wait."""
        names = frozenset(self.get(name)["objectID"] for name in ids)

        def revise() -> None:
            self._change_rules(names, change)
            if self._waiting_revisions:
                self._meanwhile.append((names, change))

        run_on_loop(revise)

    def _change_rules(
        self, names: Collection[str], change: RuleChange, *, merge: bool = False
    ) -> None:
        def revise(value: list[Document]) -> list[Document]:
            changed_rules = by_id(
                self.check([change(rule) for rule in value if rule["objectID"] in names])
            )
            return [changed_rules.get(rule["objectID"], rule) for rule in value]

        self._change(revise, merge=merge)

    def _curate(self, query: str, object_id: str, where: Place, position: int) -> str:
        """Change the rule for exactly this query, or draft a new rule."""
        existing = next((rule for rule in self.value if is_for(rule, query)), None)
        if existing:
            rule_id = self.place(object_id, where, position, str(existing["objectID"]))
        else:
            rule_id = self.put({
                "objectID": name_rule(query, by_id(self.value)),
                "conditions": [{"pattern": query, "anchoring": "is"}],
                "consequence": move_record({}, object_id, where, position),
            })  # fmt: skip
        self.emit("drafted", id=rule_id)
        return rule_id

    async def _read_filters(self, rule: Mapping[str, Any], before: Mapping[str, Any]) -> None:
        """Let the service parse the new filters, because only the service defines their grammar."""
        texts = list(_filters_of(before))
        for at, filter_params in _filters_of(rule):
            if (at, filter_params) in texts:
                continue
            try:
                search_params: Any = {
                    **filter_params,
                    "hitsPerPage": 0,
                    "analytics": False,
                    "enableRules": False,
                }
                await self.client.search(self.index, **search_params)
            except (NotFound, Unreachable):
                return
            except (BadInput, Refused) as error:
                raise BadInput(f"{at}: {error}") from error


def _name_state(rule: Document) -> str:
    return "enabled" if rule.get("enabled", True) else "disabled"


def _explain_skipped(rule: Document, contexts: Collection[str], at: float) -> SkippedReason:
    if not rule.get("enabled", True):
        return {"text": "it is disabled"}
    if not applies_at(rule, at):
        return {"text": "outside of its schedule", "spans": rule["validity"]}
    needed = [condition.get("context") for condition in rule.get("conditions") or ()]
    if needed and all(context and context not in contexts for context in needed):
        return {"text": f"only in the context {', '.join(dict.fromkeys(needed))}"}
    return {"text": f"it applies when {describe_conditions(rule)}"}


def set_enabled(rule: Mapping[str, Any], enabled: bool) -> Document:
    """Return an enabled rule, which has no member `enabled`, or a disabled one."""
    rest = {name: value for name, value in rule.items() if name != "enabled"}
    return rest if enabled else {**rest, "enabled": False}


def _filters_of(rule: Mapping[str, Any]) -> Iterable[tuple[str, dict[str, Any]]]:
    """Yield the filters of a rule, each with its place in the rule."""
    for condition in rule.get("conditions") or ():
        if condition.get("filters"):
            yield "the condition's filters", {"filters": condition["filters"]}
    params = rule.get("consequence", {}).get("params") or {}
    for name in FILTER_PARAMS:
        if params.get(name):
            yield name, {name: params[name]}


class RuleSuggestions(TypedDict):
    """Names of facets, filters on facet values and on ranges, and names of indices."""

    facets: list[str]
    filters: list[str]
    ranges: list[str]
    indices: list[str]


async def suggest(client: AsyncClient, index: str) -> RuleSuggestions:
    """Read the suggestions; what the key cannot read is left out."""
    facet_names, indices = await asyncio.gather(_read_facets(client, index), _read_indices(client))
    facets, stats = facet_names.get("facets") or {}, facet_names.get("facets_stats") or {}
    return {
        "facets": sorted(facets),
        "filters": [
            f"{_quote(name)}:{_quote(value)}"
            for name in sorted(facets.keys() - stats.keys())
            for value in facets[name]
        ],
        "ranges": [*_write_ranges(stats)],
        "indices": indices,
    }


async def _read_facets(client: AsyncClient, index: str) -> Mapping[str, Any]:
    search_params: Any = {
        "facets": ["*"],
        "hitsPerPage": 0,
        "analytics": False,
        "enableRules": False,
    }
    try:
        return await client.search(index, **search_params, maxValuesPerFacet=MAX_FACET_VALUES)
    except SvcError:
        return {}


async def _read_indices(client: AsyncClient) -> list[str]:
    try:
        answer = await client.list_indices()
    except SvcError:
        return []
    return sorted(item["name"] for item in answer["items"])[:MAX_INDICES]


def _write_ranges(stats: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted(stats):
        yield f"{_quote(name)} >= {_write_number(stats[name]['min'])}"
        yield f"{_quote(name)} <= {_write_number(stats[name]['max'])}"


def _write_number(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else repr(number)


def _quote(text: str) -> str:
    """Quote a name or value for a filter if it needs quotes."""
    if _UNQUOTED.fullmatch(text) and text.lower() not in _OPERATORS:
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
