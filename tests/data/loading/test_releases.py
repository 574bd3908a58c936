"""The oldest supported DuckDB reads files as the installed one does."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.kernels.overlays import put_before

TESTS = tuple(
    f"tests/data/loading/test_{name}.py" for name in ("row_order", "ragged", "messy_files")
)


def oldest() -> str:
    """The release that the project's own requirements name."""
    found = re.search(r'"duckdb>=([\d.]+)"', (ROOT / "pyproject.toml").read_text())
    assert found
    return f"{found[1]}.0" if found[1].count(".") == 1 else found[1]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_rows_keep_their_order_with_the_oldest_release(request: pytest.FixtureRequest) -> None:
    release = oldest()
    before = put_before(request.config.cache, "duckdb", release)
    path = os.pathsep.join([*before, str(ROOT)])
    code = f"import duckdb; assert duckdb.__version__ == {release!r}, duckdb.__version__"
    option = request.config.getoption
    sample = ["--sample"] if option("sample") or option("quick") else []
    tests = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *sample]

    for command in ([sys.executable, "-c", code], [*tests, *TESTS]):
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
