"""Scripts in fresh processes that end within a limit, or report where they hang."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

# The duration in which each script ends on a machine that does nothing else.
LIMIT_SECONDS = 20
# A process that does not even dump its threads is killed after this.
DUMP_SECONDS = 10
_PROLOGUE = "import faulthandler as _f; _f.dump_traceback_later({limit}, exit=True); del _f\n"


def limit_seconds() -> float:
    """Return the limit, longer while more processes are ready to run than there are processors."""
    return LIMIT_SECONDS * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def user_environment(folder: Path, **variables: str) -> dict[str, str]:
    """Return the environment of a user who has configured nothing but `variables`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
    homes = {name: str(folder / name) for name in ("XDG_DATA_HOME", "XDG_STATE_HOME")}
    private = {"PYTHONPATH": str(ROOT), "SVC_CONFIG": str(folder / "none.toml"), **homes}
    return kept | private | {"MPLBACKEND": "agg"} | variables


def run_fresh(
    script: str,
    folder: Path,
    environment: dict[str, str] | None = None,
    *options: str,
    steps: int = 1,
) -> str:
    """Run a script in a fresh process; return its output, and fail with all stacks if it hangs.

    A script of several steps has several times the limit.
    """
    limit = limit_seconds() * steps
    path = folder / "script.py"
    path.write_text(_PROLOGUE.format(limit=limit) + script, encoding="utf-8")
    try:
        done = subprocess.run(
            [sys.executable, *options, str(path)], cwd=folder,
            env=environment or user_environment(folder), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=limit + DUMP_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        output = (error.stderr or b"").decode(errors="replace")
        raise AssertionError(f"hangs after its end:\n{script}\n{output}") from None
    assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
    return done.stdout
