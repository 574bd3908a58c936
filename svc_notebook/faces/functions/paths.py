"""The files that this package keeps on this machine, with their sizes and how they are removed."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pandas import DataFrame

from svc_notebook.core import locked_folders
from svc_notebook.core.files import user_data_folder, user_state_folder
from svc_notebook.data.declarations import public, verb
from svc_notebook.data.frames import DEFAULTS, PATHS, typed
from svc_notebook.data.session import default_folder, find_running, known_folders, user_file

# The content of each folder of the user's data and state.
DATA = {
    "changes": "journal of changes and loads, which undo them",
    "origins": "origins of clones, which deployments compare",
}
STATE = {
    "loads": "checkpoints of interrupted loads",
    "sizes": "sizes of indices at the last overview",
    "trust": "decisions whether a folder is trusted",
    "services": "data folders of local services",
    "apply-config": "unfinished changes of apply-config",
    "scratches": "owners of temporary indices",
}


@public(verb("paths", "paths", profile=False))
def paths() -> DataFrame:
    """Return the files that are kept on this machine: data, journal, state and temporary files.

    To move to another machine, stop the local services and copy the rows of `data` and `journal`
    to the paths that this function names there: changes can be undone there, too.

    Returns
    -------
    DataFrame
        One row per file or folder that exists: `kind` (str: data, journal, state, temporary or
        configuration), `content` (str), `bytes` (int64), `path` (str) and `remove` (str, the
        command that removes it).

    Examples
    --------
    >>> svc.paths()[["kind", "bytes", "path"]]
    """
    rows = [
        (kind, content, _size(path), f"{path}", remove)
        for kind, content, path, remove in _list()
        if path.exists()
    ]
    return typed([dict(zip(PATHS, row, strict=True)) for row in rows], PATHS, DEFAULTS)


def _list() -> Iterator[tuple[str, str, Path, str]]:
    for folder in dict.fromkeys([default_folder(), *known_folders()]):
        stop = f"svc stop --data {shlex.quote(str(folder))} && " if find_running(folder) else ""
        yield "data", "indices and keys of a local service", folder, stop + _removal(folder)
    for name, content in DATA.items():
        yield "journal", content, user_data_folder(name), _removal(user_data_folder(name))
    for name, content in STATE.items():
        path = user_state_folder(name)
        removal = "svc scratches drop" if name == "scratches" else _removal(path)
        yield "state", content, path, removal
    for path in Path(tempfile.gettempdir()).glob(f"{locked_folders.PREFIX}*"):
        yield "temporary", "a load; the next load removes what is left", path, _removal(path)
    config = user_file()
    yield "configuration", "profiles", config, _removal(config)


def _removal(path: Path) -> str:
    if os.name == "nt":
        return f'Remove-Item -Recurse "{path}"'
    return f"rm -r {shlex.quote(str(path))}"


def _size(path: Path) -> int:
    """Return the bytes of a file, or of all files of a folder; those that vanish have none."""
    files = [path, *(Path(folder, name) for folder, _, names in os.walk(path) for name in names)]
    total = 0
    for file in files:
        try:
            facts = file.lstat()
        except OSError:
            continue
        total += 0 if file.is_dir() else facts.st_size
    return total
