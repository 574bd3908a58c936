"""Records of running writes: runs of `apply-config` on this machine, and marks in the service.

By the record of a run, the next run sees that it was interrupted. By marks, two people do not write
an index at the same time. The marks of a service are records of one small index. A mark is taken by
an update that the service makes only if nobody else has taken it since it was read, and it expires,
so that an interrupted write blocks nobody for long.
"""

from __future__ import annotations

import asyncio
import hashlib
import platform
import secrets
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from svc_notebook.core.files import FileLock, is_locked, user_state_folder, write_atomically
from svc_notebook.data.client import JOURNALS, AsyncClient, Client, application_folder
from svc_notebook.data.loading import user_name
from svc_notebook.errors import BadInput, NotFound, SvcError
from svc_notebook.tuning.changes.journal import Change, Journal, find_open
from svc_notebook.tuning.changes.journalled_write import describe_interruption

MARKS_INDEX = "svc_marks"
MARK_SECONDS = 3600


class ApplyRun(msgspec.Struct):
    """The indices that a run writes, in order, and the changes of those that it has written."""

    folder: str
    when: float
    indices: list[str]
    # By index; empty where nothing differed.
    changes: dict[str, str] = {}


# Larger and older journals are not read when a client is created; each write reads its own.
MAX_JOURNAL_BYTES, MAX_JOURNAL_AGE_SECONDS = 2_000_000, 30 * 24 * 3600.0
_RUN = msgspec.json.Decoder(ApplyRun)


class RunRecord:
    """The record of the running `apply-config`; it stays if the run does not end."""

    def __init__(self, path: Path, run: ApplyRun) -> None:
        self._path, self._run = path, run

    def add(self, index: str, change_id: str) -> None:
        """Record that an index has its new configuration."""
        self._run.changes[index] = change_id
        self.write()

    def write(self) -> None:
        """Write the record to disk; a folder that cannot be written prevents nothing."""
        with suppress(OSError):
            write_atomically(self._path, msgspec.json.encode(self._run), sync=True, mode=0o600)


@contextmanager
def recording_run(client: AsyncClient, folder: Path, indices: Sequence[str]) -> Iterator[RunRecord]:
    """Record a run, which is removed at its end together with those that it has finished."""
    run_folder = _folder_of(client)
    path = run_folder / f"{secrets.token_hex(4)}.json"
    record = RunRecord(path, ApplyRun(str(folder.absolute()), time.time(), list(indices)))
    lock = FileLock(path.with_suffix(".lock"))
    with suppress(OSError):
        run_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock.acquire()
    record.write()
    try:
        yield record
        for other, run in _list_interrupted(client):
            if other == path or set(run.indices) <= set(indices):
                other.unlink(missing_ok=True)
        path.unlink(missing_ok=True)
    finally:
        lock.release(remove=True)


def describe_interrupted_runs(client: AsyncClient) -> list[str]:
    """Describe the interrupted runs: written indices, and the commands that resume or revert.

    The record of a run whose changes are all undone is removed.
    """
    notes = []
    for path, run in _list_interrupted(client):
        changes = _list_remaining(client, run)
        if changes:
            notes.append(_describe(run, changes))
        else:
            path.unlink(missing_ok=True)
    return notes


def describe_interruptions(client: Client | AsyncClient, before: float) -> list[str]:
    """Describe the runs and changes of an application that were interrupted before a time.

    Only this machine's files are read. Changes that another process is making are left out, and so
    are those of journals that were last written long ago.
    """
    notes = [
        _describe(run, changes)
        for _, run in _list_interrupted(client)
        if run.when < before and (changes := _list_remaining(client, run))
    ]
    in_runs = {run_index for _, run in _list_interrupted(client) for run_index in run.indices}
    for path in sorted(application_folder(client.connection).glob(JOURNALS)):
        notes += [
            describe_interruption(change)
            for change in _list_open(path, before)
            if change.when < before and change.index not in in_runs
        ]
    return notes


def _list_open(path: Path, before: float) -> list[Change]:
    """Return the open changes of a journal; none if it is old, large, locked or damaged."""
    with suppress(OSError, BadInput):
        facts = path.stat()
        is_old = facts.st_mtime < before - MAX_JOURNAL_AGE_SECONDS
        if is_old or facts.st_size > MAX_JOURNAL_BYTES or is_locked(path.with_suffix(".turn")):
            return []
        return find_open(Journal(path).read())
    return []


def _describe(run: ApplyRun, changes: dict[str, str]) -> str:
    written = [index for index in run.indices if index in run.changes]
    partly = [index for index in changes if index not in run.changes]
    missing = [index for index in run.indices if index not in (*written, *partly)]
    parts = [
        f"{', '.join(names)} {state}"
        for names, state in (
            (written, "written"), (partly, "perhaps written in part"), (missing, "not written"),
        )
        if names
    ]  # fmt: skip
    back = ", ".join(f"svc.tuning.undo({index!r}, {change!r})" for index, change in changes.items())
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.when))
    return (
        f"the `svc.apply_config` of {run.folder} at {when} was interrupted: {'; '.join(parts)}. "
        f"svc.apply_config({str(run.folder)!r}) again completes it; {back} reverts it"
    )


def _list_remaining(client: Client | AsyncClient, run: ApplyRun) -> dict[str, str]:
    """Return the changes of a run that are not undone, by index, with those that are open."""
    remaining: dict[str, str] = {}
    for index in run.indices:
        changes = Journal.of(client, index).read()
        undone = {change.parent for change in changes if change.state == "done"}
        if change_id := run.changes.get(index):
            if change_id not in undone:
                remaining[index] = change_id
        elif index not in run.changes:
            recent = [change for change in find_open(changes) if change.when >= run.when]
            if recent:
                remaining[index] = recent[-1].change_id
    return remaining


def _list_interrupted(client: Client | AsyncClient) -> list[tuple[Path, ApplyRun]]:
    """Return the records whose process has ended."""
    runs = []
    for path in sorted(_folder_of(client).glob("*.json")):
        with suppress(OSError, msgspec.MsgspecError):
            if not is_locked(path.with_suffix(".lock")):
                runs.append((path, _RUN.decode(path.read_bytes())))
    return runs


def _folder_of(client: Client | AsyncClient) -> Path:
    digest = hashlib.sha256("\0".join(client.connection.place).encode()).hexdigest()[:32]
    return user_state_folder("apply-config") / digest


@asynccontextmanager
async def marking(
    client: AsyncClient, indices: Iterable[str], action: str, *, user: str = ""
) -> AsyncIterator[None]:
    """Mark indices until the block ends; raises `BadInput` if somebody else has marked one.

    `user` is by default that of this process and machine. A mark of the same user is replaced: an
    interrupted call can be repeated.
    """
    user = user or _name_user()
    async with AsyncExitStack() as stack:
        for index in sorted({*indices}):
            await stack.enter_async_context(_marking_one(client, index, action, user))
        yield


@asynccontextmanager
async def _marking_one(
    client: AsyncClient, index: str, action: str, user: str
) -> AsyncIterator[None]:
    token, now = secrets.token_hex(8), time.time()
    mark = await _read_mark(client, index)
    _refuse_other_mark(index, mark, user, now)
    version = int(mark.get("version", 0))
    facts = {"token": token, "by": user, "action": action, "at": now}
    await _update_mark(client, index, version, {**facts, "until": now + MARK_SECONDS})
    mark = await _read_mark(client, index)
    if mark.get("token") != token:
        _refuse_other_mark(index, mark, user, now)
        raise BadInput(f"{index} was marked by another call at the same time: call again")
    try:
        yield
    finally:
        # Without this update, the mark expires.
        with suppress(SvcError):
            await asyncio.shield(_update_mark(client, index, version + 1, {"until": 0}))


def _refuse_other_mark(index: str, mark: Mapping[str, Any], user: str, now: float) -> None:
    if mark.get("until", 0) <= now or mark.get("by") == user:
        return
    since, until = (datetime.fromtimestamp(mark[name]).astimezone() for name in ("at", "until"))
    raise BadInput(
        f"{index} is being written by {mark['by']} since {since:%H:%M} ({mark['action']}); nothing "
        f"was written. Wait for its end, at the latest until {until:%H:%M}, or write without "
        "mark=True"
    )


async def _read_mark(client: AsyncClient, index: str) -> Mapping[str, Any]:
    try:
        return await client.get_object(MARKS_INDEX, index)
    except NotFound:
        return {}


async def _update_mark(
    client: AsyncClient, index: str, version: int, facts: Mapping[str, Any]
) -> None:
    """Update a mark if its version is still the one that was read; wait until that is decided."""
    step = {"_operation": "IncrementFrom", "value": version}
    answer = await client.partial_update_object(MARKS_INDEX, index, {"version": step, **facts})
    await client.wait(dict(answer), index=MARKS_INDEX)


def _name_user() -> str:
    return f"{user_name() or 'unknown'}@{platform.node()}"
