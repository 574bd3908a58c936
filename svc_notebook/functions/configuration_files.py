"""Configurations of indices as files for version control: pull, check, apply."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from svc_notebook.api.texts import OneOrMany, list_texts
from svc_notebook.client import Client, background_loop
from svc_notebook.declarations.declaration import public, verb
from svc_notebook.deployment import configuration_files
from svc_notebook.deployment.configuration_files import ConfigurationDrift
from svc_notebook.display import format_count
from svc_notebook.session.connection import AnyClient, asynchronous


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
    """Write the settings, synonyms and rules of indices to files for version control.

    Each index has a folder with `settings.yaml`, `synonyms.yaml` and `rules.yaml`. Entries are
    sorted; settings with their defaults are left out. Comments above an entry stay, and
    unchanged entries keep their lines.

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
    return await configuration_files.pull(
        asynchronous(client), _folder(folder), _names(indices), check=check
    )


def settle_application(given: Mapping[str, Any], client: Client) -> tuple[str, dict[str, Any]]:
    """Describe what files would change; nothing is written."""
    drift = background_loop.run(
        configuration_files.apply(
            client.aio, _folder(given["folder"]), _names(given.get("indices")), check=True
        )
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
    """Give indices the settings, synonyms and rules in files, and no others.

    Settings that are not in the file are reset to their defaults; synonyms and rules that are
    not in their file are deleted. A part without a file is unchanged. Only differences are
    written, in the order of `deploy`, and recorded in the journal: `undo` reverts them.

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
    return await configuration_files.apply(
        asynchronous(client), _folder(folder), _names(indices), check=check, note=note, mark=mark
    )


def _folder(given: str | os.PathLike[str]) -> Path:
    return Path(given).expanduser()


def _names(given: OneOrMany | None) -> list[str] | None:
    return None if given is None else list_texts(given, "indices")
