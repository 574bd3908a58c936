"""Pagination: the range of hits to return, by page or by offset and length."""

from __future__ import annotations

from dataclasses import dataclass

from svc_notebook.service.engine.query.options import EffectiveParameters


@dataclass(frozen=True)
class HitRange:
    """A stretch of the hits; what lies beyond `limit` cannot be reached."""

    start: int
    size: int
    limit: int
    number: int | None

    @classmethod
    def of(cls, options: EffectiveParameters) -> HitRange:
        """Read it off the options: a length alone means nothing, nor does an offset alone."""
        limit = options["paginationLimitedTo"]
        offset, length = options["offset"], options["length"]
        if offset is not None and length is not None:
            return cls(offset, length, limit, None)
        size, number = options["hitsPerPage"], options["page"]
        return cls(size * number, size, limit, number)

    @property
    def reach(self) -> int:
        """How many of the best hits must be known."""
        return min(self.start + self.size, self.limit)

    @property
    def span(self) -> slice:
        """The wanted ones among those."""
        return slice(self.start, self.reach)

    def members(self, hits: int) -> dict[str, int]:
        """Return what the answer says about paging."""
        if self.number is None:
            return {"offset": self.start, "length": self.size}
        pages = -(-min(hits, self.limit) // self.size) if self.size else 0
        return {"page": self.number, "nbPages": pages, "hitsPerPage": self.size}
