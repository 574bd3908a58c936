"""One index's searchable state."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from svc_notebook.service.engine import search
from svc_notebook.service.engine.hits import Fetch
from svc_notebook.service.engine.leaves import Record
from svc_notebook.service.engine.options import Options
from svc_notebook.service.engine.ranking import Order
from svc_notebook.service.engine.search import FacetFound, Found
from svc_notebook.service.engine.segment import Segment
from svc_notebook.service.engine.shape import OBJECT_ID, Shape
from svc_notebook.service.engine.storage import load_views, save_views
from svc_notebook.service.engine.view import View, follow, merge_views

FAN = 4
"""So many segments of one size become one of the next."""
SMALLEST = 256
NO_SETTINGS: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class State:
    """What readers see: settings, the shape they are stored under, and the segments."""

    settings: Mapping[str, Any]
    shape: Shape
    views: tuple[View, ...] = ()


class Index:
    """Records to search, under settings.

    One writer at a time, any number of readers in other threads. A reader works on the state it
    found when it began; a writer never changes one, it publishes the next.
    """

    def __init__(self, settings: Mapping[str, Any] = NO_SETTINGS) -> None:
        search.check_settings(settings)
        self._state = State(dict(settings), Shape.of(settings))
        self._publishing = threading.Lock()

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings that are not at their defaults."""
        return self._state.settings

    def __len__(self) -> int:
        return sum(view.count for view in self._state.views)

    def put(self, records: Sequence[Record]) -> None:
        """Add whole records, each with its `objectID`; those of the same id are replaced."""
        latest = {record[OBJECT_ID]: record for record in records}
        if latest:
            ids = sorted(latest)
            segment = Segment.of([latest[name] for name in ids], self._state.shape)
            self._publish(ids, View.of(segment))
            self._merge_levels()

    def delete(self, ids: Iterable[str]) -> None:
        """Delete records; ids that are not there are passed over."""
        self._publish(sorted(set(ids)))

    def clear(self) -> None:
        """Delete all records."""
        with self._publishing:
            self._state = replace(self._state, views=())

    def configure(
        self, settings: Mapping[str, Any], records: Callable[[], Iterable[Sequence[Record]]]
    ) -> None:
        """Take new settings; index all `records()` again only if something else must be stored."""
        rebuilt = Index(settings)
        if not self._state.shape.serves(rebuilt._state.shape):
            for chunk in records():
                rebuilt.put(chunk)
            with self._publishing:
                self._state = rebuilt._state
            return
        with self._publishing:
            self._state = replace(self._state, settings=rebuilt.settings)

    def copy(self) -> Index:
        """Return an index of the same records, which shares all that is stored."""
        twin = Index()
        twin._state = self._state
        return twin

    def compact(self) -> None:
        """Merge everything into one segment; may run beside a writer, who is not held up."""
        views = self._state.views
        if len(views) > 1 or any(view.count < len(view.segment) for view in views):
            self._merge(views)

    def search(self, params: Mapping[str, Any], fetch: Fetch) -> Found:
        """Search; `fetch` gives the records of the hits."""
        state = self._state
        return search.find_hits(state.views, Options(state.settings, params), fetch)

    def facet_values(
        self, facet: str, query: str, params: Mapping[str, Any], limit: int
    ) -> FacetFound:
        """Search inside the values of a facet; `params` restrict the records that count."""
        state = self._state
        options = Options(state.settings, params)
        return search.find_values(state.views, options, facet, query, limit)

    def matching(self, params: Mapping[str, Any]) -> list[str]:
        """Return the objectIDs of all records that pass the filters."""
        state = self._state
        return search.find_ids(state.views, Options(state.settings, params))

    def order(self, params: Mapping[str, Any]) -> Order:
        """Return all that match, in the order in which they are browsed."""
        state = self._state
        return search.find_order(state.views, Options(state.settings, params))

    def save(self, folder: Path, stamp: int) -> None:
        """Write what is stored to a folder; what lies there already is not written again."""
        state = self._state
        save_views(folder, stamp, state.shape, state.views)

    @classmethod
    def load(cls, folder: Path, settings: Mapping[str, Any]) -> tuple[Index, int] | None:
        """Read what was saved and its stamp; None if that is no good under these settings."""
        found = load_views(folder)
        index = cls(settings)
        if found is None or not found[0].serves(index._state.shape):
            return None
        shape, stamp, views = found
        index._state = State(index.settings, shape, views)
        return index, stamp

    def _publish(self, gone: Sequence[str], *new: View) -> None:
        with self._publishing:
            views = (*(view.without(gone) for view in self._state.views), *new)
            kept = tuple(view for view in views if view.count)
            self._state = replace(self._state, views=kept)

    def _merge_levels(self) -> None:
        while run := _find_level(self._state.views):
            self._merge(run)

    def _merge(self, run: Sequence[View]) -> None:
        """Merge views; give up if one of them has been dropped meanwhile."""
        merged = merge_views(run)
        with self._publishing:
            now = {view.segment: view for view in self._state.views}
            if all(view.segment in now for view in run):
                following = follow(merged, run, [now.pop(view.segment) for view in run])
                self._state = replace(self._state, views=(*now.values(), following))


def _find_level(views: Sequence[View]) -> Sequence[View]:
    """Return the views of the smallest size class that is full."""
    classes: dict[int, list[View]] = {}
    for view in views:
        classes.setdefault(_size_class(view.count), []).append(view)
    return next((run for _, run in sorted(classes.items()) if len(run) >= FAN), [])


def _size_class(count: int) -> int:
    return ((count // SMALLEST).bit_length() + 1) // 2
