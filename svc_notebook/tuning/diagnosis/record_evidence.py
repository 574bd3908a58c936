"""Evidence for levers in judged records: compound words, units and numeric attributes.

Compound words and units are `note book` against `notebook` and `5mm` against `5 mm`. Numeric
attributes are measured by how far each agrees with the grades of the same query.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from pandas import DataFrame

from svc_notebook.tuning.diagnosis.observation import Observation
from svc_notebook.tuning.evaluation.record_texts import attribute_texts, fold_words, split_words
from svc_notebook.tuning.variants.trials import suggested_id

MIN_PART_LETTERS = 2
MAX_SUGGESTED_PAIRS = 20
JOINED, UNITS = "joined and split words", "units"

MIN_FILLED_SHARE = 0.5  # of the judged records: those in which an attribute is a number
MAX_PAIRS_PER_QUERY = 20_000


@dataclass
class CompoundPairs:
    """Pairs of a text of queries and that of records, by how often, and their queries."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    queries: set[str] = field(default_factory=set)

    @property
    def synonyms(self) -> list[dict[str, Any]]:
        """The one-way synonyms with which the queries match the records."""
        return [
            {
                "objectID": suggested_id(text, other), "type": "oneWaySynonym", "input": text,
                "synonyms": [other],
            }
            for (text, other), _ in self.counts.most_common(MAX_SUGGESTED_PAIRS)
        ]  # fmt: skip


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
        for pair in _compare_words(fold_words(query), texts[object_id]):
            kind = pairs[UNITS if any(text[0].isdigit() for text in pair) else JOINED]
            kind.counts[pair] += 1
            kind.queries.add(query)
    return pairs


def _read_texts(seen: Observation, object_id: str) -> Iterator[list[str]]:
    for path, text in attribute_texts(seen.records[object_id]):
        if any(path == name or path.startswith(f"{name}.") for name in seen.searchable):
            yield [folded for word in split_words(text) for folded in fold_words(word)]


def _compare_words(
    query: Sequence[str], texts: Sequence[Sequence[str]]
) -> Iterator[tuple[str, str]]:
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


class NumericAttribute(NamedTuple):
    """An attribute, and the share of pairs of records in which it is higher for the better one.

    `concordance` is 0.5 without any relation, 1 if a higher value always means a better grade;
    `pairs` is the number of pairs of records of the same query with different grades.
    """

    name: str
    concordance: float
    pairs: int

    @property
    def sort(self) -> str:
        """The custom ranking by the attribute, in the direction of the grades."""
        return f"desc({self.name})" if self.concordance >= 0.5 else f"asc({self.name})"


def numbers_of(record: Mapping[str, Any], prefix: str = "") -> dict[str, float]:
    """Return the numbers of a record by attribute path; booleans are left out."""
    numbers: dict[str, float] = {}
    for name, value in record.items():
        if isinstance(value, Mapping):
            numbers |= numbers_of(value, f"{prefix}{name}.")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            numbers[f"{prefix}{name}"] = float(value)
    return numbers


def rank_attributes(
    judged: DataFrame, records: Mapping[str, Mapping[str, Any]]
) -> list[NumericAttribute]:
    """Return the numeric attributes of judged records, the most telling first."""
    numbers = {object_id: numbers_of(record) for object_id, record in records.items()}
    counts: dict[str, int] = {}
    for of_record in numbers.values():
        for name in of_record:
            counts[name] = counts.get(name, 0) + 1
    names = [name for name, n in counts.items() if n >= MIN_FILLED_SHARE * max(1, len(numbers))]
    rated = judged[judged["objectID"].isin(numbers) & judged["rating"].notna()]
    compared = [_compare(name, rated, numbers) for name in names]
    return sorted(
        (attribute for attribute in compared if attribute.pairs),
        key=lambda attribute: -abs(attribute.concordance - 0.5),
    )


def _compare(
    name: str, rated: DataFrame, numbers: Mapping[str, Mapping[str, float]]
) -> NumericAttribute:
    agreeing = pairs = 0.0
    for _, part in rated.groupby(["query", "filters"], sort=False):
        values = np.array([numbers[object_id].get(name, np.nan) for object_id in part["objectID"]])
        grades = part["rating"].to_numpy(dtype=np.float64)
        filled = ~np.isnan(values)
        better = grades[filled, None] > grades[None, filled]
        if not better.any():
            continue
        higher = np.sign(values[filled, None] - values[None, filled])[better]
        weight = min(1.0, MAX_PAIRS_PER_QUERY / len(higher))  # no query outweighs all others
        agreeing += weight * float(((higher + 1) / 2).sum())
        pairs += weight * len(higher)
    return NumericAttribute(name, agreeing / pairs if pairs else 0.5, round(pairs))
