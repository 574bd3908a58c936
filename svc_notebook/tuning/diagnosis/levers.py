"""Levers: the values of parameters that may repair a finding, before any is tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from types import MappingProxyType
from typing import Any, NamedTuple

from svc_notebook.core.api.parameters import LOCAL_PARAMETERS, default_of
from svc_notebook.tuning.diagnosis.findings import (
    Finding,
    attribute_lifts,
    criterion_decisions,
)
from svc_notebook.tuning.diagnosis.observation import Observation
from svc_notebook.tuning.diagnosis.record_evidence import (
    JOINED,
    UNITS,
    find_compounds,
    rank_attributes,
)
from svc_notebook.tuning.evaluation.criteria import REPLACED_BY_TEXT
from svc_notebook.tuning.evaluation.record_texts import searchable_names

RARE_SHARE = 0.01  # of the records, below which a word is tried as rare
MIN_RARE_RECORDS = 2
MAX_NUMERIC_ATTRIBUTES = 2
# A hosted service may have another default than the documented one: both values are tried.
UNSURE_DEFAULTS = ("enableReRanking",)
BEFORE_TEXT = ("typo", "words")  # criteria that are compared before the score by default
TEXT_SCORE = "text score"  # is always tried, whatever is found
TEXT_ONLY = ["exact", "custom"]  # the score of the text takes the place of `exact`
# By positions, besides the default of the local service, 0.3; and where scores are added.
POSITION_WEIGHTS, SCORE_WEIGHTS = (0.15, 0.5), (0.5, 0.67, 0.8)
FEEDBACK_HITS = 5
MIN_WORDS_OF_LONG_QUERY = 8
HIGHEST_WEIGHT = 3  # of an attribute; those that are not named count 1
MIN_CONCORDANCE_GAP = 0.02  # from 0.5, below which an attribute is no evidence

# A parameter, the values to try, and optionally the values to set with them.
Row = tuple[Any, ...]


class Lever(NamedTuple):
    """A parameter, the values to try, and the finding that they may repair.

    `together` are values of other parameters without which these have no effect.
    """

    finding: str
    name: str
    values: list[Any]
    together: Mapping[str, Any] = MappingProxyType({})


def find_levers(seen: Observation, findings: Sequence[Finding]) -> list[Lever]:
    """Return the values to try for the findings, without values that are already set."""
    levers: dict[tuple[str, str], Lever] = {}
    for finding in (*(finding.name for finding in findings), TEXT_SCORE):
        for name, values, *more in LEVERS.get(finding, _list_none)(seen):
            if name in LOCAL_PARAMETERS and not seen.is_local:
                continue
            together = _missing(seen, more[0]) if more else {}
            for value in values:
                if _in_place(seen, name, value):
                    continue
                new = Lever(finding, name, [], together)
                lever = levers.setdefault((name, repr(together)), new)
                if value not in lever.values:
                    lever.values.append(value)
    return list(levers.values())


def _missing(seen: Observation, together: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in together.items() if not seen.settings.get(name)}


def _in_place(seen: Observation, name: str, value: Any) -> bool:
    now = seen.settings.get(name)
    if now is None and name in UNSURE_DEFAULTS:
        return False
    return bool(value == (default_of(name) if now is None else now))


def _languages_of(seen: Observation) -> list[str]:
    return [seen.language] if seen.language else []


def _list_none(_: Observation) -> list[Row]:
    return []


def _list_for_losses(seen: Observation) -> list[Row]:
    weights = [{"localWeight": weight} for weight in POSITION_WEIGHTS]
    return [
        ("removeWordsIfNoResults", ["lastWords", "firstWords", "allOptional"]),
        ("optionalWords", _templates(seen)),
        ("similarQuery", [{"words": "all"}]),
        ("ranking", [TEXT_ONLY], _text_only(seen)),
        ("mode", ["neuralSearch"]),
        ("semanticSearch", weights, {"mode": "neuralSearch"}),
        ("semanticSearch", _semantic_options(), _semantic_scores(seen)),
    ]


def _list_for_text(seen: Observation) -> list[Row]:
    by_text = _text_only(seen)
    return [
        ("ranking", [TEXT_ONLY], by_text),
        ("attributeWeights", _attribute_weights(seen), {"ranking": TEXT_ONLY, **by_text}),
    ]


def _list_for_plurals(seen: Observation) -> list[Row]:
    plurals = _languages_of(seen) or True
    return [
        ("ignorePlurals", [plurals]),
        ("alternativesAsExact", [_with_stems(seen)], {"ignorePlurals": plurals}),
    ]


def _list_for_frequent_words(seen: Observation) -> list[Row]:
    languages = _languages_of(seen)
    return [
        ("removeStopWords", [languages or True]),
        ("naturalLanguages", [languages] if languages else []),
    ]


# The names and values to try for each finding, and what is tried together with them.
LEVERS: dict[str, Callable[[Observation], list[Row]]] = {
    "zero results": _list_for_losses,
    "relevant records not found": _list_for_losses,
    TEXT_SCORE: _list_for_text,
    "plurals": _list_for_plurals,
    JOINED: lambda seen: [("synonyms", [find_compounds(seen)[JOINED].synonyms])],
    UNITS: lambda seen: [("synonyms", [find_compounds(seen)[UNITS].synonyms])],
    "frequent words": _list_for_frequent_words,
    "hits with typos": lambda seen: [
        ("typoTolerance", ["min", "strict", False]),
        ("queryType", ["prefixNone"]),
    ],
    "typos in records": lambda seen: [("typoTolerance", [True])],
    "ties": lambda seen: [
        ("enableReRanking", [True, False]),
        ("ranking", _text_rankings(seen), {"enableReRanking": True}),
        ("customRanking", _custom_rankings(seen)),
    ],
    "order of criteria": lambda seen: [
        ("ranking", _rankings(seen)),
        ("exactOnSingleWordQuery", ["word", "none"]),
        ("minProximity", [4, 8]),
        ("attributeCriteriaComputedByMinProximity", [True]),
    ],
    "attribute order": lambda seen: [("searchableAttributes", _attribute_orders(seen))],
}


def _text_only(seen: Observation) -> dict[str, Any]:
    """Return what ranks by the score of the text alone together with `TEXT_ONLY`, as BM25 does.

    None of these values has much of an effect without the others.
    """
    languages = _languages_of(seen)
    stems = {"ignorePlurals": [*languages], "alternativesAsExact": _with_stems(seen)}
    return {
        "enableReRanking": True,
        "optionalWords": {"words": "all"},
        **(stems if languages else {}),
        **({"removeStopWords": [*languages]} if languages and _has_long_queries(seen) else {}),
    }


def _has_long_queries(seen: Observation) -> bool:
    """Return whether half of the queries are sentences, of which many words mean nothing."""
    lengths = [len(text.split()) for text in seen.queries["query"]]
    return median(lengths) >= MIN_WORDS_OF_LONG_QUERY


def rank_by_text(seen: Observation) -> dict[str, Any]:
    """Return the values that rank by the score of the text alone."""
    return {**_text_only(seen), "ranking": TEXT_ONLY}


def _semantic_scores(seen: Observation) -> dict[str, Any]:
    """Return what adds the score of the text alone to that of the meaning."""
    return {"mode": "neuralSearch", "ranking": TEXT_ONLY, **_text_only(seen)}


def _semantic_options() -> list[dict[str, Any]]:
    weights = [{"localWeight": weight} for weight in SCORE_WEIGHTS]
    return [*weights, *({**option, "localFeedbackHits": FEEDBACK_HITS} for option in weights[:2])]


def _with_stems(seen: Observation) -> list[str]:
    exact = seen.settings.get("alternativesAsExact") or default_of("alternativesAsExact")
    return list(dict.fromkeys([*exact, "ignoreConjugations"]))


def _templates(seen: Observation) -> list[dict[str, Any]]:
    rare = max(MIN_RARE_RECORDS, round(RARE_SHARE * seen.size))
    return [{"words": "all"}, {"words": "all but rarest"}, {"words": "rare", "records": rare}]


def _custom_rankings(seen: Observation) -> list[list[str]]:
    """Return custom rankings by the attributes that agree most with the grades."""
    attributes = rank_attributes(seen.judged, seen.records)
    telling = [
        attribute
        for attribute in attributes
        if abs(attribute.concordance - 0.5) >= MIN_CONCORDANCE_GAP
    ]
    sorts = [attribute.sort for attribute in telling[:MAX_NUMERIC_ATTRIBUTES]]
    return [[sort] for sort in sorts] + ([sorts] if len(sorts) > 1 else [])


def _ranking_of(seen: Observation) -> list[str]:
    return list(seen.settings.get("ranking") or default_of("ranking"))


def _rankings(seen: Observation) -> list[list[str]]:
    """Return orders in which criteria that are mostly wrong come later, or are left out."""
    ranking = _ranking_of(seen)
    bad = sorted(criterion_decisions(seen), key=lambda decision: decision.right_share)
    names = [entry.name for entry in bad if entry.right_share < 0.5 and entry.name in ranking]
    groups = [[name] for name in names]
    if len(names) > 1:
        groups.append(names[::-1])
    rankings: list[list[str]] = []
    for moved in groups:
        rest = [entry for entry in ranking if entry not in moved]
        rankings += [_before_custom(rest, moved), rest]
    return rankings


def _text_rankings(seen: Observation) -> list[list[str]]:
    """Return orders for re-ranking in which the score is compared before typos and words.

    With re-ranking, the score takes the place of the first of `proximity`, `attribute` and `exact`
    in `ranking`; the other two have no effect.
    """
    ranking = _ranking_of(seen)
    before = [position for position, entry in enumerate(ranking) if entry in BEFORE_TEXT]
    replaced = [entry for entry in ranking if entry in REPLACED_BY_TEXT]
    if not before or not replaced:
        return []
    left = [entry for entry in ranking if entry not in replaced]
    rankings = [[*left[: before[0]], replaced[0], *left[before[0] :]]]
    if "words" in left:
        left.remove("words")
        rankings.append([*left[: before[0]], "words", replaced[0], *left[before[0] :]])
    return rankings


def _before_custom(rest: list[str], names: list[str]) -> list[str]:
    position = rest.index("custom") if "custom" in rest else len(rest)
    return [*rest[:position], *names, *rest[position:]]


def _attribute_weights(seen: Observation) -> list[Any]:
    """Return weights in the text score: equal ones, and higher ones of attributes with a lift."""
    searched = searchable_names(seen.settings)
    lifts = attribute_lifts(seen) if len(searched) > 1 else {}
    lifted = sorted((name for name in searched if lifts.get(name, 0) > 0),
                    key=lambda name: -lifts[name])  # fmt: skip
    if not lifted:
        return []
    weights: list[Any] = ["flat", {lifted[0]: HIGHEST_WEIGHT}]
    if len(lifted) > 1:
        weights.append({lifted[0]: HIGHEST_WEIGHT, lifted[1]: HIGHEST_WEIGHT - 1})
    return weights


def _attribute_orders(seen: Observation) -> list[list[str]]:
    """Return orders by the lifts of attributes, with and without an effect of the position."""
    lifts = {name: lift for name, lift in attribute_lifts(seen).items() if lift > 0}
    current = [name for name in seen.searchable if name in lifts]
    # The searchable attributes first.
    ranked = sorted(lifts, key=lambda name: (name not in current, -lifts[name]))
    by_lift = ranked[: len({*current})]
    orders: list[list[str]] = []
    if by_lift:
        unordered = [f"unordered({name})" for name in by_lift]
        orders = [by_lift, unordered, [", ".join(by_lift)], [unordered[0], *by_lift[1:]]]
    if len(ranked) > len(by_lift):
        orders.append(ranked)
    if current != by_lift and len(current) < len(seen.searchable):
        orders.append(current)
    return orders
