"""Errors and warnings about one rule: missing parts, and parts without effect."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from svc_notebook.api.rule_checks import read_span
from svc_notebook.display import shorten
from svc_notebook.editors.curation_editors.editor import ObjectProblem
from svc_notebook.functions.pins import does_something
from svc_notebook.functions.pins import promoted as promoted

Rule = Mapping[str, Any]
# Browsers skip control characters and spaces at the start of an address.
SKIPPED_CHARACTERS = "".join(map(chr, range(33)))
SCRIPT_SCHEMES = ("javascript:", "vbscript:", "data:")


def find_own_faults(rule: Rule) -> Iterator[ObjectProblem]:
    """Yield the errors and warnings about one rule."""
    consequence = rule["consequence"]
    if not does_something(consequence):
        yield {
            "level": "wrong",
            "text": "no consequence: add a pin, a hidden record, a filter or a parameter",
        }
    for address in _script_addresses(consequence):
        text = f"`{shorten(address, 60)}` runs code in the page of the user who searches"
        yield {"level": "odd", "text": f"{text}; redirect to an http address"}
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


def _script_addresses(value: Any) -> Iterator[str]:
    """Yield the texts in a consequence that a browser runs when it opens them."""
    if isinstance(value, str):
        if value.lstrip(SKIPPED_CHARACTERS).lower().startswith(SCRIPT_SCHEMES):
            yield value
    elif isinstance(value, Mapping | list):
        for member in value.values() if isinstance(value, Mapping) else value:
            yield from _script_addresses(member)


def applies_at(rule: Rule, at: float) -> bool:
    """Return whether a time, in seconds since 1970, is in the schedule of a rule, if it has one."""
    spans = [read_span(span) for span in rule.get("validity") or ()]
    return not spans or any(start <= at < end for start, end in spans)


def as_of(rules: Sequence[Rule], at: float) -> list[dict[str, Any]]:
    """Return rules without schedules that apply now as the given ones do at a time."""
    unscheduled = []
    for rule in rules:
        rest = {name: value for name, value in rule.items() if name != "validity"}
        unscheduled.append(rest if applies_at(rule, at) else {**rest, "enabled": False})
    return unscheduled


def hidden(consequence: Mapping[str, Any]) -> list[str]:
    """Return the objectIDs that a consequence hides."""
    return [item["objectID"] for item in consequence.get("hide", ())]
