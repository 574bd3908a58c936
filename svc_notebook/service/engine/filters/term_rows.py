"""Find the rows that match filter terms, with one lookup for all terms of one attribute.

Ten thousand terms cost little more than one: terms with values of the same attribute are looked up
as a set, and the masks of the other terms are combined one at a time and not kept.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from svc_notebook.service.engine.arrays import Array, make_mask
from svc_notebook.service.engine.execution import check_time
from svc_notebook.service.engine.filters.grammar import Between, Facet, Filter, Numeric, Tag, Term
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
