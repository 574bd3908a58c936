"""Filter terms, and their canonical text.

A filter is a conjunction of groups; a group is a disjunction of terms of one kind.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from svc_notebook.errors import BadInput

# Maximum terms of all filters of one search together.
MAX_FILTER_TERMS = 10_000
# Maximum terms of the optional filters of one search.
MAX_OPTIONAL_TERMS = 1_000

KEYWORDS = frozenset({"AND", "OR", "NOT"})
TAGS = "_tags"
_PLAIN = re.compile(r"\w[\w.-]*")


class Facet(NamedTuple):
    """An attribute has this value; `true`, `false` and numbers match by their text."""

    attribute: str
    value: str
    negated: bool = False
    score: int = 1


class Numeric(NamedTuple):
    """A numeric attribute compares with a number; `operator` is < <= = != > or >=."""

    attribute: str
    operator: str
    number: float
    negated: bool = False


class Between(NamedTuple):
    """A number of an attribute is in the range, both ends included."""

    attribute: str
    low: float
    high: float
    negated: bool = False


class Tag(NamedTuple):
    """The `_tags` of a record contain this value."""

    value: str
    negated: bool = False
    score: int = 1


Term = Facet | Numeric | Between | Tag
Group = tuple[Term, ...]
Filter = tuple[Group, ...]

KINDS: dict[type[Term], str] = {
    Facet: "facet",
    Numeric: "numeric",
    Between: "numeric",
    Tag: "tag",
}


def check_term_count(count: int, max_terms: int, where: str) -> None:
    """Raise for more terms than a search accepts; `where` names the parameter."""
    if count > max_terms:
        raise BadInput(
            f"{where}: more than {max_terms:,} filter terms in one search; split the search, or "
            "give the records an attribute that groups many of these values"
        )


def render(filter_: Filter) -> str:
    """Write a filter as canonical text of the parameter `filters`."""
    return " AND ".join(map(_render_group, filter_))


def _render_group(group: Group) -> str:
    joined = " OR ".join(map(_render_term, group))
    return f"({joined})" if len(group) > 1 else joined


def _render_term(term: Term) -> str:
    return ("NOT " if term.negated else "") + _render_atom(term)


def _render_atom(term: Term) -> str:
    match term:
        case Facet(attribute, value, _, score):
            return f"{_word(attribute)}:{_word(value)}{_score(score)}"
        case Tag(value, _, score):
            return f"{TAGS}:{_word(value)}{_score(score)}"
        case Numeric(attribute, operator, number):
            return f"{_word(attribute)} {operator} {_number(number)}"
        case Between(attribute, low, high):
            return f"{_word(attribute)}:{_number(low)} TO {_number(high)}"


def _word(text: str) -> str:
    if _PLAIN.fullmatch(text) and text not in KEYWORDS:
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _score(score: int) -> str:
    return "" if score == 1 else f"<score={score}>"


def _number(number: float) -> str:
    return repr(number).removesuffix(".0")
