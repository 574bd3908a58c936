"""Batches: encoded rows as request bodies, limited in records and bytes.

Each scan of the rows is checked to return them in the same order as an earlier scan.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from svc_notebook.data.loading.encoding.json_values import may_hold_objects
from svc_notebook.data.loading.encoding.record_sql import operation_prefix
from svc_notebook.data.loading.load_plan.preparation import Prepared
from svc_notebook.data.loading.load_plan.row_errors import Digests, Positions
from svc_notebook.errors import BadInput

if TYPE_CHECKING:
    import pyarrow as pa

    from svc_notebook.data.loading.load_plan.row_errors import MarkedRows

# The digest of a span fits a signed 64-bit number in JSON.
DIGEST_BITS = (1 << 63) - 1
HEAD = b'{"requests":['
TAIL = b"]}"
HASH_HEX_DIGITS = 32
# The longest number that is added to the hash of a repeated row.
MAX_REPEAT_SUFFIX = "-1000000000"
# The member of a partial update, such as Increment, which may not be idempotent.
PARTIAL_UPDATE = b'"_operation"'

Offsets = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Batch:
    """One request body; `span` is the positions it settles, including dropped rows."""

    span: Span
    rows: int
    body: bytes
    # Whether it is idempotent.
    repeatable: bool = True
    # The digest of the rows of the span; 0 for a few rows in memory.
    digest: int = field(default=0, compare=False)


def pack_batches(
    prepared: Prepared, settled: Sequence[Span] = (), digests: Mapping[Span, int] | None = None
) -> Iterator[Batch]:
    """Encode every row that is neither dropped nor settled, in the order of the source.

    Raises `BadInput` if the source returns other rows than those that were checked, or than those
    of the settled spans by their `digests`.
    """
    options = prepared.options
    cutter = BatchCutter(
        prepared.dropped, settled, prepared.repeats, options.batch_bytes,
        len(operation_prefix(options)), partial_updates=_may_hold_partial_updates(prepared),
    )  # fmt: skip
    if prepared.operations is not None:
        for texts in _in_memory(prepared.operations, options.batch):
            yield from cutter.cut(texts)
        return
    order = RowOrder(prepared.table.name, prepared.marks, digests or {})
    in_any_order = not (len(prepared.dropped) or prepared.repeats or settled)
    for positions, row_digests, texts in _scanned(prepared, in_any_order=in_any_order):
        order.check(positions, row_digests)
        yield from cutter.cut(texts, row_digests)


def _may_hold_partial_updates(prepared: Prepared) -> bool:
    """Return whether rows may contain `_operation`.

    Searching every body for it takes as long as sending it.
    """
    columns = prepared.plan.column_rows
    named = any("_operation" in column.name for column in columns)
    documents = any(may_hold_objects(column.sent_as) for column in columns)
    return documents or named or bool(prepared.options.operations)


def _scanned(
    prepared: Prepared, *, in_any_order: bool
) -> Iterator[tuple[Positions, Digests, pa.StringArray]]:
    """Yield the encoded operations of a table with the position and digest of each row.

    Numbering the rows of a file takes one thread. With `in_any_order`, every row is sent, so that
    no row needs the position that it had in an earlier scan.
    """
    table = prepared.table
    numbered = bool(table.numbered_sql) or not in_any_order
    columns = f"{table.digest}, {prepared.operation}"
    query = f"SELECT {columns}, pos FROM {table.numbered}"
    if not numbered:
        query = f"SELECT {columns} FROM {table.sql}"
    read = 0
    for chunk in table.db.chunks(query, prepared.options.batch, ordered=True):
        digests = chunk.column(0).to_numpy(zero_copy_only=False)
        stored = chunk.column(2).to_numpy(zero_copy_only=False) if numbered else None
        yield (
            np.arange(read, read + len(chunk)) if stored is None else stored,
            digests,
            chunk.column(1),
        )
        read += len(chunk)


def _in_memory(operations: Sequence[str], chunk_rows: int) -> Iterator[pa.StringArray]:
    import pyarrow as pa

    for start in range(0, len(operations), chunk_rows):
        yield pa.array(operations[start : start + chunk_rows], pa.large_string())


class BatchCutter:
    """Cuts chunks of rows into batches; texts stay in Arrow buffers until a body is joined."""

    def __init__(
        self,
        dropped: Positions,
        settled: Sequence[Span],
        repeats: Mapping[int, int],
        max_bytes: int,
        prefix_bytes: int,
        *,
        partial_updates: bool = True,
    ) -> None:
        self._dropped = dropped
        self._settled = merge_spans(settled)
        self._repeats = repeats
        self._repeated = sorted(repeats)
        self._max_rows_bytes = max_bytes - len(HEAD) - len(TAIL)
        self._partial_updates = partial_updates
        self._suffix_at = prefix_bytes + len('"') + HASH_HEX_DIGITS
        self._position = 0

    def cut(self, texts: pa.StringArray, digests: Digests | None = None) -> Iterator[Batch]:
        """Cut one chunk of rows, each `,{…}`."""
        first = self._position
        self._position += len(texts)
        keep = self._kept(Span(first, self._position))
        if not keep.any():
            return
        offsets, data = _buffers(texts)
        for start, stop in self._portions(offsets, keep):
            runs = _runs(keep[start:stop], start)
            pieces = [piece for run in runs for piece in self._pieces(data, offsets, run, first)]
            # Every operation begins with a comma; that of the first one is removed.
            body = b"".join([HEAD, pieces[0][1:], *pieces[1:], TAIL])
            rows = int(keep[start:stop].sum())
            repeatable = not self._partial_updates or PARTIAL_UPDATE not in body
            digest = 0 if digests is None else digest_of(digests[start:stop])
            yield Batch(Span(first + start, first + stop), rows, body, repeatable, digest)

    def _kept(self, span: Span) -> npt.NDArray[np.bool_]:
        keep = np.ones(span.last - span.first, dtype=np.bool_)
        low, high = np.searchsorted(self._dropped, span)
        keep[self._dropped[low:high] - span.first] = False
        at = bisect_left(self._settled, span.first, key=lambda settled: settled.last)
        for first, last in self._settled[at:]:
            if first >= span.last:
                break
            keep[max(first - span.first, 0) : last - span.first] = False
        return keep

    def _portions(self, offsets: Offsets, keep: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
        """Yield portions that do not exceed the limit; a portion has at least one record."""
        sizes = np.where(keep, np.diff(offsets) + len(MAX_REPEAT_SUFFIX), 0)
        ends = np.cumsum(sizes)
        start = 0
        while start < len(keep):
            before = ends[start - 1] if start else 0
            stop = int(np.searchsorted(ends, before + self._max_rows_bytes, side="right"))
            stop = max(stop, start + 1)
            if keep[start:stop].any():
                yield start, stop
            start = stop

    def _pieces(
        self, data: memoryview, offsets: Offsets, run: Span, first: int
    ) -> Iterator[memoryview | bytes]:
        """Yield slices of a run of rows; the hash of a repeated row is followed by its number."""
        at = int(offsets[run.first])
        low = bisect_left(self._repeated, first + run.first)
        high = bisect_left(self._repeated, first + run.last)
        for position in self._repeated[low:high]:
            cut = int(offsets[position - first]) + self._suffix_at
            yield data[at:cut]
            yield b"-%d" % self._repeats[position]
            at = cut
        yield data[at : int(offsets[run.last])]


def _buffers(texts: pa.StringArray) -> tuple[Offsets, memoryview]:
    _, offsets, data = texts.buffers()
    kind = np.int64 if str(texts.type).startswith("large") else np.int32
    bounds = np.frombuffer(offsets, dtype=kind)[texts.offset : texts.offset + len(texts) + 1]
    return bounds.astype(np.int64), memoryview(data)


def _runs(keep: npt.NDArray[np.bool_], start: int) -> list[Span]:
    """Return the runs of rows that are sent."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], keep, [False]))))
    return [Span(start + int(a), start + int(b)) for a, b in edges.reshape(-1, 2)]


def merge_spans(spans: Sequence[Span]) -> list[Span]:
    """Join spans that overlap or adjoin."""
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span.first <= merged[-1].last:
            merged[-1] = Span(merged[-1].first, max(merged[-1].last, span.last))
        else:
            merged.append(span)
    return merged


class Span(NamedTuple):
    """The positions from `first` up to, but not including, `last`."""

    first: int
    last: int


def digest_of(digests: Digests) -> int:
    """Return one number for several rows, independent of their order."""
    return int(np.add.reduce(digests, dtype=np.uint64)) & DIGEST_BITS


class RowOrder:
    """Checks one scan: every row has its position, and marked rows have their content.

    `settled` are the spans that an interrupted load sent, each with the digest of its rows.
    """

    def __init__(self, name: str, marks: MarkedRows, settled: Mapping[Span, int]) -> None:
        self._name = name
        self._marks = marks
        self._settled = sorted(settled.items())
        self._sums = dict.fromkeys(settled, 0)
        self._position = 0

    def check(self, positions: Positions, digests: Digests) -> None:
        """Check the next rows of the scan; raises `BadInput` if they are not the expected ones."""
        first = self._position
        self._position += len(positions)
        in_order = np.array_equal(positions, np.arange(first, self._position))
        if not in_order or not self._marks.agree(first, digests):
            raise BadInput(
                f"the rows of {self._name} have another order than when they were checked: the "
                "load was stopped before any of these rows was sent. Load it again; if that fails, "
                "too, load it as a DataFrame"
            )
        self._check_settled(Span(first, self._position), digests)

    def _check_settled(self, read: Span, digests: Digests) -> None:
        while self._settled and self._settled[0][0].first < read.last:
            span, expected = self._settled[0]
            low, high = max(span.first, read.first), min(span.last, read.last)
            part = digest_of(digests[low - read.first : high - read.first])
            self._sums[span] = (self._sums[span] + part) & DIGEST_BITS
            if span.last > read.last:
                return
            if self._sums[span] != expected:
                raise BadInput(
                    f"the rows of {self._name} that were sent before have changed or moved: "
                    "load it again without resume=True"
                )
            del self._settled[0]
