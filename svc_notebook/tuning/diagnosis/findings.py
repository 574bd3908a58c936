"""Findings: what fails for the judged queries, counted, each with its evidence in words."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from pandas import DataFrame

from svc_notebook.core.display import format_count, shorten
from svc_notebook.tuning.diagnosis.observation import Observation
from svc_notebook.tuning.diagnosis.record_evidence import find_compounds
from svc_notebook.tuning.evaluation.criteria import TIE, criteria_in_order, difference
from svc_notebook.tuning.evaluation.explanation import hits_of
from svc_notebook.tuning.evaluation.record_texts import (
    MIN_PLURAL_LETTERS,
    MIN_TYPO_LETTERS,
    fold_words,
    is_one_typo,
    plural_forms,
    read_function_words,
)
from svc_notebook.tuning.tables.tables import QUESTION

MAX_EXAMPLES = 4
FREQUENT_SHARE = 0.2  # of the records, from which a word has little meaning
MIN_RECORDS_OF_SHARES = 20  # of fewer records, every word would be frequent
MIN_DECISIONS = 20  # pairs that a criterion must have decided
NAMES = (
    "failed searches", "zero results", "relevant records not found", "missing words", "plurals",
    "typos in records", "joined and split words", "units",
    "hits with typos", "frequent words", "ties", "order of criteria",
    "attribute order", "unjudged hits", "missing records",
)  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """One kind of failure: affected queries, their share, and what was counted."""

    name: str
    queries: int
    share: float
    evidence: str


@dataclass(frozen=True)
class CriterionDecisions:
    """How often a criterion ranked the better one of two hits first, and how often the worse."""

    name: str
    right: int
    wrong: int

    @property
    def right_share(self) -> float:
        """The share of right decisions."""
        return self.right / max(1, self.right + self.wrong)


@dataclass(frozen=True)
class Losses:
    """Why relevant records lack words of their queries, as queries and examples."""

    absent: Counter[str]
    plural: Counter[tuple[str, str]]
    typo: Counter[tuple[str, str]]
    absent_queries: set[str]
    plural_queries: set[str]
    typo_queries: set[str]


def find_all(seen: Observation, missing: DataFrame) -> list[Finding]:
    """Return every finding that concerns at least one query, in the order of `NAMES`."""
    losses = find_losses(seen)
    findings = [*_hits(seen), *_words(seen, losses), *_order(seen), *_judgments(seen, missing)]
    return sorted(
        (finding for finding in findings if finding.queries), key=lambda e: NAMES.index(e.name)
    )


def _finding(seen: Observation, name: str, queries: int, evidence: str) -> Finding:
    return Finding(name, queries, queries / max(1, len(seen.queries)), evidence)


def _hits(seen: Observation) -> Iterator[Finding]:
    answered = seen.base.drop_duplicates(QUESTION).set_index(QUESTION)
    failed = answered[answered["error"] != ""]
    yield _finding(
        seen, "failed searches", len(failed),
        f"{len(failed):,} of {len(answered):,} searches fail and count as without hits"
        f"{_examples([key[0] for key in failed.index])}: "
        f"{'; '.join(failed['error'].unique()[:1])}",
    )  # fmt: skip
    first = answered["nbHits"]
    empty = first[first == 0]
    relevant: dict[tuple[str, str], set[str]] = {}
    for query, filters, object_id in _rows(seen.relevant):
        relevant.setdefault((query, filters), set()).add(object_id)
    with_relevant = sum(key in relevant for key in empty.index)
    yield _finding(
        seen, "zero results", len(empty),
        f"{len(empty):,} of {len(first):,} queries find nothing; {with_relevant:,} of them have "
        f"relevant records in the index{_examples([key[0] for key in empty.index])}",
    )  # fmt: skip
    lost = {key: ids - seen.deep.get(key, set()) for key, ids in relevant.items()}
    count, total = (sum(map(len, ids_by_query.values())) for ids_by_query in (lost, relevant))
    yield _finding(
        seen, "relevant records not found", sum(map(bool, lost.values())),
        f"{count:,} of {total:,} relevant records are not among the first 1,000 hits",
    )  # fmt: skip


def find_losses(seen: Observation) -> Losses:
    """Find the words of queries that relevant records which are not found lack.

    Words without a meaning of their own explain no loss: function words, and frequent ones.
    """
    losses = Losses(Counter(), Counter(), Counter(), set(), set(), set())
    texts = {object_id: seen.words_of(object_id) for object_id in set(seen.relevant["objectID"])}
    meaningless = read_function_words(seen.language) | find_frequent(seen)
    content = {object_id: words - meaningless for object_id, words in texts.items()}
    for query, filters, object_id in _rows(seen.relevant):
        if object_id in seen.deep.get((query, filters), ()):
            continue
        for word in fold_words(query):
            if word not in texts[object_id] | meaningless:
                _add_loss(losses, query, word, content[object_id])
    _add_absent_words(losses, seen)
    return losses


def _add_absent_words(losses: Losses, seen: Observation) -> None:
    """Add the words of queries that no record contains."""
    for text in seen.queries["query"]:
        absent = [word for word in fold_words(text) if seen.counts.get(word) == 0]
        losses.absent.update(absent)
        if absent:
            losses.absent_queries.add(text)


def find_frequent(seen: Observation) -> set[str]:
    """Return the words of judged records that many of them contain; none of few records."""
    if len(seen.words) < MIN_RECORDS_OF_SHARES:
        return set()
    records_by_word = Counter(
        word for texts in seen.words.values() for word in set().union(*texts.values())
    )
    limit = FREQUENT_SHARE * len(seen.words)
    return {word for word, records in records_by_word.items() if records > limit}


def _rows(judged: DataFrame) -> Iterator[tuple[str, str, str]]:
    for query, filters, object_id in judged[[*QUESTION, "objectID"]].itertuples(index=False):
        yield str(query), str(filters), str(object_id)


def _add_loss(losses: Losses, query: str, word: str, words: set[str]) -> None:
    plural = {form for form in plural_forms(word) & words if _is_long_enough(word, form)}
    if plural:
        losses.plural[word, min(plural)] += 1
        losses.plural_queries.add(query)
    elif len(word) >= MIN_TYPO_LETTERS:
        near = min((other for other in words if is_one_typo(word, other)), default="")
        if near:
            losses.typo[word, near] += 1
            losses.typo_queries.add(query)


def _is_long_enough(word: str, form: str) -> bool:
    return min(len(word), len(form)) >= MIN_PLURAL_LETTERS


def _words(seen: Observation, losses: Losses) -> Iterator[Finding]:
    yield _finding(
        seen, "missing words", len(losses.absent_queries),
        f"{format_count(len(losses.absent), 'word')} of queries are in no record"
        f"{_examples(list(losses.absent))}",
    )  # fmt: skip
    for name, pairs, queries, form in (
        ("plurals", losses.plural, losses.plural_queries, "in another number only"),
        ("typos in records", losses.typo, losses.typo_queries, "one letter apart only"),
    ):
        shown = [f"{written}/{other}" for (written, other), _ in pairs.most_common(MAX_EXAMPLES)]
        yield _finding(
            seen, name, len(queries),
            f"{sum(pairs.values()):,} times a relevant record that is not found has a word of "
            f"the query {form}{_examples(shown)}",
        )  # fmt: skip
    for name, compounds in find_compounds(seen).items():
        common = compounds.counts.most_common(MAX_EXAMPLES)
        yield _finding(
            seen, name, len(compounds.queries),
            f"{compounds.counts.total():,} times a relevant record that is not found has words of "
            f"the query joined or apart{_examples([f'{a}/{b}' for (a, b), _ in common])}",
        )  # fmt: skip
    yield _find_frequent_words(seen)


def _find_frequent_words(seen: Observation) -> Finding:
    frequent = {word for word, n in seen.counts.items() if word and n > FREQUENT_SHARE * seen.size}
    concerned = [
        text for text in seen.queries["query"]
        if len(words := fold_words(text)) > 1 and not frequent.isdisjoint(words)
    ]  # fmt: skip
    return _finding(
        seen, "frequent words", len(concerned),
        f"queries of several words contain words of more than {FREQUENT_SHARE:.0%} of the records"
        f"{_examples(sorted(frequent, key=lambda word: -seen.counts[word]))}",
    )  # fmt: skip


def _order(seen: Observation) -> Iterator[Finding]:
    hits = seen.base[seen.base["objectID"].notna()]
    graded = hits.merge(seen.judged[[*QUESTION, "objectID", "rating"]], how="left",
                        on=[*QUESTION, "objectID"])  # fmt: skip
    graded = graded.drop_duplicates([*QUESTION, "objectID"])
    typos = graded[graded["nbTypos"].fillna(0) > 0]
    useless = typos[~(typos["rating"] >= seen.threshold)]
    without = graded[graded["nbTypos"].fillna(0) == 0]
    shares = [_share(part, seen.threshold) for part in (typos, without)]
    yield _finding(
        seen, "hits with typos", len(useless[QUESTION].drop_duplicates()),
        f"{len(useless):,} of {len(typos):,} first hits with typos ({shares[0]}) are not "
        f"relevant, and {shares[1]} of the others",
    )  # fmt: skip
    ties, pairs, queries = count_ties(seen)
    yield _finding(
        seen, "ties", queries,
        f"{ties:,} of {pairs:,} neighbouring pairs of the first hits ({ties / max(1, pairs):.0%}) "
        "are equal in every criterion, so that chance orders them",
    )  # fmt: skip
    bad = [decision for decision in criterion_decisions(seen) if decision.right_share < 0.5]
    words = ", ".join(
        f"{decision.name} is right in {decision.right:,} of {decision.right + decision.wrong:,}"
        for decision in bad
    )
    yield _finding(
        seen, "order of criteria", len(seen.queries) if bad else 0,
        f"of pairs of first hits with different grades, by the criterion that decides: {words}",
    )  # fmt: skip
    lifts = attribute_lifts(seen)
    ordered = sorted(lifts, key=lambda name: -lifts[name])
    current = [name for name in seen.searchable if name in lifts]
    described = ", ".join(f"{name} {lifts[name]:+.0%}" for name in ordered)
    yield _finding(
        seen, "attribute order", len(seen.queries) if ordered != current else 0,
        "words of the query are more often in relevant records than in irrelevant ones, by "
        f"attribute: {described}",
    )  # fmt: skip


def _share(part: DataFrame, threshold: float) -> str:
    return f"{(~(part['rating'] >= threshold)).mean():.0%}" if len(part) else "0%"


def count_ties(seen: Observation) -> tuple[int, int, int]:
    """Return tied neighbouring pairs of the first hits, all such pairs, and the tied queries."""
    steps = criteria_in_order(seen.base.attrs["svc"]["ranking"], {})
    ties = pairs = queries = 0
    for hits in _answers(seen):
        tied = [
            difference(upper, other, steps).criterion == TIE
            for upper, other in itertools.pairwise(hits)
        ]
        ties, pairs, queries = ties + sum(tied), pairs + len(tied), queries + any(tied)
    return ties, pairs, queries


def criterion_decisions(seen: Observation) -> list[CriterionDecisions]:
    """Count, for each criterion, the pairs of first hits with different grades that it decides."""
    steps = criteria_in_order(seen.base.attrs["svc"]["ranking"], {})
    gains = seen.judged.set_index([*QUESTION, "objectID"])["rating"].dropna().to_dict()
    right: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for key, hits in zip(_keys(seen), _answers(seen), strict=True):
        graded = [
            (hit, gains[*key, hit["objectID"]]) for hit in hits if (*key, hit["objectID"]) in gains
        ]
        for (upper, grade), (lower, other) in itertools.combinations(graded, 2):
            if grade != other:
                name = difference(upper, lower, steps).criterion
                (right if grade > other else wrong)[name] += 1
    return [
        CriterionDecisions(name, right[name], wrong[name])
        for name in {**right, **wrong}
        if name not in (TIE, "promoted") and right[name] + wrong[name] >= MIN_DECISIONS
    ]


def _keys(seen: Observation) -> list[tuple[str, str]]:
    hits = seen.base[seen.base["objectID"].notna()]
    rows = hits[QUESTION].drop_duplicates().itertuples(index=False, name=None)
    return [(str(query), str(filters)) for query, filters in rows]


def _answers(seen: Observation) -> Iterator[list[dict[str, Any]]]:
    for query, filters in _keys(seen):
        yield [hit for _, hit in hits_of(seen.base, query, filters)]


def attribute_lifts(seen: Observation) -> dict[str, float]:
    """Return for each text attribute how much more of a query its words cover if relevant.

    The mean share of the query's words in the attribute, relevant less irrelevant records.
    """
    judged = seen.judged[seen.judged["objectID"].isin(list(seen.records))]
    threshold = seen.threshold
    sums: dict[str, list[list[float]]] = {}
    for row in judged.to_dict("records"):
        query_words = {*fold_words(row["query"])}
        record_words = seen.words[row["objectID"]]
        for name in record_words:
            sums.setdefault(name, [[], []])
        for name, sides in sums.items():
            share = len(query_words & record_words.get(name, set())) / max(1, len(query_words))
            sides[row["rating"] >= threshold].append(share)
    return {
        name: float(np.mean(sides[1])) - (float(np.mean(sides[0])) if sides[0] else 0.0)
        for name, sides in sums.items()
        if sides[1] and np.mean(sides[1]) > 0
    }


def _judgments(seen: Observation, missing: DataFrame) -> Iterator[Finding]:
    hits = seen.base[seen.base["objectID"].notna()]
    both = hits.merge(
        seen.judged[[*QUESTION, "objectID"]].drop_duplicates(), on=[*QUESTION, "objectID"],
        how="left", indicator=True,
    )  # fmt: skip
    unjudged = both[both["_merge"] == "left_only"]
    yield _finding(
        seen, "unjudged hits", len(unjudged[QUESTION].drop_duplicates()),
        f"{len(unjudged):,} of {len(hits):,} first hits ({len(unjudged) / max(1, len(hits)):.0%}) "
        "have no judgment and count as irrelevant: see svc.tuning.next_to_judge",
    )  # fmt: skip
    yield _finding(
        seen, "missing records", len(missing[QUESTION].drop_duplicates()),
        f"{missing['objectID'].nunique():,} judged records are not in the index: see "
        "svc.tuning.missing",
    )  # fmt: skip


def _examples(texts: list[str]) -> str:
    shown = [repr(shorten(text, 40)) for text in texts[:MAX_EXAMPLES]]
    return f", such as {', '.join(shown)}" if shown else ""
