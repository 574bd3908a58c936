"""The indices as readers see them: published, each with its engine."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from svc_notebook.errors import NotFound
from svc_notebook.service.engine import Index
from svc_notebook.service.records import measure_bodies, read_chunks
from svc_notebook.service.store import Store


class Lazy:
    """An engine that is opened when it is first needed."""

    def __init__(self, open: Callable[[], Index]) -> None:
        self._open = open
        self._lock = threading.Lock()
        self._index: Index | None = None

    def get(self) -> Index:
        """Return the engine; the first caller opens it, the others wait."""
        if self._index is None:
            with self._lock:
                if self._index is None:
                    self._index = self._open()
        return self._index

    def settle(self, index: Index) -> None:
        """Take an engine made elsewhere."""
        self._index = index

    @property
    def opened(self) -> bool:
        """Whether it was needed yet."""
        return self._index is not None


@dataclass(frozen=True)
class Shelf:
    """One index: what it is called, how it searches, when it changed and by which task."""

    id: int
    name: str
    settings: dict[str, Any] = field(default_factory=dict)
    created: str = ""
    updated: str = ""
    stamp: int = 0
    engine: Lazy = field(default_factory=lambda: Lazy(Index), compare=False)


class Catalog:
    """The published indices by name; readers never wait for the one writer."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store = store
        self._folder = folder
        self._saved: dict[int, int] = {}
        self._sizes: dict[int, tuple[int, tuple[int, int]]] = {}
        self.closing = False
        self._by_name: dict[str, Shelf] = {}
        self.refresh()
        self.sweep()

    def refresh(self) -> None:
        """Take over what the store says; the engine of an index that is as before stays."""
        rows = self.store.read("SELECT id, name, settings, created, updated, stamp FROM indices")
        fresh = [self._shelve(*row) for row in rows]
        self._by_name = {
            shelf.name: old if (old := self._by_name.get(shelf.name)) == shelf else shelf
            for shelf in fresh
        }

    def _shelve(self, id: int, name: str, settings: bytes, *facts: Any) -> Shelf:
        shelf = Shelf(id, name, msgspec.json.decode(settings), *facts)
        return Shelf(**{**vars(shelf), "engine": Lazy(lambda: self._open(shelf))})

    def _open(self, shelf: Shelf) -> Index:
        """Load the engine's files if they are current, else build it from the records."""
        loaded = Index.load(self._files(shelf.id), shelf.settings)
        if loaded and loaded[1] == shelf.stamp:
            self._saved[shelf.id] = shelf.stamp
            return loaded[0]
        index = Index(shelf.settings)
        for chunk in self.chunks(shelf.id):
            index.put(chunk)
        return index

    def chunks(self, id: int) -> Iterable[list[dict[str, Any]]]:
        """Read an index's records; ends early, by an error, when the service stops."""
        for chunk in read_chunks(self.store, id):
            if self.closing:
                raise InterruptedError("the service is stopping")
            yield chunk

    def find(self, name: str) -> Shelf:
        """Return the index; raises `NotFound`."""
        shelf = self._by_name.get(name)
        if shelf is None:
            raise NotFound(f"Index {name} does not exist", status=404)
        return shelf

    def get(self, name: str) -> Shelf | None:
        """Return the index, if there is one."""
        return self._by_name.get(name)

    def all(self) -> list[Shelf]:
        """All indices, by name."""
        return [shelf for _, shelf in sorted(self._by_name.items())]

    def publish(self, shelf: Shelf) -> None:
        """Let readers see an index as it now is."""
        self._by_name = {**self._by_name, shelf.name: shelf}

    def withdraw(self, name: str) -> None:
        """Let readers see an index no more."""
        self._by_name = {n: shelf for n, shelf in self._by_name.items() if n != name}

    def measure(self, shelf: Shelf) -> tuple[int, int]:
        """The number and the bytes of an index's records; measured once after each change."""
        known = self._sizes.get(shelf.id)
        if known is None or known[0] != shelf.stamp:
            known = self._sizes[shelf.id] = shelf.stamp, measure_bodies(self.store, shelf.id)
        return known[1]

    def unsaved(self) -> list[Shelf]:
        """The indices whose engines' files are behind."""
        return [s for s in self.all() if s.engine.opened and self._saved.get(s.id) != s.stamp]

    def save(self, shelf: Shelf) -> None:
        """Write the engine's files, so that the next start need not build it again.

        Should a write come in between, the files tell an older stamp than the store and are not
        believed.
        """
        shelf.engine.get().save(self._files(shelf.id), shelf.stamp)
        self._saved[shelf.id] = shelf.stamp

    def _files(self, id: int) -> Path:
        return self._folder / str(id)

    def sweep(self) -> None:
        """Remove the files of indices that are gone."""
        kept = {str(shelf.id) for shelf in self._by_name.values()}
        for path in self._folder.iterdir() if self._folder.is_dir() else ():
            if path.name not in kept:
                shutil.rmtree(path, ignore_errors=True)
