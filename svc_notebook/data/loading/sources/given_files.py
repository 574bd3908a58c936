"""The files that a caller gives, as uncompressed files on this machine.

Pipes are copied, URLs and files of object stores are downloaded, and compressed files and ZIP
archives of one file are extracted. Other archives are refused with advice.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
import shutil
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path, PurePosixPath
from typing import Any, TypeGuard
from urllib.parse import unquote, urlsplit

import httpx

from svc_notebook.core.redaction import describe_failure, show_address
from svc_notebook.data.client.secret import keep_keys_from_logs
from svc_notebook.data.loading.sources.encoding import fresh, read_part
from svc_notebook.data.loading.sources.read_limits import copy_unpacked
from svc_notebook.errors import BadInput

INCOMPLETE = "{} cannot be decompressed: {}; check that it is complete"
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
PROTOCOL = re.compile(r"([a-z][a-z0-9+.-]+)(://|::)", re.I)
# The package that opens each protocol, where fsspec needs one.
PACKAGES = {"s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "az": "adlfs",
            "abfs": "adlfs", "abfss": "adlfs", "adl": "adlfs"}  # fmt: skip
DOWNLOAD_NAME, DOWNLOAD_TIMEOUT_SECONDS = "download", 30
STANDARD_INPUT = "-"
COPIED_PIECE = 1 << 20  # bytes or characters
PATTERN = re.compile(r"[*?\[]")


def is_workbook(path: Path) -> bool:
    """Return whether a file is a workbook of Excel or OpenDocument, by its content."""
    start = read_part(path, len(OLD_WORKBOOK))
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
    is_named = OPEN_DOCUMENT_FILE in _zipped(path)
    return is_named and _read_start(path, OPEN_DOCUMENT_FILE) == SPREADSHEET


def may_be_workbook(start: bytes) -> bool:
    """Return whether a file that begins with these bytes can be a workbook."""
    return start.startswith((OLD_WORKBOOK, ZIP_MARK))


def _open_zstd(path: Path) -> Any:
    import pyarrow as pa

    return pa.input_stream(str(path), compression="zstd")


COMPRESSIONS: tuple[tuple[bytes, Callable[[Path], Any]], ...] = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ\x00", lzma.open),
    (b"\x28\xb5\x2f\xfd", _open_zstd),
)


def decompress(path: Path, given: Path, folder: Path) -> Path:
    """Return an uncompressed file: the same one, or a copy in the folder.

    `given` is the caller's file, whose size limits that of the copy.
    """
    start = read_part(path, 6)
    opener = next((opener for magic, opener in COMPRESSIONS if start.startswith(magic)), None)
    if opener is None:
        return path
    target = fresh(folder, path.with_suffix("").name)
    try:
        with opener(path) as source, target.open("wb") as sink:
            copy_unpacked(source, sink, given, given.stat().st_size)
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise BadInput(INCOMPLETE.format(given, error)) from error
    return target


def extract_only_file(path: Path, given: Path, folder: Path) -> Path:
    """Return a copy of the only file of a ZIP archive; for any other file, its own path.

    `given` is the file that the caller named.
    """
    if read_part(path, len(ZIP_MARK)) != ZIP_MARK or is_workbook(path):
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
        what = f"{given} cannot be extracted: {error}"
        raise BadInput(f"{what}; extract it, and load its file") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise BadInput(INCOMPLETE.format(given, error)) from error
    return target


def refuse_archive(path: Path, given: Path) -> None:
    """Raise `BadInput` for an archive; `given` is the file that the caller named."""
    start = read_part(path, TAR_MARK_AT + len(TAR_MARK))
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


def is_file_object(source: object) -> TypeGuard[Any]:
    """Return whether a source is an open file, such as `io.StringIO` or an upload."""
    return all(callable(getattr(source, name, None)) for name in ("read", "readline", "seekable"))


def copy_file_object(source: Any, folder: Path) -> Path:
    """Copy the content of an open file, from its position on, into a file.

    A file that can be read again is left at the position where it was, as a plan of it is often
    followed by a load.
    """
    name = name_file_object(source)
    copy = fresh(folder, name)
    try:
        start = source.tell() if source.seekable() else None
        with copy.open("wb") as sink:
            while piece := source.read(COPIED_PIECE):
                sink.write(piece.encode() if isinstance(piece, str) else piece)
        if start is not None:
            source.seek(start)
    except (OSError, ValueError) as error:
        raise BadInput(
            f"{name} cannot be read: {error}; pass the path of the file, or open it again"
        ) from None
    return copy


def name_file_object(source: Any) -> str:
    """Return the name of an open file in messages; some have none, or a number."""
    name = getattr(source, "name", None)
    return Path(name).name if isinstance(name, str) and name else "the open file"


def is_pipe(source: str | os.PathLike[str]) -> bool:
    """Return whether a source is `-`, the standard input, or the path of a pipe."""
    return os.fspath(source) == STANDARD_INPUT or Path(source).is_fifo()


def copy_pipe(source: str | os.PathLike[str], folder: Path) -> Path:
    """Copy the content of a pipe, which can be read once, into a file."""
    is_input = os.fspath(source) == STANDARD_INPUT
    copy = folder / ("standard-input" if is_input else "pipe")
    try:
        with ExitStack() as stack:
            pipe = sys.stdin.buffer if is_input else stack.enter_context(Path(source).open("rb"))
            shutil.copyfileobj(pipe, stack.enter_context(copy.open("wb")))
    except (OSError, AttributeError, ValueError) as error:
        raise BadInput(f"{copy.name} cannot be read: {error}; pass the path of a file") from None
    return copy


def download(url: str, folder: Path) -> Path:
    """Download a URL into a file of the folder."""
    keep_keys_from_logs()
    try:
        target = fresh(folder, file_name(url) or DOWNLOAD_NAME)
        with httpx.stream(
            "GET", url, follow_redirects=True, timeout=DOWNLOAD_TIMEOUT_SECONDS
        ) as answer:
            answer.raise_for_status()
            with target.open("wb") as sink:
                for piece in answer.iter_bytes():
                    sink.write(piece)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        reason = describe_failure(error, url)
        # The error of the library quotes the URL.
        raise BadInput(
            f"{show_address(url)} cannot be downloaded: {reason}; check the URL"
        ) from None
    return target


def is_remote(source: str) -> bool:
    """Return whether a text is the URL of a file that fsspec opens, such as `s3://…`."""
    return PROTOCOL.match(source) is not None


def fetch(url: str, folder: Path) -> list[Path]:
    """Download the files of a URL, of a pattern or of a folder of Parquet files."""
    files, remote_paths = _find(url)
    if not remote_paths:
        raise BadInput(
            f"there is no file {show_address(url)}; check its name and your right to list it"
        )
    copies = []
    for remote in remote_paths:
        target = fresh(folder, file_name(remote.rstrip("/")))
        try:
            files.get_file(remote, str(target))
        except Exception as error:  # each store has its own errors
            raise _unreadable(url, error) from None
        copies.append(target)
    return copies


def _find(url: str) -> tuple[Any, list[str]]:
    """Return the file system of a URL, and the paths of its files in the order of their names."""
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise BadInput(
            f'{show_address(url)} needs fsspec: pip install "svc-notebook[remote]"; then the '
            "package of the store, such as s3fs"
        ) from error
    try:
        files, path = url_to_fs(url)
        if PATTERN.search(path):
            return files, sorted(match for match in files.glob(path) if files.isfile(match))
        if files.isdir(path):
            return files, _list_folder(files, path, url)
        return files, [path] if files.exists(path) else []
    except BadInput:
        raise
    except ImportError as error:
        package = PACKAGES.get(url.partition(":")[0].lower(), "")
        advice = f"pip install {package}" if package else "install the package of this store"
        reason = describe_failure(error, url)
        raise BadInput(f"{show_address(url)} cannot be opened: {reason}; {advice}") from None
    except Exception as error:  # each store has its own errors
        raise _unreadable(url, error) from None  # the error of the store quotes the URL


def _list_folder(files: Any, path: str, url: str) -> list[str]:
    matches = sorted(files.glob(f"{path.rstrip('/')}/**/*.parquet"))
    if not matches:
        shown = show_address(url)
        raise BadInput(f"{shown} is a folder; pass a pattern of its files: '{shown}/*.csv'")
    return matches


def _unreadable(url: str, error: Exception) -> BadInput:
    reason = describe_failure(error, url)
    return BadInput(
        f"{show_address(url)} cannot be read: {reason}; check the URL and your credentials"
    )


def file_name(url: str) -> str:
    """Return the name of the file at an address, without a query; empty if it has none."""
    try:
        parts = urlsplit(show_address(url))
    except ValueError:  # the download reports an invalid address
        return ""
    path = unquote(parts.path).rsplit("/", 1)[-1]
    return path.partition("?")[0] if "=" in path else path
