"""What differs between systems, on this one as if it were another."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(os.name != "posix", reason="other systems are simulated on POSIX")

# Takes away what Windows does not have, once the modules of others are imported, which decide by
# the system, too. Locks of `msvcrt` are of bytes, as those of `fcntl.lockf`.
SIMULATED = """
import asyncio, fcntl, os, pathlib, shutil, subprocess, sys, tempfile, types
import httpx, numpy, pandas, platformdirs, tqdm, uvicorn
def locking(file, mode, count):
    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, count)
sys.modules["msvcrt"] = types.SimpleNamespace(LK_NBLCK=2, locking=locking)
sys.platform, os.name = "win32", "simulated"
for name in ("getuid", "geteuid", "killpg", "nice", "register_at_fork"):
    delattr(os, name)
"""
SERVICE = f"""{SIMULATED}
from svc_notebook.core.files import FileLock
from svc_notebook.service.service import Service
from svc_notebook.service.workers.pool import SUPPORTED
from svc_notebook.data.session.profile_files import read_project

folder = pathlib.Path(sys.argv[1])
assert not SUPPORTED
lock = FileLock(folder / "lock")
assert lock.acquire()
lock.release(remove=True)
assert not (folder / "lock").exists()
(folder / "svc.toml").write_text("[profiles.shop]\\nurl = 'http://127.0.0.1:1'\\n")
assert "shop" in read_project(folder).profiles
for start in range(2):
    service = Service(folder / "data")
    service.start()
    service.stop()
print("started twice")
"""


@pytest.mark.slow
def test_files_locks_and_the_service_work_without_what_posix_has(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SERVICE, str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip

    assert (done.stdout, done.stderr) == ("started twice\n", "")
