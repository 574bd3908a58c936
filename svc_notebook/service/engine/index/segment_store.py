"""The segments of some records under one schema; indices of the same records may share them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from svc_notebook.service.engine.index.flatten import Record
from svc_notebook.service.engine.index.schema import OBJECT_ID, Schema
from svc_notebook.service.engine.index.segment import Segment
from svc_notebook.service.engine.index.segment_reader import View, follow, merge_views
from svc_notebook.service.engine.index.storage import (
    load_views,
    measure_segment,
    read_segment,
    save_views,
)

MERGE_FACTOR = 4
"""Number of segments of one size class that are merged into one of the next."""
MIN_SEGMENT_RECORDS = 256
LARGE_SEGMENT_RECORDS = 50_000
"""Segments of at least this many records are memory-mapped once they are saved."""
LARGE_BYTES = 16 * 2**20
"""Segments with files of at least this size are memory-mapped, too."""

Chunks = Callable[[], Iterable[Sequence[Record]]]


class SegmentStore:
    """The segments of an index, replaced as a list.

    One writer at a time, any number of readers in other threads. A reader uses the views that it
    found at its start; a writer never changes a view, it publishes new ones.
    """

    def __init__(self, shape: Schema, views: Sequence[View] = ()) -> None:
        self.shape = shape
        self.views = tuple(views)
        self._publishing = threading.Lock()

    @classmethod
    def filled(cls, shape: Schema, chunks: Iterable[Sequence[Record]]) -> SegmentStore:
        """Return a store of records given in chunks."""
        made = cls(shape)
        for chunk in chunks:
            made.put(chunk)
        return made

    def __len__(self) -> int:
        return sum(view.count for view in self.views)

    def put(self, records: Sequence[Record]) -> None:
        """Add or replace whole records by their `objectID`."""
        self.prepare(records)()
        self.settle()

    def delete(self, ids: Iterable[str]) -> None:
        """Delete records; unknown ids are ignored."""
        self.prepare(gone=ids)()

    def clear(self) -> None:
        """Delete all records."""
        self.prepare(emptied=True)()

    def prepare(
        self, put: Sequence[Record] = (), gone: Iterable[str] = (), *, emptied: bool = False
    ) -> Callable[[], None]:
        """Index records in advance; return a function that publishes the change atomically."""
        latest = {record[OBJECT_ID]: record for record in put}
        ids = sorted(latest)
        added = [View.of(Segment.of([latest[name] for name in ids], self.shape))] if ids else []
        names = sorted({*ids, *gone})

        def show() -> None:
            with self._publishing:
                kept = () if emptied else [view.without(names) for view in self.views]
                self.views = tuple(view for view in (*kept, *added) if view.count)

        return show

    def settle(self) -> None:
        """Merge segments while a size class is full."""
        while run := _find_level(self.views):
            self._merge(run)

    def fork(self) -> SegmentStore:
        """Return an independent store of the same records."""
        return SegmentStore(self.shape, self.views)

    def serving(self, shape: Schema, records: Chunks) -> SegmentStore:
        """Return a store for a schema: this one if it suffices, else one of all `records()`."""
        return self if self.shape.serves(shape) else SegmentStore.filled(shape, records())

    def compact(self) -> None:
        """Merge all segments into one; a concurrent writer is not blocked."""
        views = self.views
        if len(views) > 1 or any(view.count < len(view.segment) for view in views):
            self._merge(views)

    def save(self, folder: Path, stamp: int) -> None:
        """Save to a folder; existing segment files are not rewritten."""
        views = self.views
        save_views(folder, stamp, self.shape, views)
        for view in views:
            segment = view.segment
            if not segment.mapped and (
                len(segment) >= LARGE_SEGMENT_RECORDS
                or measure_segment(folder, segment.name) >= LARGE_BYTES
            ):
                self._take_from_file(folder, segment)

    @classmethod
    def load(cls, folder: Path) -> tuple[SegmentStore, int] | None:
        """Load a saved store and its stamp; None if there is none or it is unreadable."""
        if (found := load_views(folder)) is None:
            return None
        shape, stamp, views = found
        return cls(shape, views), stamp

    def _take_from_file(self, folder: Path, segment: Segment) -> None:
        """Replace a segment in memory by its memory-mapped file, which the system may page out."""
        mapped = read_segment(folder, segment.name).knowing(segment)
        with self._publishing:
            self.views = tuple(
                View(mapped, view.alive) if view.segment is segment else view for view in self.views
            )

    def _merge(self, run: Sequence[View]) -> None:
        """Merge views; discard the result if one of them was dropped meanwhile."""
        merged = merge_views(run)
        with self._publishing:
            now = {view.segment.name: view for view in self.views}
            if all(view.segment.name in now for view in run):
                following = follow(merged, run, [now.pop(view.segment.name) for view in run])
                self.views = (*now.values(), following)


def _find_level(views: Sequence[View]) -> Sequence[View]:
    """Return the views of the smallest size class that is full."""
    classes: dict[int, list[View]] = {}
    for view in views:
        classes.setdefault(_size_class(view.count), []).append(view)
    return next((run for _, run in sorted(classes.items()) if len(run) >= MERGE_FACTOR), [])


def _size_class(count: int) -> int:
    return ((count // MIN_SEGMENT_RECORDS).bit_length() + 1) // 2
