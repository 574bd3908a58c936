"""Where a browse stands: a text the caller hands back, readable after a restart."""

from __future__ import annotations

import base64
import binascii
import threading
from collections import OrderedDict
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

import msgspec

from svc_notebook.errors import BadInput
from svc_notebook.service.engine import Order

KEPT = 32


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
        return msgspec.msgpack.decode(packed, type=Cursor)
    except (binascii.Error, msgspec.MsgspecError, ValueError, RecursionError):
        raise BadInput("`cursor` is not one that a browse returned") from None


class Cursors:
    """The orders of browses under way, so that a page need not sort the index again."""

    def __init__(self) -> None:
        self._orders: OrderedDict[str, Order] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, order: Order, index: int, params: Mapping[str, Any], stamp: int) -> str:
        """Remember an order; returns the name to ask for it by."""
        told = msgspec.json.encode([index, stamp, params], order="sorted")
        name = blake2b(told, digest_size=9).hexdigest()
        with self._lock:
            self._orders[name] = order
            while len(self._orders) > KEPT:
                self._orders.popitem(last=False)
        return name

    def recall(self, name: str) -> Order | None:
        """The order of that name, if it is still known."""
        with self._lock:
            if name in self._orders:
                self._orders.move_to_end(name)
            return self._orders.get(name)
