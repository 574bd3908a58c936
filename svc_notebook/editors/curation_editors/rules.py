"""The rule editor: when a search is curated, and how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

import traitlets

from svc_notebook.api.parameters import PARAMETERS
from svc_notebook.api.rule_checks import check_parts
from svc_notebook.api.shapes import RuleParams
from svc_notebook.api.texts import OneOrMany, list_texts
from svc_notebook.api.validation import check_members
from svc_notebook.client.curation import RULES, ResourceKind
from svc_notebook.display import format_count, write_table
from svc_notebook.editors.base import JSON
from svc_notebook.editors.bundle import read_module, read_styles
from svc_notebook.editors.curation_editors.changes import Document, ObjectChange, by_id
from svc_notebook.editors.curation_editors.editor import CurationEditor, Faults
from svc_notebook.editors.curation_editors.pinned_order import Arrangement, arrange, read_titles
from svc_notebook.editors.curation_editors.rule_checks import find_own_faults
from svc_notebook.editors.curation_editors.rule_conflicts import (
    MAX_CONFLICTS_PER_RULE,
    find_conflicts,
)
from svc_notebook.editors.curation_editors.rule_description import say_conditions, say_consequence
from svc_notebook.editors.curation_editors.suggestions import RuleSuggestions, suggest
from svc_notebook.editors.draft import Draft
from svc_notebook.editors.query_editor.editor import QueryEditor
from svc_notebook.editors.query_editor.panel import PanelRow, list_parameters, read_parameter
from svc_notebook.editors.rpc import call, on_stage
from svc_notebook.editors.snapshot import write_line
from svc_notebook.errors import BadInput, NotFound, Refused, Unreachable
from svc_notebook.functions.pins import Place, is_for, name_rule
from svc_notebook.functions.pins import move_record as move_record

MAX_SAMPLE_QUERIES = 8  # queries proposed to try a draft on
SNAPSHOT_ROWS = 200  # rows of a snapshot
FILTERED = ("filters", "facetFilters", "numericFilters", "tagFilters", "optionalFilters")


class RuleEditor(CurationEditor):
    """Edit the rules of an index, and try them on queries before they are applied.

    `words` says of each rule when it applies and what it does. `follow` makes drafts of what is
    pinned and hidden in a query editor.
    """

    title: ClassVar[str] = "Rule editor"
    kind: ClassVar[ResourceKind] = RULES
    _esm = read_module("rules.js")
    _css = read_styles("kit/kit.css", "query.css", "curation.css", "rules.css")

    words: Any = traitlets.Dict().tag(sync=True, **JSON)

    # What an editor says of itself.

    def tidy(self, document: Document) -> Document:
        """Write the one condition of old rules as the first of several."""
        rule = {name: value for name, value in document.items() if name[:1] != "_"}
        if "condition" in rule:
            rule["conditions"] = [*rule.get("conditions", ()), rule.pop("condition")]
        return rule

    def check(self, value: Any) -> list[Document]:
        """Take rules whose parts fit each other."""
        rules = super().check(value)
        for rule in rules:
            try:
                check_parts(rule)
            except BadInput as error:
                raise BadInput(f"{rule['objectID']}: {error}") from None
        return rules

    def find_faults(self, value: Sequence[Document]) -> Faults:
        """Find rules that do nothing, never apply, or are at odds with others."""
        faults: Faults = {rule["objectID"]: list(find_own_faults(rule)) for rule in value}
        count: Counter[str] = Counter()
        for name, other, text in find_conflicts(value, MAX_CONFLICTS_PER_RULE + 1):
            count[name] += 1
            if count[name] <= MAX_CONFLICTS_PER_RULE:
                faults[name].append({"level": "odd", "text": f"{text}: `{other}`", "other": other})
        for name in (name for name, number in count.items() if number > MAX_CONFLICTS_PER_RULE):
            faults[name].append({"level": "odd", "text": "it is at odds with more rules"})
        return {name: found for name, found in faults.items() if found}

    def typical_queries(self, changes: Iterable[ObjectChange]) -> list[str]:
        """The patterns of changed rules, where they are plain words; nothing where any will do."""
        changed = [one for change in changes for one in (change["after"], change["before"]) if one]
        conditions = [one for rule in changed for one in rule.get("conditions") or [{}]]
        patterns = dict.fromkeys(one.get("pattern", "") for one in conditions)
        return [pattern for pattern in patterns if "{" not in pattern][:MAX_SAMPLE_QUERIES]

    def picture(self) -> str:
        """Write the rules as a table."""
        rows = [
            (
                "on" if rule.get("enabled", True) else "off",
                say_conditions(rule),
                say_consequence(rule),
                rule["objectID"],
            )
            for rule in self.value
        ]
        told = format_count(len(rows), "rule") + (", not applied yet" if self.dirty else "")
        more = f", the first {SNAPSHOT_ROWS} of them:" if len(rows) > SNAPSHOT_ROWS else ""
        return write_line(told + more) + write_table(
            ("", "when", "then", "objectID"), rows[:SNAPSHOT_ROWS]
        )

    # For cells.

    def pin(self, query: str, object_id: str, position: int) -> str:
        """Draft that a record takes a place for a query; returns the rule's objectID."""
        return on_stage(lambda: self._curate(query, object_id, "pin", position))

    def hide(self, query: str, object_id: str) -> str:
        """Draft that a record is left out for a query; returns the rule's objectID."""
        return on_stage(lambda: self._curate(query, object_id, "hide", 0))

    def follow(self, editor: QueryEditor) -> None:
        """Draft a rule of what is pinned or hidden in a query editor."""
        editor.on_pin(lambda hit: self.pin(hit["query"], hit["objectID"], hit["position"]))
        editor.on_hide(lambda hit: self.hide(hit["query"], hit["objectID"]))

    # For views and cells.

    @call
    def place(self, object_id: str, where: Place, position: int, id: str) -> str:  # noqa: A002
        """Pin a record, hide it, or let it stand where it would by itself."""

        def move(rule: Document) -> Document:
            consequence = move_record(rule["consequence"], object_id, where, position)
            return {**rule, "consequence": consequence}

        self._revise_each([id], move)
        return id

    @call
    def enable(self, ids: OneOrMany, enabled: bool = True) -> None:
        """Switch a rule, or several at once, on or off."""
        names = list_texts(ids, "ids", column="objectID")
        self._revise_each(names, lambda rule: switch(rule, enabled))

    @call
    async def revise(self, document: dict[str, Any], id: str) -> str:  # noqa: A002
        """Put a rule in place of another after the service has read its filters."""
        await self._read_filters(document, self.get(id))
        return self.put(document, id)

    @call
    def read_param(self, name: str, text: str) -> Any:
        """Read a search parameter's value as it was typed."""
        value = read_parameter(name, text) if name in PARAMETERS else text
        return check_members({name: value}, RuleParams, "params")[name]

    @call
    def parameters(self) -> list[PanelRow]:
        """List the search parameters that a rule may set."""
        return list(list_parameters({}))

    @call
    async def suggest(self) -> RuleSuggestions:
        """Name facets, their values and indices that a rule may speak of, as far as the key may."""
        return await suggest(self.client, self.index)

    @call
    async def titles(self, ids: OneOrMany) -> dict[str, str]:
        """Tell what records are called, those that are there."""
        return await read_titles(self.client, self.index, list_texts(ids, "ids"))

    @call(latest=True)
    async def arrange(self, query: str, id: str) -> Arrangement:  # noqa: A002
        """Show what a query finds, with a rule's pins in place."""
        consequence = self.get(id)["consequence"]
        return await arrange(self.client, self.index, query, consequence, self.params)

    @call(latest=True)
    async def find(self, query: str) -> list[dict[str, str]]:
        """Search for records to pin, wherever they stand."""
        found = await arrange(self.client, self.index, query, {}, self.params)
        return [{"id": hit["id"], "title": hit["title"]} for hit in found["hits"]]

    # The rest.

    def _settle(self, draft: Draft) -> None:
        self.words = {
            rule["objectID"]: [say_conditions(rule), say_consequence(rule)] for rule in draft.value
        }
        super()._settle(draft)

    def _revise_each(self, ids: Iterable[str], make: Callable[[Document], Document]) -> None:
        """Put what is made of rules in their places, in one step."""
        names = {self.get(name)["objectID"] for name in ids}

        def revise(value: list[Document]) -> list[Document]:
            made = by_id(self.check([make(rule) for rule in value if rule["objectID"] in names]))
            return [made.get(rule["objectID"], rule) for rule in value]

        self._change(revise)

    def _curate(self, query: str, object_id: str, where: Place, position: int) -> str:
        """Change the rule that is for exactly this query, or draft one."""
        conditions = [{"pattern": query, "anchoring": "is"}]
        known = next((rule for rule in self.value if is_for(rule, query)), None)
        name = name_rule(query, by_id(self.value))
        rule = known or {"objectID": name, "conditions": conditions, "consequence": {}}
        consequence = move_record(rule["consequence"], object_id, where, position)
        told = self.put({**rule, "consequence": consequence}, known and known["objectID"])
        self.tell("drafted", id=told)
        return told

    async def _read_filters(self, rule: Mapping[str, Any], before: Mapping[str, Any]) -> None:
        """Let the service read filters that are new, for their grammar is its own."""
        known = list(_filters_of(before))
        for at, asked in _filters_of(rule):
            if (at, asked) in known:
                continue
            try:
                own: Any = {**asked, "hitsPerPage": 0, "analytics": False, "enableRules": False}
                await self.client.search(self.index, **own)
            except (NotFound, Unreachable):
                return
            except (BadInput, Refused) as error:
                raise BadInput(f"{at}: {error}") from error


def switch(rule: Mapping[str, Any], enabled: bool) -> Document:
    """Return a rule that is on, which is as if nothing was said of it, or off."""
    rest = {name: value for name, value in rule.items() if name != "enabled"}
    return rest if enabled else {**rest, "enabled": False}


def _filters_of(rule: Mapping[str, Any]) -> Iterable[tuple[str, dict[str, Any]]]:
    """Everything in a rule that is a filter, with the place where it stands."""
    for condition in rule.get("conditions") or ():
        if condition.get("filters"):
            yield "the condition's filters", {"filters": condition["filters"]}
    params = rule.get("consequence", {}).get("params") or {}
    for name in FILTERED:
        if params.get(name):
            yield name, {name: params[name]}
