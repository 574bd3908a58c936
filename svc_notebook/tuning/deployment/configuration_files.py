"""Configurations of indices as files: a folder for each index, compared with and applied to it."""

from __future__ import annotations

import difflib
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from svc_notebook.core.api import SearchApi
from svc_notebook.core.api.body_forms import READ_ONLY_SETTINGS, rename_settings
from svc_notebook.core.api.parameters import Settings
from svc_notebook.core.api.validation import check_members
from svc_notebook.core.display import format_count, write_list
from svc_notebook.core.files import write_all
from svc_notebook.core.terminal import warn_user
from svc_notebook.data.client import AsyncClient, parse_name
from svc_notebook.errors import BadInput, NotFound
from svc_notebook.tuning.changes.journal import Change
from svc_notebook.tuning.changes.journalled_write import alone, write_change
from svc_notebook.tuning.changes.state import (
    KINDS,
    SCOPES,
    Delta,
    IndexConfiguration,
    Scope,
    compare,
    is_default,
    write_differences,
)
from svc_notebook.tuning.deployment.configuration import (
    check_free,
    is_virtual,
    list_entries,
    list_replicas,
    read_configuration,
    replica_name,
)
from svc_notebook.tuning.deployment.index_files import (
    CRAWLER_SUFFIX,
    assign_folders,
    folder_name,
    list_folders,
    name_file_of,
    read_entries,
    read_text,
    write_entries,
)
from svc_notebook.tuning.deployment.key_rights import describe_client, read_rights, right_of
from svc_notebook.tuning.deployment.plan import tabulate_indices
from svc_notebook.tuning.deployment.running_writes import (
    MARKS_INDEX,
    describe_interrupted_runs,
    marking,
    recording_run,
)

SUFFIX = ".yaml"


@dataclass(frozen=True)
class IndexFiles:
    """The files of one index; scopes without a file are not managed."""

    index: str
    folder: Path
    state: IndexConfiguration
    scopes: tuple[Scope, ...]


@dataclass(frozen=True, repr=False)
class ConfigurationDrift:
    """The differences between files and indices; displayed as HTML in notebooks.

    Attributes
    ----------
    folder : Path
        Folder of the files.
    changes : DataFrame
        One row per difference: `index`, `scope`, `name`, `kind`, `before` and `after`, as
        `svc.tuning.diff` has them.
    check : bool
        Whether nothing was written.
    indices : tuple of str
        Names of the indices.
    written : tuple of Path
        Files that were written.
    change_ids : dict of str
        Ids of the changes in the journal, by index, for `undo`.
    notes : tuple of str
        Notes on what is not in the files.
    diff : str
        The differences as a unified diff of files.

    Examples
    --------
    >>> pulled = svc.pull_config("search", "products")
    >>> [path.name for path in pulled.written]
    ['settings.yaml', 'synonyms.yaml', 'rules.yaml']
    """

    folder: Path
    changes: pd.DataFrame
    check: bool
    indices: tuple[str, ...]
    written: tuple[Path, ...] = ()
    change_ids: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    diff: str = ""

    @property
    def complete(self) -> bool:
        """Whether files and indices agree: after a check, whether nothing differs."""
        return not self.check or self.changes.empty

    def __repr__(self) -> str:
        notes = [f"note: {note}" for note in self.notes]
        return "\n".join([self._headline(), *([self.diff] if self.diff else []), *notes])

    def to_frame(self) -> pd.DataFrame:
        """Return the differences, for output as CSV or JSON."""
        return self.changes

    def _repr_html_(self) -> str:
        tables = "".join(
            f"<p><code>{escape(str(name))}</code></p>{write_differences(rows)}"
            for name, rows in self.changes.groupby("index", sort=False)
        )
        return f"<p>{escape(self._headline())}</p>{tables}{write_list(self.notes)}"

    def _headline(self) -> str:
        of = f"{self.folder}, {format_count(len(self.indices), 'index', 'indices')}"
        if self.changes.empty and not self.written:
            return f"{of}: nothing differs"
        counted = format_count(len(self.changes), "difference")
        if self.check:
            return f"{of}: {counted}; nothing was written"
        if self.written:
            return f"{of}: {format_count(len(self.written), 'file')} written, {counted}"
        undo = "".join(
            f"; `svc undo {name} {change_id}` reverts it"
            for name, change_id in self.change_ids.items()
        )
        return f"{of}: {format_count(len(self.changes), 'change')} applied{undo}"


async def pull(
    client: AsyncClient, folder: Path, names: Iterable[str] | None, *, check: bool
) -> ConfigurationDrift:
    """Write the configurations of indices to files; with `check`, only compare."""
    indices = list(names) if names is not None else await list_own_indices(client)
    rights = await read_rights(client, describe_client(client))
    rights.check("pull-config", [right_of(SearchApi.get_settings)], indices)
    deltas: dict[str, dict[Scope, Delta]] = {}
    notes: list[str] = []
    texts: dict[Path, tuple[str, str]] = {}
    folders = assign_folders(folder, indices)
    for index in indices:
        live, scopes = await _read_live(client, index, notes)
        there = _read_folder(folders[index], index)
        before = there.state if there else IndexConfiguration()
        deltas[index] = {scope: compare(scope, before.part(scope), live.part(scope))
                         for scope in scopes}  # fmt: skip
        texts |= _render_changed(index, folders[index], live, scopes)
    if not check:
        write_all({path: text for path, (_, text) in texts.items()})
    return ConfigurationDrift(
        folder, tabulate_indices(deltas), check, tuple(indices), () if check else tuple(texts),
        notes=tuple(notes), diff=write_diff(folder, texts) if check else "",
    )  # fmt: skip


def _render_changed(
    index: str, folder: Path, live: IndexConfiguration, scopes: Iterable[Scope]
) -> dict[Path, tuple[str, str]]:
    """Return the files of an index that change, with their texts before and after."""
    earlier = {scope: read_text(folder / f"{scope}{SUFFIX}") for scope in scopes}
    current = {folder / f"{scope}{SUFFIX}": render(live, scope, text)
               for scope, text in earlier.items()}  # fmt: skip
    pairs = {
        path: (read_text(path), text)
        for path, text in {**current, **name_file_of(index, folder)}.items()
    }
    return {path: (before, after) for path, (before, after) in pairs.items() if before != after}


async def apply(
    client: AsyncClient,
    folder: Path,
    names: Iterable[str] | None,
    *,
    check: bool,
    note: str = "",
    mark: bool = False,
    first: Callable[[], Awaitable[None]] | None = None,
) -> ConfigurationDrift:
    """Give indices the configurations in files; with `check`, only compare.

    `first` is called before the first write, after all checks.
    """
    chosen = read_folders(folder, names)
    indices = tuple(files.index for files in chosen)
    rights = await read_rights(client, describe_client(client))
    needed = [right_of(SearchApi.get_settings)]
    needed += [] if check else [right_of(SearchApi.set_settings)]
    rights.check("apply-config", needed, indices)
    for text in describe_interrupted_runs(client):
        warn_user(text)
    notes: list[str] = []
    deltas: dict[str, dict[Scope, Delta]] = {}
    texts: dict[Path, tuple[str, str]] = {}
    managed = [files for files in chosen if files.scopes]
    for files in managed:
        live = await _read_or_empty(client, files.index, notes)
        deltas[files.index] = _compare(files, live)
        texts |= _render_differing(files, live, deltas[files.index])
        await _check_replicas(client, files, live)
    ids: dict[str, str] = {}
    if not check:
        action = f"apply-config {folder.name}"
        async with marking(client, [*deltas] if mark else [], action):
            if first:
                await first()
            ids = await _apply_all(client, folder, managed, note or action)
    return ConfigurationDrift(
        folder, tabulate_indices(deltas), check, indices, change_ids=ids, notes=tuple(notes),
        diff=write_diff(folder, texts),
    )  # fmt: skip


def _render_differing(
    files: IndexFiles, live: IndexConfiguration, deltas: Mapping[Scope, Delta]
) -> dict[Path, tuple[str, str]]:
    """Return the texts of the files with differences: of the live index, and as they are."""
    return {
        files.folder / f"{scope}{SUFFIX}": (render(live, scope), render(files.state, scope))
        for scope, delta in deltas.items()
        if delta.before
    }


def _compare(files: IndexFiles, live: IndexConfiguration) -> dict[Scope, Delta]:
    return {
        scope: compare(scope, live.part(scope), files.state.part(scope)) for scope in files.scopes
    }


async def _apply_all(
    client: AsyncClient, folder: Path, chosen: Sequence[IndexFiles], note: str
) -> dict[str, str]:
    """Write all indices, one after the other; return the ids of their changes."""
    ids: dict[str, str] = {}
    with recording_run(client, folder, [files.index for files in chosen]) as record:
        for files in chosen:
            if made := await _apply_one(client, files, note):
                ids[files.index] = made.change_id
            record.add(files.index, ids.get(files.index, ""))
    return ids


async def _apply_one(client: AsyncClient, files: IndexFiles, note: str) -> Change | None:
    """Write one index; it is read again, because a new replica has the settings of its primary."""
    async with alone(client, files.index):
        live = await _read_or_empty(client, files.index, [])
        deltas = _compare(files, live)
        differing = {scope: delta.after for scope, delta in deltas.items() if delta.before}
        # Without a difference, a change that was interrupted after its last step is finished.
        return await write_change(client, files.index, differing, note=note)


async def list_own_indices(client: AsyncClient) -> list[str]:
    """Return the names of all indices of an application but temporary ones, primaries first."""
    items = [
        item for item in await list_entries(client)
        if parse_name(item["name"]) is None and item["name"] != MARKS_INDEX
    ]  # fmt: skip
    ordered = sorted(items, key=lambda item: (bool(item.get("primary")), item["name"]))
    return [item["name"] for item in ordered]


def read_folders(folder: Path, names: Iterable[str] | None) -> list[IndexFiles]:
    """Read the files of all indices, or of those named; primaries before replicas."""
    if not folder.is_dir():
        raise BadInput(f"there is no folder {folder.absolute()}; svc.pull_config() writes it")
    folders = list_folders(folder)
    chosen = (
        sorted(index for index, path in folders.items() if _holds_files(path))
        if names is None
        else list(names)
    )
    read = []
    for index in chosen:
        path = folders.get(index, folder / folder_name(index))
        files = _read_folder(path, index)
        if files is None:
            raise BadInput(f"{path} has no files of the index {index}")
        read.append(files)
    if not read:
        raise BadInput(f"{folder} has no folder of an index; svc.pull_config() writes them")
    replicas = {
        replica_name(entry) for files in read for entry in list_replicas(files.state.settings)
    }
    return sorted(read, key=lambda files: (files.index in replicas, files.index))


def _list_files(folder: Path) -> dict[Scope, Path]:
    """Return the files of an index that exist, by scope."""
    paths: dict[Scope, Path] = {scope: folder / f"{scope}{SUFFIX}" for scope in SCOPES}
    return {scope: path for scope, path in paths.items() if path.exists()}


def _holds_files(folder: Path) -> bool:
    return bool(_list_files(folder)) or any(folder.glob(f"*{CRAWLER_SUFFIX}"))


def _read_folder(folder: Path, index: str) -> IndexFiles | None:
    if not _holds_files(folder):
        return None
    files = _list_files(folder)
    parts: dict[str, Any] = {scope: _read_scope(path, scope) for scope, path in files.items()}
    return IndexFiles(index, folder, IndexConfiguration(**parts), tuple(files))


def _read_scope(path: Path, scope: Scope) -> dict[str, Any]:
    values = read_entries(read_text(path), str(path), as_list=scope != "settings").values
    try:
        if scope == "settings":
            settings = rename_settings(values)
            changed = {k: v for k, v in settings.items() if k not in READ_ONLY_SETTINGS}
            return check_members(changed, Settings, "")
        shape = KINDS[scope].shape
        return {name: check_members(value, shape, name) for name, value in values.items()}
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None


def render(state: IndexConfiguration, scope: Scope, earlier: str = "") -> str:
    """Write one scope as the text of its file, with the comments of the earlier text."""
    values = {
        name: value for name, value in state.part(scope).items()
        if not is_default(scope, name, value)
    }  # fmt: skip
    return write_entries(values, as_list=scope != "settings", earlier=earlier)


async def _read_live(
    client: AsyncClient, index: str, notes: list[str]
) -> tuple[IndexConfiguration, tuple[Scope, ...]]:
    """Read an index; a virtual replica has settings alone."""
    settings: dict[str, Any] = {**await client.get_settings(index)}
    scopes: tuple[Scope, ...] = SCOPES
    if primary := settings.get("primary"):
        entries = list_replicas(dict(await client.get_settings(primary)))
        if any(is_virtual(entry) and replica_name(entry) == index for entry in entries):
            scopes = ("settings",)
    state, unknown = await read_configuration(client, index, scopes)
    _note_unknown(index, unknown, notes)
    return state, scopes


async def _read_or_empty(client: AsyncClient, index: str, notes: list[str]) -> IndexConfiguration:
    try:
        state, unknown = await read_configuration(client, index, SCOPES)
    except NotFound:
        notes.append(f"there is no index {index} yet: it is created")
        return IndexConfiguration()
    _note_unknown(index, unknown, notes)
    return state


def _note_unknown(index: str, unknown: list[str], notes: list[str]) -> None:
    if unknown:
        listed = ", ".join(unknown)
        notes.append(f"settings of {index} that this version does not know are ignored: {listed}")


async def _check_replicas(client: AsyncClient, files: IndexFiles, live: IndexConfiguration) -> None:
    """Refuse new replicas whose names other indices have."""
    present = set(map(replica_name, list_replicas(live.settings)))
    names = [replica_name(entry) for entry in list_replicas(files.state.settings)]
    new = [name for name in names if name not in present]
    await check_free(client, files.index, new)


def write_diff(folder: Path, texts: Mapping[Path, tuple[str, str]]) -> str:
    """Write a unified diff of files."""
    lines: list[str] = []
    for path, (before, after) in texts.items():
        name = path.relative_to(folder).as_posix()
        lines += difflib.unified_diff(
            before.splitlines(), after.splitlines(), f"a/{name}", f"b/{name}", lineterm=""
        )
    return "\n".join(lines)
