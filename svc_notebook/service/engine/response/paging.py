"""Pagination: the range of hits to return, by page or by offset and length."""

from __future__ import annotations

from dataclasses import dataclass

from svc_notebook.service.engine.query.options import EffectiveParameters


@dataclass(frozen=True)
class HitRange:
    """A range of the hits; hits beyond `limit` cannot be reached."""

    start: int
    size: int
    limit: int
    number: int | None

    @classmethod
    def of(cls, options: EffectiveParameters) -> HitRange:
        """Read the range from the options; offset and length only apply together."""
        limit = options["paginationLimitedTo"]
        offset, length = options["offset"], options["length"]
        if offset is not None and length is not None:
            return cls(offset, length, limit, None)
        size, number = options["hitsPerPage"], options["page"]
        return cls(size * number, size, limit, number)

    @property
    def reach(self) -> int:
        """The number of best hits to rank."""
        return min(self.start + self.size, self.limit)

    @property
    def span(self) -> slice:
        """The slice of those hits to return."""
        return slice(self.start, self.reach)

    def members(self, hits: int) -> dict[str, int]:
        """Return the response members about paging."""
        if self.number is None:
            return {"offset": self.start, "length": self.size}
        pages = -(-min(hits, self.limit) // self.size) if self.size else 0
        return {"page": self.number, "nbPages": pages, "hitsPerPage": self.size}
