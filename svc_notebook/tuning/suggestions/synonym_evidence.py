"""Evidence for synonyms: words of relevant records, and reformulations of users."""

from __future__ import annotations

import hashlib
import itertools
import math
import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd
from pandas import DataFrame

from svc_notebook.client import AsyncClient
from svc_notebook.display import shorten
from svc_notebook.errors import BadInput
from svc_notebook.tuning.diagnosis.record_words import plural_forms, read_records
from svc_notebook.tuning.evaluation.record_texts import is_url, split_words, words_by_attribute
from svc_notebook.tuning.evaluation.runs import FailedSearch, search_all
from svc_notebook.tuning.tables.relevance import relevant_from

Source = Literal["records", "reformulations"]
MIN_WORD_LETTERS = 3
MAX_TITLE_CHARACTERS = 200  # longer texts contain too many words
MAX_SYNONYMS_PER_WORD = 3
SAMPLE_RECORDS_PER_QUERY = 20
MAX_DEEP_HITS = 1000
MIN_LIFT = 1.5  # ratio of a word's frequency in the relevant records to that elsewhere
# Ratio of a word's share in relevant records not found to that in the found ones.
MIN_CONTRAST, MIN_CONTRAST_OF_FREQUENT = 2.0, 4.0
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
        return len({word for word in words_of(query) if len(word) >= MIN_WORD_LETTERS}) > 1

    @property
    def document(self) -> dict[str, Any]:
        """Return the synonym in the API's format: searches for the word also match the other."""
        digest = hashlib.sha256(f"{self.word}\0{self.synonym}".encode()).hexdigest()[:8]
        return {
            "objectID": f"suggested-{digest}", "type": "oneWaySynonym", "input": self.word,
            "synonyms": [self.synonym],
        }  # fmt: skip


def words_of(text: Any) -> list[str]:
    """Return the words of a text, or of the texts in a list or an object."""
    if isinstance(text, str):
        return split_words(text)
    inner = text.values() if isinstance(text, Mapping) else text if isinstance(text, list) else ()
    return [word for item in inner for word in words_of(item)]


async def ideas_from_records(
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
    return [idea for sample in read for idea in _typical_words(*sample, index_counts)]


async def ideas_from_contrast(client: AsyncClient, index: str, judged: DataFrame) -> list[Idea]:
    """Find words that occur, and what the relevant records that are not found say instead."""
    relevant = judged[judged["rating"] >= relevant_from(judged)].drop_duplicates(
        ["query", "objectID"]
    )
    queries = relevant["query"].drop_duplicates().tolist()
    found_ids = await _find_ids(client, index, queries)
    lost = {
        query: [each for each in own if each not in found_ids[query]][:SAMPLE_RECORDS_PER_QUERY]
        for query, own in relevant.groupby("query", sort=False)["objectID"].agg(list).items()
        if query in found_ids
    }
    shown = {query: found_ids[query][:SAMPLE_RECORDS_PER_QUERY] for query in lost}
    ids = dict.fromkeys(each for part in (lost, shown) for own in part.values() for each in own)
    records = await read_records(client, index, list(ids))
    words = {word for query in lost for word in words_of(query)}
    counts = await _count_hits(client, index, ["", *sorted(words)])
    read = [
        (str(query), [records[each] for each in own if each in records],
         [records[each] for each in shown[query] if each in records])
        for query, own in lost.items()
    ]  # fmt: skip
    candidates = {word for query, own, _ in read for word, _ in _common_words(query, own)}
    counts |= await _count_hits(client, index, sorted(candidates - counts.keys()))
    return [idea for each in read for idea in _contrasting_words(*each, counts)]


async def _find_ids(
    client: AsyncClient, index: str, queries: Sequence[str]
) -> dict[str, list[str]]:
    shared = {"hitsPerPage": MAX_DEEP_HITS, "attributesToRetrieve": ["objectID"],
              "attributesToHighlight": [], "analytics": False}  # fmt: skip
    requests = [{"indexName": index, "query": query, **shared} for query in queries]
    answers = await search_all(client, requests) if requests else []
    failed = [
        query
        for query, answer in zip(queries, answers, strict=True)
        if isinstance(answer, FailedSearch)
    ]
    if failed:
        warnings.warn(
            f"searches failed for {len(failed):,} of {len(queries):,} queries, such as "
            f"{shorten(failed[0], 40)!r}, and nothing is suggested from them; see the column "
            "`error` of svc.tuning.run",
            stacklevel=2,
        )
    return {
        query: [hit["objectID"] for hit in answer["hits"]]
        for query, answer in zip(queries, answers, strict=True)
        if not isinstance(answer, FailedSearch)
    }


def _contrasting_words(
    query: str,
    lost: Sequence[Mapping[str, Any]],
    shown: Sequence[Mapping[str, Any]],
    counts: Mapping[str, int],
) -> Iterator[Idea]:
    """Yield words of the relevant records that a query does not find, instead of one of its own."""
    texts = [{word for own in words_by_attribute(each).values() for word in own} for each in lost]
    in_shown = Counter(word for record in shown for word in _title_words(record))
    for word in words_of(query):
        frequent = counts.get(word, 0) > MAX_FREQUENT_SHARE * counts[""]
        min_contrast = MIN_CONTRAST_OF_FREQUENT if frequent else MIN_CONTRAST
        if len(word) < MIN_WORD_LETTERS or counts.get(word, 0) <= 0:
            continue
        forms = {word, *plural_forms(word)}
        lacking = [record for record, own in zip(lost, texts, strict=True) if not forms & own]
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
    best = sorted(scores, key=lambda each: -scores[each])[:MAX_SYNONYMS_PER_WORD]
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
        ids = relevant.sort_values("rating", ascending=False)["objectID"].head(
            SAMPLE_RECORDS_PER_QUERY
        )
        if len(ids):
            return list((await read_records(client, index, ids.tolist())).values())
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
    return {
        word for word in words_of(texts) if len(word) >= MIN_WORD_LETTERS and not word.isdigit()
    }


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
        for one, other in itertools.pairwise(rows):
            is_quick = other["timestamp"] - one["timestamp"] <= REFORMULATION_TIME
            pair = _find_replacement(str(one["query"]), str(other["query"]))
            if is_quick and pair and one.get("queryID") not in used:
                users.setdefault(pair, set()).add(user)
                queries.setdefault(pair, set()).add(str(one["query"]))
    for (word, synonym), searchers in users.items():
        evidence = f"{len(searchers)} users searched for {synonym!r} after {word!r}"
        sessions = frozenset(queries[word, synonym])
        yield Idea(word, synonym, "reformulations", len(searchers), evidence, sessions)


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
