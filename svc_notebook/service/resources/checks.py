"""Validate synonyms and rules beyond their declared types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from svc_notebook.core.api.rule_checks import check_parts
from svc_notebook.core.api.validation import place
from svc_notebook.errors import BadInput
from svc_notebook.service.engine import Index
from svc_notebook.service.engine.filters.filters import Facet, Tag, parse_filters, parse_optional
from svc_notebook.service.engine.filters.grammar import MAX_SCORE, parse_text
from svc_notebook.service.limits import read_object_id
from svc_notebook.service.resources.entries import Entry
from svc_notebook.service.rules.consequence import MERGED_PARAMETERS
from svc_notebook.service.rules.filters import AUTOMATIC, AUTOMATIC_OPTIONAL

RULE_ENTRIES = "rules"
_RESPONSE_MEMBERS = ("_highlightResult", "_metadata")


def check_rule(rule: Mapping[str, Any], at: str) -> Entry:
    """Return a rule in its stored form; raises `BadInput` if its parts are inconsistent."""
    name = read_object_id(rule["objectID"], place(at, "objectID"))
    members = {key: value for key, value in rule.items() if key not in _RESPONSE_MEMBERS}
    if "condition" in members:
        members["conditions"] = [*members.get("conditions", ()), members.pop("condition")]
    if not members["consequence"]:
        raise BadInput(f"`{place(at, 'consequence')}` is empty; a rule needs a consequence")
    check_parts(members, at)
    _check_conditions(members.get("conditions", ()), place(at, "conditions"))
    _check_params(members["consequence"].get("params") or {}, place(at, "consequence.params"))
    return {**members, "objectID": name}


def _check_conditions(conditions: Iterable[Mapping[str, Any]], at: str) -> None:
    for number, condition in enumerate(conditions):
        for group in parse_text(condition.get("filters", ""), f"{at}[{number}].filters"):
            if len(group) > 1 or not isinstance(group[0], Facet | Tag):
                raise BadInput(
                    f"`{at}[{number}].filters` may contain only `facet:value` and AND: "
                    "neither OR nor numbers"
                )


def _check_params(params: Mapping[str, Any], at: str) -> None:
    try:
        parse_filters(params)
        parse_optional(params)
        _search_empty_index(
            {
                n: value
                for n, value in params.items()
                if n not in MERGED_PARAMETERS and value is not None
            }
        )
    except BadInput as error:
        raise BadInput(f"`{at}`: {error}") from error
    for name in (AUTOMATIC, AUTOMATIC_OPTIONAL):
        for number, filter_entry in enumerate(params.get(name) or ()):
            score = 1 if isinstance(filter_entry, str) else filter_entry.get("score", 1)
            if not 0 <= score <= MAX_SCORE:
                raise BadInput(f"`{at}.{name}[{number}].score` is not from 0 to {MAX_SCORE}")


def _search_empty_index(params: Mapping[str, Any]) -> None:
    """Raise `BadInput` for parameters that fail any search, even of an empty index."""
    if params:
        settings = {name: value for name, value in params.items() if name == "ranking"}
        Index(settings).search(params, lambda ids: [])


SYNONYM_ENTRIES = "synonyms"
# api.md, Synonym; a type is stored as it was spelled, and these are the types in lower case.
SYNONYM_MEMBERS = {
    "synonym": ("synonyms",),
    "onewaysynonym": ("input", "synonyms"),
    "altcorrection1": ("word", "corrections"),
    "altcorrection2": ("word", "corrections"),
    "placeholder": ("placeholder", "replacements"),
}


def check_synonym(synonym: Mapping[str, Any], at: str) -> Entry:
    """Return a synonym with only the members of its type; raises `BadInput`."""
    kind = str(synonym["type"]).lower()
    name = read_object_id(synonym["objectID"], place(at, "objectID"))
    for field in SYNONYM_MEMBERS[kind]:
        if not synonym.get(field):
            raise BadInput(f"`{place(at, field)}` is missing; it is required in a {kind}")
    for word in synonym["corrections"] if "corrections" in SYNONYM_MEMBERS[kind] else ():
        if len(word.split()) != 1:
            raise BadInput(f"`{place(at, 'corrections')}`: {word!r} is not a single word")
    return {
        "objectID": name,
        "type": synonym["type"],
        **{field: synonym[field] for field in SYNONYM_MEMBERS[kind]},
    }
