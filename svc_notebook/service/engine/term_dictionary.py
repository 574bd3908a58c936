"""A sorted dictionary of distinct strings in one blob, which may be in a memory-mapped file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from svc_notebook.service.engine.arrays import Array, Arrays

# A byte that sorts after any byte of UTF-8.
MAX_BYTE = b"\xff"

# Fewer keys than this are faster one by one than as arrays.
MAX_PLAIN_SEARCH_KEYS = 100

# Strings decoded at one time; as Python strings they take several times the memory.
BLOCK_STRINGS = 1 << 16


class TermDictionary:
    """Distinct strings sorted by code point: `names[n]` is the nth, `find` the inverse."""

    def __init__(self, blob: Array, starts: Array) -> None:
        self.blob = blob
        self.starts = starts
        self._bytes = memoryview(np.ascontiguousarray(blob).data).cast("B") if len(blob) else b""
        self._common = self._read_common()
        self._heads = _heads(blob, starts[:-1], starts[1:], len(self._common))

    @classmethod
    def of(cls, ascending: Sequence[str]) -> TermDictionary:
        """Store strings that are already distinct and sorted."""
        return cls._joined([_pack(ascending)])

    @classmethod
    def _joined(cls, pieces: Sequence[tuple[bytes, Array]]) -> TermDictionary:
        blob = b"".join(piece for piece, _ in pieces)
        lengths = np.concatenate([lengths for _, lengths in pieces])
        return cls(np.frombuffer(blob, np.uint8), starts_of(lengths))

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> TermDictionary:
        """Restore a dictionary from `arrays`."""
        return cls(arrays["blob"], arrays["starts"])

    def arrays(self) -> Arrays:
        """Return the arrays to store."""
        return {"blob": self.blob, "starts": self.starts}

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, number: int) -> str:
        return self._encoded(number).decode("utf-8", "surrogatepass")

    def take(self, places: Array) -> list[str]:
        """Return the strings at these places."""
        bounds = zip(self.starts[places].tolist(), self.starts[places + 1].tolist(), strict=True)
        blob = self._bytes
        return [str(blob[start:end], "utf-8", "surrogatepass") for start, end in bounds]

    def all(self) -> list[str]:
        """Return every string, in order."""
        return self.take(np.arange(len(self)))

    def blocks(self) -> Iterator[tuple[slice, list[str]]]:
        """Iterate over all strings in blocks."""
        for start in range(0, len(self), BLOCK_STRINGS):
            span = slice(start, min(start + BLOCK_STRINGS, len(self)))
            yield span, self.take(np.arange(span.start, span.stop))

    def select(self, mask: Array) -> TermDictionary:
        """Return a dictionary of the strings in a mask."""
        if mask.all():
            return self
        lengths = np.diff(self.starts)
        return TermDictionary(self.blob[np.repeat(mask, lengths)], starts_of(lengths[mask]))

    def find(self, name: str) -> int:
        """Return the position of a string, -1 if absent."""
        key = _encode(name)
        number = self._first_not_below(key)
        return number if number < len(self) and self._encoded(number) == key else -1

    def find_many(self, names: Sequence[str]) -> Array:
        """Return the position of each string, -1 if absent."""
        numbers = np.full(len(names), -1, np.int64)
        if not len(self) or not names:
            return numbers
        keys = [_encode(name) for name in names]
        heads = self._heads_of(keys)
        low, high = (np.searchsorted(self._heads, heads, side) for side in ("left", "right"))
        for number in np.flatnonzero(low < high).tolist():
            key = keys[number]
            if key.startswith(self._common):
                position = self._bisect(key, int(low[number]), int(high[number]))
                if position < len(self) and self._encoded(position) == key:
                    numbers[number] = position
        return numbers

    def prefix_range(self, prefix: str) -> tuple[int, int]:
        """Return the range of positions, end excluded, of strings with a prefix."""
        key = _encode(prefix)
        return self._first_not_below(key), self._first_not_below(key + MAX_BYTE)

    def _heads_of(self, keys: Sequence[bytes]) -> Array:
        skipped = len(self._common)
        if len(keys) < MAX_PLAIN_SEARCH_KEYS:
            return np.array([_head(key[skipped : skipped + 8]) for key in keys])
        lengths = np.fromiter(map(len, keys), np.int64, len(keys))
        starts = starts_of(lengths)
        return _heads(np.frombuffer(b"".join(keys), np.uint8), starts[:-1], starts[1:], skipped)

    def _heads_at(self, places: Array, skipped: int) -> Array:
        if skipped == len(self._common):
            return self._heads[places]
        return _heads(self.blob, self.starts[places], self.starts[places + 1], skipped)

    def _encoded(self, number: int) -> bytes:
        return bytes(self._bytes[int(self.starts[number]) : int(self.starts[number + 1])])

    def _read_common(self) -> bytes:
        if not len(self):
            return b""
        return _common_prefix(self._encoded(0), self._encoded(len(self) - 1))

    def _first_not_below(self, key: bytes) -> int:
        common = self._common
        if not key.startswith(common):
            return 0 if key < common else len(self)
        head = _head(key[len(common) : len(common) + 8])
        low = int(np.searchsorted(self._heads, head, "left"))
        high = int(np.searchsorted(self._heads, head, "right"))
        return self._bisect(key, low, high)

    def _bisect(self, key: bytes, low: int, high: int) -> int:
        while low < high:
            middle = (low + high) // 2
            if self._encoded(middle) < key:
                low = middle + 1
            else:
                high = middle
        return low


def rank_strings(many: Sequence[TermDictionary], numbers: Array, places: Array) -> Array:
    """Return the rank of each of some distinct strings of several dictionaries.

    The nth string is that of dictionary `numbers[n]` at `places[n]`.
    """
    ends = [
        end
        for dictionary in many
        if len(dictionary)
        for end in (dictionary._encoded(0), dictionary._encoded(len(dictionary) - 1))
    ]
    skipped = len(_common_prefix(min(ends), max(ends))) if ends else 0
    heads = np.empty(len(places), np.uint64)
    chosen = [np.flatnonzero(numbers == number) for number in range(len(many))]
    for dictionary, at in zip(many, chosen, strict=True):
        heads[at] = dictionary._heads_at(places[at], skipped)
    order = np.argsort(heads, kind="stable")
    heads = heads[order]
    equal = np.zeros(len(order) + 1, bool)
    np.equal(heads[1:], heads[:-1], out=equal[1:-1])
    undecided = np.flatnonzero(equal[1:] | equal[:-1])
    if len(undecided):
        order[undecided] = _sort_strings(many, numbers, places, order[undecided])
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks


def _sort_strings(
    many: Sequence[TermDictionary], numbers: Array, places: Array, selected: Array
) -> Array:
    """Return the indices `some` of strings, sorted by string."""
    names = np.empty(len(selected), object)
    for number, dictionary in enumerate(many):
        at = np.flatnonzero(numbers[selected] == number)
        names[at] = dictionary.take(places[selected[at]])
    return selected[np.argsort(names, kind="stable")]


def union(many: Sequence[TermDictionary]) -> tuple[TermDictionary, list[Array]]:
    """Merge dictionaries; also return the new positions of each one's strings."""
    if (in_sequence := _order_ranges(many)) is not None:
        return _concatenate(many, in_sequence)
    moved = [np.empty(len(dictionary), np.int32) for dictionary in many]
    pieces = [_pack([])]
    start = 0
    for spans in _split_at_same_strings(many):
        parts = [
            dictionary.take(np.arange(*span)) for dictionary, span in zip(many, spans, strict=True)
        ]
        merged = sorted(set().union(*parts))
        number_of = {name: number for number, name in enumerate(merged, start)}
        for to, part, span in zip(moved, parts, spans, strict=True):
            to[slice(*span)] = np.fromiter(map(number_of.__getitem__, part), np.int32, len(part))
        pieces.append(_pack(merged))
        start += len(merged)
    return TermDictionary._joined(pieces), moved


def _order_ranges(many: Sequence[TermDictionary]) -> list[int] | None:
    """Return the order in which each dictionary ends before the next begins, None without one.

    This is so for the objectIDs of most loads, because they arrive in order.
    """
    order = sorted((n for n in range(len(many)) if len(many[n])), key=lambda n: many[n]._encoded(0))
    ends = (many[n]._encoded(len(many[n]) - 1) for n in order)
    begins = (many[n]._encoded(0) for n in order[1:])
    return order if all(end < begin for end, begin in zip(ends, begins, strict=False)) else None


def _concatenate(
    many: Sequence[TermDictionary], order: Sequence[int]
) -> tuple[TermDictionary, list[Array]]:
    moved = [np.empty(0, np.int32) for _ in many]
    start = 0
    for number in order:
        moved[number] = np.arange(start, start + len(many[number]), dtype=np.int32)
        start += len(many[number])
    pieces = [(many[n].blob.tobytes(), np.diff(many[n].starts)) for n in order]
    return TermDictionary._joined([_pack([]), *pieces]), moved


def _split_at_same_strings(many: Sequence[TermDictionary]) -> Iterator[tuple[tuple[int, int], ...]]:
    """Split all at the same strings, with at most `BLOCK_STRINGS` of each between two splits."""
    cuts = sorted(
        {
            dictionary._encoded(at)
            for dictionary in many
            for at in range(BLOCK_STRINGS, len(dictionary), BLOCK_STRINGS)
        }
    )
    bounds = ([0, *map(dictionary._first_not_below, cuts), len(dictionary)] for dictionary in many)
    return zip(*map(pairwise, bounds), strict=True)


def starts_of(lengths: Array) -> Array:
    """Return the start of each consecutive range, and the end of the last."""
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def _pack(names: Sequence[str]) -> tuple[bytes, Array]:
    """Return the strings concatenated, and the length of each in bytes."""
    whole = "".join(names)
    if whole.isascii():
        return whole.encode(), np.fromiter(map(len, names), np.int64, len(names))
    encoded = [_encode(name) for name in names]
    return b"".join(encoded), np.fromiter(map(len, encoded), np.int64, len(encoded))


def _encode(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")


def _common_prefix(first: bytes, last: bytes) -> bytes:
    differ = (n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b)
    return first[: next(differ, min(len(first), len(last)))]


def _head(key: bytes) -> np.uint64:
    return np.uint64(int.from_bytes(key.ljust(8, b"\0"), "big"))


def _heads(blob: Array, starts: Array, ends: Array, skipped: int) -> Array:
    """Return the eight bytes after the skipped ones as a number with the same sort order."""
    heads = np.zeros(len(starts), np.uint64)
    if not len(blob):
        return heads
    for offset in range(8):
        at = starts + (skipped + offset)
        letters = np.where(at < ends, blob[np.minimum(at, len(blob) - 1)], 0)
        heads = (heads << np.uint64(8)) | letters.astype(np.uint64)
    return heads
