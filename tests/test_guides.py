"""The code of the guides runs as it stands, against a local service of its own.

A page's blocks run one after the other in one script: `python` blocks, the `svc` commands of
`console` blocks, and `<!-- run ... -->` comments, which prepare files and check results. A block
after `<!-- not run: REASON -->` is left out.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, Running
from tests.peers.official import connect, own_warnings

DOCS = ROOT / "docs"
PAGES = [
    *sorted({*(DOCS / "how-to").glob("*.md")} - {DOCS / "how-to" / "index.md"}),
    *sorted((DOCS / "coming-from").glob("*.md")),
    DOCS / "metrics.md",
    DOCS / "ranking.md",
]
BLOCK = re.compile(
    r"<!-- run\n(?P<hidden>.*?)-->"
    r"|(?P<skipped><!-- not run: [^>]+-->\n+)?^```(?P<kind>\w+)\n(?P<code>.*?)^```",
    re.DOTALL | re.MULTILINE,
)
# `-c` scripts have no source in a traceback; a command must be the one under test.
PREAMBLE = """\
import subprocess, sys
import svc_notebook as svc

def run_command(words):
    command = [sys.executable, "-m", "svc_notebook.cli", *words]
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
"""


def write_script(page: Path) -> str:
    """Join what a page would have its reader run."""
    parts = [PREAMBLE]
    for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
        if hidden := block["hidden"]:
            parts.append(hidden)
        elif block["kind"] == "python" and not block["skipped"]:
            parts.append(block["code"])
        elif block["kind"] == "console" and not block["skipped"]:
            lines = block["code"].replace("\\\n", " ").splitlines()
            commands = [shlex.split(line) for line in lines if line.startswith("$ svc ")]
            parts += [f"run_command({words[2:]!r})\n" for words in commands]
    return "\n".join(parts)


def run_script(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script as a user who has configured nothing."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
    homes = {name: str(folder / name) for name in ("XDG_DATA_HOME", "XDG_STATE_HOME")}
    own |= homes | {"PYTHONPATH": str(ROOT), "SVC_CONFIG": str(folder / "none.toml")}
    path = folder / "guide.py"
    path.write_text(script, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-W", "error::UserWarning", str(path)],
        cwd=folder, env={**own, "MPLBACKEND": "agg"}, capture_output=True, text=True, timeout=170,
        check=False,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_guide_runs(page: Path, tmp_path: Path) -> None:
    ran = run_script(write_script(page), tmp_path)

    assert ran.returncode == 0, ran.stdout + ran.stderr


@own_warnings
def test_the_migrated_script_prints_what_the_official_client_prints(
    service: Running, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (DOCS / "coming-from" / "python-client.md").read_text(encoding="utf-8")
    before, after = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    before = "\n".join(line for line in before.splitlines() if "SearchClientSync" not in line)

    with connect(service) as client:
        exec(before, {"client": client})
    printed = capsys.readouterr().out
    ran = run_script(after, tmp_path)

    assert printed == "1 desk lamp\n1 hits\n"
    assert ran.stdout == printed, ran.stderr
