"""Records of runs of `apply-config`, by which the next run sees that one was interrupted."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from svc_notebook.core.files import FileLock, is_locked, user_state_folder, write_atomically
from svc_notebook.data.client import JOURNALS, AsyncClient, Client, application_folder
from svc_notebook.errors import BadInput
from svc_notebook.tuning.changes.interruptions import find_open
from svc_notebook.tuning.changes.journal import Change, Journal
from svc_notebook.tuning.changes.journalled_write import describe_interruption


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
    back = ", ".join(f"`undo {index} {change}`" for index, change in changes.items())
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.when))
    return (
        f"the `apply-config` of {run.folder} at {when} was interrupted: {'; '.join(parts)}. "
        f"`apply-config {run.folder}` again goes on; {back} goes back"
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
