"""Synonym suggestions, each with its evidence and its measured effect; none is saved."""

from __future__ import annotations

import hashlib
import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from pandas import DataFrame

from svc_notebook.client import AsyncClient
from svc_notebook.declarations.declaration import public
from svc_notebook.errors import BadInput
from svc_notebook.session.connection import AnyClient, asynchronous
from svc_notebook.tuning.changes.state import read_state
from svc_notebook.tuning.evaluation.runs import FailedSearch, run, search_all
from svc_notebook.tuning.evaluation.scores import evaluate
from svc_notebook.tuning.tables.tables import Queries, Table, check_judgments, check_queries
from svc_notebook.tuning.variants.spaces import AS_IT_IS, Variant
from svc_notebook.tuning.variants.trials import TrialIndex

Source = Literal["records", "reformulations"]
COLUMNS = [
    "word", "synonym", "source", "support", "evidence", "queries", "hits_before", "hits_after",
    "zero_before", "zero_after", "before", "after", "delta", "document",
]  # fmt: skip
METRIC = "ndcg@10"
WORD = re.compile(r"\w+")
URL_START = re.compile(r"\w+://")
MIN_WORD_LETTERS = 3
MAX_SYNONYMS_PER_WORD = 3
SAMPLE_RECORDS_PER_QUERY = 20
MIN_LIFT = 1.5  # ratio of a word's frequency in the relevant records to that elsewhere
REFORMULATION_TIME = pd.Timedelta(minutes=5)  # limit between a search and its reformulation


@dataclass(frozen=True)
class Idea:
    """A candidate synonym: one word, its replacement, and its support."""

    word: str
    synonym: str
    source: Source
    support: int
    evidence: str

    @property
    def document(self) -> dict[str, Any]:
        """Return the synonym in the API's format: searches for the word also match the other."""
        digest = hashlib.sha256(f"{self.word}\0{self.synonym}".encode()).hexdigest()[:8]
        return {
            "objectID": f"suggested-{digest}", "type": "oneWaySynonym", "input": self.word,
            "synonyms": [self.synonym],
        }  # fmt: skip


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
    """Suggest synonyms for queries without results, the most helpful first; nothing is saved.

    There are two kinds of evidence: words that the records relevant for a query have in common,
    if no record contains a word of the query (or the score of a judged query is below `low`);
    and reformulations by the same user after a search without a click. Each candidate is tried
    alone on a temporary copy of the index, on the queries that contain the word.

    Parameters
    ----------
    index : str
        Name of the index.
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
    k : int, default 10
        Number of hits of each query.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    DataFrame
        One row per suggestion: `word`, `synonym` and `source` (str, `records` or
        `reformulations`), `support` (int64), `evidence` (str), `queries` (object, list),
        `hits_before`, `hits_after`, `zero_before` and `zero_after` (int64), `before`, `after`
        and `delta` (float64, nDCG@10, NaN without judgments) and `document` (object, the
        synonym for `svc.save_synonyms`).

    Raises
    ------
    BadInput
        If there are neither queries, judgments nor searches.
    NotFound
        If the index does not exist.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> suggested = svc.tuning.suggest_synonyms("products", ["timber desk"])
    >>> suggested[["word", "synonym", "support", "zero_after"]]
    """
    if queries is None and judgments is None and searches is None:
        raise BadInput("pass `queries`, `judgments` or `searches`")
    own = asynchronous(client)
    judged = None if judgments is None else check_judgments(judgments)
    queries_table = check_queries(_queries_to_try(queries, judged, searches))
    base = await run(index, queries_table, k=k, client=own)
    ideas = [
        *_reformulated(searches, events),
        *await _from_records(own, index, _find_poor_queries(base, judged, low), judged),
    ]
    return await _try_all(own, index, _chosen(ideas, n), queries_table, judged, k)


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


def words_of(text: Any) -> list[str]:
    """Return the words of a text, or of the texts in a list or an object."""
    if isinstance(text, str):
        return [word.casefold() for word in WORD.findall(text)]
    inner = text.values() if isinstance(text, Mapping) else text if isinstance(text, list) else ()
    return [word for each in inner for word in words_of(each)]


async def _from_records(
    client: AsyncClient, index: str, poor: Sequence[str], judged: DataFrame | None
) -> list[Idea]:
    """Find words that no record contains, and their replacements in the relevant records."""
    words = sorted(
        {word for query in poor for word in words_of(query) if len(word) >= MIN_WORD_LETTERS}
    )
    counts = await _count_hits(client, index, words)
    unknown = {query: [word for word in words_of(query) if counts.get(word) == 0] for query in poor}
    read = [
        (query, unknown_words, await _find_relevant(client, index, query, unknown_words, judged))
        for query, unknown_words in unknown.items()
        if unknown_words
    ]
    candidates = {word for query, _, records in read for word, _ in _common_words(query, records)}
    index_counts = await _count_hits(client, index, ["", *sorted(candidates)])
    return [idea for each in read for idea in _typical_words(*each, index_counts)]


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
        own = judged[(judged["query"] == query) & (judged["rating"] >= 1)]
        ids = own.sort_values("rating", ascending=False)["objectID"].head(SAMPLE_RECORDS_PER_QUERY)
        if len(ids):
            requests: Any = [{"indexName": index, "objectID": each} for each in ids]
            answer = await client.get_objects(requests)
            return [dict(record) for record in answer["results"] if record]
    rest = " ".join(word for word in words_of(query) if word not in unknown_words)
    if not rest:
        return []
    found = await client.search(index, rest, hitsPerPage=SAMPLE_RECORDS_PER_QUERY, analytics=False)
    return [dict(hit) for hit in found["hits"]]


def _common_words(query: str, records: Sequence[Mapping[str, Any]]) -> list[tuple[str, int]]:
    """Count the words that many of the records have in their shorter texts."""
    known = set(words_of(query))
    counts = Counter(word for record in records for word in _title_words(record) - known)
    return [(word, n) for word, n in counts.most_common() if n >= max(2, len(records) / 4)]


def _typical_words(
    query: str,
    unknown_words: Sequence[str],
    records: Sequence[Mapping[str, Any]],
    index_counts: Mapping[str, int],
) -> Iterator[Idea]:
    """Yield words that these records contain much more often than the other records.

    `usual` is the number of records of the index with each word; the empty word counts all records.
    """
    lifts = {
        word: (count, count / len(records) * index_counts[""] / index_counts[word])
        for word, count in _common_words(query, records)
        if index_counts[word] > 0
    }
    scores = {
        word: count * math.log(lift) for word, (count, lift) in lifts.items() if lift > MIN_LIFT
    }
    for word in unknown_words:
        for synonym in sorted(scores, key=lambda each: -scores[each])[:MAX_SYNONYMS_PER_WORD]:
            count = lifts[synonym][0]
            evidence = f"{count} of {len(records)} records for {query!r} contain {synonym!r}"
            yield Idea(word, synonym, "records", count, evidence)


def _title_words(record: Mapping[str, Any]) -> set[str]:
    texts = [
        value
        for name, value in record.items()
        if not name.startswith("_") and name != "objectID"
        and isinstance(value, str) and len(value) <= 200 and not URL_START.match(value)
    ]  # fmt: skip
    return {
        word for word in words_of(texts) if len(word) >= MIN_WORD_LETTERS and not word.isdigit()
    }


def _reformulated(searches: DataFrame | None, events: DataFrame | None) -> Iterator[Idea]:
    """Yield the next query of the same user after a search without a click."""
    if searches is None:
        return
    for name in ("query", "userToken", "timestamp"):
        if name not in searches:
            raise BadInput(f"searches need a column `{name}`, as `read_searches` returns it")
    used = _used(events)
    users: dict[tuple[str, str], set[Any]] = {}
    for user, part in searches.sort_values("timestamp").groupby("userToken", sort=False):
        rows = part.to_dict("records")
        for one, other in itertools.pairwise(rows):
            is_quick = other["timestamp"] - one["timestamp"] <= REFORMULATION_TIME
            pair = _find_replacement(str(one["query"]), str(other["query"]))
            if is_quick and pair and one.get("queryID") not in used:
                users.setdefault(pair, set()).add(user)
    for (word, synonym), searchers in users.items():
        evidence = f"{len(searchers)} users searched for {synonym!r} after {word!r}"
        yield Idea(word, synonym, "reformulations", len(searchers), evidence)


def _used(events: DataFrame | None) -> set[Any]:
    if events is None or "queryID" not in events:
        return set()
    used = events["eventType"] != "view" if "eventType" in events else slice(None)
    return set(events.loc[used, "queryID"].dropna())


def _find_replacement(one: str, other: str) -> tuple[str, str] | None:
    """Return the replaced and the replacing words if the rest of two queries is equal."""
    old, new = words_of(one), words_of(other)
    removed, added = [w for w in old if w not in new], [w for w in new if w not in old]
    kept = [w for w in old if w in new] == [w for w in new if w in old]
    is_prefix = (
        removed and added and (removed[0].startswith(added[0]) or added[0].startswith(removed[0]))
    )
    if (
        not (kept and len(removed) == 1 and 1 <= len(added) <= 2) or is_prefix
    ):  # a longer prefix is not a synonym
        return None
    return removed[0], " ".join(added)


def _chosen(ideas: Iterable[Idea], n: int) -> list[Idea]:
    """Keep the best supported candidate of each pair, and a few of each word."""
    best: dict[tuple[str, str], Idea] = {}
    for idea in sorted(ideas, key=lambda each: -each.support):
        of_word = sum(1 for word, _ in best if word == idea.word)
        if of_word < MAX_SYNONYMS_PER_WORD:
            best.setdefault((idea.word, idea.synonym), idea)
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
            own = queries_table[[idea.word in words_of(query) for query in queries_table["query"]]]
            if own.empty:
                own = check_queries([idea.word])
            before = await tried.run(AS_IT_IS, own)
            after = await tried.run(Variant({"synonyms": [idea.document]}), own)
            rows.append(_row(idea, own, before, after, judged))
    frame = DataFrame(rows, columns=COLUMNS)
    frame = frame[~(frame["hits_after"] == frame["hits_before"])]
    order = ["delta", "zero_after", "support"]
    ordered = frame.assign(delta=frame["delta"].astype("float64")).sort_values(
        order, ascending=[False, True, False], na_position="last", kind="stable"
    )
    return ordered.reset_index(drop=True)


def _row(
    idea: Idea, own: DataFrame, before: DataFrame, after: DataFrame, judged: DataFrame | None
) -> dict[str, Any]:
    counts = [
        found.groupby(["query", "filters"])["nbHits"].first().fillna(0) for found in (before, after)
    ]
    scores = [_mean(found, judged) for found in (before, after)]
    return {
        "word": idea.word, "synonym": idea.synonym, "source": idea.source,
        "support": idea.support, "evidence": idea.evidence, "queries": own["query"].tolist(),
        "hits_before": int(counts[0].sum()), "hits_after": int(counts[1].sum()),
        "zero_before": int((counts[0] == 0).sum()), "zero_after": int((counts[1] == 0).sum()),
        "before": scores[0], "after": scores[1], "delta": scores[1] - scores[0],
        "document": idea.document,
    }  # fmt: skip


def _mean(found: DataFrame, judged: DataFrame | None) -> float:
    if judged is None:
        return np.nan
    known = judged[judged["query"].isin(found["query"])]
    if known.empty:
        return np.nan
    return float(evaluate(found, known, METRIC)["value"].mean())
