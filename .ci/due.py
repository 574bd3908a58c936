"""Print the groups of long tests that this commit needs, by the paths that it changes.

    python .ci/due.py             groups whose paths changed, one a line
    python .ci/due.py --left-out  the others, with their paths

A group that is not due still runs in the scheduled workflow. Compared is the working tree with the
commit in `CI_BASE`, or else with the merge base of the main branch, or on that branch with the last
commit before those of one push. All groups are due where no such commit is there, as in a shallow
clone, and with `CI_ALL`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# A change of these can affect every group: what is installed, and what tests start from.
DEPENDENCIES = ("constraints.txt", "hashes.txt", "pyproject.toml")
COMMON = (*DEPENDENCIES, "tests/conftest.py")
# The paths of each group: its tests, and what no other test runs in the same way.
GROUPS = {
    "soak": (
        *COMMON,
        *("svc_notebook/service/", "svc_notebook/core/api/"),
        *("tests/service/test_soak.py", "tests/service/service_process.py"),
    ),
    "hostile-pages": (
        *COMMON,
        *("svc_notebook/service/crawl/", "tests/service/crawl/rendering/"),
        "tests/service/crawl/site.py",
    ),
    "generated-sites": (
        *COMMON,
        *("svc_notebook/service/crawl/extraction/", "tests/clients/test_generated_sites.py"),
        *("tests/clients/test_docsearch.py", "tests/clients/conftest.py"),
    ),
    # The explorer, the cells and the files of JupyterLab, and editors without a kernel.
    "jupyterlab": (
        *COMMON,
        *("widgets/", "svc_notebook/faces/lab/", "svc_notebook/faces/editors/"),
        *("notebooks/", "tests/browser/"),
    ),
    "docs-search": (*COMMON, "docs/", "tests/browser/test_docs_search.py"),
    # What checkers of types and the generator make of the public functions.
    "types-of-scripts": (
        *COMMON,
        *("docs/generate.py", "svc_notebook/core/api/", "svc_notebook/data/declarations/"),
        *("svc_notebook/faces/functions/", "tests/documentation/test_types_of_scripts.py"),
        *("tests/documented_code.py", "tests/faces/commands/test_new_function.py"),
    ),
    "tutorials": (
        *COMMON,
        *("notebooks/", "tests/notebooks/", "docs/build.py", "docs/tutorial_pages.py"),
        *("svc_notebook/faces/functions/", "svc_notebook/faces/magics/", "svc_notebook/tuning/"),
        *("svc_notebook/data/plots/", "svc_notebook/samples", "svc_notebook/data/session/"),
    ),
    "kill-points": (
        *COMMON,
        *(
            "svc_notebook/tuning/deployment/",
            "svc_notebook/tuning/changes/",
            "tests/kill_points.py",
        ),
        *("svc_notebook/data/client/", "tests/tuning/deployment/"),
    ),
    # Only another choice of releases makes this run differ from the one of yesterday.
    "newest-releases": (*DEPENDENCIES, ".ci/versions.py"),
}
# Commits of this time are pushed and tested together.
PUSH_SECONDS = 4 * 60 * 60


def main(arguments: list[str]) -> int:
    """Print the groups that are due, or those that are left out."""
    changed = None if os.environ.get("CI_ALL") else list_changes(find_base())
    due = [name for name, paths in GROUPS.items() if is_due(changed, paths)]
    if "--left-out" in arguments:
        for name in [name for name in GROUPS if name not in due]:
            print(f"{name}: no change in {', '.join(GROUPS[name])}")
    else:
        print("\n".join(due))
    return 0


def is_due(changed: list[str] | None, paths: tuple[str, ...]) -> bool:
    """Return whether a change is in one of the paths; unknown changes are in all."""
    return changed is None or any(path.startswith(paths) for path in changed)


def find_base() -> str:
    """Return the commit to compare with; empty if there is none."""
    head = git("rev-parse", "HEAD")
    if named := os.environ.get("CI_BASE"):
        return git("rev-parse", "--verify", f"{named}^{{commit}}")
    for branch in ("origin/main", "main"):
        base = git("merge-base", branch, "HEAD")
        if base and base != head:
            return base
    if not (written := git("show", "--no-patch", "--format=%ct", "HEAD")):
        return ""
    before = int(written) - PUSH_SECONDS
    return git("rev-list", "--first-parent", "-1", f"--before={before}", "HEAD")


def list_changes(base: str) -> list[str] | None:
    """Return the paths that differ from a commit, new files included; None if that is unknown."""
    if not base or git("cat-file", "-t", base) != "commit":
        return None
    new = git("ls-files", "--others", "--exclude-standard")
    return [*git("diff", "--name-only", base).splitlines(), *new.splitlines()]


def git(*words: str) -> str:
    """Return what git prints; empty if it fails or is not there."""
    try:
        done = subprocess.run(
            ["git", *words], cwd=ROOT, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
