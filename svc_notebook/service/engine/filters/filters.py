"""The filters of a search: five parameters, text or lists, as one conjunction of terms.

```
"a:x"                     one term
["a:x", "b:y"]            a and b
[["a:x", "b:y"], "c:z"]   (a or b) and c; deeper lists are flattened into the inner list
"a:x,(b:y,c:z)"           the older text form: a and (b or c)
```

A minus before a value negates it, `\\-` is a literal minus, and quotes around a value are removed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from svc_notebook.errors import BadInput
from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.filters.grammar import (
    MAX_FILTER_TERMS,
    MAX_NESTING,
    MAX_OPTIONAL_TERMS,
    MAX_SCORE,
    QUOTED,
    TAGS,
    Between,
    Facet,
    Filter,
    Group,
    Numeric,
    Tag,
    Term,
    check_term_count,
    parse_number,
    parse_text,
    refuse,
    render,
    unquote,
)
from svc_notebook.service.engine.filters.term_rows import AllOf, Rows, Scoring, score_of
from svc_notebook.service.engine.index.segment import Segment
from svc_notebook.service.engine.query.options import EffectiveParameters

__all__ = [
    "Between",
    "Facet",
    "Filter",
    "FilterEvaluation",
    "Group",
    "Numeric",
    "Tag",
    "Term",
    "parse_filters",
    "parse_optional",
    "parse_reranked",
    "render",
]
_ReadItem = Callable[[str, str], Term]
_ATTRIBUTE = re.compile(rf"""(?:{QUOTED.pattern}|([^:"'][^:]*))\s*:\s*""", re.DOTALL)
_PIECE = re.compile(
    rf"""\s*(?:{QUOTED.pattern})?(?:[:-]\s*(?:{QUOTED.pattern})|[^,])*""", re.DOTALL
)
_COMPARED = re.compile(r"[<>=]")
EQUALITY = {"=", "!="}
_JSON_KINDS: dict[type, str] = {
    bool: "a boolean",
    dict: "an object",
    float: "a number",
    int: "a number",
    list: "a list",
    str: "text",
    type(None): "null",
}


def parse_filters(params: Mapping[str, Any]) -> Filter:
    """Parse all parameters that exclude records, combined with AND; without any return `()`."""
    groups = () if params.get("filters") is None else _read_text(params["filters"])
    for name, read_item in _LISTS.items():
        if (value := params.get(name)) is not None:
            groups += _read_parameter(name, value, read_item, MAX_FILTER_TERMS)
            check_term_count(sum(map(len, groups)), MAX_FILTER_TERMS, f"filters and {name}")
    return groups


def parse_optional(params: Mapping[str, Any]) -> Filter:
    """Parse `optionalFilters`, which affect the ranking and exclude no record."""
    given = params.get("optionalFilters")
    if given is None:
        return ()
    return _read_parameter("optionalFilters", given, _read_facet, MAX_OPTIONAL_TERMS)


def parse_reranked(value: object) -> Filter:
    """Parse `reRankingApplyFilter`, which selects the hits that re-ranking may move."""
    if value is None:
        return ()
    return _read_parameter("reRankingApplyFilter", value, _read_facet, MAX_FILTER_TERMS)


@dataclass(frozen=True, eq=False)
class FilterEvaluation:
    """The filters of a search; `optional` ones only affect scores.

    `reranked` selects the hits that re-ranking may move. `differing` are the scores of the groups
    in which rows that pass may have different ones.
    """

    required: Filter
    optional: Filter
    add_scores: bool
    reranked: Filter
    differing: Scoring

    @classmethod
    def of(cls, options: EffectiveParameters) -> FilterEvaluation:
        """Parse the filters of a search."""
        params, reranked = options.params, options["reRankingApplyFilter"]
        if params.keys().isdisjoint(FILTER_PARAMETERS) and reranked is None:
            return UNFILTERED
        required = parse_filters(params)
        if required and options.filterable:
            _check_numbers(required, options.filterable)
        optional = parse_optional(params)
        add_scores = bool(options["sumOrFiltersScores"])
        differing = [group for group in required if _scores_differ(group, add_scores)]
        return cls(
            required,
            optional,
            add_scores,
            parse_reranked(reranked),
            Scoring([*differing, *optional], add_scores),
        )

    def rows(self, segment: Segment) -> Array:
        """Return the mask of the rows that pass."""
        return self._conditions.find_rows(segment)

    def all_scores(self, segment: Segment, rows: Rows) -> Array:
        """Return the full filter scores of rows that pass."""
        if not self.required and not self.optional:
            return np.zeros(len(rows) if not isinstance(rows, slice) else len(segment), np.int32)
        return Scoring((*self.required, *self.optional), self.add_scores).add_up(segment, rows)

    @cached_property
    def _conditions(self) -> AllOf:
        return AllOf.of(self.required)


UNFILTERED = FilterEvaluation((), (), False, (), Scoring((), False))


def _scores_differ(group: Group, add_scores: bool) -> bool:
    """Return whether rows that pass a group may have different scores."""
    return len(group) > 1 and (add_scores or len(set(map(score_of, group))) > 1)


def _check_numbers(required: Filter, filterable: Mapping[str, bool]) -> None:
    """Raise for comparisons that numericAttributesForFiltering does not allow."""
    for term in (
        term for group in required for term in group if isinstance(term, Numeric | Between)
    ):
        if term.attribute not in filterable:
            names = ", ".join(sorted(filterable))
            raise BadInput(
                f"{term.attribute} is not in numericAttributesForFiltering ({names}); add it there"
            )
        if filterable[term.attribute] and getattr(term, "operator", "TO") not in EQUALITY:
            raise BadInput(
                f"{term.attribute} is compared by = and != only, for "
                f"numericAttributesForFiltering has it as equalOnly({term.attribute})"
            )


def _read_text(text: object) -> Filter:
    if not isinstance(text, str):
        _refuse_type("filters", "text", text)
    return parse_text(text, "filters")


def _read_parameter(name: str, value: object, read_item: _ReadItem, max_terms: int) -> Filter:
    if isinstance(value, str):
        value = _open_text(name, value, max_terms)
    if not isinstance(value, list):
        _refuse_type(name, "text or a list", value)
    groups: list[Group] = []
    count = 0
    for position, item in enumerate(value):
        terms: list[Term] = []
        for text, where in _flatten(item, f"{name}[{position}]", 0):
            count += 1
            check_term_count(count, max_terms, name)
            terms.append(read_item(text, where))
        if terms:
            groups.append(tuple(terms))
    return tuple(groups)


def _flatten(item: object, where: str, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(item, str):
        yield item.strip(), where
        return
    if not isinstance(item, list):
        _refuse_type(where, "text or a list", item)
    if depth == MAX_NESTING:
        raise BadInput(f"{where}: lists are nested too deep")
    for position, inner in enumerate(item):
        yield from _flatten(inner, f"{where}[{position}]", depth + 1)


def _open_text(name: str, text: str, max_terms: int) -> list[Any]:
    """Return the list that a text contains: JSON, or the older form."""
    if not text.lstrip().startswith("["):
        return _split_pieces(name, text, max_terms)
    try:
        return list(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{name}: expected a JSON list or text: {error}") from error


def _split_pieces(name: str, text: str, max_terms: int) -> list[Any]:
    groups: list[Any] = []
    inner: list[str] | None = None
    pieces = filter(None, (match[0].strip() for match in _PIECE.finditer(text)))
    for number, piece in enumerate(pieces, 1):
        check_term_count(number, max_terms, name)
        if inner is None and not piece.startswith("("):
            groups.append(piece)
            continue
        if inner is None:
            inner, piece = [], piece[1:]
            groups.append(inner)
        closed = piece.endswith(")") and piece.count(")") > piece.count("(")
        inner.append(piece.removesuffix(")") if closed else piece)
        inner = None if closed else inner
    if inner is not None:
        refuse(name, "a parenthesis is never closed", text, len(text))
    return groups


def _read_facet(text: str, where: str) -> Facet | Tag:
    head = _ATTRIBUTE.match(text)
    if not head:
        _refuse_facet(text, where)
    attribute = unquote(head) if head[3] is None else head[3].strip()
    if attribute.startswith("NOT "):
        refuse(where, "expected a minus before the value in place of NOT", text, 0)
    value, negated, score = _read_value(text, head.end(), where)
    if attribute == TAGS:
        return Tag(value, negated, score)
    return Facet(attribute, value, negated, score)


def _refuse_facet(text: str, where: str) -> NoReturn:
    if compared := _COMPARED.search(text):
        refuse(where, "expected attribute:value (numericFilters compare)", text, compared.start())
    refuse(where, "expected attribute:value", text, len(text))


def _read_tag(text: str, where: str) -> Tag:
    return Tag(*_read_value(text, 0, where))


def _read_value(text: str, at: int, where: str) -> tuple[str, bool, int]:
    value, score = _cut_score(text[at:], where)
    negated = value.startswith("-")
    value = value.removeprefix("-")
    if quoted := QUOTED.fullmatch(value):
        return unquote(quoted), negated, score
    if not value:
        refuse(where, "expected a value", text, len(text))
    return value[1:] if value.startswith("\\-") else value, negated, score


def _cut_score(text: str, where: str) -> tuple[str, int]:
    value, mark, score = text.rpartition("<score=")
    if not mark or not text.endswith(">"):
        return text, 1
    digits = score[:-1]
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 9):
        refuse(where, f"expected <score=N>, N from 0 to {MAX_SCORE},", text, len(value))
    if int(digits) > MAX_SCORE:
        refuse(where, f"expected a score from 0 to {MAX_SCORE}", text, len(value))
    return value.rstrip(), int(digits)


def _refuse_type(where: str, expected: str, value: object) -> NoReturn:
    kind = _JSON_KINDS.get(type(value), type(value).__name__)
    raise BadInput(f"{where}: expected {expected}, found {kind}")


_LISTS: dict[str, _ReadItem] = {
    "facetFilters": _read_facet,
    "numericFilters": parse_number,
    "tagFilters": _read_tag,
}
FILTER_PARAMETERS = ("filters", *_LISTS, "optionalFilters")
