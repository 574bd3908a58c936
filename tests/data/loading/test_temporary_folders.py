"""Temporary folders of loads, in processes that end as processes do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from svc_notebook.core.locked_folders import PREFIX, TemporaryFolder

BEGIN = """
import sys
from svc_notebook.data.loading.database import Database

database = Database()
(database.folder / "spill").mkdir()
(database.folder / "spill" / "rows.tmp").write_text("x" * 1000)
print(database.folder, flush=True)
"""
WAIT = BEGIN + "sys.stdin.read()"
FORK = BEGIN + "import os\nif not os.fork(): sys.exit()\nos.wait()\nassert database.folder.exists()"


def start(code: str, folder: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "TMPDIR": str(folder)}
    return subprocess.Popen(
        [sys.executable, "-P", "-c", code], text=True, env=environment,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip


def read_folder(process: subprocess.Popen[str]) -> Path:
    assert process.stdout
    return Path(process.stdout.readline().strip())


def run(code: str, folder: Path) -> None:
    process = start(code, folder)
    process.communicate(timeout=60)
    assert process.returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes are killed by SIGKILL")
def test_a_later_process_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    killed, running = start(WAIT, tmp_path), start(WAIT, tmp_path)
    left, used = (
        Path((process.stdout or sys.stdin).readline().strip()) for process in (killed, running)
    )
    killed.kill()
    killed.communicate()
    foreign = tmp_path / f"{PREFIX}of-an-older-release"
    foreign.mkdir()
    target = tmp_path / "elsewhere"
    target.mkdir()
    (tmp_path / f"{PREFIX}link").symlink_to(target)
    assert (left / "spill" / "rows.tmp").exists()

    run(BEGIN, tmp_path)

    assert not left.exists()
    assert (used / "spill" / "rows.tmp").exists()
    assert (foreign.exists(), target.exists()) == (True, True)
    running.communicate(timeout=60)
    assert not used.exists()


@pytest.mark.slow
@pytest.mark.parametrize("code", [BEGIN, FORK, BEGIN + "raise SystemExit(0)"])
def test_a_process_removes_its_folder_when_it_ends(tmp_path: Path, code: str) -> None:
    run(code, tmp_path)

    assert list(tmp_path.iterdir()) == []


SWEEP = """
import sys, time
from pathlib import Path
from svc_notebook.core.locked_folders import remove_abandoned

print("ready", flush=True)
end = time.monotonic() + 20
while time.monotonic() < end:
    remove_abandoned(Path(sys.argv[1]))
"""


@pytest.mark.slow
def test_a_new_folder_is_never_taken_for_an_abandoned_one(
    tmp_path: Path, temporary_files_in: Callable[[Path], None]
) -> None:
    """Other processes remove abandoned folders while this one makes some."""
    temporary_files_in(tmp_path)
    command = [sys.executable, "-P", "-c", SWEEP, str(tmp_path)]
    sweepers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    try:
        for sweeper in sweepers:
            assert sweeper.stdout
            assert sweeper.stdout.readline() == "ready\n"
        for _ in range(3000):
            folder = TemporaryFolder()
            (folder.path / "rows.tmp").write_text("x")
            folder.remove()
    finally:
        for sweeper in sweepers:
            sweeper.kill()
            sweeper.communicate()
