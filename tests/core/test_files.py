"""Locks between processes, and atomic writes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from svc_notebook.core.files import FileLock, hold_lock, is_locked, replace_file, write_atomically
from svc_notebook.data.client import background_loop
from tests.conftest import ROOT

HOLDER = """
import sys
from pathlib import Path
from svc_notebook.core.files import FileLock

print(FileLock(Path(sys.argv[1])).acquire(), flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "some.lock"


@pytest.fixture
def holder(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process, which holds the lock."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout
    assert process.stdout.readline() == "True\n"
    yield process
    process.kill()
    process.communicate(timeout=30)


def test_one_process_holds_a_lock_at_a_time(path: Path, holder: subprocess.Popen[str]) -> None:
    assert is_locked(path)
    assert not FileLock(path).acquire()


def test_a_lock_ends_with_the_process_that_is_killed(
    path: Path, holder: subprocess.Popen[str]
) -> None:
    holder.kill()
    holder.wait(30)

    assert not is_locked(path)
    assert FileLock(path).acquire()


def test_a_lock_is_waited_for(path: Path, holder: subprocess.Popen[str]) -> None:
    async def wait() -> bool:
        async with hold_lock(path):
            return is_locked(path)

    assert holder.stdin
    holder.stdin.write("\n")
    holder.stdin.flush()

    assert background_loop.run(wait())
    assert not is_locked(path)


def test_asking_for_a_lock_makes_no_file(path: Path) -> None:
    assert not is_locked(path)
    assert not path.exists()


def test_a_lock_file_that_its_holder_removes_is_held_once(path: Path) -> None:
    first, second, third = FileLock(path), FileLock(path), FileLock(path)
    assert first.acquire()
    assert not second.acquire()

    first.release(remove=True)

    assert not path.exists()
    assert second.acquire()
    assert not third.acquire()
    first.release(remove=True)
    assert path.exists()


@pytest.mark.parametrize(
    ("content", "written"),
    [("größer\n", b"gr\xc3\xb6\xc3\x9fer\n"), (b"\x00\xff", b"\x00\xff"), ([b"a", b"b"], b"ab")],
    ids=["text", "bytes", "pieces"],
)
def test_a_file_is_replaced_by_what_is_written(
    tmp_path: Path, content: str | bytes | list[bytes], written: bytes
) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(b"old")

    write_atomically(path, content, sync=True)

    assert path.read_bytes() == written
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_fails_leaves_the_file_and_no_draft(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(b"old")

    def fail() -> None:
        with replace_file(path) as draft:
            draft.write_bytes(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()

    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_two_writers_of_a_file_have_drafts_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"

    with replace_file(path) as one, replace_file(path) as other:
        one.write_bytes(b"one")
        other.write_bytes(b"other")

    assert path.read_bytes() == b"one"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="modes are of POSIX")
def test_a_private_file_is_private_from_its_first_byte(tmp_path: Path) -> None:
    draft = tmp_path / "note.new"
    draft.write_bytes(b"left by a process that was killed")

    write_atomically(tmp_path / "note", "secret", draft=draft, mode=0o600)

    assert (tmp_path / "note").stat().st_mode & 0o777 == 0o600
