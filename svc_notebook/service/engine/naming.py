"""Names found by their words: which of them a text consists of, or has in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.names import Names
from svc_notebook.service.engine.words import Rules, split

Span = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Naming:
    """Names by hashes of their words, in order, with the place of each among the names."""

    names: Names
    rules: Rules
    hashes: Array
    places: Array
    longest: int

    @classmethod
    def of(cls, names: Names, rules: Rules) -> Naming:
        """Read what words the names consist of."""
        texts = [_spell(name, rules) for name in names.all()]
        hashes = _hash(texts)
        order = np.argsort(hashes, kind="stable")
        longest = max((text.count(" ") + 1 for text in texts), default=0)
        return cls(names, rules, hashes[order], order, longest)

    def find(self, words: Sequence[str]) -> Iterator[tuple[Span, int]]:
        """Return the runs of words that are a name, and the place of the name."""
        spans = [
            (start, end)
            for start in range(len(words))
            for end in range(start + 1, min(start + self.longest, len(words)) + 1)
        ]
        texts = [" ".join(words[start:end]) for start, end in spans]
        wanted = _hash(texts)
        low, high = (np.searchsorted(self.hashes, wanted, side) for side in ("left", "right"))
        for number in np.flatnonzero(low < high).tolist():
            for place in self.places[low[number] : high[number]].tolist():
                if _spell(self.names[place], self.rules) == texts[number]:
                    yield spans[number], place


def _spell(name: str, rules: Rules) -> str:
    return " ".join(split(name, rules))


def _hash(texts: Sequence[str]) -> Array:
    return np.fromiter(map(hash, texts), np.int64, len(texts))
