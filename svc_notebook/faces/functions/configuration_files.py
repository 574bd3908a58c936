"""Configurations of indices as files for version control: pull, check, apply."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pandas import DataFrame, concat

from svc_notebook.core.api.texts import OneOrMany, list_texts
from svc_notebook.core.display import format_count
from svc_notebook.core.files import write_all
from svc_notebook.data.client import AsyncClient, Client, background_loop
from svc_notebook.data.declarations import public, verb
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.faces.functions.crawler_files import (
    CrawlerChange,
    compare_for_apply,
    compare_for_pull,
    write_crawlers,
)
from svc_notebook.tuning.changes import Differences
from svc_notebook.tuning.deployment import (
    ConfigurationDrift,
    configuration_files,
    name_file_of,
    write_diff,
)


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
    return Path(given).expanduser()


def _names(given: OneOrMany | None) -> list[str] | None:
    return None if given is None else list_texts(given, "indices")
