"""Rows that match filter terms, looked up once for all terms of an attribute, and their scores.

Ten thousand terms cost little more than one: terms with values of the same attribute are looked up
as a set, and the masks of the other terms are combined one at a time and not kept.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from svc_notebook.service.engine.arrays import Array, make_mask
from svc_notebook.service.engine.execution import check_time
from svc_notebook.service.engine.filters.grammar import (
    Between,
    Facet,
    Filter,
    Group,
    Numeric,
    Tag,
    Term,
)
from svc_notebook.service.engine.index.schema import OBJECT_ID, TAGS
from svc_notebook.service.engine.index.segment import Segment

COMPARE: Mapping[str, Callable[[Array, float], Array]] = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    ">": operator.gt,
    ">=": operator.ge,
}


class Column(NamedTuple):
    """An attribute to look up, as numbers or as facet values."""

    path: str
    numeric: bool


# Columns, each with the values of which a row must have one.
Sets = Mapping[Column, Sequence[Any]]


class Member(NamedTuple):
    """A term that tests for one value of a column."""

    column: Column
    value: Any
    negated: bool


def read_member(term: Term) -> Member | None:
    """Return the column and value that a term tests; None for a comparison."""
    match term:
        case Facet(attribute, value, negated, _):
            return Member(Column(attribute, False), value, negated)
        case Tag(value, negated, _):
            return Member(Column(TAGS, False), value, negated)
        case Numeric(attribute, "=" | "!=" as sign, number, negated):
            return Member(Column(attribute, True), number, negated != (sign == "!="))
    return None


@dataclass(frozen=True, eq=False)
class AnyOf:
    """Terms of which at least one must match."""

    sets: Sets
    others: Sequence[Term]

    @classmethod
    def of(cls, terms: Iterable[Term]) -> AnyOf:
        """Group terms by the column that they test."""
        sets: dict[Column, list[Any]] = {}
        others: list[Term] = []
        for term in terms:
            member = read_member(term)
            if member is None or member.negated:
                others.append(term)
            else:
                sets.setdefault(member.column, []).append(member.value)
        return cls(sets, others)

    def find_rows(self, segment: Segment) -> Array:
        """Return the mask of the rows that match any of the terms."""
        matched: Array | None = None
        for column, values in self.sets.items():
            matched = _either(matched, find_members(segment, column, values))
        for number, term in enumerate(self.others):
            if number and matched is not None and matched.all():
                break
            matched = _either(matched, find_term(segment, term))
        return np.zeros(len(segment), bool) if matched is None else matched


@dataclass(frozen=True, eq=False)
class AllOf:
    """Groups of terms that must all match."""

    excluded: Sets
    groups: Sequence[AnyOf]

    @classmethod
    def of(cls, filter_: Filter) -> AllOf:
        """Collect the values that exclude a row; other groups are kept as they are."""
        excluded: dict[Column, list[Any]] = {}
        groups: list[AnyOf] = []
        for group in filter_:
            member = read_member(group[0]) if len(group) == 1 else None
            if member is not None and member.negated:
                excluded.setdefault(member.column, []).append(member.value)
            else:
                groups.append(AnyOf.of(group))
        return cls(excluded, groups)

    def find_rows(self, segment: Segment) -> Array:
        """Return the mask of the rows that match all groups."""
        matched: Array | None = None
        for column, values in self.excluded.items():
            matched = _both(matched, ~find_members(segment, column, values))
        for number, group in enumerate(self.groups):
            if number and matched is not None and not matched.any():
                break
            matched = _both(matched, group.find_rows(segment))
        return np.ones(len(segment), bool) if matched is None else matched


def _either(matched: Array | None, other: Array) -> Array:
    return other if matched is None else matched | other


def _both(matched: Array | None, other: Array) -> Array:
    return other if matched is None else matched & other


def find_members(segment: Segment, column: Column, values: Sequence[Any]) -> Array:
    """Return the mask of the rows that have one of some values."""
    check_time()
    count = len(segment)
    if column.numeric:
        numbers = segment.numbers.get(column.path)
        if numbers is None:
            return np.zeros(count, bool)
        sought = values[0] if len(values) == 1 else np.unique(np.array(values, np.float64))
        test = operator.eq if len(values) == 1 else np.isin
        return numbers.rows_where(
            lambda column_values: np.asarray(test(column_values, sought)), count
        )
    if column.path == OBJECT_ID:
        rows = segment.ids.find_many(values)
        return make_mask(rows[rows >= 0], count)
    labels = segment.labels.get(column.path)
    if labels is None:
        return np.zeros(count, bool)
    return labels.rows_labelled(values, count, exact=column.path == TAGS)


def find_term(segment: Segment, term: Term) -> Array:
    """Return the mask of the rows that match one term."""
    if (member := read_member(term)) is not None:
        matched = find_members(segment, member.column, [member.value])
        return ~matched if member.negated else matched
    check_time()
    assert isinstance(term, Numeric | Between)
    numbers = segment.numbers.get(term.attribute)
    if numbers is None:
        matched = np.zeros(len(segment), bool)
    else:
        matched = numbers.rows_where(_test_of(term), len(segment))
    return ~matched if term.negated else matched


def _test_of(term: Numeric | Between) -> Callable[[Array], Array]:
    if isinstance(term, Between):
        low, high = term.low, term.high
        return lambda values: np.asarray((values >= low) & (values <= high))
    compare, number = COMPARE[term.operator], term.number
    return lambda values: compare(values, number)


def add_members(segment: Segment, column: Column, weights: Sequence[tuple[Any, int]]) -> Array:
    """Return for each row the sum of the weights of its values.

    A value written in several ways counts once for a row that has more than one of them.
    """
    total = np.zeros(len(segment), np.int64)
    labels = segment.labels.get(column.path)
    if labels is None:
        return total
    check_time()
    exact = column.path == TAGS
    by_code = np.zeros(len(labels.names), np.int64)
    for value, weight in weights:
        codes = labels.codes_of([value], exact=exact)
        if len(codes) == 1:
            by_code[codes[0]] += weight
        elif len(codes):
            total += labels.rows_labelled([value], len(total), exact=exact) * np.int64(weight)
    # Sums of weights are far below 2**53, up to which floats are exact.
    total += np.bincount(labels.rows, by_code[labels.codes], len(total)).astype(np.int64)
    return total


# Up to this many terms of one attribute are scored faster one by one.
MAX_SINGLE_TERMS = 4

Rows = Array | slice
ScoreType = type[np.int32 | np.int64]


@dataclass(frozen=True, eq=False)
class Scoring:
    """The scores of rows for some groups: the sum over the groups.

    The score of a group is the sum of its matching terms' scores with `add_scores`, otherwise the
    highest of them.
    """

    groups: Sequence[Group]
    add_scores: bool

    def add_up(self, segment: Segment, rows: Rows) -> Array:
        """Return the scores of rows."""
        score_type = self._score_type
        count = len(segment) if isinstance(rows, slice) else len(rows)
        total: Array = np.full(count, self._offset, score_type)
        for member, score in self._single:
            members = find_members(segment, member.column, [member.value])[rows]
            total += (~members if member.negated else members) * score_type(score)
        for column, weights in self._many.items():
            total += add_members(segment, column, weights)[rows].astype(score_type)
        for steps in self._highest:
            total += _highest_score(segment, steps, rows, count, score_type)
        return total

    @cached_property
    def _score_type(self) -> ScoreType:
        most = sum(abs(score_of(term)) for group in self.groups for term in group)
        return np.int32 if most < 2**31 else np.int64

    @cached_property
    def _added(self) -> Sequence[tuple[Member, int]]:
        """The terms whose scores are added regardless of their group's other terms."""
        chosen = [group for group in self.groups if self.add_scores or len(group) == 1]
        scored = [(read_member(term), score_of(term)) for group in chosen for term in group]
        return [(member, score) for member, score in scored if member and score]

    @cached_property
    def _by_column(self) -> Mapping[Column, Sequence[tuple[Member, int]]]:
        columns: dict[Column, list[tuple[Member, int]]] = {}
        for member, score in self._added:
            if member.column.path != OBJECT_ID:
                columns.setdefault(member.column, []).append((member, score))
        return {
            column: members
            for column, members in columns.items()
            if len(members) > MAX_SINGLE_TERMS
        }

    @cached_property
    def _single(self) -> Sequence[tuple[Member, int]]:
        return [pair for pair in self._added if pair[0].column not in self._by_column]

    @cached_property
    def _many(self) -> Mapping[Column, Sequence[tuple[object, int]]]:
        """Values and their scores; a negated term subtracts its score from rows with its value."""
        return {
            column: [
                (member.value, -score if member.negated else score) for member, score in members
            ]
            for column, members in self._by_column.items()
        }

    @cached_property
    def _offset(self) -> int:
        """The score that all rows get for negated terms in `_many`."""
        many = [pair for members in self._by_column.values() for pair in members]
        return sum(score for member, score in many if member.negated)

    @cached_property
    def _highest(self) -> Sequence[Sequence[tuple[int, AnyOf]]]:
        """For each group with a highest score, its scores in descending order."""
        return [_steps_of(group) for group in self.groups if not self.add_scores and len(group) > 1]


def _steps_of(group: Group) -> list[tuple[int, AnyOf]]:
    terms: dict[int, list[Term]] = {}
    for term in group:
        terms.setdefault(score_of(term), []).append(term)
    return [(score, AnyOf.of(terms[score])) for score in sorted(terms, reverse=True) if score]


def _highest_score(
    segment: Segment,
    steps: Sequence[tuple[int, AnyOf]],
    rows: Rows,
    count: int,
    score_type: ScoreType,
) -> Array:
    highest: Array = np.zeros(count, score_type)
    for score, terms in steps:
        np.maximum(highest, terms.find_rows(segment)[rows] * score_type(score), out=highest)
    return highest


def score_of(term: Term) -> int:
    """Return the score of a term; numeric terms have none."""
    return term.score if isinstance(term, Facet | Tag) else 0
