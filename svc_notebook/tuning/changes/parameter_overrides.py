"""Settings as search parameters: variants that can be tried without a copy of the index.

The custom ranking needs no copy either, although it is not a search parameter: for one search the
ranking contains its attributes in place of `custom`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from svc_notebook.core.api.parameters import PARAMETERS, default_of

# Settings without effect on the first hits of one index.
IGNORED_SETTINGS = ("replicas", "paginationLimitedTo")


def as_parameters(
    changes: Mapping[str, Any], value: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """Convert changes to search parameters; also return the names that are not parameters.

    `value` is the complete settings with the changes applied.
    """
    shared = {name for name in changes if PARAMETERS[name].scope == "both"}
    params = {name: _or_default(name, changes[name]) for name in shared}
    if changes.keys() & {"ranking", "customRanking"}:
        params["ranking"] = _expand_custom(value)
    given = {name: member for name, member in params.items() if member is not None}
    others = [name for name in changes if name not in {*shared, "customRanking", *IGNORED_SETTINGS}]
    return given, others


def _or_default(name: str, value: Any) -> Any:
    return default_of(name) if value is None else value


def _expand_custom(value: Mapping[str, Any]) -> list[str]:
    ranking = _or_default("ranking", value.get("ranking"))
    custom = _or_default("customRanking", value.get("customRanking"))
    return [name for entry in ranking for name in (custom if entry == "custom" else [entry])]
