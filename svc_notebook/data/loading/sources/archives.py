"""Archives: a ZIP archive of one file is extracted, others are refused with advice."""

from __future__ import annotations

import tarfile
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from svc_notebook.data.loading.sources.encoding import fresh
from svc_notebook.data.loading.sources.read_limits import copy_unpacked
from svc_notebook.errors import BadInput

MAX_NAMED_FILES = 3
ZIP_MARK = b"PK"
OLD_WORKBOOK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
TAR_MARK, TAR_MARK_AT = b"ustar", 257
# Files that every workbook of Excel has, or that are only in other documents of Office.
EXCEL_FOLDER = "xl/"
OFFICE_FILE, OPEN_DOCUMENT_FILE = "[Content_Types].xml", "mimetype"
SPREADSHEET = b"application/vnd.oasis.opendocument.spreadsheet"
# Files that archives contain beside the data.
SIDE_FILES = ("__MACOSX/", ".DS_Store", "Thumbs.db")


def is_workbook(path: Path) -> bool:
    """Return whether a file is a workbook of Excel or OpenDocument, by its content."""
    with path.open("rb") as file:
        start = file.read(len(OLD_WORKBOOK))
    if not may_be_workbook(start):
        return False
    if start == OLD_WORKBOOK:
        return True
    names = _zipped(path)
    if OFFICE_FILE in names:
        return any(name.startswith(EXCEL_FOLDER) for name in names)
    return is_open_document(path)


def is_open_document(path: Path) -> bool:
    """Return whether a ZIP archive is a workbook of OpenDocument."""
    return (
        OPEN_DOCUMENT_FILE in _zipped(path) and _read_start(path, OPEN_DOCUMENT_FILE) == SPREADSHEET
    )


def may_be_workbook(start: bytes) -> bool:
    """Return whether a file that begins with these bytes can be a workbook."""
    return start.startswith((OLD_WORKBOOK, ZIP_MARK))


def extract_only_file(path: Path, given: Path, folder: Path) -> Path:
    """Return a copy of the only file of a ZIP archive; for any other file, its own path.

    `given` is the file that the caller named.
    """
    with path.open("rb") as file:
        if file.read(len(ZIP_MARK)) != ZIP_MARK or is_workbook(path):
            return path
    names = _data_files(_zipped(path))
    if len(names) != 1 or is_office_document(path):
        return path
    target = fresh(folder, PurePosixPath(names[0]).name)
    try:
        with (
            zipfile.ZipFile(path) as archive,
            archive.open(names[0]) as source,
            target.open("wb") as sink,
        ):
            copy_unpacked(source, sink, given, given.stat().st_size)
    except (RuntimeError, NotImplementedError) as error:  # a password, or an unknown compression
        raise BadInput(
            f"{given} cannot be extracted: {error}; extract it, and load its file"
        ) from (error)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise BadInput(
            f"{given} cannot be decompressed: {error}; check that it is complete"
        ) from error
    return target


def refuse_archive(path: Path, given: Path) -> None:
    """Raise `BadInput` for an archive; `given` is the file that the caller named."""
    with path.open("rb") as file:
        start = file.read(TAR_MARK_AT + len(TAR_MARK))
    if start.startswith(ZIP_MARK) and is_workbook(path):
        return
    if start.startswith(ZIP_MARK) and is_office_document(path):
        raise BadInput(
            f"{given} is a document of Office, not a workbook; copy its table into a spreadsheet, "
            "and load that file"
        )
    zipped = _data_files(_zipped(path)) if start.startswith(ZIP_MARK) else []
    if names := zipped or (_tarred(path) if start[TAR_MARK_AT:] == TAR_MARK else []):
        raise _archive_error(given, names, "unzip" if zipped else "tar -xf")


def _archive_error(given: Path, names: Sequence[str], extract: str) -> BadInput:
    shown = ", ".join(names[:MAX_NAMED_FILES]) + (", …" if len(names) > MAX_NAMED_FILES else "")
    return BadInput(
        f"{given} is an archive of {len(names):,} file{'' if len(names) == 1 else 's'} ({shown}); "
        f"extract it and load its files, {extract} {given.name}. A single file compressed as .zip, "
        ".gz, .zst, .bz2 or .xz is read as it is"
    )


def is_office_document(path: Path) -> bool:
    """Return whether a ZIP archive is a document of Office or OpenDocument."""
    return not {OFFICE_FILE, OPEN_DOCUMENT_FILE}.isdisjoint(_zipped(path))


def _data_files(names: Sequence[str]) -> list[str]:
    """Return the files of an archive without those that systems add."""
    return [
        name
        for name in names
        if not name.startswith(SIDE_FILES) and not name.endswith(SIDE_FILES[1:])
    ]


def _read_start(path: Path, name: str) -> bytes:
    try:
        with zipfile.ZipFile(path) as archive, archive.open(name) as file:
            return file.read(len(SPREADSHEET))
    except (zipfile.BadZipFile, zlib.error, OSError, RuntimeError):
        return b""


def _zipped(path: Path) -> list[str]:
    try:
        with zipfile.ZipFile(path) as archive:
            return [member.filename for member in archive.infolist() if not member.is_dir()]
    except (zipfile.BadZipFile, OSError):
        return []


def _tarred(path: Path) -> list[str]:
    try:
        with tarfile.open(path, "r:") as archive:
            return [member.name for member in archive if member.isfile()]
    except (tarfile.TarError, OSError):
        return []
