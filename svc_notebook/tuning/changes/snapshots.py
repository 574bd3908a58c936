"""Snapshots of the configuration of an index: taken, stored in files, compared, restored."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from svc_notebook.api.parameters import Settings
from svc_notebook.api.validation import check_members
from svc_notebook.errors import BadInput, unreadable
from svc_notebook.session.connection import AnyClient, asynchronous
from svc_notebook.tuning.changes import journalled_write
from svc_notebook.tuning.changes.diff import Differences, tabulate
from svc_notebook.tuning.changes.journal import Change
from svc_notebook.tuning.changes.state import (
    KINDS,
    READ_ONLY_SETTINGS,
    IndexConfiguration,
    by_id,
    differences,
    is_default,
    read_state,
    without,
)

SNAPSHOT_FORMAT = 1
ENDING = ".json"  # distinguishes the name of a file from the name of an index


@dataclass(frozen=True)
class Snapshot:
    """The settings, synonyms and rules of an index at one moment."""

    index: str
    taken_at: str
    state: IndexConfiguration

    @property
    def hash(self) -> str:
        """A digest of the content: equal for equal settings, synonyms and rules."""
        settings = {
            name: value
            for name, value in self.state.settings.items()
            if not is_default("settings", name, value)
        }
        content = [settings, dict(self.state.synonyms), dict(self.state.rules)]
        return hashlib.sha256(msgspec.json.encode(content, order="sorted")).hexdigest()[:16]

    def to_json(self) -> dict[str, Any]:
        """Return the snapshot as plain JSON, with the lists in the API's format."""
        return {
            "edition": SNAPSHOT_FORMAT,
            "index": self.index,
            "taken_at": self.taken_at,
            "hash": self.hash,
            "settings": dict(self.state.settings),
            "synonyms": list(self.state.synonyms.values()),
            "rules": list(self.state.rules.values()),
        }

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it to a file, atomically."""
        own = Path(path).expanduser()
        draft = own.with_name(f".{own.name}.{os.getpid()}")
        text = msgspec.json.format(msgspec.json.encode(self.to_json()), indent=2)
        try:
            with draft.open("wb") as file:
                file.write(text + b"\n")
                file.flush()
                os.fsync(file.fileno())
            draft.replace(own)
        except OSError as error:
            draft.unlink(missing_ok=True)
            raise BadInput(f"{path} cannot be written: {error.strerror}") from None
        return own

    def __repr__(self) -> str:
        counts = f"{len(self.state.synonyms)} synonyms, {len(self.state.rules)} rules"
        own = f"{len(self.state.settings)} settings, {counts}"
        return f"Snapshot of {self.index} at {self.taken_at}: {own}; {self.hash}"


# A state: the name of an index, a snapshot, its JSON, or its file.
Side = str | Snapshot | Mapping[str, Any] | os.PathLike[str]


async def snapshot(
    index: str, path: str | os.PathLike[str] | None = None, *, client: AnyClient | None = None
) -> Snapshot:
    """Take a snapshot of an index's settings, synonyms and rules; write it to a file if named.

    Records are not included; `svc.export` exports them. Returns a `Snapshot`.
    """
    if isinstance(path, str) and not path.endswith(ENDING):
        raise BadInput(f"name the file {path}{ENDING}: without {ENDING} the name means an index")
    now = datetime.now(UTC).isoformat(timespec="seconds")
    taken = Snapshot(index, now, await read_state(asynchronous(client), index))
    if path is not None:
        taken.save(path)
    return taken


def read_snapshot(source: str | os.PathLike[str] | Mapping[str, Any]) -> Snapshot:
    """Read a snapshot from its file or its JSON; raise `BadInput` if it is invalid or damaged."""
    if isinstance(source, Mapping):
        return _checked(source, "the snapshot")
    try:
        found = msgspec.json.decode(Path(source).expanduser().read_bytes())
    except OSError as error:
        raise unreadable(Path(source), error) from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadInput(f"{source} is not valid JSON: {error}") from None
    return _checked(found, str(source))


def _checked(found: Any, name: str) -> Snapshot:
    if not isinstance(found, Mapping) or not {"settings", "synonyms", "rules"} <= found.keys():
        raise BadInput(f"{name} is not a snapshot: it needs settings, synonyms and rules")
    if found.get("edition", SNAPSHOT_FORMAT) != SNAPSHOT_FORMAT:
        raise BadInput(f"{name} was written by another edition ({found['edition']})")
    settings = {
        key: value for key, value in found["settings"].items() if key not in READ_ONLY_SETTINGS
    }
    lists = {
        scope: by_id(check_members(each, kind.shape, f"{scope}[{place}]")
                     for place, each in enumerate(found[scope]))
        for scope, kind in KINDS.items()
    }  # fmt: skip
    state = IndexConfiguration(
        check_members(settings, Settings, ""), lists["synonyms"], lists["rules"]
    )
    read = Snapshot(str(found.get("index", "")), str(found.get("taken_at", "")), state)
    if found.get("hash", read.hash) != read.hash:
        raise BadInput(
            f"{name} was changed since it was written: its hash is {read.hash}, not "
            f"{found['hash']}; if that is intended, remove `hash`"
        )
    return read


async def diff(one: Side, other: Side, *, client: AnyClient | None = None) -> Differences:
    """Compare two states: indices by their names, snapshots, or files of them (`Path`, `.json`).

    Returns a row for each differing name: `scope, name, kind, before, after`, where kind is `new`,
    `changed` or `gone`. A missing setting has its default.
    """
    return tabulate(differences(await _state(one, client), await _state(other, client)))


async def _state(side: Side, client: AnyClient | None) -> IndexConfiguration:
    if isinstance(side, Snapshot):
        return side.state
    if isinstance(side, str) and not side.endswith(ENDING):
        return await read_state(asynchronous(client), side)
    return read_snapshot(side).state


async def restore(
    index: str, source: Side, *, note: str = "", client: AnyClient | None = None
) -> Differences:
    """Restore an index's settings, synonyms and rules; return the differences.

    The set of replicas stays unchanged. It is one change in the journal, and can be undone.
    """
    own = asynchronous(client)
    wanted = without(await _state(source, client), "replicas")
    async with journalled_write.alone(own, index):
        found = differences(without(await read_state(own, index), "replicas"), wanted)
        change = await journalled_write.apply(
            own, index, {scope: delta.after for scope, delta in found.items()},
            note=note or f"restore {_name(source)}",
        )  # fmt: skip
    return tabulate_change(change)


def _name(source: Side) -> str:
    if isinstance(source, Snapshot):
        return f"{source.index} of {source.taken_at}"
    return "a snapshot" if isinstance(source, Mapping) else str(source)


def tabulate_change(change: Change | None) -> Differences:
    """Return a change as a table; its `attrs["svc"]` contains the id for `undo`."""
    frame = tabulate(change.deltas if change else {})
    if change:
        frame.attrs["svc"] = {"change_id": change.change_id, "index": change.index}
    return frame
