"""The description of a rule in words: when it applies, and what it does."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from svc_notebook.editors.curation_editors.rule_checks import hidden, promoted

ANCHORINGS = {
    "is": "the query is",
    "contains": "the query has",
    "startsWith": "the query begins with",
    "endsWith": "the query ends with",
}


def say_conditions(rule: Mapping[str, Any]) -> str:
    """When a rule applies."""
    return " or ".join(map(_say_condition, rule.get("conditions") or ())) or "always"


def _say_condition(condition: Mapping[str, Any]) -> str:
    parts = []
    if "pattern" in condition:
        how = ANCHORINGS[condition["anchoring"]]
        like = " or alike" if condition.get("alternatives") else ""
        parts.append(f"{how} “{condition['pattern']}”{like}" if condition["pattern"]
                     else "the query is empty")  # fmt: skip
    if condition.get("context"):
        parts.append(f"in {condition['context']}")
    if condition.get("filters"):
        parts.append(f"with {condition['filters']}")
    return ", ".join(parts)


def say_consequence(rule: Mapping[str, Any]) -> str:
    """What a rule does."""
    return "; ".join(_say_parts(rule["consequence"])) or "nothing yet"


def _say_parts(consequence: Mapping[str, Any]) -> Iterator[str]:
    for pin in consequence.get("promote") or ():
        yield f"pin {', '.join(promoted(pin))} to {pin['position'] + 1}"
    if away := hidden(consequence):
        yield f"hide {', '.join(away)}"
    for name, value in (consequence.get("params") or {}).items():
        yield from _say_query(value) if name == "query" else [f"{name}: {_say_value(value)}"]
    if goal := consequence.get("redirect"):
        yield f"redirect to {goal['indexName']}"
    if consequence.get("userData") is not None:
        yield "give user data"


def _say_query(query: Any) -> Iterator[str]:
    if not isinstance(query, Mapping):
        yield f"search for “{query or ''}”"
        return
    yield from (f"take out “{word}”" for word in query.get("remove") or ())
    for edit in query.get("edits") or ():
        replaced = f"replace “{edit['delete']}” by “{edit.get('insert')}”"
        yield replaced if edit["type"] == "replace" else f"take out “{edit['delete']}”"


def _say_value(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
