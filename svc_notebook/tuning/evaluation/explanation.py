"""Explanation of the order of a run's hits, and of the setting that would swap two of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pandas import DataFrame

from svc_notebook.core.api.parameters import default_of
from svc_notebook.core.display import text_of
from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.tuning.evaluation.criteria import (
    PROMOTED,
    RANKING,
    SEMANTIC,
    TEXT,
    TIE,
    Difference,
    criteria_in_order,
    describe_reason,
    describe_value,
    difference,
    ranks_first,
)
from svc_notebook.tuning.tables.tables import ANSWER, Table, check_runs

TEXTS = ["reason", "title", "next_title", "criterion", "better", "value", "next_value",
         "objectID", "next_objectID", "swap", "also"]  # fmt: skip
COLUMNS = ["rank", *TEXTS[:-1], "setting", "also", "raw_value", "next_raw_value"]
CUSTOM = "custom"
WEIGHTS = "attributeWeights"
# What changes the compared value of a criterion, besides the order of criteria.
ALSO = {
    PROMOTED: "the rule that promotes it",
    "typo": "typoTolerance, minWordSizefor1Typo, disableTypoToleranceOnAttributes",
    "geo": "aroundLatLng, aroundPrecision",
    "words": "optionalWords, removeWordsIfNoResults, removeStopWords",
    "filters": "the scores of optionalFilters",
    "proximity": "minProximity, attributeCriteriaComputedByMinProximity",
    "attribute": "searchableAttributes: their order, unordered()",
    "exact": "exactOnSingleWordQuery, alternativesAsExact, disableExactOnAttributes",
    SEMANTIC: "mode, semanticSearch: localWeight, localFeedbackHits; its text score or position",
    TEXT: "enableReRanking, customRanking, searchableAttributes: their order, attributeWeights",
    TIE: "an attribute in customRanking",
}

Settings = Mapping[str, Any]


def explain(
    run: Table,
    query: str,
    *,
    filters: str | None = None,
    titles: Mapping[str, str] | None = None,
) -> DataFrame:
    """Explain the order of a run's hits: the first criterion in which each differs from the next.

    Parameters
    ----------
    run : DataFrame, list of dict or path
        Run, as `run` returns it; without its `attrs`, the default ranking is assumed.
    query : str
        Query whose hits are explained.
    filters : str, default None
        Filters of the query; necessary if the run has the query with several filters.
    titles : dict or Series, default None
        Titles of records by objectID; a run contains no attributes of records.

    Returns
    -------
    DataFrame
        One row per pair of adjacent hits: `rank` (int64, from 1), `title` (str, the
        objectID if `titles` lacks it), `reason` (str, why it ranks above the next hit, in
        words), `next_title` (str), `criterion` (str, the one that decides), `better` (str, which
        value ranks higher), `value` and `next_value` (str, phrases such as `1 typo`), `objectID`
        and `next_objectID` (str), `swap` (str, smallest change of the order of criteria that
        ranks the next hit higher, or empty), `setting` (object, that change as a dict or None),
        `also` (str, what else changes the compared values), `raw_value` and `next_raw_value`
        (object, the values of the response). The columns of `svc.explain` have the same meaning.

    Raises
    ------
    BadInput
        If the run does not have the query, or has it several times.

    Examples
    --------
    >>> hits = svc.tuning.run("products", ["desk lamp"], k=2)
    >>> names = svc.samples.products().set_index("sku")["name"]
    >>> why = svc.tuning.explain(hits, "desk lamp", titles=names)
    >>> why[["title", "next_title", "criterion"]]
                         title               next_title criterion
    0  Classic brass desk lamp  Nordic oak desk lamp       tie
    """
    facts = getattr(run, "attrs", {}).get("svc", {})
    hits = hits_of(check_runs(run), query, filters)
    settings, params = facts.get("ranking") or {}, facts.get("params") or {}
    steps = criteria_in_order(settings, params)
    rows = []
    for (rank, upper), (_, lower) in itertools.pairwise(hits):
        decision = difference(upper, lower, steps)
        swap, setting = _find_swap(upper, lower, decision, settings, params)
        also = ALSO.get(decision.criterion, "the records' own values")
        if decision.criterion == TEXT:
            weights = params.get(WEIGHTS) or settings.get(WEIGHTS) or default_of(WEIGHTS)
            also = f"{also} = {text_of(weights)}"
        value, next_value = (
            describe_value(
                decision.criterion, value, hit, settings.get("searchableAttributes") or ()
            )
            for value, hit in ((decision.value, upper), (decision.other, lower))
        )
        rows.append((
            rank, describe_reason(decision.criterion, value, next_value), _title(upper, titles),
            _title(lower, titles), decision.criterion, decision.first, value, next_value,
            upper["objectID"], lower["objectID"], swap, setting, also, decision.value,
            decision.other,
        ))  # fmt: skip
    frame = DataFrame(rows, columns=COLUMNS, dtype=object)
    frame = frame.astype({"rank": "int64", **dict.fromkeys(TEXTS, "str")})
    frame.attrs["svc"] = {"query": query, "filters": filters or "", **facts}
    return frame


def hits_of(run: DataFrame, query: str, filters: str | None) -> list[tuple[int, dict[str, Any]]]:
    """Return the hits of one query by rank, each as in a search response."""
    if not isinstance(query, str):
        raise BadInput(f"`query` must be the text of a query of the run, not {query!r}")
    rows = run[run["query"] == query]
    if rows.empty:
        raise BadInput(f"the run has no query {query!r}{did_you_mean(query, run['query'])}")
    if filters is not None:
        rows = rows[rows["filters"] == filters]
    answers = rows[ANSWER].drop_duplicates()
    if len(answers) != 1:
        about = "run" if answers["run"].nunique() > 1 else "filters"
        listed = ", ".join(repr(value) for value in answers[about].unique())
        raise BadInput(f"`{about}` of {query!r} is ambiguous or missing; known: {listed or 'none'}")
    hits = rows[rows["objectID"].notna()].sort_values("rank").to_dict("records")
    return [(int(hit["rank"]), _hit(hit)) for hit in hits]


def _title(hit: Settings, titles: Mapping[str, str] | None) -> str:
    title = None if titles is None else titles.get(hit["objectID"])
    return title if isinstance(title, str) else str(hit["objectID"])


def _hit(row: Mapping[Any, Any]) -> dict[str, Any]:
    info = {
        member: None if _is_unknown(row[column]) else row[column]
        for column, member in RANKING.items()
    }
    return {**row["sorted"], "_rankingInfo": info, "objectID": row["objectID"]}


def _is_unknown(value: Any) -> bool:
    return value is None or value != value or not isinstance(value, int | float)


def _find_swap(
    hit: Settings, other: Settings, decided: Difference, settings: Settings, params: Settings
) -> tuple[str, dict[str, Any] | None]:
    """Try changes of order, smallest first, until one ranks the other hit first."""
    if decided.criterion == TIE:
        return "", None
    for words, change in _changes(decided.criterion, settings, params):
        # A parameter would override the change.
        left = {name: value for name, value in params.items() if name not in change}
        later = difference(hit, other, criteria_in_order({**settings, **change}, left))
        if later.criterion not in (TIE, PROMOTED) and not ranks_first(later):
            return words, change
    return "", None


def _changes(
    criterion: str, settings: Settings, params: Settings
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield changes that move another criterion before this one, then changes that remove it."""
    effective = {**settings, **params}
    ranking = list(effective.get("ranking") or default_of("ranking"))
    custom = list(effective.get("customRanking") or [])
    if criterion in custom:
        yield from _move_entries("customRanking", custom, criterion)
        criterion = CUSTOM
    if criterion in ranking:
        yield from _move_entries("ranking", ranking, criterion)


def _move_entries(
    name: str, entries: Sequence[str], criterion: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    position = entries.index(criterion)
    before, after = [*entries[:position]], [*entries[position + 1 :]]
    for later in after:
        rest = [entry for entry in after if entry != later]
        yield f"{later} before {criterion}", {name: [*before, later, criterion, *rest]}
    yield f"without {criterion}", {name: [*before, *after]}
