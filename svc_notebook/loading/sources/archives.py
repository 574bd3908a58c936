"""Archives of several files, which are refused with advice."""

from __future__ import annotations

import tarfile
import zipfile
from pathlib import Path

from svc_notebook.errors import BadInput

MAX_NAMED_FILES = 3
# A file in each format of workbooks that are ZIP archives, and the first bytes of the others.
WORKBOOK_FILES = {"[Content_Types].xml", "mimetype"}
ZIP_MARK = b"PK"
OLD_WORKBOOK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
TAR_MARK, TAR_MARK_AT = b"ustar", 257


def is_workbook(path: Path) -> bool:
    """Return whether a file is a workbook of Excel or OpenDocument, by its content."""
    with path.open("rb") as file:
        start = file.read(len(OLD_WORKBOOK))
    if not may_be_workbook(start):
        return False
    return start == OLD_WORKBOOK or not WORKBOOK_FILES.isdisjoint(_zipped(path))


def may_be_workbook(start: bytes) -> bool:
    """Return whether a file that begins with these bytes can be a workbook."""
    return start.startswith((OLD_WORKBOOK, ZIP_MARK))


def refuse_archive(path: Path, given: Path) -> None:
    """Raise `BadInput` for an archive; `given` is the file that the caller named."""
    with path.open("rb") as file:
        start = file.read(TAR_MARK_AT + len(TAR_MARK))
    zipped = _zipped(path) if start.startswith(ZIP_MARK) else []
    names = zipped or (_tarred(path) if start[TAR_MARK_AT:] == TAR_MARK else [])
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
    try:
        with zipfile.ZipFile(path) as archive:
            return [each.filename for each in archive.infolist() if not each.is_dir()]
    except (zipfile.BadZipFile, OSError):
        return []


def _tarred(path: Path) -> list[str]:
    try:
        with tarfile.open(path, "r:") as archive:
            return [each.name for each in archive if each.isfile()]
    except (tarfile.TarError, OSError):
        return []
