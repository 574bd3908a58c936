"""Temporary indices: an index beside another one, filled or changed, then promoted or dropped.

Its name carries the index, the purpose, the owner and a random token. The process that uses it
holds a lock on a file named by the token, so that no other process of this user drops it. After a
crash, `list_temporary_indices` finds it by its name, and no process holds its lock. A replacement
of all records of an index is one that is filled and promoted.
"""

from __future__ import annotations

import asyncio
import atexit
import hashlib
import platform
import re
import secrets
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from svc_notebook.core.api.families.indices import CopyScope
from svc_notebook.core.api.shapes import BatchRequest, Record
from svc_notebook.core.files import LOCK_POLL_SECONDS, FileLock, is_locked, user_state_folder
from svc_notebook.core.terminal import warn_user
from svc_notebook.data.client import background_loop
from svc_notebook.data.client.operations import BATCH_RECORDS, count_records, is_own, write_and_wait
from svc_notebook.data.client.tasks import OnProgress
from svc_notebook.errors import (
    BadInput,
    CallFailed,
    KeyRefused,
    NotFound,
    SvcError,
    did_you_mean,
)

if TYPE_CHECKING:
    from svc_notebook.data.client.client import AsyncClient

Purpose = Literal["scratch", "load", "replace", "preview", "deploy"]
State = Literal["not made yet", "open", "dropped", "promoted", "kept"]
Owner = Literal["this machine", "another machine", "unknown"]

# The words of names; `tmp` alone is of earlier releases, and of crawlers.
WORDS: dict[Purpose, str] = {
    "scratch": "scratch",
    "load": "tmp_load",
    "replace": "tmp_replace",
    "preview": "tmp_preview",
    "deploy": "tmp_deploy",
}
NAME = re.compile(
    r"(?P<index>.+)_(?P<word>scratch|tmp_load|tmp_replace|tmp_preview|tmp_deploy)"
    r"_(?P<owner>[0-9a-f]{6})_(?P<token>[0-9a-f]{8})"
)
EARLIER_NAME = re.compile(r"(?P<index>.+)_(?P<word>scratch|tmp)_(?P<token>[0-9a-f]{8})")
MAX_NAME_CHARACTERS = 255  # a longer name of an index is shortened to leave room for the rest
AROUND_RECORDS: list[CopyScope] = ["settings", "synonyms", "rules"]
COPY_RIGHTS = ("addObject", "deleteIndex")  # to copy an index, and to delete the copy
# Pauses after a deletion, after which a batch that was in flight may have made the index again.
RECHECK_SECONDS = (0.02, 0.1, 0.3)


@dataclass(frozen=True)
class TemporaryName:
    """What the name of a temporary index says; `purpose` and `owner` may be unknown."""

    index: str
    purpose: Purpose | Literal["unknown"]
    owner: Owner
    lock: Path

    @property
    def in_use(self) -> bool:
        """Whether a process of this machine uses the index."""
        return is_locked(self.lock)

    @property
    def is_left(self) -> bool:
        """Whether this machine, or an earlier release, has left the index behind.

        Without a lock file it is not known whether a process of this machine uses the index.
        """
        if self.owner == "unknown":  # of an earlier release
            return self.purpose == "scratch"
        return self.owner == "this machine" and self.lock.exists() and not self.in_use


def name_temporary_index(index: str, purpose: Purpose) -> str:
    """Name a temporary index; the name begins with the index's, so that keys for `name*` match."""
    end = f"_{WORDS[purpose]}_{_owner()}_{secrets.token_hex(4)}"
    return f"{index[: MAX_NAME_CHARACTERS - len(end)]}{end}"


def parse_name(name: str) -> TemporaryName | None:
    """Return what a name says; None for the name of another index.

    Earlier releases named neither the owner nor, but for scratch copies, the purpose.
    """
    if match := NAME.fullmatch(name):
        purpose: Purpose = next(kind for kind, word in WORDS.items() if word == match["word"])
        owner: Owner = "this machine" if match["owner"] == _owner() else "another machine"
        return TemporaryName(match["index"], purpose, owner, _lock_path(match["token"]))
    if match := EARLIER_NAME.fullmatch(name):
        lock = _lock_path(match["token"])
        owner = "this machine" if lock.exists() else "unknown"
        scratch = match["word"] == "scratch"
        return TemporaryName(match["index"], "scratch" if scratch else "unknown", owner, lock)
    return None


def is_preview(name: str) -> bool:
    """Return whether an index is a copy for previews, which lists of indices leave out."""
    parsed = parse_name(name)
    return parsed is not None and parsed.purpose == "preview"


def is_scratch(name: str) -> bool:
    """Return whether an index is a scratch copy, by its name."""
    parsed = parse_name(name)
    return parsed is not None and parsed.purpose == "scratch"


def _owner() -> str:
    """Return six digits for this machine and user: for all who see the same lock files."""
    identity = f"{platform.node()}\n{user_state_folder('')}"
    return hashlib.sha256(identity.encode()).hexdigest()[:6]


def _lock_path(token: str) -> Path:
    return user_state_folder("scratches") / f"{token}.lock"


class TemporaryIndex:
    """An index beside another one, used by this process until promoted, dropped or released.

    `async with TemporaryIndex(client, "films", "preview") as copy:` copies the whole index, and
    drops the copy at exit. Without `async with`, call `open` or `claim` first; the end of this
    process drops it, too. `name` is that of an existing temporary index to continue with.
    """

    def __init__(
        self, client: AsyncClient, index: str, purpose: Purpose, *, name: str | None = None
    ) -> None:
        self.client = client
        self.index = index
        self.name = name or name_temporary_index(index, purpose)
        self.state: State = "not made yet"
        parsed = parse_name(self.name)
        self._lock = FileLock(parsed.lock) if parsed else None
        self._is_preview = purpose == "preview"

    async def open(self, scopes: Sequence[CopyScope] | None = None) -> Self:
        """Claim the name and copy the index: whole, or those of its `scopes`, if it exists.

        Raises `KeyRefused` before anything is copied if the key could not delete the copy.
        """
        if scopes is None:
            await _check_copy_rights(self.client)
        if self._is_preview:
            await _drop_left_previews(self.client)
        await self.claim()
        try:
            if scopes is None:
                copied = await self.client.operate_index(self.index, "copy", self.name)
                await self.client.wait(dict(copied), index=self.index)
            else:
                await copy_around(self.client, self.index, self.name, scopes)
        except BaseException:
            await self.discard(warn=False)  # the reason why the copy failed is more important
            raise
        return self

    async def claim(self, *, drop_at_exit: bool = True) -> Self:
        """Lock the name, so that no other process of this user drops the index.

        Without a folder for lock files, the name is used without a lock. `drop_at_exit` drops the
        index when this process ends.
        """
        if self._lock:
            with suppress(OSError):
                self._lock.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                while not self._lock.acquire():  # noqa: ASYNC110 - another process drops it
                    await asyncio.sleep(LOCK_POLL_SECONDS)
        if drop_at_exit:
            atexit.register(self._drop_at_exit)
        self.state = "open"
        return self

    async def promote(self, scopes: Sequence[CopyScope] = AROUND_RECORDS) -> None:
        """Move it over the index, in one step: searches see either all of the old or of the new.

        The index keeps the current state of those `scopes`. Raises what the service reports; until
        the move was accepted, the index is as it was.
        """
        await copy_around(self.client, self.index, self.name, scopes)
        moved = await self.client.operate_index(self.name, "move", self.index)
        self._end("promoted")
        await self.client.wait(dict(moved), index=self.name)

    async def drop(self, *, in_flight: bool = False) -> None:
        """Delete it and wait until it is gone; without effect if it is not open.

        With `in_flight`, requests may still be under way that make it again: then it is deleted
        again. Raises `SvcError` if it cannot be deleted; then it stays listed.
        """
        if self.state != "open":
            return
        try:
            await self._delete()
            if in_flight:
                for pause in RECHECK_SECONDS:
                    await asyncio.sleep(pause)
                    if not await self._exists_again():
                        break
                    await self._delete()
        except BaseException:
            self._unlock()
            raise
        self._end("dropped")

    async def discard(self, *, in_flight: bool = True, warn: bool = True) -> bool:
        """Drop it after an error or at the end; if that fails, warn and return false."""
        try:
            await asyncio.shield(self.drop(in_flight=in_flight))
        except SvcError as error:
            if warn:
                warn_user(f"{self.name} was not deleted: {error}; `drop_scratches` deletes it")
            return False
        return True

    def release(self) -> None:
        """Leave it to a later process, which continues with its name; it stays listed."""
        self._unlock()
        atexit.unregister(self._drop_at_exit)
        self.state = "kept"

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(self, kind: object = None, *_: object) -> None:
        await self.discard(in_flight=kind is not None)

    async def _delete(self) -> None:
        with suppress(NotFound):
            deleted = await self.client.delete_index(self.name)
            with suppress(CallFailed):  # accepted; this key may not read tasks
                await self.client.wait(dict(deleted), index=self.name)

    async def _exists_again(self) -> bool:
        with suppress(KeyRefused):  # a key that may not search
            return await count_records(self.client, self.name) > 0
        return False

    def _end(self, state: State) -> None:
        self.state = state
        atexit.unregister(self._drop_at_exit)
        if self._lock:
            self._lock.release(remove=True)

    def _unlock(self) -> None:
        if self._lock:
            self._lock.release()

    def _drop_at_exit(self) -> None:
        with suppress(SvcError):
            background_loop.run(self.drop())


async def _drop_left_previews(client: AsyncClient) -> None:
    """Delete preview copies of ended processes of this machine, if the key permits it."""
    with suppress(SvcError):
        listed = await list_temporary_indices(client)
        left = [item["name"] for item, name in listed if name.purpose == "preview" and name.is_left]
        if left:
            await drop_temporary_indices(client, left, unused=True)


async def _check_copy_rights(client: AsyncClient) -> None:
    """Reject, before anything is copied, a key that could not delete the copy."""
    try:
        key = await client.get_key(client.connection.api_key.reveal())
    except CallFailed:  # the admin key, or a secured key: checked when it is used
        return
    lacking = [right for right in COPY_RIGHTS if right not in key["acl"]]
    if lacking:
        rights = " and ".join(f"`{right}`" for right in lacking)
        raise KeyRefused(
            f"a temporary copy needs the right {rights}, which this key lacks", status=403
        )


async def copy_around(
    client: AsyncClient, index: str, target: str, scopes: Sequence[CopyScope] = AROUND_RECORDS
) -> None:
    """Copy the settings, synonyms and rules of an index, or those named; none if it is missing."""
    if scopes and await is_own(client, index):
        copied = await client.operate_index(index, "copy", target, list(scopes))
        await client.wait(copied, index=index)


async def list_temporary_indices(
    client: AsyncClient,
) -> list[tuple[dict[str, Any], TemporaryName]]:
    """List the temporary indices of the application: the service's entry, and what the name says.

    The key needs the right `listIndexes`.
    """
    items: list[Any] = [*(await client.list_indices())["items"]]
    named = [(item, parse_name(item["name"])) for item in items]
    return [(item, parsed) for item, parsed in named if parsed]


async def drop_temporary_indices(
    client: AsyncClient, names: Sequence[str], *, unused: bool = False
) -> list[str]:
    """Delete temporary indices and wait until they are gone; return their names.

    With `unused`, those are left out that a process has begun to use meanwhile. The locks are held
    until the indices are gone, so that no process continues with one of them.
    """
    locks = {name: FileLock(parsed.lock) for name in names if (parsed := parse_name(name))}
    held = {name for name, lock in locks.items() if _try(lock)}
    chosen = [
        name for name in names if not unused or name in held or not is_locked(locks[name].path)
    ]

    async def are_gone() -> bool:
        return not {*chosen} & {item["name"] for item in (await client.list_indices())["items"]}

    try:
        tasks = [(name, (await client.delete_index(name))["taskID"]) for name in chosen]
        await write_and_wait(client, tasks, confirm=are_gone)
    except BaseException:
        for lock in locks.values():
            lock.release()
        raise
    for lock in locks.values():
        lock.release(remove=True)
    return chosen


def _try(lock: FileLock) -> bool:
    """Take a lock if its file exists: an index of another machine has none here."""
    with suppress(OSError):
        return lock.path.exists() and lock.acquire()
    return False


@asynccontextmanager
async def replacing(
    client: AsyncClient,
    index: str,
    *,
    min_share: float = 0.5,
    scopes: Sequence[CopyScope] = AROUND_RECORDS,
) -> AsyncIterator[str]:
    """Yield the name of a temporary index with the same settings, which replaces `index` at exit.

    The caller waits inside for what it writes. After an error, a cancellation or with too few
    records, `index` is unchanged and the temporary index is deleted.
    """
    kept = _check_scopes(scopes)
    await is_own(client, index)  # an error here leaves nothing behind
    temporary = await TemporaryIndex(client, index, "replace").open(kept)
    try:
        yield temporary.name
        await _check_share(client, index, temporary.name, min_share)
        await temporary.promote(kept)
    except BaseException:
        await temporary.discard()
        raise


async def replace_all(
    client: AsyncClient,
    index: str,
    records: Iterable[Record],
    *,
    min_share: float = 0.5,
    scopes: Sequence[CopyScope] = AROUND_RECORDS,
    batch_size: int = BATCH_RECORDS,
    on_progress: OnProgress | None = None,
) -> int:
    """Replace all records of an index in one step; return the number of new records.

    Nothing changes after an error, or if the number of records would be less than the share
    `min_share` of the old number.
    """
    if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size < 1:
        raise BadInput(f"`batch_size` must be a number of records, 1 or more, not {batch_size!r}")
    async with replacing(client, index, min_share=min_share, scopes=scopes) as target:
        answers = [
            await client.batch(target, requests) for requests in _batches(iter(records), batch_size)
        ]
        ids = {object_id for answer in answers for object_id in answer["objectIDs"]}
        await client.wait(answers, index=target, on_progress=on_progress)
        await _check_count(client, target, len(ids))
    return len(ids)


def _batches(records: Iterator[Record], size: int) -> Iterator[list[BatchRequest]]:
    while chunk := list(islice(records, size)):
        yield [{"action": "addObject", "body": record} for record in chunk]


async def _check_count(client: AsyncClient, target: str, sent: int) -> None:
    if (stored := await count_records(client, target)) != sent:
        raise SvcError(f"{sent} records were sent but {stored} arrived; nothing was replaced")


async def _check_share(client: AsyncClient, index: str, target: str, min_share: float) -> None:
    old, new = await count_records(client, index), await count_records(client, target)
    if new < old * min_share:
        raise BadInput(
            f"{index} has {old} records and would have {new}; nothing was replaced. "
            "If that is intended, pass min_share=0"
        )


def _check_scopes(scopes: Sequence[CopyScope]) -> list[CopyScope]:
    scopes_allowed = ", ".join(AROUND_RECORDS)
    if isinstance(scopes, str):
        raise BadInput(f"`scopes` must be a list of {scopes_allowed}: scopes=[{scopes!r}]")
    for scope in scopes:
        if scope not in AROUND_RECORDS:
            advice = did_you_mean(f"{scope}", AROUND_RECORDS)
            raise BadInput(f"`scopes` must be of {scopes_allowed}, not {scope!r}{advice}")
    return list(scopes)
