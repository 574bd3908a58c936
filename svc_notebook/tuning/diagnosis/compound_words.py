"""Joined and split words, and units: `note book` against `notebook`, `5mm` against `5 mm`."""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from svc_notebook.tuning.diagnosis.observation import Observation
from svc_notebook.tuning.evaluation.record_texts import attribute_texts, fold_words, split_words

MIN_PART_LETTERS = 2
MAX_SUGGESTED_PAIRS = 20
JOINED, UNITS = "joined and split words", "units"


@dataclass
class CompoundPairs:
    """Pairs of a text of queries and that of records, by how often, and their queries."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    queries: set[str] = field(default_factory=set)

    @property
    def synonyms(self) -> list[dict[str, Any]]:
        """The one-way synonyms with which the queries match the records."""
        return [_make_synonym(*pair) for pair, _ in self.counts.most_common(MAX_SUGGESTED_PAIRS)]


def find_compounds(seen: Observation) -> dict[str, CompoundPairs]:
    """Find the words that relevant records which are not found write joined, or apart."""
    pairs = {JOINED: CompoundPairs(), UNITS: CompoundPairs()}
    texts: dict[str, list[list[str]]] = {}
    for row in seen.relevant.to_dict("records"):
        query, object_id = str(row["query"]), str(row["objectID"])
        if object_id in seen.deep.get((query, str(row["filters"])), ()):
            continue
        if object_id not in texts:
            texts[object_id] = list(_read_texts(seen, object_id))
        for pair in _compare(fold_words(query), texts[object_id]):
            kind = pairs[UNITS if any(text[0].isdigit() for text in pair) else JOINED]
            kind.counts[pair] += 1
            kind.queries.add(query)
    return pairs


def _read_texts(seen: Observation, object_id: str) -> Iterator[list[str]]:
    for path, text in attribute_texts(seen.records[object_id]):
        if any(path == name or path.startswith(f"{name}.") for name in seen.searchable):
            yield [folded for word in split_words(text) for folded in fold_words(word)]


def _compare(query: Sequence[str], texts: Sequence[Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Yield the words of a query that a record has in another form, with that form."""
    words = {*itertools.chain.from_iterable(texts)}
    pairs = itertools.chain.from_iterable(map(itertools.pairwise, texts))
    apart = {"".join(pair): pair for pair in pairs}
    for left, other in itertools.pairwise(query):
        if left + other in words and not {left, other} <= words:
            yield f"{left} {other}", left + other
    for word in dict.fromkeys(query):
        parts = apart.get(word, ())
        if parts and word not in words and all(map(_is_part, parts)):
            yield word, " ".join(parts)


def _is_part(word: str) -> bool:
    return len(word) >= MIN_PART_LETTERS or word.isdigit()


def _make_synonym(text: str, other: str) -> dict[str, Any]:
    digest = hashlib.sha256(f"{text}\0{other}".encode()).hexdigest()[:8]
    return {
        "objectID": f"suggested-{digest}", "type": "oneWaySynonym", "input": text,
        "synonyms": [other],
    }  # fmt: skip
