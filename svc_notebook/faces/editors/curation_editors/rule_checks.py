"""Errors and warnings about one rule: missing parts, and parts without effect."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from svc_notebook.core.api.rule_checks import read_span
from svc_notebook.core.display import shorten
from svc_notebook.faces.editors.curation_editors.editor import ObjectProblem
from svc_notebook.faces.functions.pins import does_something
from svc_notebook.faces.functions.pins import promoted as promoted

Rule = Mapping[str, Any]
# Browsers skip control characters and spaces at the start of an address.
SKIPPED_CHARACTERS = "".join(map(chr, range(33)))
SCRIPT_SCHEMES = ("javascript:", "vbscript:", "data:")


def find_own_faults(rule: Rule) -> Iterator[ObjectProblem]:
    """Yield the errors and warnings about one rule."""
    consequence = rule["consequence"]
    if not does_something(consequence):
        yield {
            "level": "error",
            "text": "no consequence: add a pin, a hidden record, a filter or a parameter",
        }
    for address in _script_addresses(consequence):
        text = f"`{shorten(address, 60)}` runs code in the page of the user who searches"
        yield {"level": "warning", "text": f"{text}; redirect to an http address"}
    for text in (*_repeated_pins(consequence), *_schedule_fault(rule)):
        yield {"level": "warning", "text": text}


def _repeated_pins(consequence: Mapping[str, Any]) -> Iterator[str]:
    pins = Counter(name for item in consequence.get("promote", ()) for name in promoted(item))
    yield from (f"`{name}` is pinned twice" for name, count in pins.items() if count > 1)
    hidden_ids = dict.fromkeys(hidden(consequence))
    yield from (f"`{name}` is pinned and hidden" for name in hidden_ids if name in pins)


def _schedule_fault(rule: Rule) -> Iterator[str]:
    spans = [read_span(span) for span in rule.get("validity") or ()]
    lasting = [end for start, end in spans if start != end]
    if spans and not lasting:
        yield "the schedule is empty: start and end are equal"
    elif spans and max(lasting) <= time.time():
        yield "the schedule is over"


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
