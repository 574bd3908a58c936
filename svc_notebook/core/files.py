"""Files that several processes use: exclusive locks, atomic writes, the folder of the user's state.

Every layer may import this module, the client as well as the service.
"""

from __future__ import annotations

import asyncio
import errno
import os
import re
import secrets
import stat
import sys
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Literal
from zlib import crc32

from svc_notebook.core.redaction import show_address
from svc_notebook.core.terminal import warn_user
from svc_notebook.errors import BadInput, unwritable

# Seconds between two attempts to lock a file; a blocking wait could not be cancelled.
LOCK_POLL_SECONDS = 0.02
# Permissions that private files and folders do not give.
OTHERS_PERMISSIONS = 0o077
# What `flock` reports if another process holds the lock; other errors say that it cannot lock.
LOCKED_ELSEWHERE = (errno.EAGAIN, errno.EACCES, errno.EWOULDBLOCK)
# The beginning of an address, such as `s3://`; a path object has joined its slashes. Drives of
# Windows have one letter.
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:/", re.I)


class FileLock:
    """An exclusive lock on a file: one holder at a time, until released or its process ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: int | None = None

    def acquire(self) -> bool:
        """Create the file if necessary and lock it; return false if somebody else holds the lock.

        Raises `OSError` if the file cannot be created, or the file system does not support locks.
        """
        while True:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                locked = lock_descriptor(file)
                current = locked and _is_current(file, self.path)
            except BaseException:
                os.close(file)
                raise
            if current:
                self._file = file
                return True
            os.close(file)
            if not locked:
                return False

    def release(self, *, remove: bool = False) -> None:
        """Unlock the file; with `remove`, delete it, too. Releasing it twice is harmless."""
        if self._file is None:
            return
        file, self._file = self._file, None
        # Only the holder may delete the file; but Windows does not delete an open file.
        if remove and sys.platform != "win32":
            with suppress(OSError):
                self.path.unlink()
        os.close(file)
        if remove and sys.platform == "win32":
            with suppress(OSError):
                self.path.unlink()


@asynccontextmanager
async def hold_lock(path: Path) -> AsyncIterator[None]:
    """Wait for the exclusive lock on a file, and hold it inside the context."""
    lock = FileLock(path)
    while not lock.acquire():  # noqa: ASYNC110 - another process sends no notification
        await asyncio.sleep(LOCK_POLL_SECONDS)
    try:
        yield
    finally:
        lock.release()


def is_locked(path: Path) -> bool:
    """Return whether a running process holds the lock on a file."""
    try:
        file = os.open(path, os.O_RDWR)
    except (FileNotFoundError, NotADirectoryError):
        return False
    try:
        return not lock_descriptor(file)
    finally:
        os.close(file)


def _is_current(file: int, path: Path) -> bool:
    """Return whether a locked file is still the one of that name: its last holder may delete it."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(file), path.stat())
    return False


if sys.platform == "win32":
    import msvcrt

    def lock_descriptor(file: int) -> bool:
        """Lock an open file until it is closed; return false if somebody else holds the lock."""
        try:
            os.lseek(file, 0, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def lock_descriptor(file: int) -> bool:
        """Lock an open file or folder until it is closed.

        Returns false if somebody else holds the lock, and raises `OSError` where the file system
        does not support locks.
        """
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in LOCKED_ELSEWHERE:
                return False
            raise
        return True


@contextmanager
def replace_file(path: Path, *, draft: Path | None = None, sync: bool = False) -> Iterator[Path]:
    """Yield the path of a draft to write, which replaces `path` in one step at exit.

    After an error, `path` is as it was and the draft is deleted. Readers see either the old or the
    new file, never a part.

    - `draft`: default: a hidden file beside `path`, of which every writer has its own.
    - `sync`: whether the content is on the disk before `path` is replaced; default: no.
    """
    temporary = draft or path.with_name(f".{path.name[:40]}.{secrets.token_hex(4)}.new")
    try:
        yield temporary
        if sync:
            _flush_to_disk(temporary)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def write_atomically(
    path: Path,
    content: Iterable[bytes | memoryview] | bytes | str,
    *,
    draft: Path | None = None,
    sync: bool = False,
    mode: int = 0o666,
) -> None:
    """Write a whole file in one step; a text is written as UTF-8. See `replace_file`.

    `mode` is the mode of the file, as `os.open` takes it.
    """
    if isinstance(content, str):
        content = content.encode()
    with replace_file(path, draft=draft, sync=sync) as temporary:
        temporary.unlink(missing_ok=True)  # left by a process that was killed, with another mode
        with os.fdopen(
            os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb"
        ) as file:
            file.writelines([content] if isinstance(content, bytes) else content)


def write_all(texts: Mapping[Path, str]) -> None:
    """Write several files that the user has named: all of them, or none after an error.

    Folders are created where they are missing. Raises `BadInput` if a file cannot be written.
    """
    drafts: dict[Path, Path] = {}
    earlier: dict[Path, bytes | None] = {}
    created: list[Path] = []
    path = Path()
    try:
        for path, text in texts.items():
            created += _create_folders(path.parent)
            drafts[path] = path.with_name(f".{path.name[:40]}.{secrets.token_hex(4)}.new")
            drafts[path].write_text(text, encoding="utf-8", newline="")
        for path, draft in drafts.items():
            earlier[path] = path.read_bytes() if path.exists() else None
            draft.replace(path)
    except BaseException as error:
        _restore(earlier)
        for draft in drafts.values():
            with suppress(OSError):
                draft.unlink()
        for folder in reversed(created):
            with suppress(OSError):
                folder.rmdir()
        if isinstance(error, OSError):
            reason = error.strerror or str(error)
            raise BadInput(f"{path} cannot be written: {reason}; no file was changed") from None
        raise


def _create_folders(folder: Path) -> list[Path]:
    """Create a folder and those above it; return those that were missing, the outermost first."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing[::-1]


def _restore(earlier: Mapping[Path, bytes | None]) -> None:
    """Give files their earlier content; None deletes a file."""
    for path, content in earlier.items():
        with suppress(OSError):
            if content is None:
                path.unlink(missing_ok=True)
            else:
                write_atomically(path, content)


def write_named_file(
    path: Path, content: Iterable[bytes] | bytes | str, *, sync: bool = False
) -> None:
    """Write a file that the user has named, in one step; raise `BadInput` if that fails."""
    try:
        write_atomically(path, content, sync=sync)
    except OSError as error:
        raise unwritable(path, error) from None


def add_checksum(json: bytes) -> bytes:
    """Return a line with a checksum before the JSON, so that a torn or damaged line is noticed."""
    return b"%08x %b\n" % (crc32(json), json)


def verify_checksum(line: bytes) -> bytes | None:
    """Return the JSON of a line that `add_checksum` made; None if the line is torn or damaged."""
    checksum, _, json = line.rstrip(b"\n").partition(b" ")
    return json if checksum == b"%08x" % crc32(json) else None


def _flush_to_disk(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def expand_path(path: str | os.PathLike[str]) -> Path:
    """Return a path with `~` and `~user` replaced by the home directory.

    A file whose name begins with `~` and names no user, such as `~$book.xlsx`, is meant itself if
    it exists. Raises `BadInput` for a text that is no path: the address of an object store would
    otherwise name a folder of this machine, whose files the user looks for in the store.
    """
    text = os.fspath(path)
    if _SCHEME.match(text):
        raise BadInput(
            f"{show_address(text)} is an address; give the path of a file or folder on this machine"
        )
    if "\0" in text:
        raise BadInput(f"{text!r} is not a path, for it contains a null character")
    plain = Path(path)
    try:
        return plain.expanduser()
    except RuntimeError:
        if plain.exists():
            return plain
        name = plain.parts[0]
        raise BadInput(
            f"{path}: the home directory {name} is unknown; give the whole path"
        ) from None


def user_state_folder(name: str) -> Path:
    """Return a folder for what this user's processes keep between runs; it may not exist yet."""
    return user_folder("state") / name


def user_data_folder(name: str) -> Path:
    """Return a folder for what this user keeps, such as journals; it may not exist yet."""
    return user_folder("data") / name


def user_folder(kind: Literal["cache", "config", "data", "state"]) -> Path:
    """Return this user's folder of this package; it may not exist yet.

    A user id without an account, which containers often have, has no home directory unless `HOME`
    names it: then the folder is among the temporary files, and a warning says so once.
    """
    import platformdirs

    try:
        folder: Path = getattr(platformdirs, f"user_{kind}_path")("svc-notebook", appauthor=False)
    except RuntimeError:
        return _temporary_home() / kind
    # Earlier releases of platformdirs return `~/...` as it is.
    return folder if folder.is_absolute() else _temporary_home() / kind


@cache
def _temporary_home() -> Path:
    """Create the private folder of a user without a home directory; another user's is refused."""
    folder = Path(tempfile.gettempdir(), f"svc-notebook-{os.getuid()}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        facts = folder.lstat()
    except OSError as error:
        raise unwritable(folder, error) from None
    if facts.st_uid != os.getuid() or stat.S_IMODE(facts.st_mode) & OTHERS_PERMISSIONS:
        raise BadInput(
            f"the home directory is unknown, and {folder} is not a private folder of this user; "
            "set HOME to a folder of this user"
        )
    warn_user(
        f"the home directory is unknown: journals and local services are kept in {folder}; set "
        "HOME to keep them elsewhere"
    )
    return folder
