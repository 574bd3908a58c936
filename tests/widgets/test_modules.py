"""The browser modules, tested by Node with a fake model."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.parametrize("path", sorted(HERE.glob("*.test.mjs")), ids=lambda path: path.name)
def test_the_browser_modules_pass_their_tests(path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.fail("these tests need Node.js; on Debian: apt-get install nodejs")

    done = subprocess.run(
        [node, "--test", "--test-reporter=spec", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
