"""Ideas for synonyms: from records, from the contrast of relevant ones, from reformulations."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd
from pandas import DataFrame

from svc_notebook.core.display import shorten
from svc_notebook.core.terminal import warn_user
from svc_notebook.data.client import AsyncClient
from svc_notebook.errors import BadInput
from svc_notebook.tuning.evaluation.record_texts import (
    MIN_WORD_LETTERS,
    is_url,
    long_words,
    plural_forms,
    read_records,
    words_by_attribute,
    words_of,
)
from svc_notebook.tuning.evaluation.runs import FailedSearch, search_all
from svc_notebook.tuning.tables.schema import relevant_from
from svc_notebook.tuning.variants.trials import (
    suggested_id,
)

Source = Literal["records", "reformulations"]
# Ratio of a word's share in relevant records not found to that in the found ones.
MIN_CONTRAST, MIN_CONTRAST_OF_FREQUENT = 2.0, 4.0
MAX_TITLE_CHARACTERS = 200  # longer texts contain too many words
MAX_SYNONYMS_PER_WORD = 3
SAMPLE_RECORDS_PER_QUERY = 20
MAX_DEEP_HITS = 1000
MIN_LIFT = 1.5  # ratio of a word's frequency in the relevant records to that elsewhere
MAX_FREQUENT_SHARE = 0.2  # of the records; a more frequent word needs more contrast
REFORMULATION_TIME = pd.Timedelta(minutes=5)  # limit between a search and its reformulation


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
        warn_user(
            f"searches failed for {len(failed):,} of {len(queries):,} queries, such as "
            f"{shorten(failed[0], 40)!r}, and nothing is suggested from them; see the column "
            "`error` of svc.tuning.run"
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
        lacking = list(itertools.compress(lost, map(forms.isdisjoint, texts)))
        if len(lacking) < max(2, len(lost) / 2):
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
            raise BadInput(f"searches need a column `{name}`, as `svc.read_searches` returns it")
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
    kept, removed = _split_by(old, new)
    kept_after, added = _split_by(new, old)
    if kept != kept_after or len(removed) != 1 or not 1 <= len(added) <= 2:
        return None
    # A query that was typed further does not replace a word.
    if removed[0].startswith(added[0]) or added[0].startswith(removed[0]):
        return None
    return removed[0], " ".join(added)


def _split_by(words: Sequence[str], others: Collection[str]) -> tuple[list[str], list[str]]:
    """Return the words that are among others, and the words that are not."""
    return [w for w in words if w in others], [w for w in words if w not in others]
