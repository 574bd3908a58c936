"""What a rule may say, and what is missing in one that is being written.

Filters are not read here: their grammar is the service's, which is asked.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from svc_notebook.editors.curating.editor import Fault
from svc_notebook.errors import BadInput

Rule = Mapping[str, Any]
USER_DATA = 1024  # bytes
_CONTEXT = re.compile(r"[A-Za-z0-9_-]+")


def check_rule(rule: Rule) -> None:
    """Raise `BadInput` where parts of a rule do not fit each other."""
    for number, condition in enumerate(rule.get("conditions", ())):
        _check_condition(condition, f"conditions[{number}]")
    _check_consequence(rule["consequence"])
    for number, span in enumerate(rule.get("validity", ())):
        if span["from"] >= span["until"]:
            raise BadInput(f"`validity[{number}]` ends before it begins")


def _check_condition(condition: Mapping[str, Any], at: str) -> None:
    pattern, anchoring = condition.get("pattern"), condition.get("anchoring")
    if (pattern is None) != (anchoring is None):
        missing = "anchoring" if anchoring is None else "pattern"
        raise BadInput(f"`{at}.{missing}` is missing; a pattern and its anchoring go together")
    if pattern == "" and anchoring != "is":
        raise BadInput(f"`{at}.pattern` is empty, which goes with the anchoring `is` alone")
    if (context := condition.get("context")) and not _CONTEXT.fullmatch(context):
        raise BadInput(f"`{at}.context` may hold letters, digits, _ and - only")
    if not {"pattern", "context", "filters"} & condition.keys():
        raise BadInput(f"`{at}` needs a pattern, a context or filters")


def _check_consequence(consequence: Mapping[str, Any]) -> None:
    for number, item in enumerate(consequence.get("promote", ())):
        if ("objectID" in item) == ("objectIDs" in item):
            raise BadInput(f"`consequence.promote[{number}]` needs an objectID or objectIDs")
    data = json.dumps(consequence.get("userData"), ensure_ascii=False, separators=(",", ":"))
    if len(data.encode()) > USER_DATA:
        raise BadInput(f"`consequence.userData` is larger than {USER_DATA} bytes")
    query = (consequence.get("params") or {}).get("query")
    for number, edit in enumerate(query.get("edits", ()) if isinstance(query, Mapping) else ()):
        if edit["type"] == "replace" and "insert" not in edit:
            at = f"consequence.params.query.edits[{number}]"
            raise BadInput(f"`{at}.insert` is missing; a replace needs it")


def find_own_faults(rule: Rule) -> Iterator[Fault]:
    """Say what keeps one rule from being applied, and what makes it idle."""
    consequence = rule["consequence"]
    if not does_something(consequence):
        yield {"level": "wrong", "text": "it does nothing yet: pin, hide, filter, or set something"}
    places = [name for item in consequence.get("promote", ()) for name in promoted(item)]
    for name in dict.fromkeys(name for name in places if places.count(name) > 1):
        yield {"level": "odd", "text": f"`{name}` is pinned twice"}
    for name in dict.fromkeys(hidden(consequence)):
        if name in places:
            yield {"level": "odd", "text": f"`{name}` is pinned and hidden"}
    spans = rule.get("validity") or ()
    if spans and all(span["until"] <= time.time() for span in spans):
        yield {"level": "odd", "text": "its time is over"}


def does_something(consequence: Mapping[str, Any]) -> bool:
    """Whether anything follows from a rule."""
    return any(value not in ({}, [], None, False) for value in consequence.values())


def promoted(item: Mapping[str, Any]) -> Sequence[str]:
    """The records of one pin."""
    return item["objectIDs"] if "objectIDs" in item else [item["objectID"]]


def hidden(consequence: Mapping[str, Any]) -> list[str]:
    """The records that a consequence hides."""
    return [item["objectID"] for item in consequence.get("hide", ())]
