"""A counted search: its facts as it was answered, and as they are stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import msgspec

from svc_notebook.errors import BadInput
from svc_notebook.service.engine.filters.filters import parse_filters
from svc_notebook.service.engine.filters.terms import TAGS, Between, Facet, Tag, Term
from svc_notebook.service.rules.filters import FILTERS

# Hits of a search that count in the most frequent hits.
MAX_COUNTED_HITS = 20
# A tag with this prefix names the country of the user: the service does not look up addresses.
COUNTRY_TAG = "country:"
# A query that replaces an earlier one by an edit has at least this number of characters.
MIN_EDITED_CHARACTERS = 3
_NEGATED = {"<": ">=", "<=": ">", "=": "!=", "!=": "=", ">": "<=", ">=": "<"}


class CountedSearch(msgspec.Struct, array_like=True):
    """A search that counts in analytics; `time` is in milliseconds since 1970."""

    time: int
    index: str
    query: str
    hit_count: int
    token: str
    address: str
    query_id: str | None
    filters: dict[str, Any]
    tags: list[str]
    hits: list[str]
    test: int | None = None
    variant: int | None = None

    @classmethod
    def of(
        cls,
        time: int,
        index: str,
        address: str,
        params: Mapping[str, Any],
        answer: Mapping[str, Any],
        hits: Sequence[str],
    ) -> CountedSearch:
        """Return the facts of an answered search; the rest is computed when it is stored."""
        return cls(
            time,
            index,
            answer["query"],
            answer["nbHits"],
            str(params.get("userToken") or ""),
            address,
            answer.get("queryID"),
            {name: params[name] for name in FILTERS if params.get(name)},
            params.get("analyticsTags") or [],
            list(hits[:MAX_COUNTED_HITS]),
            answer.get("abTestID"),
            answer.get("abTestVariantID"),
        )

    @property
    def user(self) -> str:
        """The user token, or a digest of the address: addresses are not stored."""
        return identify_user(self.token, self.address)

    @property
    def country(self) -> str | None:
        """The country code that a tag gives, in capitals."""
        codes = [tag.removeprefix(COUNTRY_TAG) for tag in self.tags if tag.startswith(COUNTRY_TAG)]
        return codes[0].upper() if codes else None

    def used_filters(self) -> list[list[str]]:
        """Return the filters as sorted lists of attribute, operator and value."""
        try:
            groups = parse_filters(self.filters)
        except BadInput:  # the search ignored them, as it does with those of a damaged rule
            return []
        used = {part for group in groups for term in group for part in _describe(term)}
        return [list(map(make_storable, part)) for part in sorted(used)]


def identify_user(token: str, address: str) -> str:
    """Return the user token, or else a digest of the address."""
    if token:
        return make_storable(token)
    return "address-" + blake2b(address.encode(), digest_size=8).hexdigest()


def make_storable(text: str) -> str:
    """Return a text with `?` for lone surrogates, which JSON inside of a parameter can contain."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def normalize_query(text: str) -> str:
    """Return a query as it is counted: in lower case, with single spaces between words."""
    return " ".join(make_storable(text).lower().split())


def is_refinement(earlier: str, later: str) -> bool:
    """Return whether a query continues the typing of the earlier one of the same user.

    It does if one is the beginning of the other, or if one edit separates them. An emptied search
    box does not continue what was typed before.
    """
    if later.startswith(earlier):
        return True
    if not later:
        return False
    return earlier.startswith(later) or _differ_by_one_edit(earlier, later)


def _differ_by_one_edit(text: str, other: str) -> bool:
    if min(len(text), len(other)) < MIN_EDITED_CHARACTERS or abs(len(text) - len(other)) > 1:
        return False
    pairs = zip(text, other, strict=False)
    start = next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(text), len(other)))
    rests = text[start:], other[start:]
    swapped = rests[0][:2] == rests[1][1::-1] and rests[0][2:] == rests[1][2:]
    return swapped or rests[0][1:] in (rests[1], rests[1][1:]) or rests[0] == rests[1][1:]


def _describe(term: Term) -> Iterator[tuple[str, str, str]]:
    if isinstance(term, Between):
        yield term.attribute, ">=", f"{term.low:g}"
        yield term.attribute, "<=", f"{term.high:g}"
    elif isinstance(term, (Facet, Tag)):
        name = term.attribute if isinstance(term, Facet) else TAGS
        yield name, ":", f"-{term.value}" if term.negated else term.value
    else:
        operator = _NEGATED[term.operator] if term.negated else term.operator
        yield term.attribute, operator, f"{term.number:g}"
