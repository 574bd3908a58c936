"""A data folder on a disk without free space: nothing is lost, and errors say what to do."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

# Runs in a mount namespace of its own, in which the folder is a file system of 8 MB in memory.
SCRIPT = """
import json, os, subprocess, sys
import svc_notebook as svc

disk = sys.argv[1]
data = f"{disk}/data"


def refused(act):
    try:
        act()
    except svc.errors.SvcError as error:
        return str(error)


def fill():
    for number in range(100):
        text = f"{number} " + "lamp " * 400
        records = [{"objectID": f"{number}-{n}", "text": f"{n} {text}"} for n in range(100)]
        svc.push(records, "lamps", progress=False)
        published.append(number)


published = []
svc.connect(data=data)
said = {"push": refused(fill), "search": svc.search("lamps", "lamp", hitsPerPage=1).shape[0]}
svc.stop()
ended = subprocess.Popen(["true"])
ended.wait()
command = [sys.executable, "-m", "svc_notebook.service", "--parent", str(ended.pid), "--data", data]
said["serve"] = []
for free_blocks in reversed(range(8)):
    with open(f"{disk}/rest", "wb", buffering=0) as file:
        system = os.statvfs(disk)
        file.write(bytes(max(0, system.f_bavail - free_blocks) * system.f_bsize))
    said["serve"].append(subprocess.run(command, capture_output=True, text=True).stderr)
said["connect"] = refused(lambda: svc.connect(data=data))
subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
svc.connect(data=data)
said |= {"published": len(published) * 100, "stored": len(svc.read_browse("lamps"))}
svc.stop()
print(json.dumps(said))
"""


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """A folder that is a small file system for processes of `unshare`."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if not shutil.which("unshare") or _run(folder, "true").returncode:
        pytest.skip("needs a Linux that lets this user mount file systems in a namespace")
    return folder


def _run(disk: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a mount namespace in which the folder is a file system of 8 MB."""
    mount = 'mount -t tmpfs -o size=8m tmpfs "$0" && exec "$@"'
    words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, str(disk)]
    return subprocess.run(
        [*words, *command], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.slow
def test_a_full_disk_loses_nothing_and_is_named(disk: Path) -> None:
    done = _run(disk, sys.executable, "-c", SCRIPT, str(disk))

    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    # The last write is refused, or it is accepted and waits for space.
    full = r"(nothing was written|writes are paused): database or disk is full; free space on the"
    assert re.search(full, said["push"])
    assert "check that the service" not in said["push"]
    assert said["search"] == 1
    assert said["published"] > 0
    waited = "writes are paused" in said["push"]
    assert said["stored"] - said["published"] == (100 if waited else 0)
    assert f"the disk of {disk}/data is full; free space on it" in said["connect"]
    # What is left decides which file is the first that cannot be written, if any.
    failure = re.compile(
        rf"svc serve: {re.escape(str(disk))}/data/service\.(sqlite|json) cannot be used: "
        r"[\w /]+; free space on the disk, or look for faults of it\n"
    )
    last_lines = [text.splitlines(keepends=True)[-1] for text in said["serve"] if text]
    assert [line for line in last_lines if not failure.fullmatch(line)] == []
    assert "Traceback" not in "".join(said["serve"])
    assert any(said["serve"])
