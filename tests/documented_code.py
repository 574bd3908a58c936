"""The code of the documentation as scripts, as a reader would run it.

A page's blocks run one after the other in one script: `python` blocks, the `svc` commands of
`console` blocks, and `<!-- run ... -->` comments, which prepare files and check results. A block
after `<!-- not run: REASON -->` is left out.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from tests.conftest import ROOT

DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    *sorted({*(DOCS / "how-to").glob("*.md")} - {DOCS / "how-to" / "index.md"}),
    *sorted((DOCS / "coming-from").glob("*.md")),
    DOCS / "client.md",
    DOCS / "metrics.md",
    DOCS / "ranking.md",
]
# Pages whose commands need a service in another terminal; tests of their own run those.
WITHOUT_COMMANDS = ("README.md",)
BLOCK = re.compile(
    r"<!-- run\n(?P<hidden>.*?)-->"
    r"|(?P<skipped><!-- not run: [^>]+-->\n+)?^```(?P<kind>\w+)\n(?P<code>.*?)^```",
    re.DOTALL | re.MULTILINE,
)
# `-c` scripts have no source in a traceback; a command must be the one under test.
PREAMBLE = """\
import subprocess, sys

def run_command(words):
    command = [sys.executable, "-m", "svc_notebook", *words]
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
"""


def write_script(page: Path, imports: str) -> str:
    """Join what a page would have its reader run, after these first lines."""
    parts = [imports, PREAMBLE]
    for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
        if hidden := block["hidden"]:
            parts.append(hidden)
        elif block["kind"] == "python" and not block["skipped"]:
            parts.append(block["code"])
        elif block["kind"] == "console" and not block["skipped"]:
            if page.name in WITHOUT_COMMANDS:
                continue
            lines = block["code"].replace("\\\n", " ").splitlines()
            commands = [shlex.split(line) for line in lines if line.startswith("$ svc ")]
            parts += [f"run_command({words[2:]!r})\n" for words in commands]
    return "\n".join(parts)
