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

from svc_notebook.core.api.body_forms import READ_ONLY_SETTINGS
from svc_notebook.core.api.parameters import Settings
from svc_notebook.core.api.validation import check_members
from svc_notebook.core.files import expand_path, write_named_file
from svc_notebook.data.declarations import public, verb
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput, unreadable
from svc_notebook.tuning.changes import journalled_write
from svc_notebook.tuning.changes.journal import Change
from svc_notebook.tuning.changes.state import (
    KINDS,
    Differences,
    IndexConfiguration,
    by_id,
    differences,
    is_default,
    read_state,
    tabulate,
    without,
)

SNAPSHOT_FORMAT = 1
ENDING = ".json"  # distinguishes the name of a file from the name of an index


@dataclass(frozen=True)
class Snapshot:
    """The settings, synonyms and rules of an index at one moment.

    Attributes
    ----------
    index : str
        Name of the index.
    taken_at : str
        Time in ISO 8601 format, UTC.
    state : IndexConfiguration
        `settings`, `synonyms` and `rules` as dicts by name.

    Examples
    --------
    >>> taken = svc.tuning.snapshot("products")
    >>> list(taken.state.synonyms)
    ['cups']
    >>> taken.save("products.json").name
    'products.json'
    """

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
        """Return the snapshot as plain JSON, with the lists in the format of the API.

        Returns
        -------
        dict
            `edition`, `index`, `taken_at`, `hash`, `settings`, `synonyms` and `rules`.
        """
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
        """Write the snapshot to a JSON file; an existing file is replaced.

        Parameters
        ----------
        path : path
            File to write.

        Returns
        -------
        Path
            The path of the file.

        Raises
        ------
        BadInput
            If the file cannot be written.
        """
        target = expand_path(path)
        text = msgspec.json.format(msgspec.json.encode(self.to_json()), indent=2)
        write_named_file(target, text + b"\n", sync=True)
        return target

    def __repr__(self) -> str:
        counts = f"{len(self.state.synonyms)} synonyms, {len(self.state.rules)} rules"
        described = f"{len(self.state.settings)} settings, {counts}"
        return f"Snapshot of {self.index} at {self.taken_at}: {described}; {self.hash}"


# A state: the name of an index, a snapshot, its JSON, or its file.
Side = str | Snapshot | Mapping[str, Any] | os.PathLike[str]


@public(verb("snapshot", "snapshot products monday.json", names={"path": "file"}))
async def snapshot(
    index: str, path: str | os.PathLike[str] | None = None, *, client: AnyClient | None = None
) -> Snapshot:
    """Take a snapshot of the settings, synonyms and rules of an index.

    Records are not included; `svc.export` writes them.

    Parameters
    ----------
    path : path, default None
        JSON file to write; None writes no file.

    Returns
    -------
    Snapshot
        The snapshot.

    Raises
    ------
    BadInput
        If the suffix is not `.json`, or the file cannot be written.
    NotFound

    Examples
    --------
    >>> taken = svc.tuning.snapshot("products", "products.json")
    >>> taken.index
    'products'
    """
    if isinstance(path, str) and not path.endswith(ENDING):
        raise BadInput(
            f"`path` must end in {ENDING}, such as {path}{ENDING}: other names mean an index"
        )
    now = datetime.now(UTC).isoformat(timespec="seconds")
    taken = Snapshot(index, now, await read_state(asynchronous(client), index))
    if path is not None:
        taken.save(path)
    return taken


def read_snapshot(source: str | os.PathLike[str] | Mapping[str, Any]) -> Snapshot:
    """Read a snapshot from a file or from JSON.

    Parameters
    ----------
    source : path or dict
        JSON file that `snapshot` wrote, or its content.

    Returns
    -------
    Snapshot
        The snapshot.

    Raises
    ------
    BadInput
        If the file cannot be read, or the snapshot is not valid or was edited.

    Examples
    --------
    >>> taken = svc.tuning.snapshot("products", "products.json")
    >>> svc.tuning.read_snapshot("products.json").hash == taken.hash
    True
    """
    if isinstance(source, Mapping):
        return _checked(source, "the snapshot")
    try:
        content = msgspec.json.decode(expand_path(source).read_bytes())
    except OSError as error:
        raise unreadable(Path(source), error) from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadInput(f"{source} is not valid JSON: {error}") from None
    return _checked(content, str(source))


def _checked(content: Any, name: str) -> Snapshot:
    if not isinstance(content, Mapping) or not {"settings", "synonyms", "rules"} <= content.keys():
        raise BadInput(f"{name} is not a snapshot: it needs settings, synonyms and rules")
    if content.get("edition", SNAPSHOT_FORMAT) != SNAPSHOT_FORMAT:
        raise BadInput(
            f"{name} has the format {content['edition']!r} of another version of svc-notebook; "
            "read it with that version"
        )
    settings = {
        key: value for key, value in content["settings"].items() if key not in READ_ONLY_SETTINGS
    }
    lists = {
        scope: by_id(check_members(document, kind.shape, f"{scope}[{number}]")
                     for number, document in enumerate(content[scope]))
        for scope, kind in KINDS.items()
    }  # fmt: skip
    state = IndexConfiguration(
        check_members(settings, Settings, ""), lists["synonyms"], lists["rules"]
    )
    read = Snapshot(str(content.get("index", "")), str(content.get("taken_at", "")), state)
    if content.get("hash", read.hash) != read.hash:
        raise BadInput(
            f"{name} was changed since it was written: its hash is {read.hash}, not "
            f"{content['hash']}; if that is intended, remove `hash`"
        )
    return read


@public(
    verb(
        "diff",
        "diff products products-new",
        "diff monday.json products",
        completes={"one": "index", "other": "index"},
    )
)
async def diff(one: Side, other: Side, *, client: AnyClient | None = None) -> Differences:
    """Compare the settings, synonyms and rules of two indices or snapshots.

    Parameters
    ----------
    one : str, path, Snapshot or dict
        Name of an index, JSON file of a snapshot, or snapshot.
    other : str, path, Snapshot or dict
        Name of an index, JSON file of a snapshot, or snapshot to compare with it.

    Returns
    -------
    DataFrame
        One row per differing name: `scope` (object, `settings`, `synonyms` or `rules`), `name`
        (object), `kind` (object, `new`, `changed` or `gone`), `before` and `after` (object, the
        values; a missing setting has its default).

    Raises
    ------
    BadInput
        If a snapshot cannot be read or is not valid.
    NotFound

    Examples
    --------
    >>> before = svc.tuning.snapshot("products")
    >>> svc.set_settings("products", {"hitsPerPage": 10})
    >>> svc.tuning.diff(before, "products")
          scope         name kind before after
    0  settings  hitsPerPage  new     20    10
    """
    return tabulate(differences(await _state(one, client), await _state(other, client)))


async def _state(side: Side, client: AnyClient | None) -> IndexConfiguration:
    if isinstance(side, Snapshot):
        return side.state
    if isinstance(side, str) and not side.endswith(ENDING):
        return await read_state(asynchronous(client), side)
    return read_snapshot(side).state


@public(
    verb(
        "restore",
        "restore products monday.json --yes",
        names={"source": "file"},
        destructive="replace settings, synonyms and rules of {index}",
    )
)
async def restore(
    index: str, source: Side, *, note: str = "", client: AnyClient | None = None
) -> Differences:
    """Restore the settings, synonyms and rules of an index from a snapshot.

    The set of replicas stays. The change is written to the journal as a whole; `undo` reverts
    it.

    Parameters
    ----------
    source : str, path, Snapshot or dict
        JSON file of a snapshot, snapshot, or name of another index.

    Returns
    -------
    DataFrame
        One row per changed name, as `diff` returns it; `attrs["svc"]["change_id"]` is the id
        for `undo`.

    Raises
    ------
    BadInput
        If the snapshot cannot be read or is not valid.
    NotFound
    TaskFailed

    Examples
    --------
    >>> before = svc.tuning.snapshot("products")
    >>> svc.set_settings("products", {"hitsPerPage": 10})
    >>> svc.tuning.restore("products", before)
          scope         name  kind before after
    0  settings  hitsPerPage  gone     10    20
    """
    caller = asynchronous(client)
    restored = without(await _state(source, client), "replicas")
    async with journalled_write.alone(caller, index):
        deltas = differences(without(await read_state(caller, index), "replicas"), restored)
        change = await journalled_write.write_change(
            caller, index, {scope: delta.after for scope, delta in deltas.items()},
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
