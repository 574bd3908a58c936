"""Suggested synonyms: from judged records and reformulations, each tried on a copy."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from pandas import DataFrame

from svc_notebook.data.client import AsyncClient
from svc_notebook.data.declarations import public
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput
from svc_notebook.tuning.changes.state import read_state
from svc_notebook.tuning.evaluation.record_texts import (
    words_of,
)
from svc_notebook.tuning.evaluation.runs import run
from svc_notebook.tuning.evaluation.scores import evaluate
from svc_notebook.tuning.suggestions.synonym_ideas import (
    MAX_SYNONYMS_PER_WORD,
    Idea,
    ideas_from_contrast,
    ideas_from_records,
    ideas_from_reformulations,
)
from svc_notebook.tuning.tables.tables import Queries, Table, check_judgments, check_queries
from svc_notebook.tuning.variants.spaces import Variant
from svc_notebook.tuning.variants.trials import (
    GAIN_COLUMNS,
    METRIC,
    UNMEASURED,
    HeldOutGain,
    TrialIndex,
    measure_gain,
    other_queries,
    sort_by_gain,
)

COLUMNS = [
    "word", "synonym", "source", "support", "evidence", "queries", "hits_before", "hits_after",
    "zero_before", "zero_after", *GAIN_COLUMNS,
]  # fmt: skip


@public()
async def suggest_synonyms(
    index: str,
    queries: Queries | None = None,
    judgments: Table | None = None,
    searches: DataFrame | None = None,
    events: DataFrame | None = None,
    *,
    low: float = 0.2,
    n: int = 20,
    k: int = 10,
    client: AnyClient | None = None,
) -> DataFrame:
    """Suggest synonyms for words of queries, the most helpful first; nothing is saved.

    There are three kinds of evidence: words that the records relevant for a query have in
    common, if no record contains a word of the query (or the score of a judged query is below
    `low`); words of judged relevant records that a query does not find, instead of a word that
    other records contain; and reformulations by the same user after a search without a click.
    Each candidate is tried alone on a temporary copy of the index, on the queries that contain
    the word. The score is measured on other queries than those the candidate comes from: what
    one half of the queries with the word suggests is measured on the other half. What one query
    of several words suggests for a word that records contain is left out: it may replace any of
    its words.

    Parameters
    ----------
    queries : str, list, DataFrame or path, default None
        Queries to find synonyms for.
    judgments : DataFrame, list of dict or path, default None
        Judgments with the columns `query`, `objectID` and `rating`, or a CSV or Parquet
        file of them.
    searches : DataFrame, default None
        Searches with reformulations, as `svc.read_searches` returns them.
    events : DataFrame, default None
        Events with the clicks of these searches, as `svc.read_events` returns them.
    low : float, default 0.2
        nDCG@10 below which a judged query needs a synonym.
    n : int, default 20
        Maximum number of suggestions.

    Returns
    -------
    DataFrame
        One row per suggestion: `word`, `synonym` and `source` (str, `records` or
        `reformulations`), `support` (int64), `evidence` (str), `queries` (object, list),
        `hits_before`, `hits_after`, `zero_before` and `zero_after` (int64), `proposed` (bool,
        whether a gain was measured; the other rows come last), `measured` (int64,
        judged queries with the word that the synonym does not come from), `before`, `after`,
        `delta`, `low` and `high` (float64, their nDCG@10, the difference and its 95 % t
        interval, NaN without such queries) and `document` (object, the synonym for
        `svc.save_synonyms`).

    Raises
    ------
    BadInput
        If there are neither queries, judgments nor searches.
    NotFound

    Examples
    --------
    >>> suggested = svc.tuning.suggest_synonyms("products", ["timber desk"])
    >>> suggested[["word", "synonym", "support", "zero_after"]]
    """
    if queries is None and judgments is None and searches is None:
        raise BadInput("pass `queries`, `judgments` or `searches`")
    caller = asynchronous(client)
    judged = None if judgments is None else check_judgments(judgments)
    queries_table = check_queries(_queries_to_try(queries, judged, searches))
    base = await run(index, queries_table, k=k, client=caller)
    ideas = [
        *ideas_from_reformulations(searches, events),
        *await ideas_from_records(caller, index, _find_poor_queries(base, judged, low), judged),
    ]
    if judged is not None:
        judged_here = judged[judged["query"].isin(queries_table["query"])]
        ideas += await ideas_from_contrast(caller, index, judged_here)
    return await _try_all(caller, index, _chosen(ideas, n), queries_table, judged, k)


def _queries_to_try(queries: Any, judged: DataFrame | None, searches: DataFrame | None) -> Any:
    if queries is not None:
        return queries
    if judged is not None:
        return judged
    assert searches is not None
    return searches["query"].dropna().unique().tolist()


def _find_poor_queries(base: DataFrame, judged: DataFrame | None, low: float) -> list[str]:
    """Return the queries without results, and judged queries with low scores."""
    poor = base.loc[base["nbHits"] == 0, "query"].tolist()
    if judged is not None:
        scored = evaluate(base, judged, METRIC)
        poor += scored.loc[scored["value"] < low, "query"].tolist()
    return list(dict.fromkeys(poor))


def _chosen(ideas: Iterable[Idea], n: int) -> list[Idea]:
    """Keep the best supported candidates, one of a query and word."""
    best: dict[tuple[str, str], Idea] = {}
    answered: set[tuple[str, str]] = set()
    # What several queries suggest is more likely to hold for others, and can be measured.
    for idea in sorted(_merge(ideas), key=lambda idea: (-len(idea.queries), -idea.support)):
        of_word = sum(1 for word, _ in best if word == idea.word)
        sources = {(query, idea.word) for query in idea.queries}
        is_new = not sources or bool(sources - answered)
        if of_word < MAX_SYNONYMS_PER_WORD and is_new and not idea.is_ambiguous:
            best.setdefault((idea.word, idea.synonym), idea)
            answered |= sources
    return list(best.values())[:n]


def _merge(ideas: Iterable[Idea]) -> Collection[Idea]:
    """Merge the candidates of each pair of words and source."""
    merged: dict[tuple[str, str, str], Idea] = {}
    for idea in sorted(ideas, key=lambda idea: -idea.support):
        key = (idea.word, idea.synonym, idea.source)
        first = merged.setdefault(key, idea)
        if idea is not first and not idea.queries <= first.queries:
            merged[key] = replace(
                first, support=first.support + idea.support, queries=first.queries | idea.queries,
                evidence=f"{first.evidence}; the same for {sorted(idea.queries)[0]!r}"
                if len(first.queries) == 1 else first.evidence,
            )  # fmt: skip
    return merged.values()


async def _try_all(
    client: AsyncClient,
    index: str,
    ideas: Sequence[Idea],
    queries_table: DataFrame,
    judged: DataFrame | None,
    k: int,
) -> DataFrame:
    rows: list[dict[str, Any]] = []
    state = await read_state(client, index)
    async with TrialIndex(client, index, state, k=k) as tried:
        for idea in ideas:
            affected = queries_table[
                [idea.word in words_of(query) for query in queries_table["query"]]
            ]
            if affected.empty:
                affected = check_queries([idea.word])
            before, after = await tried.compare(Variant({"synonyms": [idea.document]}), affected)
            rows.append(_row(idea, affected, before, after, _measure(idea, before, after, judged)))
    frame = DataFrame(rows, columns=COLUMNS)
    changed = frame[frame["hits_after"] != frame["hits_before"]]
    return sort_by_gain(changed, {"zero_after": True, "support": False})


def _measure(
    idea: Idea, before: DataFrame, after: DataFrame, judged: DataFrame | None
) -> HeldOutGain:
    """Measure a synonym on the queries that it does not come from."""
    if judged is None:
        return UNMEASURED
    rated = set(before["query"]) & set(judged.loc[judged["rating"].notna(), "query"])
    if idea.source == "reformulations":
        return measure_gain(before, after, judged, rated - idea.queries)
    return measure_gain(before, after, judged, other_queries(rated, idea.queries))


def _row(
    idea: Idea, affected: DataFrame, before: DataFrame, after: DataFrame, gain: HeldOutGain
) -> dict[str, Any]:
    counts = [
        side.groupby(["query", "filters"])["nbHits"].first().fillna(0) for side in (before, after)
    ]
    return {
        "word": idea.word, "synonym": idea.synonym, "source": idea.source,
        "support": idea.support, "evidence": idea.evidence, "queries": affected["query"].tolist(),
        "hits_before": int(counts[0].sum()), "hits_after": int(counts[1].sum()),
        "zero_before": int((counts[0] == 0).sum()), "zero_after": int((counts[1] == 0).sum()),
        **gain.cells, "document": idea.document,
    }  # fmt: skip
