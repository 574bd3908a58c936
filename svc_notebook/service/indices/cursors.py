"""Browse cursors: the position of a browse as text, which remains valid after a restart.

The objectIDs of a browse in the order of the ranking are cached, and not its segments.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec
import numpy as np

from svc_notebook.core.api.parameters import SearchParams
from svc_notebook.core.api.validation import check_members
from svc_notebook.core.api.values import Natural
from svc_notebook.errors import BadInput
from svc_notebook.service.engine.arrays import Array, concatenate_ranges
from svc_notebook.service.engine.execution import check_time
from svc_notebook.service.engine.ranking.ranking import Order
from svc_notebook.service.engine.term_dictionary import starts_of

# Rows packed or searched at one time.
BLOCK_ROWS = 1 << 16
# Maximum bytes of all cached orders; the newest one is cached regardless of its size.
MAX_CACHED_BYTES = 128 * 2**20
# Upper bound of the memory of an order besides its objectIDs, in bytes.
ORDER_OVERHEAD_BYTES = 1024
# Seconds after its last use that an order is cached: before and after its first reuse.
UNUSED_SECONDS, CONTINUED_SECONDS = 30.0, 300.0
# Parameters that may change between pages; all others are those of the first call.
PER_PAGE = ("hitsPerPage", "attributesToRetrieve")


class Cursor(NamedTuple):
    """The position of a browse.

    `done` records were returned; the last one is at `place` in the store, or is `last` in the
    engine's order. `params` are the parameters of the first call.
    """

    index_id: Natural
    params: dict[str, Any]
    done: Natural
    place: Natural = 0
    last: str = ""
    order: str = ""


def write_cursor(cursor: Cursor) -> str:
    """Encode a cursor as text."""
    return base64.urlsafe_b64encode(msgspec.msgpack.encode(cursor)).decode().rstrip("=")


def read_cursor(text: str) -> Cursor:
    """Decode a cursor; raises `BadInput`."""
    try:
        packed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        cursor = msgspec.msgpack.decode(packed, type=Cursor)
    except (binascii.Error, msgspec.MsgspecError, ValueError, RecursionError):
        raise BadInput("`cursor` is not a cursor of a browse") from None
    # A caller can forge a cursor, so its parameters are validated like all others.
    check_members(cursor.params, SearchParams, "cursor")
    return cursor


class _CachedOrder:
    """The cached order of one browse."""

    def __init__(self, digest: bytes, ids: IdList, now: float) -> None:
        self.digest = digest
        self.ids = ids
        self.used = now
        self.continued = False

    @property
    def nbytes(self) -> int:
        return self.ids.nbytes + ORDER_OVERHEAD_BYTES

    def is_expired(self, now: float) -> bool:
        return now - self.used > (CONTINUED_SECONDS if self.continued else UNUSED_SECONDS)


class Cursors:
    """A cache of the orders of current browses, so that a page need not sort the index again.

    An order is a list of objectIDs and does not reference segments. Unused orders expire, and
    beyond the memory limit the least recently used one is dropped; its browse then sorts again.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._orders: OrderedDict[str, _CachedOrder] = OrderedDict()
        self._clock = clock
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        """The memory of all orders in bytes."""
        return sum(cached.nbytes for cached in list(self._orders.values()))

    def cache(self, ids: IdList, index: int, params: Mapping[str, Any]) -> str:
        """Cache an order with the parameters that it depends on; return its name."""
        name, digest = secrets.token_hex(8), _digest(index, params)
        with self._lock:
            self._orders[name] = _CachedOrder(digest, ids, self._clock())
            while len(self._orders) > 1 and self.nbytes > MAX_CACHED_BYTES:
                self._orders.popitem(last=False)
        return name

    def get(self, name: str, index: int, params: Mapping[str, Any]) -> IdList | None:
        """Return the order with this name, if it is cached and has the same parameters."""
        digest = _digest(index, params)
        with self._lock:
            cached = self._orders.get(name)
            if cached is None or digest != cached.digest:
                return None
            self._orders.move_to_end(name)
            cached.used, cached.continued = self._clock(), True
            return cached.ids

    def drop(self, name: str) -> None:
        """Drop the order of a finished browse."""
        with self._lock:
            self._orders.pop(name, None)

    def drop_expired(self) -> None:
        """Drop expired orders."""
        now = self._clock()
        with self._lock:
            for name in [name for name, cached in self._orders.items() if cached.is_expired(now)]:
                del self._orders[name]


def _digest(index: int, params: Mapping[str, Any]) -> bytes:
    """Return a digest of the index and of all parameters that affect the order."""
    deciding = {name: value for name, value in params.items() if name not in PER_PAGE}
    packed = msgspec.json.encode([index, deciding], order="sorted")
    return hashlib.blake2b(packed, digest_size=16).digest()


class IdList:
    """ObjectIDs in any order; `ids[i:j]` returns a slice as a list."""

    def __init__(self, blob: Array, starts: Array) -> None:
        self._blob = blob
        self._starts = starts

    @classmethod
    def of(cls, order: Order) -> IdList:
        """Copy the objectIDs of an order."""
        lengths = np.zeros(len(order), np.int64)
        for chosen, starts, stops, _ in _portions_of(order):
            lengths[chosen] = stops - starts
        bounds = starts_of(lengths)
        blob = np.empty(int(bounds[-1]), np.uint8)
        for chosen, starts, stops, source in _portions_of(order):
            check_time()
            sizes = stops - starts
            blob[concatenate_ranges(bounds[:-1][chosen], sizes)] = source[
                concatenate_ranges(starts, sizes)
            ]
        return cls(blob, bounds.astype(np.uint32) if bounds[-1] < 2**32 else bounds)

    @property
    def nbytes(self) -> int:
        """Memory use in bytes."""
        return int(self._blob.nbytes + self._starts.nbytes)

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, span: slice) -> list[str]:
        start, stop, _ = span.indices(len(self))
        if start >= stop:
            return []
        bounds = self._starts[start : stop + 1].astype(np.int64)
        packed = self._blob[bounds[0] : bounds[-1]].tobytes()
        bounds = (bounds - bounds[0]).tolist()
        return [
            packed[begin:end].decode("utf-8", "surrogatepass") for begin, end in pairwise(bounds)
        ]

    def find(self, name: str) -> int:
        """Return the position of an objectID, -1 if absent."""
        for start in range(0, len(self), BLOCK_ROWS):
            check_time()
            names = self[start : start + BLOCK_ROWS]
            if name in names:
                return start + names.index(name)
        return -1


def _portions_of(order: Order) -> Iterator[tuple[Array, Array, Array, Array]]:
    """Return portions of an order: positions, start and end offsets of their ids, and the blob."""
    for number, segment in enumerate(order.segments):
        places = np.flatnonzero(order.numbers == number)
        for start in range(0, len(places), BLOCK_ROWS):
            chosen = places[start : start + BLOCK_ROWS]
            rows = order.rows[chosen]
            starts = segment.ids.starts
            yield chosen, starts[rows], starts[rows + 1], segment.ids.blob
