"""What a rule may say; what follows from it is the rulebook's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from svc_notebook.api.checking import place
from svc_notebook.errors import BadInput
from svc_notebook.service.engine import Index
from svc_notebook.service.engine.filter_grammar import HIGHEST_SCORE, parse_text
from svc_notebook.service.engine.filters import Facet, Tag, parse_filters, parse_optional
from svc_notebook.service.entries import Entry
from svc_notebook.service.rulebook.consequence import SPECIAL
from svc_notebook.service.rulebook.filtering import AUTOMATIC, AUTOMATIC_OPTIONAL
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
    for group in parse_text(condition.get("filters", ""), f"{at}.filters"):
        if len(group) > 1 or not isinstance(group[0], Facet | Tag):
            raise BadInput(
                f"`{at}.filters` may hold `facet:value` and AND only: neither OR nor numbers"
            )


def _check_consequence(consequence: Mapping[str, Any], at: str) -> None:
    if not consequence:
        raise BadInput(f"`{at}` is empty; a rule does something")
    for number, item in enumerate(consequence.get("promote", ())):
        if ("objectID" in item) == ("objectIDs" in item):
            raise BadInput(f"`{at}.promote[{number}]` needs an objectID or objectIDs")
    if len(msgspec.json.encode(consequence.get("userData"))) > USER_DATA:
        raise BadInput(f"`{at}.userData` is larger than {USER_DATA} bytes")
    _check_params(consequence.get("params", {}), f"{at}.params")


def _check_params(params: Mapping[str, Any], at: str) -> None:
    try:
        parse_filters(params)
        parse_optional(params)
        _try_out(
            {n: value for n, value in params.items() if n not in SPECIAL and value is not None}
        )
    except BadInput as error:
        raise BadInput(f"`{at}`: {error}") from error
    query = params.get("query")
    for number, edit in enumerate(query.get("edits", ()) if isinstance(query, dict) else ()):
        if edit["type"] == "replace" and "insert" not in edit:
            raise BadInput(f"`{at}.query.edits[{number}].insert` is missing; a replace needs it")
    for name in (AUTOMATIC, AUTOMATIC_OPTIONAL):
        for number, one in enumerate(params.get(name) or ()):
            score = 1 if isinstance(one, str) else one.get("score", 1)
            if not 0 <= score <= HIGHEST_SCORE:
                raise BadInput(f"`{at}.{name}[{number}].score` is not from 0 to {HIGHEST_SCORE}")


def _try_out(params: Mapping[str, Any]) -> None:
    """Raise `BadInput` for what would break any search, be it of an empty index."""
    if params:
        settings = {name: value for name, value in params.items() if name == "ranking"}
        Index(settings).search(params, lambda ids: [])
