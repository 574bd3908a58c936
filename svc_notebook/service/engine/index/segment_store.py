"""The segments of some records under one schema; indices of the same records may share them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from svc_notebook.service.engine.index.flatten import Record
from svc_notebook.service.engine.index.schema import OBJECT_ID, Shape
from svc_notebook.service.engine.index.segment import Segment
from svc_notebook.service.engine.index.segment_reader import View, follow, merge_views
from svc_notebook.service.engine.index.storage import (
    load_views,
    measure_segment,
    read_segment,
    save_views,
)

MERGE_FACTOR = 4
"""So many segments of one size become one of the next."""
MIN_SEGMENT_RECORDS = 256
LARGE_SEGMENT_RECORDS = 50_000
"""Records from which on a segment is read from its file, once it has one."""
LARGE_BYTES = 16 * 2**20
"""Bytes of a file from which on a segment of fewer records, whose texts are long, is, too."""

Chunks = Callable[[], Iterable[Sequence[Record]]]


class Stock:
    """Segments, swapped as a list.

    One writer at a time, any number of readers in other threads. A reader works on the views it
    found when it began; a writer never changes one, it publishes the next.
    """

    def __init__(self, shape: Shape, views: Sequence[View] = ()) -> None:
        self.shape = shape
        self.views = tuple(views)
        self._publishing = threading.Lock()

    @classmethod
    def filled(cls, shape: Shape, chunks: Iterable[Sequence[Record]]) -> Stock:
        """Return a stock of records that come in chunks."""
        made = cls(shape)
        for chunk in chunks:
            made.put(chunk)
        return made

    def __len__(self) -> int:
        return sum(view.count for view in self.views)

    def put(self, records: Sequence[Record]) -> None:
        """Add whole records, each with its `objectID`; those of the same id are replaced."""
        self.prepare(records)()
        self.settle()

    def delete(self, ids: Iterable[str]) -> None:
        """Delete records; ids that are not there are passed over."""
        self.prepare(gone=ids)()

    def clear(self) -> None:
        """Delete all records."""
        self.prepare(emptied=True)()

    def prepare(
        self, put: Sequence[Record] = (), gone: Iterable[str] = (), *, emptied: bool = False
    ) -> Callable[[], None]:
        """Index records ahead; return what lets readers see a change, all of it at once."""
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
        """Merge segments where there are many of one size."""
        while run := _find_level(self.views):
            self._merge(run)

    def fork(self) -> Stock:
        """Return a stock of the same records that goes its own way from now on."""
        return Stock(self.shape, self.views)

    def serving(self, shape: Shape, records: Chunks) -> Stock:
        """Return a stock that serves a shape: this one, or else a new one of all `records()`."""
        return self if self.shape.serves(shape) else Stock.filled(shape, records())

    def compact(self) -> None:
        """Merge everything into one segment; may run beside a writer, who is not held up."""
        views = self.views
        if len(views) > 1 or any(view.count < len(view.segment) for view in views):
            self._merge(views)

    def save(self, folder: Path, stamp: int) -> None:
        """Write it to a folder; what lies there already is not written again."""
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
    def load(cls, folder: Path) -> tuple[Stock, int] | None:
        """Read what was saved and its stamp; None if there is nothing that can be read."""
        if (found := load_views(folder)) is None:
            return None
        shape, stamp, views = found
        return cls(shape, views), stamp

    def _take_from_file(self, folder: Path, segment: Segment) -> None:
        """Let go of a segment's memory; the system reads its file, and forgets it where it must."""
        mapped = read_segment(folder, segment.name).knowing(segment)
        with self._publishing:
            self.views = tuple(
                View(mapped, view.alive) if view.segment is segment else view for view in self.views
            )

    def _merge(self, run: Sequence[View]) -> None:
        """Merge views; give up if one of them has been dropped meanwhile."""
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
