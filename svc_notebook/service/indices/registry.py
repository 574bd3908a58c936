"""The registry of published indices, each with its engine."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from svc_notebook.errors import NotFound
from svc_notebook.service.engine import Index, SegmentStore
from svc_notebook.service.indices.in_flight_writes import InFlightWrites
from svc_notebook.service.indices.published_index import COLUMNS, Lazy, PublishedIndex
from svc_notebook.service.indices.records import (
    add_stamps,
    count_bodies,
    measure_bodies,
    read_changed,
    read_chunks,
    read_ids,
)
from svc_notebook.service.indices.replica_group import group_alike, join_shapes
from svc_notebook.service.resources.compiled import CompiledResources
from svc_notebook.service.store import Store

Chunk = list[dict[str, Any]]


class IndexRegistry:
    """The published indices by name; readers never wait for the writer."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store = store
        self.library = CompiledResources(store)
        self.changes = InFlightWrites()
        self._folder = folder
        self._saved: dict[int, int] = {}
        self._sizes: dict[int, tuple[int, tuple[int, int]]] = {}
        self.closing = False
        self._by_name: dict[str, PublishedIndex] = {}
        with store.writing() as connection:
            add_stamps(connection)
        self.refresh()
        self.sweep()

    def refresh(self) -> None:
        """Reload the indices from the store; unchanged indices keep their engines."""
        self.library.forget()
        rows = self.store.read(f"SELECT {COLUMNS} FROM indices")
        fresh = [self._shelve(*row) for row in rows]
        self._by_name = {
            shelf.name: old if (old := self._by_name.get(shelf.name)) == shelf else shelf
            for shelf in fresh
        }

    def _shelve(self, id: int, name: str, settings: bytes, *facts: Any) -> PublishedIndex:
        shelf = PublishedIndex(id, name, msgspec.json.decode(settings), *facts)
        return PublishedIndex(**{**vars(shelf), "engine": Lazy(lambda: self._open(shelf))})

    def _open(self, shelf: PublishedIndex) -> Index:
        """Open an engine on the segment store that its replica group shares, or on a new one."""
        groups = group_alike(self.family(shelf))
        group = next((some for some in groups if shelf.id in (one.id for one in some)), [shelf])
        first = group[0]
        stock = self._stock(group) if first.id == shelf.id else first.engine.get().segment_store
        return shelf.over(stock)

    def _stock(self, group: list[PublishedIndex]) -> SegmentStore:
        """Load the engine files and apply later writes, or rebuild everything from the records."""
        first, shape = group[0], join_shapes(group)
        stock, stamp = SegmentStore.load(self._files(first)) or (None, -1)
        if stock is None or stamp > first.stamp or not stock.schema.serves(shape):
            shutil.rmtree(self._files(first), ignore_errors=True)
            return SegmentStore.from_chunks(shape, self.chunks(first.home))
        if stamp == first.stamp:
            self._saved[first.id] = stamp
        else:
            self._catch_up(stock, stamp, first.home)
        return stock

    def _catch_up(self, stock: SegmentStore, stamp: int, home: int) -> None:
        """Index the records written after a task; indexing a record again has no effect."""
        for chunk in self._while_open(read_changed(self.store, home, stamp)):
            stock.put(chunk)
        if len(stock) > count_bodies(self.store, home):
            known = read_ids(self.store, home)
            stock.delete(
                name for name in Index(segment_store=stock).matching({}) if name not in known
            )

    def chunks(self, id: int) -> Iterable[Chunk]:
        """Yield an index's records in chunks; raises when the service stops."""
        return self._while_open(read_chunks(self.store, id))

    def _while_open(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        for chunk in chunks:
            if self.closing:
                raise InterruptedError("the service is stopping")
            yield chunk

    def find(self, name: str) -> PublishedIndex:
        """Return the index; raises `NotFound`."""
        shelf = self._by_name.get(name)
        if shelf is None:
            raise NotFound(f"Index {name} does not exist", status=404)
        return shelf

    def get(self, name: str) -> PublishedIndex | None:
        """Return the index, or None."""
        return self._by_name.get(name)

    def family(self, shelf: PublishedIndex) -> list[PublishedIndex]:
        """Return the replica group of an index: the primary, then its replicas.

        An index that was withdrawn in the meantime is a group of its own.
        """
        found = [one for one in self._by_name.values() if one.home == shelf.home]
        return sorted(found or [shelf], key=_place)

    def all(self) -> list[PublishedIndex]:
        """Return all indices, sorted by name."""
        return [shelf for _, shelf in sorted(self._by_name.items())]

    def publish(self, *shelves: PublishedIndex) -> None:
        """Make the new state of indices visible to readers, all at once."""
        self._by_name = {**self._by_name, **{shelf.name: shelf for shelf in shelves}}

    def withdraw(self, name: str) -> None:
        """Remove an index from the view of readers."""
        self._by_name = {n: shelf for n, shelf in self._by_name.items() if n != name}

    def measure(self, shelf: PublishedIndex) -> tuple[int, int]:
        """Return the number and bytes of an index's records; cached until the next change."""
        known = self._sizes.get(shelf.id)
        if known is None or known[0] != shelf.stamp:
            known = self._sizes[shelf.id] = shelf.stamp, measure_bodies(self.store, shelf.home)
        return known[1]

    def stored(self) -> list[PublishedIndex]:
        """Return the indices with an open engine; the first one of each shared segment store."""
        opened = (shelf for shelf in self._by_name.values() if shelf.engine.opened)
        firsts: dict[SegmentStore, PublishedIndex] = {}
        for shelf in sorted(opened, key=_place):
            firsts.setdefault(shelf.engine.get().segment_store, shelf)
        return list(firsts.values())

    def unsaved(self) -> list[PublishedIndex]:
        """Return the indices whose engine files are out of date."""
        return [shelf for shelf in self.stored() if self._saved.get(shelf.id) != shelf.stamp]

    def save(self, shelf: PublishedIndex) -> None:
        """Write the engine files, so that the next start need not rebuild them.

        Records written during the save may or may not be in the files. They are newer than the
        stamp of
        the files, so they are read from the records again when the files are loaded.
        """
        shelf.engine.get().save(self._files(shelf), shelf.stamp)
        self._saved[shelf.id] = shelf.stamp

    def _files(self, shelf: PublishedIndex) -> Path:
        """Return the folder of an index's engine files; a replica has one per primary."""
        own = shelf.home == shelf.id
        return self._folder / (str(shelf.id) if own else f"{shelf.id}-{shelf.home}")

    def sweep(self) -> None:
        """Remove the remains of deleted indices: compiled resources in memory, and engine files.

        Also removes the files of an index that shares the files of another one.
        """
        self.library.keep([shelf.id for shelf in self._by_name.values()])
        waiting = (shelf for shelf in self._by_name.values() if not shelf.engine.opened)
        kept = {self._files(shelf) for shelf in (*waiting, *self.stored())}
        for path in self._folder.iterdir() if self._folder.is_dir() else ():
            if path not in kept:
                number, _, _ = path.name.partition("-")
                self._saved.pop(int(number), None) if number.isdecimal() else None
                shutil.rmtree(path, ignore_errors=True)


def _place(shelf: PublishedIndex) -> tuple[int, str]:
    """Sort key: primaries before replicas, then by name."""
    return shelf.leader, shelf.name
