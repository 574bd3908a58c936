"""Scratch copies of indices: their names, their owners, and those that were left behind."""

from __future__ import annotations

import re
import secrets
from pathlib import Path

import pandas as pd

from svc_notebook.api.texts import OneOrMany, list_texts
from svc_notebook.client import AsyncClient
from svc_notebook.client.operations import write_and_wait
from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.files import is_locked
from svc_notebook.session.connection import AnyClient, asynchronous

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


async def scratches(*, client: AnyClient | None = None) -> pd.DataFrame:
    """List the existing scratch copies: their index, size and age.

    `in_use` marks copies that a process of this machine uses; the others were probably left behind,
    or belong to another machine. `drop_scratches` deletes them.
    """
    return await _list(asynchronous(client))


async def _list(client: AsyncClient) -> pd.DataFrame:
    found = (await client.list_indices())["items"]
    rows = [
        (item["name"], match["index"], item["entries"], item["updatedAt"],
         is_locked(turn_of(item["name"])))
        for item in found
        if (match := NAME.fullmatch(item["name"]))
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=COLUMNS)
    frame["updatedAt"] = pd.to_datetime(frame["updatedAt"], utc=True, format="ISO8601")
    types = {"name": "string", "index": "string", "entries": "int64", "in_use": "bool"}
    return frame.astype(types)


async def drop_scratches(
    names: OneOrMany | None = None, *, client: AnyClient | None = None
) -> list[str]:
    """Delete scratch copies: those named, else all that no process of this machine uses.

    Only scratch copies are deleted; returns their names.
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
