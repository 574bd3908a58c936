"""Suggested synonyms: from judged records and reformulations, each tried on a copy."""

from __future__ import annotations

import itertools
import math
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import pandas as pd
from pandas import DataFrame

from svc_notebook.core.display import shorten
from svc_notebook.data.client import AsyncClient
from svc_notebook.data.declarations import public
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput
from svc_notebook.tuning.changes.state import read_state
from svc_notebook.tuning.evaluation.record_texts import (
    MIN_WORD_LETTERS,
    is_url,
    long_words,
    plural_forms,
    read_records,
    words_by_attribute,
    words_of,
)
from svc_notebook.tuning.evaluation.runs import FailedSearch, run, search_all
from svc_notebook.tuning.evaluation.scores import evaluate
from svc_notebook.tuning.tables.relevance import relevant_from
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
    suggested_id,
)

Source = Literal["records", "reformulations"]
MAX_TITLE_CHARACTERS = 200  # longer texts contain too many words
MAX_SYNONYMS_PER_WORD = 3
SAMPLE_RECORDS_PER_QUERY = 20
MAX_DEEP_HITS = 1000
MIN_LIFT = 1.5  # ratio of a word's frequency in the relevant records to that elsewhere
# Ratio of a word's share in relevant records not found to that in the found ones.
MIN_CONTRAST, MIN_CONTRAST_OF_FREQUENT = 2.0, 4.0
MAX_FREQUENT_SHARE = 0.2  # of the records; a more frequent word needs more contrast
REFORMULATION_TIME = pd.Timedelta(minutes=5)  # limit between a search and its reformulation
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
    """Merge the candidates of each pair; keep the best supported, one of a query and word."""
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
    best: dict[tuple[str, str], Idea] = {}
    answered: set[tuple[str, str]] = set()
    # What several queries suggest is more likely to hold for others, and can be measured.
    for idea in sorted(merged.values(), key=lambda idea: (-len(idea.queries), -idea.support)):
        of_word = sum(1 for word, _ in best if word == idea.word)
        sources = {(query, idea.word) for query in idea.queries}
        is_new = not sources or bool(sources - answered)
        if of_word < MAX_SYNONYMS_PER_WORD and is_new and not idea.is_ambiguous:
            best.setdefault((idea.word, idea.synonym), idea)
            answered |= sources
    return list(best.values())[:n]


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


@dataclass(frozen=True)
class Idea:
    """A candidate synonym: one word, its replacement, its support, and the queries it is from."""

    word: str
    synonym: str
    source: Source
    support: int
    evidence: str
    queries: frozenset[str] = frozenset()
    by_contrast: bool = False

    @property
    def is_ambiguous(self) -> bool:
        """Whether it may replace another word: records contain the word, of one longer query."""
        if not self.by_contrast or len(self.queries) != 1:
            return False
        [query] = self.queries
        return len(long_words(query)) > 1

    @property
    def document(self) -> dict[str, Any]:
        """Return the synonym in the API's format: searches for the word also match the other."""
        return {
            "objectID": suggested_id(self.word, self.synonym), "type": "oneWaySynonym",
            "input": self.word, "synonyms": [self.synonym],
        }  # fmt: skip


async def ideas_from_records(
    client: AsyncClient, index: str, poor: Sequence[str], judged: DataFrame | None
) -> list[Idea]:
    """Find words that no record contains, and their replacements in the relevant records."""
    counts = await _count_hits(client, index, sorted(long_words(list(poor))))
    unknown = {query: [word for word in words_of(query) if counts.get(word) == 0] for query in poor}
    read = [
        (query, unknown_words, await _find_relevant(client, index, query, unknown_words, judged))
        for query, unknown_words in unknown.items()
        if unknown_words
    ]
    candidates = {word for query, _, records in read for word, _ in _common_words(query, records)}
    index_counts = await _count_hits(client, index, ["", *sorted(candidates)])
    return [idea for sample in read for idea in _typical_words(*sample, index_counts)]


async def ideas_from_contrast(client: AsyncClient, index: str, judged: DataFrame) -> list[Idea]:
    """Find words that records contain, and their replacements in relevant records not found."""
    relevant = judged[judged["rating"] >= relevant_from(judged)].drop_duplicates(
        ["query", "objectID"]
    )
    queries = relevant["query"].drop_duplicates().tolist()
    hit_ids = await _find_ids(client, index, queries)
    lost_ids = {
        query: [name for name in ids if name not in hit_ids[query]][:SAMPLE_RECORDS_PER_QUERY]
        for query, ids in relevant.groupby("query", sort=False)["objectID"].agg(list).items()
        if query in hit_ids
    }
    shown_ids = {query: hit_ids[query][:SAMPLE_RECORDS_PER_QUERY] for query in lost_ids}
    sampled = itertools.chain(*lost_ids.values(), *shown_ids.values())
    records = await read_records(client, index, list(dict.fromkeys(sampled)))
    counts = await _count_hits(client, index, ["", *sorted(set(words_of(list(lost_ids))))])
    samples = [
        (str(query), _pick(records, ids), _pick(records, shown_ids[query]))
        for query, ids in lost_ids.items()
    ]
    candidates = {word for query, lost, _ in samples for word, _ in _common_words(query, lost)}
    counts |= await _count_hits(client, index, sorted(candidates - counts.keys()))
    return [idea for sample in samples for idea in _contrasting_words(*sample, counts)]


def _pick(records: Mapping[str, Mapping[str, Any]], ids: Sequence[str]) -> list[Mapping[str, Any]]:
    return [records[name] for name in ids if name in records]


async def _find_ids(
    client: AsyncClient, index: str, queries: Sequence[str]
) -> dict[str, list[str]]:
    shared = {"hitsPerPage": MAX_DEEP_HITS, "attributesToRetrieve": ["objectID"],
              "attributesToHighlight": [], "analytics": False}  # fmt: skip
    requests = [{"indexName": index, "query": query, **shared} for query in queries]
    answers = await search_all(client, requests) if requests else []
    ids = {
        query: [hit["objectID"] for hit in answer["hits"]]
        for query, answer in zip(queries, answers, strict=True)
        if not isinstance(answer, FailedSearch)
    }
    failed = [query for query in queries if query not in ids]
    if failed:
        warnings.warn(
            f"searches failed for {len(failed):,} of {len(queries):,} queries, such as "
            f"{shorten(failed[0], 40)!r}, and nothing is suggested from them; see the column "
            "`error` of svc.tuning.run",
            stacklevel=2,
        )
    return ids


def _contrasting_words(
    query: str,
    lost: Sequence[Mapping[str, Any]],
    shown: Sequence[Mapping[str, Any]],
    counts: Mapping[str, int],
) -> Iterator[Idea]:
    """Yield words of the relevant records that a query does not find, instead of one of its own."""
    texts = [set().union(*words_by_attribute(record).values()) for record in lost]
    in_shown = Counter(word for record in shown for word in _title_words(record))
    for word in words_of(query):
        frequent = counts.get(word, 0) > MAX_FREQUENT_SHARE * counts[""]
        min_contrast = MIN_CONTRAST_OF_FREQUENT if frequent else MIN_CONTRAST
        if len(word) < MIN_WORD_LETTERS or counts.get(word, 0) <= 0:
            continue
        forms = {word, *plural_forms(word)}
        lacking = [record for record, words in zip(lost, texts, strict=True) if not forms & words]
        if len(lacking) < 2 or 2 * len(lacking) < len(lost):
            continue
        for synonym, count in _lifted(query, lacking, counts, forms):
            share = in_shown[synonym] / max(1, len(shown))
            if count / len(lacking) < min_contrast * share:
                continue
            evidence = (
                f"{count} of {len(lacking)} relevant records that {query!r} does not find lack "
                f"{word!r} and contain {synonym!r}, and {in_shown[synonym]} of the first "
                f"{len(shown)} hits"
            )
            yield Idea(word, synonym, "records", count, evidence, frozenset([query]), True)


def _lifted(
    query: str, records: Sequence[Mapping[str, Any]], counts: Mapping[str, int],
    without: Collection[str],
) -> list[tuple[str, int]]:  # fmt: skip
    """Return the words that are much more frequent in these records than in the index."""
    lifts = {
        word: (count, count / len(records) * counts[""] / counts[word])
        for word, count in _common_words(query, records)
        if counts.get(word, 0) > 0 and word not in without
    }
    scores = {
        word: count * math.log(lift) for word, (count, lift) in lifts.items() if lift > MIN_LIFT
    }
    best = sorted(scores, key=lambda word: -scores[word])[:MAX_SYNONYMS_PER_WORD]
    return [(word, lifts[word][0]) for word in best]


async def _count_hits(client: AsyncClient, index: str, words: Sequence[str]) -> dict[str, int]:
    shared = {"hitsPerPage": 0, "analytics": False, "queryType": "prefixNone"}
    requests = [{"indexName": index, "query": word, **shared} for word in words]
    answers = await search_all(client, requests) if requests else []
    return {
        word: -1 if isinstance(answer, FailedSearch) else answer["nbHits"]
        for word, answer in zip(words, answers, strict=True)
    }


async def _find_relevant(
    client: AsyncClient,
    index: str,
    query: str,
    unknown_words: Sequence[str],
    judged: DataFrame | None,
) -> list[Mapping[str, Any]]:
    """Return the records a query should find: judged relevant, else those with its other words."""
    if judged is not None:
        relevant = judged[(judged["query"] == query) & (judged["rating"] >= relevant_from(judged))]
        best = relevant.sort_values("rating", ascending=False).head(SAMPLE_RECORDS_PER_QUERY)
        if len(best):
            return list((await read_records(client, index, best["objectID"].tolist())).values())
    rest = " ".join(word for word in words_of(query) if word not in unknown_words)
    if not rest:
        return []
    answer = await client.search(index, rest, hitsPerPage=SAMPLE_RECORDS_PER_QUERY, analytics=False)
    return [dict(hit) for hit in answer["hits"]]


def _common_words(query: str, records: Sequence[Mapping[str, Any]]) -> list[tuple[str, int]]:
    """Count the words that many of the records have in their shorter texts."""
    query_words = set(words_of(query))
    counts = Counter(word for record in records for word in _title_words(record) - query_words)
    return [(word, n) for word, n in counts.most_common() if n >= max(2, len(records) / 4)]


def _typical_words(
    query: str,
    unknown_words: Sequence[str],
    records: Sequence[Mapping[str, Any]],
    index_counts: Mapping[str, int],
) -> Iterator[Idea]:
    """Yield words that these records contain much more often than the other records."""
    for word in unknown_words:
        for synonym, count in _lifted(query, records, index_counts, ()):
            evidence = f"{count} of {len(records)} records for {query!r} contain {synonym!r}"
            yield Idea(word, synonym, "records", count, evidence, frozenset([query]))


def _title_words(record: Mapping[str, Any]) -> set[str]:
    texts = [
        value
        for name, value in record.items()
        if not name.startswith("_") and name != "objectID" and isinstance(value, str)
        and len(value) <= MAX_TITLE_CHARACTERS and not is_url(value)
    ]  # fmt: skip
    return {word for word in long_words(texts) if not word.isdigit()}


def ideas_from_reformulations(
    searches: DataFrame | None, events: DataFrame | None
) -> Iterator[Idea]:
    """Yield the next query of the same user after a search without a click."""
    if searches is None:
        return
    for name in ("query", "userToken", "timestamp"):
        if name not in searches:
            raise BadInput(f"searches need a column `{name}`, as `read_searches` returns it")
    used = _used(events)
    users: dict[tuple[str, str], set[Any]] = {}
    queries: dict[tuple[str, str], set[str]] = {}
    for user, part in searches.sort_values("timestamp").groupby("userToken", sort=False):
        rows = part.to_dict("records")
        for first, second in itertools.pairwise(rows):
            is_quick = second["timestamp"] - first["timestamp"] <= REFORMULATION_TIME
            pair = _find_replacement(str(first["query"]), str(second["query"]))
            if is_quick and pair and first.get("queryID") not in used:
                users.setdefault(pair, set()).add(user)
                queries.setdefault(pair, set()).add(str(first["query"]))
    for (word, synonym), searchers in users.items():
        evidence = f"{len(searchers)} users searched for {synonym!r} after {word!r}"
        sessions = frozenset(queries[word, synonym])
        yield Idea(word, synonym, "reformulations", len(searchers), evidence, sessions)


def _used(events: DataFrame | None) -> set[Any]:
    if events is None or "queryID" not in events:
        return set()
    used = events["eventType"] != "view" if "eventType" in events else slice(None)
    return set(events.loc[used, "queryID"].dropna())


def _find_replacement(first: str, second: str) -> tuple[str, str] | None:
    """Return the replaced and the replacing words if the rest of two queries is equal."""
    old, new = words_of(first), words_of(second)
    removed, added = [w for w in old if w not in new], [w for w in new if w not in old]
    kept = [w for w in old if w in new] == [w for w in new if w in old]
    if not (kept and len(removed) == 1 and 1 <= len(added) <= 2):
        return None
    # A query that was typed further does not replace a word.
    if removed[0].startswith(added[0]) or added[0].startswith(removed[0]):
        return None
    return removed[0], " ".join(added)
