"""The provenance of a DataFrame, kept in its `attrs` as plain JSON so that it can be read again."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pandas as pd

from svc_notebook.errors import BadInput

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient

Reader = TypeVar("Reader", bound=Callable[..., Coroutine[Any, Any, Any]])

# The functions that can read a frame again, by name.
READERS: dict[str, Callable[..., Coroutine[Any, Any, Any]]] = {}


@dataclass(frozen=True)
class FrameOrigin:
    """The function that read a DataFrame, its arguments, and the service and application."""

    reader: str
    arguments: Mapping[str, Any]
    application: str
    address: str

    @classmethod
    def of(cls, frame: pd.DataFrame) -> FrameOrigin:
        """Read the origin from a DataFrame; raise `BadInput` if no reader returned it."""
        if not isinstance(frame, pd.DataFrame):
            raise BadInput(
                f"pass the DataFrame that a search or a reader returned, not {_shown(frame)}; "
                "svc.search(index) returns one, and svc.read_browse(index) reads all records of an "
                "index"
            )
        facts = frame.attrs.get("svc", {})
        values: list[Any] = [facts.get(name) for name in cls.__dataclass_fields__]
        if None in values or values[0] not in READERS:
            raise BadInput(
                "this DataFrame has no record of how it was read; svc.search(…) and the read_… "
                "functions add one, and pandas drops it when DataFrames are joined"
            )
        reader, arguments, *where = values
        # Long values and Series are stored once, outside of the arguments.
        stored = {name: facts[name] for name in _needed(reader) if name in facts}
        return cls(reader, stored | arguments, *where)

    def check(self, client: AsyncClient) -> None:
        """Raise `BadInput` for a client of another service or application."""
        check_origin({"application": self.application, "address": self.address}, client)

    async def read(self, client: AsyncClient, **changes: Any) -> pd.DataFrame:
        """Repeat the read with some arguments changed."""
        self.check(client)
        lost = [name for name in _needed(self.reader) if name not in {**self.arguments, **changes}]
        if lost:
            raise BadInput(
                f"this DataFrame does not contain the `{lost[0]}` that it was read with; "
                f"call {self.reader}(…) again"
            )
        frame: pd.DataFrame = await READERS[self.reader](client, **{**self.arguments, **changes})
        return frame


def check_origin(facts: Mapping[str, Any], client: AsyncClient) -> None:
    """Raise `BadInput` for a client of another service or application than the DataFrame's."""
    application, address, other = facts.get("application"), facts.get("address"), client.connection
    if application is None or address is None or other.is_of(application, address):
        return
    raise BadInput(
        f"this DataFrame is from application {application} at {address}, but the client is "
        f"connected to {other.app_id} at {other.address}; connect to the former, or pass `client`"
    )


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str | int | None) else f"a {type(value).__name__}"


def _needed(reader: str) -> list[str]:
    """Return the required arguments of a reader except its client."""
    parameters = [*inspect.signature(READERS[reader]).parameters.values()][1:]
    spread = inspect.Parameter.VAR_KEYWORD
    return [
        parameter.name
        for parameter in parameters
        if parameter.default is parameter.empty and parameter.kind is not spread
    ]


def remembered(read: Reader) -> Reader:
    """Make a reader note in each DataFrame how it was read; table arguments are left out."""
    signature = inspect.signature(read)

    @wraps(read)
    async def reader(client: AsyncClient, *args: Any, **kwargs: Any) -> Any:
        result = await read(client, *args, **kwargs)
        if isinstance(result, pd.DataFrame):
            given = signature.bind(client, *args, **kwargs).arguments
            note_origin(result, client, read.__name__, given)
        return result

    READERS[read.__name__] = reader
    return cast("Reader", reader)


def note_origin(
    frame: pd.DataFrame, client: AsyncClient, reader: str, given: Mapping[str, Any]
) -> None:
    """Note in a DataFrame how it was read."""
    plain = dict(given)
    for spread in ("params", "options"):
        plain |= plain.pop(spread, {})
    arguments = {
        name: value for name, value in plain.items() if name != "client" and _is_plain(value)
    }
    facts = frame.attrs.get("svc", {})
    if "index" in facts and "objectID" in frame:
        added = {*facts.get("added", {}).values(), "objectID"}
        attributes = [str(name) for name in frame.columns if name not in added]
        facts = {**facts, "attributes": attributes[:MAX_STORED_NAMES]}
    frame.attrs["svc"] = {
        **facts,
        "reader": reader,
        "arguments": arguments,
        "application": client.connection.app_id,
        "address": client.connection.address,
    }


def added_to(frame: pd.DataFrame) -> dict[str, str]:
    """Return what a search added to its records, such as `rank`, and the names of these columns."""
    origin = frame.attrs.get("svc", {})
    return {name: column for name, column in origin.get("added", {}).items() if column in frame}


def hits_of(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that are hits: a query without hits has a row without `objectID`."""
    rank = added_to(frame).get("rank")
    if rank is None or "objectID" not in frame:
        return frame
    none = frame[rank].isna() & frame["objectID"].isna()
    return frame[~none] if none.any() else frame


def _is_plain(value: Any) -> bool:
    """Return whether a value is JSON and short; long values are not copied with each DataFrame."""
    if isinstance(value, list | tuple):
        return len(value) <= MAX_STORED_IDS and all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(map(_is_plain, value.values()))
    return value is None or isinstance(value, str | bool | int | float)


MAX_STORED_IDS = MAX_STORED_NAMES = 1000
