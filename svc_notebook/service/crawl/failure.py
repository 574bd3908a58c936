"""Why a page could not be had: a reason that is counted, and a sentence for people."""

from __future__ import annotations


class Failure(Exception):
    """A fetch that brought no page; `reason` is what statistics count."""

    def __init__(self, reason: str, readable: str) -> None:
        super().__init__(readable)
        self.reason = reason
        self.readable = readable
