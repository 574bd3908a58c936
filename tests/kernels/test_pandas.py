"""Tables on the oldest pandas that is supported: the tests that touch frames, run again on it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.kernels.overlays import put_before

RELEASE = "2.2"
MODULES = (
    "tests/frames",
    "tests/test_accessors.py",
    "tests/bulk/test_records.py",
    "tests/bulk/test_rejects.py",
    "tests/bulk/test_returning.py",
    "tests/bulk/test_small.py",
    "tests/plots",
)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_what_touches_frames_passes_on_the_oldest_pandas(
    pytestconfig: pytest.Config, tmp_path: Path
) -> None:
    before = put_before(pytestconfig.cache, "pandas", RELEASE, "pytz")
    path = os.pathsep.join([*before, str(ROOT)])
    check = f"import pandas, sys; sys.exit(not pandas.__version__.startswith('{RELEASE}.'))"
    run = ["-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={tmp_path}/run", *MODULES]

    results = [
        subprocess.run(
            [sys.executable, *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": path},
        )
        for arguments in (["-c", check], run)
    ]

    assert [done.returncode for done in results] == [0, 0], results[1].stdout[-4000:]
