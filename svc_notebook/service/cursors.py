"""Where a browse stands: a text the caller hands back, readable after a restart."""

from __future__ import annotations

import base64
import binascii
import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from svc_notebook.api.checking import check_members
from svc_notebook.api.parameters import SearchParams
from svc_notebook.errors import BadInput
from svc_notebook.service.engine import Order

KEPT = 32
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


class Cursors:
    """The orders of browses under way, so that a page need not sort the index again."""

    def __init__(self) -> None:
        self._orders: OrderedDict[str, tuple[bytes, Order]] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, order: Order, index: int, params: Mapping[str, Any]) -> str:
        """Remember an order and what it was asked for with; returns its name."""
        name = secrets.token_hex(8)
        with self._lock:
            self._orders[name] = _told(index, params), order
            while len(self._orders) > KEPT:
                self._orders.popitem(last=False)
        return name

    def recall(self, name: str, index: int, params: Mapping[str, Any]) -> Order | None:
        """The order of that name, if it is still known and was asked for with the same."""
        with self._lock:
            told, order = self._orders.get(name, (b"", None))
            if order is None or told != _told(index, params):
                return None
            self._orders.move_to_end(name)
            return order


def _told(index: int, params: Mapping[str, Any]) -> bytes:
    """What decides an order: all but what only says how much of it comes."""
    deciding = {name: value for name, value in params.items() if name not in PER_PAGE}
    return msgspec.json.encode([index, deciding], order="sorted")
