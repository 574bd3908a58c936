"""Scratch copies of indices: their names, their owners, and those that were left behind."""

from __future__ import annotations

import re
import secrets
from pathlib import Path

import pandas as pd

from svc_notebook.api.texts import OneOrMany, list_texts
from svc_notebook.client import AsyncClient
from svc_notebook.client.operations import write_and_wait
from svc_notebook.declarations.declaration import public, verb
from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.session.connection import AnyClient, asynchronous
from svc_notebook.session.file_lock import is_taken

NAME = re.compile(r"(?P<index>.+)_scratch_[0-9a-f]{8}")
COLUMNS = ["name", "index", "entries", "updatedAt", "in_use"]


def name_scratch(index: str) -> str:
    """Name a copy; it begins with the index's name, so that keys for `name*` cover it."""
    return f"{index}_scratch_{secrets.token_hex(4)}"


def is_scratch(name: str) -> bool:
    """Return whether an index is a scratch copy, by its name."""
    return NAME.fullmatch(name) is not None


def turn_of(name: str) -> Path:
    """Return the lock file of a copy, which the process that uses the copy holds."""
    from platformdirs import user_state_path

    return user_state_path("svc-notebook", appauthor=False) / "scratches" / f"{name[-8:]}.lock"


@public(verb("scratches", "scratches"))
async def scratches(*, client: AnyClient | None = None) -> pd.DataFrame:
    """List the temporary copies of indices that tuning created.

    Parameters
    ----------
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    DataFrame
        One row per copy: `name` and `index` (string), `entries` (int64), `updatedAt`
        (datetime64[us, UTC]) and `in_use` (bool, whether a process of this machine uses it).

    Raises
    ------
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> with svc.tuning.scratch("products") as copy:
    ...     copies = svc.tuning.scratches()
    >>> copies[["index", "entries", "in_use"]]
          index  entries  in_use
    0  products      240    True
    """
    return await _list(asynchronous(client))


async def _list(client: AsyncClient) -> pd.DataFrame:
    found = (await client.list_indices())["items"]
    rows = [
        (item["name"], match["index"], item["entries"], item["updatedAt"],
         is_taken(turn_of(item["name"])))
        for item in found
        if (match := NAME.fullmatch(item["name"]))
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=COLUMNS)
    frame["updatedAt"] = pd.to_datetime(frame["updatedAt"], utc=True, format="ISO8601")
    types = {"name": "string", "index": "string", "entries": "int64", "in_use": "bool"}
    return frame.astype(types)


@public(
    verb(
        "scratches drop",
        "scratches drop --yes",
        completes={"names": "index"},
        destructive="delete scratch copies",
    )
)
async def drop_scratches(
    names: OneOrMany | None = None, *, client: AnyClient | None = None
) -> list[str]:
    """Delete temporary copies of indices that tuning created; other indices are never deleted.

    Parameters
    ----------
    names : str or list of str, default None
        Names of the copies; None selects all that no process of this machine uses.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    list of str
        Names of the deleted copies.

    Raises
    ------
    BadInput
        If the copy does not exist.
    CallFailed
        If the service cannot be reached or refuses the call.
    TaskFailed
        If the service accepts the write but does not publish it within 600 seconds.

    Examples
    --------
    >>> svc.tuning.drop_scratches()
    []
    """
    own = asynchronous(client)
    found = await _list(own)
    if names is None:
        chosen = found.loc[~found["in_use"], "name"].tolist()
    else:
        chosen = list_texts(names, "names", column="name")
    there = found["name"].tolist()
    for name in chosen:
        if name not in there:
            raise BadInput(f"there is no scratch copy `{name}`{did_you_mean(name, there)}")

    async def are_gone() -> bool:
        return not {*chosen} & {item["name"] for item in (await own.list_indices())["items"]}

    tasks = [(name, (await own.delete_index(name))["taskID"]) for name in chosen]
    await write_and_wait(own, tasks, confirm=are_gone)
    return chosen
