"""What a diagnosis reads: the hits of judged queries, the judged records, the counts of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pandas import DataFrame

from svc_notebook.data.client import AsyncClient
from svc_notebook.tuning.changes.request_part import WordCounts, written_words
from svc_notebook.tuning.evaluation.record_texts import (
    attribute_texts,
    detect_language,
    fold_words,
    index_words,
    read_records,
    searchable_names,
    words_by_attribute,
)
from svc_notebook.tuning.evaluation.runs import FailedSearch, run, search_all
from svc_notebook.tuning.tables.queries import read_questions
from svc_notebook.tuning.tables.schema import relevant_from
from svc_notebook.tuning.tables.tables import QUESTION

MAX_DEEP_HITS = 1000  # hits of each query among which relevant records are looked for
MAX_JUDGED_RECORDS = 5000
MAX_LANGUAGE_RECORDS = 200


@dataclass(frozen=True)
class Observation:
    """The judged queries that may be read, and what the index does with them.

    `deep` has the objectIDs that each query finds at all; `words` the words of each judged
    record by attribute; `counts` the number of records that contain each word of a query.
    `is_local` is whether parameters that only the local service has can be tried.
    """

    index: str
    queries: DataFrame
    judged: DataFrame
    base: DataFrame
    deep: Mapping[tuple[str, str], set[str]]
    records: Mapping[str, Mapping[str, Any]]
    words: Mapping[str, Mapping[str, set[str]]]
    counts: Mapping[str, int]
    size: int
    settings: Mapping[str, Any]
    language: str
    is_local: bool

    @property
    def relevant(self) -> DataFrame:
        """The judgments of relevant records that the index has."""
        is_stored = self.judged["objectID"].isin(list(self.records))
        return self.judged[is_stored & (self.judged["rating"] >= self.threshold)]

    @property
    def threshold(self) -> float:
        """The least rating of a relevant record."""
        return relevant_from(self.judged)

    @property
    def searchable(self) -> list[str]:
        """The searchable attributes, without `unordered` and commas; all with text if not set."""
        names = searchable_names(self.settings)
        return names or list(
            dict.fromkeys(n for by_attribute in self.words.values() for n in by_attribute)
        )

    def words_of(self, object_id: str) -> set[str]:
        """Return the searchable words of a judged record."""
        by_attribute = self.words[object_id]
        searchable = self.searchable
        return {
            word
            for name, words in by_attribute.items()
            if any(
                name == attribute or name.startswith(f"{attribute}.") for attribute in searchable
            )
            for word in words
        }


async def observe(
    client: AsyncClient,
    index: str,
    queries: DataFrame,
    judged: DataFrame,
    settings: Mapping[str, Any],
    *,
    counts: WordCounts,
    k: int,
) -> Observation:
    """Search for the queries, and read the judged records and the counts of the words."""
    judged = judged.merge(queries[QUESTION], on=QUESTION)
    judged = judged[judged["rating"].notna()].reset_index(drop=True)
    base = await run(index, queries, {}, k=k, name=index, client=client)
    deep = await _find_deep(client, index, queries, {})
    relevant_first = judged.sort_values("rating", ascending=False, kind="stable")["objectID"]
    ids = relevant_first.drop_duplicates().head(MAX_JUDGED_RECORDS).tolist()
    records = await read_records(client, index, ids)
    await counts.read(list_words(queries))
    sample = [records[name] for name in list(records)[:MAX_LANGUAGE_RECORDS]]
    texts = [text for record in sample for _, text in attribute_texts(record)]
    return Observation(
        index=index,
        queries=queries,
        judged=judged,
        base=base,
        deep=deep,
        records=records,
        words={
            object_id: words_by_attribute(record, index_words)
            for object_id, record in records.items()
        },
        counts={
            word: counts.known[word]
            for text in queries["query"]
            for word in fold_words(text)
            if word in counts.known
        },
        size=counts.known[""],
        settings=settings,
        language=detect_language(texts, settings),
        is_local=client.connection.is_local,
    )


def list_words(queries: DataFrame) -> list[str]:
    """Return the words of queries that are counted, each once; the empty one counts all records."""
    words = ((*fold_words(text), *written_words(text)) for text in queries["query"])
    return list(dict.fromkeys(["", *(word for listed in words for word in listed)]))


async def observe_again(
    client: AsyncClient,
    index: str,
    queries: DataFrame,
    seen: Observation,
    settings: Mapping[str, Any],
    *,
    parameters: Mapping[str, Any],
    k: int,
) -> Observation:
    """Search for the same queries with other settings; the records and their words are the same."""
    params: Any = dict(parameters)
    base = await run(index, queries, params, k=k, name=index, client=client)
    deep = await _find_deep(client, index, queries, params)
    return replace(seen, base=base, deep=deep, settings=settings)


async def _find_deep(
    client: AsyncClient, index: str, queries: DataFrame, params: Mapping[str, Any]
) -> dict[tuple[str, str], set[str]]:
    more: dict[str, Any] = {
        "hitsPerPage": MAX_DEEP_HITS, "attributesToRetrieve": ["objectID"],
        "attributesToHighlight": [], "responseFields": ["hits"],
    }  # fmt: skip
    questions = read_questions(queries)
    requests: Sequence[Mapping[str, Any]] = [
        asked.request(index, params, more) for asked in questions
    ]
    answers = await search_all(client, requests)
    return {
        question.key: set()
        if isinstance(answer, FailedSearch)
        else {hit["objectID"] for hit in answer["hits"]}
        for question, answer in zip(questions, answers, strict=True)
    }
