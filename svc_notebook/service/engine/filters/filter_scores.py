"""The scores that filters give to the rows of a segment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.filters.grammar import (
    Facet,
    Group,
    Tag,
    Term,
)
from svc_notebook.service.engine.filters.term_rows import (
    AnyOf,
    Column,
    Member,
    add_members,
    find_members,
    read_member,
)
from svc_notebook.service.engine.index.schema import OBJECT_ID
from svc_notebook.service.engine.index.segment import Segment

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
