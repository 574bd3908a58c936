"""The writes that a client had acknowledged: what `tasks` lists."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from svc_notebook.api import Endpoint, Parcel

KEPT = 10_000


@dataclass(frozen=True)
class Write:
    """One task that a call made; one without an index is the application's."""

    at: float
    call: str
    index: str | None
    task: int


class Written:
    """The newest writes, the oldest first."""

    def __init__(self) -> None:
        self._held: deque[Write] = deque(maxlen=KEPT)

    def note(self, endpoint: Endpoint, parcel: Parcel, answer: Any) -> None:
        """Keep what an answer says was written; a reading call's says nothing."""
        task = answer.get("taskID") if isinstance(answer, dict) and not endpoint.reads else None
        index = _index_in(endpoint, parcel)
        by_index = task if isinstance(task, dict) else {index: task}
        for name, number in by_index.items():
            if type(number) is int:
                self._held.append(Write(time.time(), endpoint.name, name, number))

    def __iter__(self) -> Iterator[Write]:
        return iter(list(self._held))


def _index_in(endpoint: Endpoint, parcel: Parcel) -> str | None:
    parts = endpoint.path.split("/")
    return unquote(parcel.path.split("/")[parts.index("{index}")]) if "{index}" in parts else None
