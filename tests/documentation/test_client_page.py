"""The code on the page about the client runs as it stands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "client.md"


@pytest.mark.slow
def test_the_examples_run_one_after_the_other(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    homes = {name: str(tmp_path / name) for name in ("XDG_DATA_HOME", "XDG_STATE_HOME")}
    own = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}

    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(blocks)],
        cwd=tmp_path, env={**own, **homes}, capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip

    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[0] == "200 application/json; charset=UTF-8"
    assert lines[1] == "200 7"
    assert re.fullmatch(r"404 \w{11}", lines[2])
    assert lines[3:] == ["crime", "True"]
