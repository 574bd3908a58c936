"""Restrictions of a key: the parameters that it enforces on queries, and where it may be used."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from svc_notebook.core.api.body_forms import read_query_text
from svc_notebook.core.api.parameters import default_of
from svc_notebook.core.api.secured_keys import Restrictions
from svc_notebook.core.api.validation import check_members
from svc_notebook.errors import BadInput, KeyRefused
from svc_notebook.service.engine.filters.filters import parse_filters, render
from svc_notebook.service.keyring import matches
from svc_notebook.service.rules.filters import FILTERS
from svc_notebook.service.rules.search_context import EXTENDED_PARAMETERS, add_implied
from svc_notebook.service.sources import is_in_networks

GEO_PARAMETERS = ("aroundLatLng", "aroundLatLngViaIP", "insideBoundingBox", "insidePolygon")
# Parameters of a query that an embedded parameter removes, because they could bypass it.
REMOVED_BY = {
    **dict.fromkeys(GEO_PARAMETERS, GEO_PARAMETERS),
    "query": ("similarQuery",),
    "similarQuery": ("query",),
    "page": ("offset", "length"),
}
DEFAULT_HITS_PER_PAGE = default_of("hitsPerPage")
KEY_LIMITS = ("validUntil", "restrictIndices", "restrictSources", "referers")


@dataclass(frozen=True, eq=False)
class Restriction:
    """The restrictions embedded in one key."""

    params: Mapping[str, Any] = field(default_factory=dict)
    indices: tuple[str, ...] = ()
    sources: str = ""
    referers: tuple[str, ...] = ()
    valid_until: float = float("inf")

    def check_caller(self, address: str, page: str) -> None:
        """Raise `KeyRefused` for an expired key, or a wrong address or referer."""
        if time.time() > self.valid_until:
            raise KeyRefused("this key has expired", status=403)
        if self.sources and not is_in_networks(address, self.sources):
            raise KeyRefused(f"this key is not valid for the address {address}", status=403)
        if self.referers and not any(matches(page, pattern) for pattern in self.referers):
            raise KeyRefused(
                f"this key is not valid for the referer {page or '(none)'}", status=403
            )

    def reaches(self, index: str) -> bool:
        """Return whether the key is valid for this index."""
        return not self.indices or any(matches(index, pattern) for pattern in self.indices)

    @property
    def _with_implied(self) -> Mapping[str, Any]:
        """The parameters with those that embedded `naturalLanguages` implies, unless additive."""
        read = add_implied(self.params)
        return {
            name: v
            for name, v in read.items()
            if name in self.params or name not in EXTENDED_PARAMETERS
        }

    @property
    def max_hits(self) -> int | None:
        """The maximum number of hits of one response, or None."""
        sizes = (self.params.get(name) for name in ("hitsPerPage", "length"))
        return min((size for size in sizes if size is not None), default=None)

    def apply(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters of a query after this restriction.

        Filters of the key and of the query are combined by AND; other parameters of the key replace
        those of the query.
        """
        members = {name: value for name, value in self._with_implied.items() if name not in FILTERS}
        # One geo parameter may override another; the same applies to queries and pages.
        removed = {
            name
            for replacing, others in REMOVED_BY.items()
            if replacing in members
            for name in others
        }
        params = {name: value for name, value in params.items() if name not in removed}
        # An offset without a length has no effect.
        if "offset" in members and "length" not in members:
            params = {"length": params.get("hitsPerPage", DEFAULT_HITS_PER_PAGE), **params}
        embedded = render(parse_filters(self.params))
        both = " AND ".join(text for text in (embedded, params.get("filters")) if text)
        return {**params, **members, **({"filters": both} if both else {})}


def read_restriction(text: str) -> Restriction:
    """Parse embedded parameters; raises `KeyRefused` if they are invalid."""
    try:
        given = check_members(read_query_text(text), Restrictions, "")
        indices = given.get("restrictIndices", [])
        return Restriction(
            params={name: value for name, value in given.items() if name not in KEY_LIMITS},
            indices=tuple(indices.split(",") if isinstance(indices, str) else indices),
            sources=given.get("restrictSources", ""),
            referers=tuple(given.get("referers", ())),
            valid_until=given.get("validUntil", float("inf")),
        )
    except BadInput as error:
        raise KeyRefused(f"this key embeds invalid restrictions: {error}", status=403) from error
