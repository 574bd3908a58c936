"""The tutorials that come with the package."""

from __future__ import annotations

import json
import re
from pathlib import Path

from pandas import DataFrame

from svc_notebook.core.files import expand_path, write_named_file
from svc_notebook.data.declarations import public, verb
from svc_notebook.errors import BadInput

_PACKED = Path(__file__).parents[2] / "_notebooks"
# In a checkout the folder is next to the package.
FOLDER = _PACKED if _PACKED.is_dir() else Path(__file__).parents[3] / "notebooks"
# Modules that the notebooks import: the table of films, and a website for the crawler.
MODULES = ("cinema.py", "films.py", "shoppers.py")


@public(verb("tutorials", "tutorials", "tutorials learn", profile=False))
def copy_tutorials(folder: str | Path = "svc-tutorials", *, overwrite: bool = False) -> DataFrame:
    """Copy the tutorials, which are notebooks of Jupyter and marimo, to a folder.

    Parameters
    ----------
    folder : str or Path, default 'svc-tutorials'
        Folder to copy to, which is created if it does not exist.
    overwrite : bool, default False
        Whether files in the folder that differ from the tutorials are replaced.

    Returns
    -------
    DataFrame
        One row per notebook: `file` (str, its path) and `title` (str).

    Raises
    ------
    BadInput
        If a file exists with other content and `overwrite` is False; then nothing is copied. If a
        file cannot be written.

    Examples
    --------
    >>> tutorials = svc.copy_tutorials("learn")
    >>> tutorials["title"].tolist()[:3]
    ['From a CSV to search', 'Tune a search', 'Operate']
    """
    target = expand_path(folder)
    notebooks = sorted(FOLDER.glob("[0-9]*"))
    sources = [*notebooks, *(FOLDER / name for name in MODULES)]
    if not overwrite:
        _refuse_changed(sources, target)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{target} cannot be created: {error.strerror}") from None
    for source in sources:
        write_named_file(target / source.name, source.read_bytes())
    rows = [
        {"file": str(target / notebook.name), "title": _read_title(notebook)}
        for notebook in notebooks
    ]
    return DataFrame(rows, dtype="str")


def _refuse_changed(sources: list[Path], target: Path) -> None:
    changed = [
        source.name
        for source in sources
        if (target / source.name).exists()
        and (target / source.name).read_bytes() != source.read_bytes()
    ]
    if changed:
        raise BadInput(
            f"{', '.join(changed)} in {target} would be replaced; choose another folder, or pass "
            "overwrite=True"
        )


def _read_title(notebook: Path) -> str:
    """Return the first heading of a notebook of Jupyter or marimo."""
    text = notebook.read_text(encoding="utf-8")
    if notebook.suffix == ".ipynb":
        text = "".join(json.loads(text)["cells"][0]["source"])
    heading = re.search(r"^ *# (.+)$", text, re.MULTILINE)
    return heading[1] if heading else notebook.stem
