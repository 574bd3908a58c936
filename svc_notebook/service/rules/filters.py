"""The filters that rules add to a search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from svc_notebook.service.engine.filters.filters import (
    Facet,
    Filter,
    Group,
    Tag,
    Term,
    parse_filters,
    parse_optional,
    render,
)
from svc_notebook.service.engine.index.schema import TAGS
from svc_notebook.service.rules.rule import Capture

# Parameters that exclude records; those of rules and of the query are combined by AND.
FILTERS = ("filters", "facetFilters", "numericFilters", "tagFilters")
OPTIONAL = "optionalFilters"
Params = Mapping[str, Any]
AUTOMATIC = "automaticFacetFilters"
AUTOMATIC_OPTIONAL = "automaticOptionalFacetFilters"


def join_filters(
    before: str | None, rule_params: Iterable[tuple[Params, Sequence[Capture]]]
) -> str:
    """Return the filters of a query combined with those of rules."""
    texts = [
        render(parse_filters(params) + tuple(read_automatic(params.get(AUTOMATIC), captures)))
        for params, captures in rule_params
    ]
    return " AND ".join(filter(None, [before, *texts]))


def join_optional(
    before: Params, rule_params: Iterable[tuple[Params, Sequence[Capture]]]
) -> list[Any]:
    """Return the optional filters combined with the automatic ones of rules."""
    groups = [
        group
        for params, captures in rule_params
        for group in read_automatic(params.get(AUTOMATIC_OPTIONAL), captures)
    ]
    return write_optional((*parse_optional(before), *groups))


def read_automatic(
    given: Sequence[str | Mapping[str, Any]] | None, captures: Sequence[Capture]
) -> Iterator[Group]:
    """Convert the facet values that placeholders matched to filters.

    Values that are spelled equally are alternatives, as are all values of a `disjunctive` filter.
    """
    for entry in given or ():
        facet_filter = {"facet": entry} if isinstance(entry, str) else entry
        captured = [
            capture.values for capture in captures if capture.facet == facet_filter["facet"]
        ]
        groups = dict.fromkeys(captured)
        if facet_filter.get("negative"):
            values = dict.fromkeys(value for group in groups for value in group)
            yield from ((_make_term(facet_filter, value),) for value in values)
        elif facet_filter.get("disjunctive") and groups:
            yield tuple(_make_term(facet_filter, value) for group in groups for value in group)
        else:
            yield from (
                tuple(_make_term(facet_filter, value) for value in group) for group in groups
            )


def write_optional(groups: Filter) -> list[Any]:
    """Format filters as the list of `optionalFilters`."""
    written = [[_write_item(term) for term in group] for group in groups]
    return [group[0] if len(group) == 1 else group for group in written]


def _make_term(facet_filter: Mapping[str, Any], value: str) -> Term:
    facet, negated, score = (
        facet_filter["facet"],
        bool(facet_filter.get("negative")),
        facet_filter.get("score", 1),
    )
    return Tag(value, negated, score) if facet == TAGS else Facet(facet, value, negated, score)


def _write_item(term: Term) -> str:
    """Format a term as a list item, where a minus before the value negates it."""
    if isinstance(term, Tag):
        term = Facet(TAGS, term.value, term.negated, term.score)
    if not isinstance(term, Facet):
        return render(((term,),))
    score = "" if term.score == 1 else f"<score={term.score}>"
    return f"{_quote(term.attribute)}:{'-' if term.negated else ''}{_quote(term.value)}{score}"


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return text if text.isalnum() else f'"{escaped}"'
