"""Errors and warnings about one rule: missing parts, and parts without effect."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from svc_notebook.api.rule_checks import read_span
from svc_notebook.editors.curation_editors.editor import ObjectProblem
from svc_notebook.functions.pins import does_something
from svc_notebook.functions.pins import promoted as promoted

Rule = Mapping[str, Any]


def find_own_faults(rule: Rule) -> Iterator[ObjectProblem]:
    """Yield the errors and warnings about one rule."""
    consequence = rule["consequence"]
    if not does_something(consequence):
        yield {
            "level": "wrong",
            "text": "no consequence: add a pin, a hidden record, a filter or a parameter",
        }
    places = [name for item in consequence.get("promote", ()) for name in promoted(item)]
    for name in dict.fromkeys(name for name in places if places.count(name) > 1):
        yield {"level": "odd", "text": f"`{name}` is pinned twice"}
    for name in dict.fromkeys(hidden(consequence)):
        if name in places:
            yield {"level": "odd", "text": f"`{name}` is pinned and hidden"}
    spans = [read_span(span) for span in rule.get("validity") or ()]
    if spans and all(start == end for start, end in spans):
        yield {"level": "odd", "text": "the schedule is empty: start and end are equal"}
    elif spans and all(end <= time.time() or start == end for start, end in spans):
        yield {"level": "odd", "text": "the schedule is over"}


def hidden(consequence: Mapping[str, Any]) -> list[str]:
    """Return the objectIDs that a consequence hides."""
    return [item["objectID"] for item in consequence.get("hide", ())]
