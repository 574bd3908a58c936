"""The occurrences of the words of a query in some rows of a segment."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.ranking.occurrences import Chunk
from svc_notebook.service.engine.ranking.retrieval import SegmentMatch, WordMatch
from svc_notebook.service.engine.ranking.text_relevance import OwnedOccurrences

# With more occurrences for each row, searching for the row is faster than reading them all.
MIN_OCCURRENCES_PER_SEARCHED_ROW = 64
# With more records for each row, most occurrences are dropped, and finding them comes first.
MIN_RECORDS_PER_MASKED_ROW = 4
# With more records for each occurrence, searching for its row is faster than numbering rows.
MIN_RECORDS_PER_SOUGHT_OCCURRENCE = 256
# If fewer than one of this many rows is left, their occurrences are looked up again.
MIN_RENUMBERED_SHARE = 16


class RowOccurrences:
    """The occurrences of each word of a match in the candidates' rows, read when first needed.

    - `have_no_typos`: the rows match without typos; then occurrences with typos do not count.
    """

    def __init__(self, match: SegmentMatch) -> None:
        self._match = match
        # Known of matches without words that have typos, or set where rows with typos are left out.
        self.have_no_typos = bool(match.words) and not any(word.max_typos for word in match.words)
        self._by_word: list[list[OwnedOccurrences]] | None = None
        self._renumbering: Array | None = None

    def keep(self, kept: Array, count: int) -> None:
        """Restrict the rows to those at some ascending places among `count`."""
        if self._by_word is None:
            return
        renumbering = np.full(count, -1)
        renumbering[kept] = np.arange(len(kept))
        before = self._renumbering
        self._renumbering = (
            renumbering if before is None else np.where(before < 0, -1, renumbering[before])
        )

    def of_word(self, rows: Array, number: int) -> Sequence[OwnedOccurrences]:
        """Return a word's occurrences in the rows, with the index of each one's row."""
        if self._by_word is None or self._has_few_left(rows):
            self._renumbering = None
            owners = _Owners(rows, len(self._match.segment))
            self._by_word = [
                [owners.find(chunk, self.typos_to_compare(match)) for chunk in self.chunks(match)]
                for match in self._match.words
            ]
        if self._renumbering is not None:  # deferred until needed: usually it never is
            renumbering, self._renumbering = self._renumbering, None
            self._by_word = [
                [_renumber(*occurrences, renumbering) for occurrences in word]
                for word in self._by_word
            ]
        return self._by_word[number]

    def exact_of_word(self, rows: Array, number: int, alone: bool) -> Sequence[OwnedOccurrences]:
        """Return a word's occurrences, or only those that may be exact if none are known.

        With `alone`, an occurrence may be exact if it is the only word of its text.
        """
        if self._by_word is not None:
            return self.of_word(rows, number)
        match = self._match.words[number]
        owners, typos = _Owners(rows, len(self._match.segment)), self.typos_to_compare(match)
        chunks = [chunk for chunk in self.chunks(match) if chunk.exact]
        if alone:
            chunks = [chunk.alone() for chunk in chunks]
        return [owners.find(chunk, typos) for chunk in chunks if len(chunk)]

    def chunks(self, match: WordMatch) -> Sequence[Chunk]:
        """Return the occurrences of a word that may count."""
        if self.have_no_typos and match.max_typos:
            return [chunk for chunk in match.chunks if not chunk.typos]
        return match.chunks

    def typos_to_compare(self, match: WordMatch) -> Array | None:
        """Return the fewest typos of each record if occurrences with more do not count."""
        return match.typos if match.mixed and not self.have_no_typos else None

    def _has_few_left(self, rows: Array) -> bool:
        """Return whether looking up the occurrences again is faster than renumbering them."""
        before = self._renumbering
        return before is not None and len(rows) * MIN_RENUMBERED_SHARE < len(before)


def _renumber(chunk: Chunk, owners: Array, renumbering: Array) -> OwnedOccurrences:
    owner = renumbering[owners]
    kept = np.flatnonzero(owner >= 0)
    return chunk.within(kept), owner[kept]


class _Owners:
    """Finds the occurrences in some rows of a segment, with the index of each one's row."""

    def __init__(self, rows: Array, records: int) -> None:
        self._rows = rows
        self._records = records

    def find(self, chunk: Chunk, typos: Array | None) -> OwnedOccurrences:
        """Return the occurrences, or only those with the fewest `typos` of their record."""
        kept, owners = self._find(chunk)
        if typos is not None:
            fewest = typos[self._rows[owners]] == chunk.typos
            kept, owners = kept[fewest], owners[fewest]
        return chunk if len(kept) == len(chunk) else chunk.within(kept), owners

    def _find(self, chunk: Chunk) -> tuple[Array, Array]:
        rows = self._rows
        is_range = chunk.of_one_word and isinstance(chunk.selection, slice)
        if is_range and len(rows) * MIN_OCCURRENCES_PER_SEARCHED_ROW < len(chunk):
            return chunk.find_in(rows)
        if len(rows) * MIN_RECORDS_PER_MASKED_ROW < self._records:
            kept = chunk.find_where(self._mask)
            records = chunk.rows_at(kept)
            if len(kept) * MIN_RECORDS_PER_SOUGHT_OCCURRENCE < self._records:
                return kept, np.searchsorted(rows, records.astype(rows.dtype))
            return kept, self._places[records]
        owners = self._places[chunk.rows]
        kept = np.flatnonzero(owners >= 0)
        return kept, owners if len(kept) == len(owners) else owners[kept]

    @cached_property
    def _mask(self) -> Array:
        """The mask of the rows, which fits into the processor's cache where places do not."""
        mask = np.zeros(self._records, bool)
        mask[self._rows] = True
        return mask

    @cached_property
    def _places(self) -> Array:
        """The index of each record of the segment, -1 for others."""
        places = np.full(self._records, -1, np.int32)
        places[self._rows] = np.arange(len(self._rows), dtype=np.int32)
        return places
