"""Run the tutorials and write them as pages, with their tables, pictures and widgets' HTML.

A run is kept in `build/tutorials/` and used again until a notebook or the package changes.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
RUNS = ROOT / "build" / "tutorials"
TIMEOUT_SECONDS = 300  # of one cell
# What a cell shows, the first that it has. A widget's own view needs a kernel: its HTML follows.
SKIPPED = "application/vnd.jupyter.widget-view+json"
ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
LANGUAGES = {"%%svc": "yaml", "%%": "text"}


def write_tutorials(folder: Path, *, run: bool) -> None:
    """Write a page for each notebook into a folder; without `run`, without outputs."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        notebook = run_notebook(path) if run else read_notebook(path)
        text = "\n\n".join(write_cells(notebook, folder, path.stem))
        (folder / f"{path.stem}.md").write_text(f"{text}\n", encoding="utf-8")


def read_notebook(path: Path) -> Any:
    """Read a notebook as it is stored, without outputs."""
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def run_notebook(path: Path) -> Any:
    """Return a notebook with its outputs, from an earlier run if nothing has changed since."""
    kept = RUNS / f"{path.stem}-{_digest()}.ipynb"
    if not kept.exists():
        notebook = _run(path)
        RUNS.mkdir(parents=True, exist_ok=True)
        for old in RUNS.glob(f"{path.stem}-*.ipynb"):
            old.unlink()
        nbformat.write(notebook, kept)  # type: ignore[no-untyped-call]
    return read_notebook(kept)


def _run(path: Path) -> Any:
    from nbclient import NotebookClient

    notebook = read_notebook(path)
    with tempfile.TemporaryDirectory() as home:
        work = Path(home, "notebooks")
        work.mkdir()
        for source in NOTEBOOKS.glob("*.py"):
            shutil.copy(source, work)
        own = {n: value for n, value in os.environ.items() if not n.startswith("SVC_")}
        homes = dict.fromkeys(("XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"), home)
        client = NotebookClient(
            notebook, timeout=TIMEOUT_SECONDS, resources={"metadata": {"path": work}}
        )
        client.execute(env={**own, **homes})
    return notebook


def _digest() -> str:
    """Return a digest of everything that the outputs depend on."""
    digest = hashlib.sha256()
    sources = [*NOTEBOOKS.glob("*.py"), *NOTEBOOKS.glob("*.ipynb")]
    for path in sorted([*sources, *(ROOT / "svc_notebook").rglob("*.py")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def write_cells(notebook: Any, folder: Path, stem: str) -> Iterator[str]:
    """Yield the Markdown of each cell and of its outputs; pictures become files in the folder."""
    pictures = 0
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            yield cell.source.replace(".ipynb)", ".md)")
            continue
        if not cell.source.strip():
            continue
        language = next(
            (own for start, own in LANGUAGES.items() if cell.source.startswith(start)), "python"
        )
        yield _fence(cell.source, language)
        for output in cell.outputs:
            if picture := output.get("data", {}).get("image/png"):
                pictures += 1
                name = f"{stem}-{pictures}.png"
                (folder / name).write_bytes(base64.b64decode(picture))
                yield f"![Output of the cell above]({name}){{ .output-picture }}"
            elif text := _write_output(output):
                yield text


def _write_output(output: Any) -> str:
    if output.output_type == "stream":
        return _plain(output.text)
    data = output.get("data", {})
    if SKIPPED in data:
        return ""
    if html := data.get("text/html"):
        return f'<div class="output">\n{_compact(html)}\n</div>'
    return _plain(data.get("text/plain", ""))


def _plain(text: str) -> str:
    """Return what a terminal would show at the end: escapes and overwritten lines are left out."""
    lines = [line.rsplit("\r", 1)[-1] for line in ESCAPES.sub("", text).rstrip().split("\n")]
    shown = "\n".join(lines)
    return _fence(shown, "{ .text .output-text }") if shown.strip() else ""


def _fence(text: str, kind: str) -> str:
    """Return a block of code, between fences that the text does not contain."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{kind}\n{text}\n{fence}"


def _compact(html: str) -> str:
    """Return HTML that Markdown takes as one block: without blank lines and indentation."""
    return "\n".join(line.strip() for line in html.splitlines() if line.strip())
