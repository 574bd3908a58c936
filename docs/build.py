"""Build the site of the documentation into `build/site/`; fail on any dead link.

    python docs/build.py              with the tutorials' outputs: runs the notebooks that changed
    python docs/build.py --no-run     without them, in seconds

Pages are gathered in `build/docs/`: those of `docs/`, the reference of functions from their
docstrings, the changelog, and the tutorials.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import time
from functools import cache
from importlib.metadata import version
from pathlib import Path

from function_pages import list_functions, write_pages
from generators.function_groups import find_page
from links import find_dead_links
from tutorial_pages import write_tutorials

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CONFIG = "mkdocs.yml"
SUFFIXES = {".md", ".png", ".svg", ".css", ".js"}
# Pages with wide tables, which take the place of the list of headings.
WIDE = {"endpoints.md", "parameters.md"}
# A name in code, `svc.load` or `svc.load(...)`: not in blocks of code, headings and links.
NAMED = re.compile(
    r"^```.*?^```|^#.*?$|\[[^\]]*\]\([^)]*\)|`(?P<name>svc(?:\.\w+)+)(?:\([^`]*\))?`",
    re.DOTALL | re.MULTILINE,
)
TESTED = re.compile(r"<!-- (?:run|not run).*?-->\n+", re.DOTALL)


def main(arguments: list[str] | None = None) -> int:
    """Build the site and check its links; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--no-run", action="store_true", help="show tutorials without outputs")
    parser.add_argument("--into", type=Path, default=ROOT / "build", help="folder to build in")
    options = parser.parse_args(arguments)
    options.into = options.into.resolve()
    started = time.monotonic()
    gather_pages(options.into, run=not options.no_run)
    site = options.into / "site"
    shutil.rmtree(site, ignore_errors=True)
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    built = subprocess.run([*command, "-f", options.into / CONFIG], check=False, cwd=options.into)
    if built.returncode:
        return built.returncode
    if dead := find_dead_links(site):
        sys.stderr.write("dead links:\n" + "".join(f"  {link}\n" for link in dead))
        return 1
    pages = len(list(site.rglob("*.html")))
    print(f"{pages} pages after {time.monotonic() - started:.0f} s; to read and search them:")
    print(f"  {sys.executable} -m http.server --directory {site}")
    return 0


def gather_pages(folder: Path, *, run: bool) -> None:
    """Write every page of the site, and its configuration, into a folder."""
    pages = folder / "docs"
    shutil.rmtree(pages, ignore_errors=True)
    for path in HERE.rglob("*"):
        if path.suffix in SUFFIXES:
            target = pages / path.relative_to(HERE)
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == ".md":
                text = link_names(path.read_text(encoding="utf-8"), path.relative_to(HERE))
                text = f"---\nhide: [toc]\n---\n\n{text}" if path.name in WIDE else text
                target.write_text(text, encoding="utf-8")
            else:
                shutil.copy(path, target)
    functions = pages / "reference" / "functions"
    functions.mkdir(parents=True, exist_ok=True)
    for name, text in write_pages().items():
        path = functions / f"{name}.md"
        path.write_text(link_names(text, path.relative_to(pages)), encoding="utf-8")
    shutil.copy(ROOT / "CHANGELOG.md", pages / "changelog.md")
    write_tutorials(pages / "tutorials", run=run)
    config = (ROOT / CONFIG).read_text(encoding="utf-8")
    config = config.replace("{version}", version("svc-notebook"))
    (folder / CONFIG).write_text(config, encoding="utf-8")


def link_names(text: str, page: Path) -> str:
    """Link each function that a page names to its entry, and drop what only tests read."""
    places = name_places()
    up = "../" * (len(page.parts) - 1)

    def link(match: re.Match[str]) -> str:
        place = places.get(match["name"] or "")
        return f"[{match[0]}]({up}reference/functions/{place})" if place else match[0]

    return NAMED.sub(link, TESTED.sub("", text))


@cache
def name_places() -> dict[str, str]:
    """Return where each function is described, as `page.md#name`."""
    return {name: f"{find_page(function)}.md#{name}" for name, function in list_functions().items()}


if __name__ == "__main__":
    raise SystemExit(main())
