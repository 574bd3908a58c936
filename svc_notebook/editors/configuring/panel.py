"""Every setting as a view lists it, by the group it belongs to."""

from __future__ import annotations

from typing import Any, TypedDict

from svc_notebook.api.parameters import PARAMETERS, Parameter
from svc_notebook.editors.configuring.entries import AROUND, CRITERIA
from svc_notebook.editors.searching.panel import describe

# Groups in their order, and the settings that stand first in them; the rest come under the last.
GROUPS: dict[str, tuple[str, ...]] = {
    "searching": (
        "searchableAttributes", "queryType", "removeWordsIfNoResults", "optionalWords",
        "advancedSyntax", "advancedSyntaxFeatures", "disablePrefixOnAttributes",
        "separatorsToIndex", "camelCaseAttributes",
    ),
    "ranking": (
        "ranking", "customRanking", "relevancyStrictness", "attributeForDistinct", "distinct",
        "exactOnSingleWordQuery", "alternativesAsExact", "disableExactOnAttributes",
        "minProximity", "attributeCriteriaComputedByMinProximity",
    ),
    "facets": (
        "attributesForFaceting", "maxValuesPerFacet", "sortFacetValuesBy", "maxFacetHits",
        "numericAttributesForFiltering",
    ),
    "typos": (
        "typoTolerance", "minWordSizefor1Typo", "minWordSizefor2Typos",
        "allowTyposOnNumericTokens", "disableTypoToleranceOnAttributes",
        "disableTypoToleranceOnWords",
    ),
    "languages": (
        "queryLanguages", "indexLanguages", "ignorePlurals", "removeStopWords",
        "decompoundQuery", "decompoundedAttributes", "keepDiacriticsOnCharacters",
        "attributesToTransliterate", "customNormalization",
    ),
}  # fmt: skip
REST = "others"
# Yes, no, or for some languages.
BY_LANGUAGE = ("ignorePlurals", "removeStopWords")


class SettingRow(TypedDict):
    """One setting."""

    name: str
    meaning: str
    kind: str
    choices: list[str]
    default: Any
    effect: str
    group: str
    scope: str
    around: list[str]


def list_settings() -> list[SettingRow]:
    """List all settings, group by group."""
    placed = {name: group for group, names in GROUPS.items() for name in names}
    others = sorted(
        (p for p in PARAMETERS.values() if p.scope != "parameter" and p.name not in placed),
        key=lambda p: (p.effect != "works", p.name),
    )
    return [
        *(_row(PARAMETERS[name], group) for name, group in placed.items()),
        *(_row(parameter, REST) for parameter in others),
    ]


def _row(parameter: Parameter, group: str) -> SettingRow:
    row = describe(parameter, parameter.default)
    return {
        "name": row["name"],
        "meaning": row["meaning"],
        "kind": "languages" if parameter.name in BY_LANGUAGE else row["kind"],
        "choices": list(CRITERIA) if parameter.name == "ranking" else row["choices"],
        "default": row["default"],
        "effect": row["effect"],
        "group": group,
        "scope": parameter.scope,
        "around": list(AROUND.get(parameter.name, ())),
    }
