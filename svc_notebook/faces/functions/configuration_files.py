"""Configurations of indices as files for version control: pull, check, apply.

The file of a crawler is JavaScript, in the folder of the first index that it writes, and named by
the crawler. Its key is left out, and other secrets are masked: a file applied to a crawler keeps
them.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from pandas import DataFrame, concat

from svc_notebook.core.api.values import OneOrMany, list_texts
from svc_notebook.core.display import format_count
from svc_notebook.core.files import expand_path, write_all
from svc_notebook.data.client import AsyncClient, Client, background_loop, list_all
from svc_notebook.data.declarations import public, verb
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput
from svc_notebook.faces.functions.crawler_configuration import mask_config
from svc_notebook.faces.functions.crawler_scripts import MASK, read_script, write_script
from svc_notebook.tuning.changes import Differences
from svc_notebook.tuning.deployment import (
    CRAWLER_SUFFIX,
    ConfigurationDrift,
    assign_folders,
    configuration_files,
    folder_name,
    list_folders,
    name_file_of,
    read_text,
    write_diff,
)

# Members that belong to an application and are not in files.
APPLICATION_MEMBERS = ("appId", "apiKey")
Config = dict[str, Any]


def only_checks(given: Mapping[str, Any]) -> bool:
    """Return whether files are only compared."""
    return bool(given.get("check"))


@public(
    verb(
        "pull-config",
        "pull-config search",
        "pull-config search products,brands",
        "pull-config search --check",
        types={"indices": list[str]},
        completes={"folder": "path", "indices": "index"},
        checks=only_checks,
    ),
)
async def pull_config(
    folder: str | os.PathLike[str],
    indices: OneOrMany | None = None,
    *,
    check: bool = False,
    client: AnyClient | None = None,
) -> ConfigurationDrift:
    """Write the settings, synonyms, rules and crawlers of indices to files for version control.

    Each index has a folder with `settings.yaml`, `synonyms.yaml` and `rules.yaml`. Entries are
    sorted; settings with their defaults are left out. Comments above an entry stay, and
    unchanged entries keep their lines. With credentials of the crawler interface, each crawler
    whose first action writes the index is a file `NAME.crawler.js`: its key is left out and other
    secrets are masked. A file equivalent to the crawler is not rewritten. Without `indices`,
    crawlers whose index does not exist yet are written, too.

    Parameters
    ----------
    folder : path
        Folder of the files; it is created if necessary.
    indices : str or list of str, default all but temporary ones
        Names of the indices.
    check : bool, default False
        Write nothing and only compare; the command has exit status 1 if something differs.

    Returns
    -------
    ConfigurationDrift
        The files written, and the differences.

    Raises
    ------
    BadInput
        If a file is not valid or cannot be written.
    NotFound
        If an index does not exist.
    KeyRefused
        If the key lacks a right.

    Examples
    --------
    >>> pulled = svc.pull_config("config", "products")
    >>> print((pulled.folder / "products" / "synonyms.yaml").read_text())
    - objectID: cups
      synonyms:
        - mug
        - cup
      type: synonym
    >>> svc.pull_config("config", "products", check=True).complete
    True
    """
    target, root = asynchronous(client), _folder(folder)
    given = _names(indices)
    names = await configuration_files.list_own_indices(target) if given is None else given
    crawlers = await compare_for_pull(target, root, names, others=given is None)
    drift = await configuration_files.pull(target, root, names, check=check)
    if not check:
        files: dict[Path, str] = {}
        for change in crawlers:
            files |= name_file_of(change.index, change.path.parent)
            files[change.path] = change.texts[1]
        write_all(files)
    return _with_crawlers(drift, crawlers, [] if check else [change.path for change in crawlers])


def settle_application(given: Mapping[str, Any], client: Client) -> tuple[str, dict[str, Any]]:
    """Describe what files would change; nothing is written."""
    drift = background_loop.run(
        _apply(client.aio, _folder(given["folder"]), _names(given.get("indices")), check=True)
    )
    print(drift)  # noqa: T201 - the differences are what is confirmed
    return f"apply {format_count(len(drift.changes), 'change')} of {given['folder']}", {}


@public(
    verb(
        "apply-config",
        "apply-config search --check",
        "apply-config search --yes",
        "apply-config search products --yes --note 'spring sale'",
        types={"indices": list[str]},
        completes={"folder": "path", "indices": "index"},
        destructive="apply the files of {folder}",
        spares=only_checks,
        checks=only_checks,
        settles=settle_application,
    ),
    like=pull_config.__doc__,
)
async def apply_config(
    folder: str | os.PathLike[str],
    indices: OneOrMany | None = None,
    *,
    check: bool = False,
    note: str = "",
    mark: bool = False,
    client: AnyClient | None = None,
) -> ConfigurationDrift:
    """Give indices exactly the settings, synonyms and rules in files, and apply crawler files.

    Settings that are not in the file are reset to their defaults; synonyms and rules that are
    not in their file are deleted. A part without a file is unchanged. Only differences are
    written, in the order of `deploy`, and recorded in the journal: `undo` reverts them.

    A file `NAME.crawler.js` creates the crawler, or replaces its configuration; masked secrets and
    its key are kept. Crawlers are written first and are not in the journal; a crawler without a
    file is unchanged. JavaScript needs the extra `crawl`.

    Parameters
    ----------
    folder : path
        Folder that `pull_config` wrote.
    indices : str or list of str, default all with files
        Names of the indices.
    note : str, default the name of the folder
        Note in the journal.
    mark : bool, default False
        Mark the indices in the index `svc_marks` of their service while they are written, and
        refuse if somebody else has marked one, as `deploy` does.

    Returns
    -------
    ConfigurationDrift
        The differences, and the ids for `undo`.

    Raises
    ------
    BadInput
        If a file is not valid, or somebody else has marked an index; nothing was written.
    KeyRefused
        If the key lacks a right; nothing was written.
    TaskFailed
        If the service accepts a write but does not publish it within 600 seconds.

    Examples
    --------
    >>> pulled = svc.pull_config("config", "products")
    >>> change = svc.set_settings("products", {"hitsPerPage": 10})
    >>> drift = svc.apply_config("config", "products", check=True)
    >>> drift.complete
    False
    >>> drift.changes[["index", "scope", "name", "before"]]
          index     scope         name before
    0  products  settings  hitsPerPage     10
    >>> applied = svc.apply_config("config", "products")
    """
    return await _apply(
        asynchronous(client), _folder(folder), _names(indices), check=check, note=note, mark=mark
    )


async def _apply(
    client: AsyncClient, folder: Path, names: list[str] | None, *, check: bool, **options: Any
) -> ConfigurationDrift:
    """Apply files; those of crawlers first, because a service can still refuse them."""
    chosen = configuration_files.read_folders(folder, names)
    crawlers = await compare_for_apply(client, folder, [files.index for files in chosen])
    drift = await configuration_files.apply(
        client, folder, names, check=check,
        first=lambda: write_crawlers(client, crawlers), **options,
    )  # fmt: skip
    return _with_crawlers(drift, crawlers)


def _with_crawlers(
    drift: ConfigurationDrift, crawlers: Sequence[CrawlerChange], written: Iterable[Path] = ()
) -> ConfigurationDrift:
    """Return the differences of indices together with those of crawlers."""
    if not crawlers:
        return drift
    rows = DataFrame([change.row() for change in crawlers], dtype=object)
    tables = [DataFrame(table) for table in (drift.changes, rows) if len(table)]
    diff = write_diff(drift.folder, {change.path: change.texts for change in crawlers})
    return replace(
        drift, changes=Differences(concat(tables, ignore_index=True)),
        written=(*drift.written, *written),
        diff="\n".join(filter(None, [drift.diff, "" if written else diff])),
    )  # fmt: skip


def _folder(given: str | os.PathLike[str]) -> Path:
    return expand_path(given)


def _names(given: OneOrMany | None) -> list[str] | None:
    return None if given is None else list_texts(given, "indices")


@dataclass(frozen=True)
class CrawlerChange:
    """A crawler whose file and configuration differ; `before` is what is replaced.

    `before` is empty for a new crawler or file; secrets of both are masked. `id` and `config` are
    those to write to the service, without an id for a new crawler.
    """

    index: str
    name: str
    path: Path
    before: Config
    after: Config
    texts: tuple[str, str]
    id: str = ""
    config: Config | None = None

    def row(self) -> dict[str, Any]:
        """Return the row of a table of differences: only members that differ."""
        names = [
            name for name in {**self.before, **self.after}
            if self.before.get(name) != self.after.get(name)
        ]  # fmt: skip
        before, after = ({name: side[name] for name in names if name in side} or None
                         for side in (self.before, self.after))  # fmt: skip
        kind = "changed" if self.before else "new"
        return {"index": self.index, "scope": "crawlers", "name": self.name, "kind": kind,
                "before": before, "after": after}  # fmt: skip


async def compare_for_pull(
    client: AsyncClient, folder: Path, indices: Iterable[str], *, others: bool
) -> list[CrawlerChange]:
    """Compare the files with the crawlers that write these indices, as a pull changes them.

    With `others`, those that write any other index are compared, too: it may not exist yet. A file
    that is equivalent to its crawler is unchanged, comments included. Without credentials of the
    crawler interface, no crawler is compared.
    """
    names, crawlers = {*indices}, await _read_crawlers(client)
    if others:
        names |= {index for _, live in crawlers.values() if (index := _first_index(live))}
    folders = assign_folders(folder, names)
    changes = []
    for name, (_, live) in crawlers.items():
        index = _first_index(live)
        if index not in folders:
            continue
        path = folders[index] / f"{folder_name(name)}{CRAWLER_SUFFIX}"
        earlier, after = read_text(path), _masked(live)
        before = read_script(earlier, str(path), keep_masks=True) if earlier else {}
        if _without_application(before) != after:
            texts = earlier, write_script(after)
            changes.append(CrawlerChange(index, name, path, before, after, texts))
    return changes


async def compare_for_apply(
    client: AsyncClient, folder: Path, indices: Iterable[str]
) -> list[CrawlerChange]:
    """Compare the crawlers with the files of these indices, as an application changes them.

    Raises `BadInput` for a file that is not valid, and for a masked secret of which the service has
    no value.
    """
    paths = _list_crawler_files(folder, {*indices})
    if not paths:
        return []
    if not client.connection.crawler_user_id:
        raise BadInput(
            f"{paths[0][1]}: the crawlers of this service need `crawler_user_id` and "
            "`crawler_api_key`; add them to the profile, or leave the file out"
        )
    crawlers = await _read_crawlers(client)
    # A reserved or long name is shortened in the name of its file.
    names = {folder_name(name): name for name in crawlers}
    changes = []
    for index, path in paths:
        stem, text = path.name.removesuffix(CRAWLER_SUFFIX), read_text(path)
        name = names.get(stem, unquote(stem))
        script = _without_application(read_script(text, str(path), keep_masks=True))
        if _first_index(script) != index:
            raise BadInput(f"{path}: its first action writes {_first_index(script)!r}, not {index}")
        id_, live = crawlers.get(name, ("", {}))
        config = {**_unmask(script, live, str(path)), **_application_members(live)}
        before, after = (_masked(live) if live else {}), _masked(config)
        if before != after:
            texts = write_script(before) if before else "", write_script(after)
            changes.append(CrawlerChange(index, name, path, before, after, texts, id_, config))
    return changes


def _list_crawler_files(folder: Path, indices: Container[str]) -> list[tuple[str, Path]]:
    """List the files of crawlers with the indices of their folders."""
    return [
        (index, path)
        for index, subfolder in list_folders(folder).items() if index in indices
        for path in sorted(subfolder.glob(f"*{CRAWLER_SUFFIX}"))
    ]  # fmt: skip


async def write_crawlers(client: AsyncClient, changes: Iterable[CrawlerChange]) -> None:
    """Create crawlers, or replace their configurations."""
    for change in changes:
        if change.id:
            await client.update_crawler(change.id, config=change.config or {})
        else:
            await client.create_crawler(change.name, change.config or {})


async def _read_crawlers(client: AsyncClient) -> dict[str, tuple[str, Config]]:
    """Return the ids and configurations of all crawlers by name; `BadInput` for equal names."""
    if not client.connection.crawler_user_id:
        return {}
    crawlers: dict[str, tuple[str, Config]] = {}
    for listed in await list_all(client, None):
        name = listed["name"]
        if name in crawlers:
            raise BadInput(
                f"two crawlers are named {name}: rename one with "
                f"svc.rename_crawler({listed['id']!r}, NAME), because files are named by their "
                "crawlers"
            )
        state: dict[str, Any] = {**await client.get_crawler(listed["id"], withConfig=True)}
        crawlers[name] = listed["id"], state.get("config", {})
    return crawlers


def _first_index(config: Mapping[str, Any]) -> str:
    action: Mapping[str, Any] = next(iter(config.get("actions") or ()), {})
    return f"{config.get('indexPrefix') or ''}{action.get('indexName', '')}"


def _masked(config: Mapping[str, Any]) -> Config:
    return dict(mask_config(_without_application(config), MASK))


def _without_application(config: Mapping[str, Any]) -> Config:
    return {name: value for name, value in config.items() if name not in APPLICATION_MEMBERS}


def _application_members(config: Mapping[str, Any]) -> Config:
    return {name: config[name] for name in APPLICATION_MEMBERS if name in config}


def _unmask(value: Any, live: Any, at: str) -> Any:
    """Return a value with the secrets of the crawler in place of masks."""
    if value == MASK:
        if not isinstance(live, str):
            raise BadInput(
                f"{at} is masked, and no crawler has its value: create the crawler once with "
                "svc.create_crawler and the secret, then apply the file"
            )
        return live
    if isinstance(value, dict):
        members = live if isinstance(live, dict) else {}
        return {name: _unmask(member, members.get(name), f"{at}: {name}")
                for name, member in value.items()}  # fmt: skip
    if isinstance(value, list):
        items = live if isinstance(live, list) else []
        return [_unmask(item, held, at) for item, held in zip_longest(value, items)][: len(value)]
    return value
