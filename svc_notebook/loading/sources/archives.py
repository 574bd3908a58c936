"""Archives of several files, which are refused with advice."""

from __future__ import annotations

import tarfile
import zipfile
from pathlib import Path

from svc_notebook.errors import BadInput

MAX_NAMED_FILES = 3
# A file in each format of workbooks that are ZIP archives, and the first bytes of the others.
WORKBOOK_FILES = {"[Content_Types].xml", "mimetype"}
OLD_WORKBOOK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
TAR_MARK, TAR_MARK_AT = b"ustar", 257


def is_workbook(path: Path) -> bool:
    """Return whether a file is a workbook of Excel or OpenDocument, by its content."""
    with path.open("rb") as file:
        if file.read(len(OLD_WORKBOOK)) == OLD_WORKBOOK:
            return True
    return not WORKBOOK_FILES.isdisjoint(_zipped(path))


def refuse_archive(path: Path, given: Path) -> None:
    """Raise `BadInput` for an archive; `given` is the file that the caller named."""
    zipped = _zipped(path)
    names = zipped or _tarred(path)
    if not names:
        return
    shown = ", ".join(names[:MAX_NAMED_FILES]) + (", …" if len(names) > MAX_NAMED_FILES else "")
    extract = f"unzip {given.name}" if zipped else f"tar -xf {given.name}"
    raise BadInput(
        f"{given} is an archive of {len(names):,} file{'' if len(names) == 1 else 's'} ({shown}); "
        f"extract it and load its files, {extract}. A single file compressed as .gz, .zst, .bz2 "
        "or .xz is read as it is"
    )


def _zipped(path: Path) -> list[str]:
    with path.open("rb") as file:
        if file.read(2) != b"PK":
            return []
    try:
        with zipfile.ZipFile(path) as archive:
            return [each.filename for each in archive.infolist() if not each.is_dir()]
    except (zipfile.BadZipFile, OSError):
        return []


def _tarred(path: Path) -> list[str]:
    with path.open("rb") as file:
        file.seek(TAR_MARK_AT)
        if file.read(len(TAR_MARK)) != TAR_MARK:
            return []
    try:
        with tarfile.open(path, "r:") as archive:
            return [each.name for each in archive if each.isfile()]
    except (tarfile.TarError, OSError):
        return []
