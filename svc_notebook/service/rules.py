"""What a rule may say; what follows from it is the engine's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from svc_notebook.api.checking import place
from svc_notebook.errors import BadInput
from svc_notebook.service.entries import Entry
from svc_notebook.service.steps import read_object_id

KIND = "rules"
# Bytes of a rule's own userData (api-notes, section 9).
USER_DATA = 1024
_CONTEXT = re.compile(r"[A-Za-z0-9_-]+")
_ANSWERED = ("_highlightResult", "_metadata")


def check_rule(rule: Mapping[str, Any], at: str) -> Entry:
    """Return a rule as it is kept; raises `BadInput` where its parts do not fit each other."""
    name = read_object_id(rule["objectID"], place(at, "objectID"))
    own = {key: value for key, value in rule.items() if key not in _ANSWERED}
    if "condition" in own:
        own["conditions"] = [*own.get("conditions", ()), own.pop("condition")]
    for number, condition in enumerate(own.get("conditions", ())):
        _check_condition(condition, f"{place(at, 'conditions')}[{number}]")
    _check_consequence(own["consequence"], place(at, "consequence"))
    for number, span in enumerate(own.get("validity", ())):
        if span["from"] >= span["until"]:
            raise BadInput(f"`{place(at, 'validity')}[{number}]` ends before it begins")
    return {**own, "objectID": name}


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


def _check_consequence(consequence: Mapping[str, Any], at: str) -> None:
    if not consequence:
        raise BadInput(f"`{at}` is empty; a rule does something")
    for number, item in enumerate(consequence.get("promote", ())):
        if ("objectID" in item) == ("objectIDs" in item):
            raise BadInput(f"`{at}.promote[{number}]` needs an objectID or objectIDs")
    if len(msgspec.json.encode(consequence.get("userData"))) > USER_DATA:
        raise BadInput(f"`{at}.userData` is larger than {USER_DATA} bytes")
