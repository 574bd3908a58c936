"""Filters evaluated on one segment: which rows pass, and what they score."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from svc_notebook.errors import BadInput
from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.columns import marked
from svc_notebook.service.engine.filters import (
    Between,
    Facet,
    Filter,
    Group,
    Numeric,
    Tag,
    Term,
    parse_filters,
    parse_optional,
)
from svc_notebook.service.engine.options import Options
from svc_notebook.service.engine.segment import Segment
from svc_notebook.service.engine.shape import OBJECT_ID, TAGS

COMPARE: Mapping[str, Callable[[Array, float], Array]] = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    ">": operator.gt,
    ">=": operator.ge,
}


EQUALITY = {"=", "!="}

Rows = Array | slice


@dataclass(frozen=True)
class Selection:
    """The filters of a search; `optional` ones only score."""

    required: Filter
    optional: Filter
    add_scores: bool

    @classmethod
    def of(cls, options: Options) -> Selection:
        """Read the filters of a search."""
        params = options.params
        required = parse_filters(params)
        if options.filterable:
            _check_numbers(required, options.filterable)
        return cls(required, parse_optional(params), bool(options["sumOrFiltersScores"]))

    def rows(self, segment: Segment) -> Array | None:
        """Return the mask of rows that pass, None for all."""
        if not self.required:
            return None
        groups = [
            np.logical_or.reduce([find_term(segment, term) for term in group])
            for group in self.required
        ]
        return np.asarray(np.logical_and.reduce(groups))

    def scores(self, segment: Segment, rows: Rows) -> Array | None:
        """Return what tells rows that pass apart by their scores; None where nothing does."""
        differing = [*filter(self._scores_differ, self.required), *self.optional]
        return self._add_up(segment, differing, rows) if differing else None

    def all_scores(self, segment: Segment, rows: Rows) -> Array:
        """Return what rows that pass score."""
        return self._add_up(segment, [*self.required, *self.optional], rows)

    def _scores_differ(self, group: Group) -> bool:
        return len(group) > 1 and (self.add_scores or len(set(map(_score, group))) > 1)

    def _add_up(self, segment: Segment, groups: Sequence[Group], rows: Rows) -> Array:
        most = sum(abs(_score(term)) for group in groups for term in group)
        kind = np.int32 if most < 2**31 else np.int64
        total: Array = np.zeros(len(segment) if isinstance(rows, slice) else len(rows), kind)
        combine = np.add if self.add_scores else np.maximum
        for group in groups:
            if any(map(_score, group)):
                found = (find_term(segment, term)[rows] * kind(_score(term)) for term in group)
                total += reduce(combine, found)
        return total


def _check_numbers(required: Filter, filterable: Mapping[str, bool]) -> None:
    """Refuse to compare numbers that the settings leave out."""
    for term in (
        term for group in required for term in group if isinstance(term, Numeric | Between)
    ):
        if term.attribute not in filterable:
            known = ", ".join(sorted(filterable))
            raise BadInput(
                f"{term.attribute} is not in numericAttributesForFiltering ({known}); add it there"
            )
        if filterable[term.attribute] and getattr(term, "operator", "TO") not in EQUALITY:
            raise BadInput(
                f"{term.attribute} is compared by = and != only, for "
                f"numericAttributesForFiltering has it as equalOnly({term.attribute})"
            )


def find_term(segment: Segment, term: Term) -> Array:
    """Return the mask of rows for which one term holds."""
    found = _FIND[type(term)](segment, term)
    return ~found if term.negated else found


def _find_facet(segment: Segment, term: Facet) -> Array:
    count = len(segment)
    if term.attribute == OBJECT_ID:
        row = segment.ids.find(term.value)
        return marked(np.array([row] if row >= 0 else [], np.int64), count)
    labels = segment.labels.get(term.attribute)
    if labels is None:
        return np.zeros(count, bool)
    return labels.rows_labelled(term.value, count, exact=term.attribute == TAGS)


def _find_tag(segment: Segment, term: Tag) -> Array:
    return _find_facet(segment, Facet(TAGS, term.value))


def _find_numeric(segment: Segment, term: Numeric) -> Array:
    if term.operator == "!=":
        return ~_find_numeric(segment, term._replace(operator="="))
    compare = COMPARE[term.operator]
    return _find_numbers(segment, term.attribute, lambda values: compare(values, term.number))


def _find_between(segment: Segment, term: Between) -> Array:
    return _find_numbers(
        segment, term.attribute, lambda values: (values >= term.low) & (values <= term.high)
    )


def _find_numbers(segment: Segment, path: str, test: Callable[[Array], Array]) -> Array:
    numbers = segment.numbers.get(path)
    if numbers is None:
        return np.zeros(len(segment), bool)
    return numbers.rows_where(test, len(segment))


_FIND: Mapping[type, Callable[..., Array]] = {
    Facet: _find_facet,
    Tag: _find_tag,
    Numeric: _find_numeric,
    Between: _find_between,
}


def _score(term: Term) -> int:
    """Numbers filter and never score."""
    return term.score if isinstance(term, Facet | Tag) else 0
