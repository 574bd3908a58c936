"""Browse cursors: the position of a browse as text, which remains valid after a restart."""

from __future__ import annotations

import base64
import binascii
import hashlib
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from svc_notebook.api.parameters import SearchParams
from svc_notebook.api.validation import check_members
from svc_notebook.errors import BadInput
from svc_notebook.service.engine.index.id_list import IdList

MAX_KEPT_BYTES = 128 * 2**20
"""Memory of all orders together; the newest is kept whatever it takes."""
KEPT_OVERHEAD_BYTES = 1024
"""What an order takes beside its objectIDs, at most."""
NEW_SECONDS, CONTINUED_SECONDS = 30.0, 300.0
"""How long an order is kept without use: one that was never asked for again, and any other."""
# What a later call may change; everything else is as in the first call.
PER_PAGE = ("hitsPerPage", "attributesToRetrieve")


class Cursor(NamedTuple):
    """How far a browse is.

    `done` records were handed out, the last of them at `place` in the store or called `last` in
    the engine's order; `params` are those of the first call.
    """

    shelf: int
    params: dict[str, Any]
    done: int
    place: int = 0
    last: str = ""
    order: str = ""


def write_cursor(cursor: Cursor) -> str:
    """Write a cursor as text."""
    return base64.urlsafe_b64encode(msgspec.msgpack.encode(cursor)).decode().rstrip("=")


def read_cursor(text: str) -> Cursor:
    """Read a cursor back; raises `BadInput`."""
    try:
        packed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        cursor = msgspec.msgpack.decode(packed, type=Cursor)
    except (binascii.Error, msgspec.MsgspecError, ValueError, RecursionError):
        raise BadInput("`cursor` is not one that a browse returned") from None
    # A cursor is the caller's to write: its parameters pass the same door as any.
    check_members(cursor.params, SearchParams, "cursor")
    return cursor


class _Kept:
    """The order of one browse under way."""

    def __init__(self, told: bytes, ids: IdList, now: float) -> None:
        self.told = told
        self.ids = ids
        self.used = now
        self.continued = False

    @property
    def nbytes(self) -> int:
        return self.ids.nbytes + KEPT_OVERHEAD_BYTES

    def is_over(self, now: float) -> bool:
        return now - self.used > (CONTINUED_SECONDS if self.continued else NEW_SECONDS)


class Cursors:
    """The orders of browses under way, so that a page need not sort the index again.

    They are objectIDs and hold no segment. One that nobody asks for is forgotten after a while,
    and of too many the one that was used longest ago; its browse then sorts once more.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._orders: OrderedDict[str, _Kept] = OrderedDict()
        self._clock = clock
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        """The memory that all of them take, in bytes."""
        return sum(kept.nbytes for kept in list(self._orders.values()))

    def keep(self, ids: IdList, index: int, params: Mapping[str, Any]) -> str:
        """Remember an order and what it was asked for with; returns its name."""
        name, told = secrets.token_hex(8), _told(index, params)
        with self._lock:
            self._orders[name] = _Kept(told, ids, self._clock())
            while len(self._orders) > 1 and self.nbytes > MAX_KEPT_BYTES:
                self._orders.popitem(last=False)
        return name

    def recall(self, name: str, index: int, params: Mapping[str, Any]) -> IdList | None:
        """The order of that name, if it is still known and was asked for with the same."""
        told = _told(index, params)
        with self._lock:
            kept = self._orders.get(name)
            if kept is None or told != kept.told:
                return None
            self._orders.move_to_end(name)
            kept.used, kept.continued = self._clock(), True
            return kept.ids

    def forget(self, name: str) -> None:
        """Let go of the order of a browse that is done."""
        with self._lock:
            self._orders.pop(name, None)

    def tidy(self) -> None:
        """Let go of orders that nobody has asked for in a while."""
        now = self._clock()
        with self._lock:
            for name in [name for name, kept in self._orders.items() if kept.is_over(now)]:
                del self._orders[name]


def _told(index: int, params: Mapping[str, Any]) -> bytes:
    """What decides an order, all but what only says how much of it comes, as a digest."""
    deciding = {name: value for name, value in params.items() if name not in PER_PAGE}
    packed = msgspec.json.encode([index, deciding], order="sorted")
    return hashlib.blake2b(packed, digest_size=16).digest()
