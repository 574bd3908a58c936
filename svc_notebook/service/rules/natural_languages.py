"""The parameter `naturalLanguages`: the parameters that it implies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CONTEXT = "natural_language"
# Parameters to which the context is added.
EXTENDED_PARAMETERS = ("ruleContexts", "analyticsTags")


def add_implied(params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parameters with those that `naturalLanguages` implies; given ones are kept."""
    languages = params.get("naturalLanguages")
    if not languages:
        return params
    implied = {
        "removeStopWords": languages,
        "ignorePlurals": languages,
        "removeWordsIfNoResults": "allOptional",
    }
    added = {name: _with_context(params.get(name)) for name in EXTENDED_PARAMETERS}
    return {**implied, **params, **added}


def _with_context(given: list[str] | None) -> list[str]:
    return list(dict.fromkeys((*(given or ()), CONTEXT)))
