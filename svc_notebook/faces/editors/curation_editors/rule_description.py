"""The description of a rule in words: when it applies, and what it does."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from svc_notebook.faces.editors.curation_editors.rule_checks import hidden
from svc_notebook.faces.functions.pins import promoted

ANCHORINGS = {
    "is": "the query is",
    "contains": "the query contains",
    "startsWith": "the query starts with",
    "endsWith": "the query ends with",
}
EVERY_SEARCH = "every search"
MAX_NAMED_MEMBERS = 3  # of custom data
# The members of a consequence and of a rule that `describe_lines` writes in sentences.
DESCRIBED_PARTS = ("promote", "hide", "params", "redirect", "userData")
DESCRIBED_MEMBERS = ("objectID", "conditions", "consequence", "enabled", "validity")


def describe_conditions(rule: Mapping[str, Any]) -> str:
    """Describe when a rule applies."""
    return " or ".join(map(_describe_condition, rule.get("conditions") or ())) or EVERY_SEARCH


def _describe_condition(condition: Mapping[str, Any]) -> str:
    parts = []
    if "pattern" in condition:
        how = ANCHORINGS[condition["anchoring"]]
        alternatives = " (and typos, plurals, synonyms)" if condition.get("alternatives") else ""
        parts.append(f"{how} “{condition['pattern']}”{alternatives}" if condition["pattern"]
                     else "the query is empty")  # fmt: skip
    if condition.get("context"):
        parts.append(f"in the context {condition['context']}")
    if condition.get("filters"):
        parts.append(f"with the filters {condition['filters']}")
    return ", ".join(parts)


def describe_consequence(rule: Mapping[str, Any]) -> str:
    """Describe what a rule does."""
    return "; ".join(_describe_effects(rule["consequence"], {})) or "no consequence"


def list_records(rule: Mapping[str, Any]) -> list[str]:
    """List the objectIDs that a rule pins or hides."""
    consequence = rule["consequence"]
    pins = [name for pin in consequence.get("promote") or () for name in promoted(pin)]
    return [*pins, *hidden(consequence)]


def describe_lines(rule: Mapping[str, Any], titles: Mapping[str, str]) -> list[str]:
    """Describe a whole rule in lines, except its schedule, which has the time zone of the view.

    `titles` are headlines of records by objectID.
    """
    consequence = rule["consequence"]
    conditions = map(_describe_condition, rule.get("conditions") or ())
    lines = [f"When {condition}" for condition in conditions] or [f"For {EVERY_SEARCH}"]
    lines += _describe_effects(consequence, titles)
    lines += [] if rule.get("enabled", True) else ["Disabled"]
    if "userData" in consequence:
        lines.append(f"custom data: {_write_value(consequence['userData'])}")
    others = {**_omit(consequence, DESCRIBED_PARTS), **_omit(rule, DESCRIBED_MEMBERS)}
    return [*lines, *(f"{name}: {_write_value(value)}" for name, value in others.items())]


def _omit(members: Mapping[str, Any], names: Container[str]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if name not in names}


def _describe_effects(consequence: Mapping[str, Any], titles: Mapping[str, str]) -> Iterator[str]:
    def entitle(object_id: str) -> str:
        return f"{titles[object_id]} ({object_id})" if titles.get(object_id) else object_id

    for pin in consequence.get("promote") or ():
        yield f"pin {', '.join(map(entitle, promoted(pin)))} at position {pin['position'] + 1}"
    if hidden_ids := hidden(consequence):
        yield f"hide {', '.join(map(entitle, hidden_ids))}"
    for name, value in (consequence.get("params") or {}).items():
        yield from _describe_param(name, value)
    if redirect := consequence.get("redirect"):
        yield f"redirect to the index {redirect['indexName']}"
    if (data := consequence.get("userData")) is not None:
        yield f"return custom data{_name_members(data)}"


def _describe_param(name: str, value: Any) -> Iterator[str]:
    if name == "query":
        yield from _describe_query_edits(value)
    elif name in PARAM_PHRASES and (phrase := PARAM_PHRASES[name](value)):
        yield phrase
    else:
        yield f"{name}: {_write_value(value)}"


def _describe_redirect(content: Any) -> str:
    page = content.get("redirect") if isinstance(content, dict) else None
    if not isinstance(page, dict) or list(content) != ["redirect"] or not page.get("url"):
        return ""
    return f"redirect to {page['url']}"


def _describe_automatic(facets: Any) -> str:
    return f"filter by the {', '.join(facets)} in the query" if _is_texts(facets) else ""


# Phrases of parameters. A parameter with an empty phrase is written as its value alone.
PARAM_PHRASES: dict[str, Callable[[Any], str]] = {
    "filters": lambda value: f"show only hits with {value}",
    "optionalFilters": lambda value: f"boost hits with {_write_value(value)}",
    "automaticFacetFilters": _describe_automatic,
    "renderingContent": _describe_redirect,
}


def _name_members(data: Any) -> str:
    if not isinstance(data, Mapping) or not data:
        return ""
    rest = len(data) - MAX_NAMED_MEMBERS
    named = ", ".join(list(data)[:MAX_NAMED_MEMBERS])
    return f" ({named} and {rest} more)" if rest > 0 else f" ({named})"


def _describe_query_edits(query: Any) -> Iterator[str]:
    if not isinstance(query, Mapping):
        yield f"search for “{query or ''}”"
        return
    yield from (f"remove “{word}”" for word in query.get("remove") or ())
    for edit in query.get("edits") or ():
        replaced = f"replace “{edit['delete']}” by “{edit.get('insert')}”"
        yield replaced if edit["type"] == "replace" else f"remove “{edit['delete']}”"


def describe_schedule(rule: Mapping[str, Any]) -> str:
    """Describe when a rule is in force, in UTC: for readers without a browser's time zone."""
    spans = [
        " ".join(
            f"{word} {datetime.fromtimestamp(span[end], UTC):%Y-%m-%d %H:%M}"
            for end, word in (("from", "from"), ("until", "until"))
            if end in span
        )
        for span in rule.get("validity") or ()
    ]
    return f"scheduled {', '.join(spans)} UTC" if spans else ""


def _write_value(value: Any) -> str:
    if _is_texts(value):
        return ", ".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
