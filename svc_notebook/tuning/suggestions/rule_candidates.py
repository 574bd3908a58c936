"""Candidates for rules: pins of judged records, and boosts of facet values for words of queries."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pandas import DataFrame

from svc_notebook.tuning.evaluation.record_texts import split_words
from svc_notebook.tuning.suggestions.synonym_evidence import MIN_WORD_LETTERS
from svc_notebook.tuning.tables.relevance import relevant_from
from svc_notebook.tuning.tables.tables import QUESTION

Kind = Literal["pin", "boost"]
MIN_RELEVANT_SHARE = 0.5  # of the relevant records of a query, that have the facet value
MIN_SHARE_GAP = 0.3  # by which irrelevant records have it less often
MAX_BOOSTS_PER_WORD = 2


@dataclass(frozen=True)
class RuleCandidate:
    """A rule: its pattern, what it ranks higher, and the queries that it comes from."""

    kind: Kind
    pattern: str
    target: str
    support: int
    evidence: str
    queries: frozenset[str]

    @property
    def document(self) -> dict[str, Any]:
        """Return the rule in the API's format."""
        digest = hashlib.sha256(f"{self.kind}\0{self.pattern}\0{self.target}".encode())
        anchoring = "is" if self.kind == "pin" else "contains"
        consequence: dict[str, Any] = (
            {"promote": [{"objectID": self.target, "position": 0}]}
            if self.kind == "pin"
            else {"params": {"optionalFilters": [self.target]}}
        )
        return {
            "objectID": f"suggested-{digest.hexdigest()[:8]}",
            "description": f"Suggested: {self.kind} {self.target} for {self.pattern}",
            "conditions": [{"pattern": self.pattern, "anchoring": anchoring}],
            "consequence": consequence,
        }


def find_pins(base: DataFrame, judged: DataFrame) -> Iterator[RuleCandidate]:
    """Yield, for each query, its best judged record if the first hit is worse."""
    best_grade = judged["rating"].max()
    first = base[base["rank"] == 1].set_index(QUESTION)["objectID"].to_dict()
    ranks = {
        (row["query"], row["objectID"]): int(row["rank"])
        for row in base[base["objectID"].notna()].to_dict("records")
    }
    for key, part in judged.groupby(QUESTION, sort=False):
        query, filters = str(key[0]), str(key[1])
        grades = part.groupby("objectID")["rating"].mean()
        if filters or not query.strip() or best_grade <= 0 or grades.max() < best_grade:
            continue
        shown = first.get((query, filters))
        if grades.get(shown, 0.0) >= grades.max():
            continue
        best = sorted(
            grades[grades == grades.max()].index,
            key=lambda each: (ranks.get((query, each), len(base)), each),
        )[0]
        support = _support(part[part["objectID"] == best])
        rank = ranks.get((query, str(best)))
        where = f"ranks {rank}" if rank else "is not among the first hits"
        yield RuleCandidate(
            "pin", query, str(best), support,
            f"grade {grades.max():g}, {where}; the first hit has {_grade(grades.get(shown))}",
            frozenset([query]),
        )  # fmt: skip


def _grade(grade: float | None) -> str:
    return "no judgment" if grade is None else f"grade {grade:g}"


def _support(rows: DataFrame) -> int:
    """Return the clicks of judgments from clicks, else the number of judgments."""
    return int(rows["clicks"].sum()) if "clicks" in rows else len(rows)


def find_boosts(
    judged: DataFrame, records: Mapping[str, Mapping[str, Any]], facets: Sequence[str]
) -> list[RuleCandidate]:
    """Return facet values that the relevant records of queries with a word have in common."""
    threshold = relevant_from(judged)
    values = {each: facet_values(record, facets) for each, record in records.items()}
    queries: dict[str, set[str]] = {}
    telling: dict[tuple[str, str], set[str]] = {}
    for query, part in judged.groupby("query", sort=False):
        sides: list[list[set[str]]] = [[], []]
        for row in part.to_dict("records"):
            if row["objectID"] in values:
                sides[row["rating"] >= threshold].append(values[row["objectID"]])
        words = {word for word in split_words(str(query)) if len(word) >= MIN_WORD_LETTERS}
        for word in words:
            queries.setdefault(word, set()).add(str(query))
        for value in _telling_values(*sides):
            for word in words:
                telling.setdefault((word, value), set()).add(str(query))
    candidates = [
        RuleCandidate(
            "boost", word, value, len(own),
            f"in {len(own)} of {len(queries[word])} queries with {word!r}, relevant records have "
            f"{value} and irrelevant ones have not",
            frozenset(own),
        )
        for (word, value), own in telling.items()
        if len(own) >= 2 and 2 * len(own) >= len(queries[word])
    ]  # fmt: skip
    per_word: Counter[str] = Counter()
    kept = []
    for each in sorted(candidates, key=lambda one: (-one.support, one.pattern, one.target)):
        per_word[each.pattern] += 1
        if per_word[each.pattern] <= MAX_BOOSTS_PER_WORD:
            kept.append(each)
    return kept


def facet_values(record: Mapping[str, Any], facets: Sequence[str]) -> set[str]:
    """Return the facet values of a record, as `optionalFilters` name them."""
    values: set[str] = set()
    for facet in facets:
        value: Any = record
        for name in facet.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, str) and item and not item.startswith("-"):
                values.add(f"{facet}:{item}")
    return values


def _telling_values(irrelevant: list[set[str]], relevant: list[set[str]]) -> list[str]:
    if not relevant or not irrelevant:
        return []
    shares = {
        value: (
            sum(value in values_of_record for values_of_record in relevant) / len(relevant),
            sum(value in values_of_record for values_of_record in irrelevant) / len(irrelevant),
        )
        for value in set().union(*relevant)
    }
    return [
        value
        for value, (share, other) in shares.items()
        if share >= MIN_RELEVANT_SHARE and share - other >= MIN_SHARE_GAP
    ]
