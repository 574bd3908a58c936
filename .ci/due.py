"""Print the groups of slow tests that this commit needs, by the paths that it changes.

    python .ci/due.py             groups whose paths changed, one a line
    python .ci/due.py --options   options of pytest, with `--quick`: slow tests of these groups run
    python .ci/due.py --left-out  the others, with their paths

A group that is not due still runs in the scheduled workflow. Where many groups are due, those that
protect no data run half of their slow tests, the other half on the next day. Compared is the
working tree with the commit in `CI_BASE`, or else with the merge base of the main branch, or on
that branch with the last commit before those of one push. All groups are due where no such commit
is there, as in a shallow clone, and with `CI_ALL`. Slow tests of a module that changed itself run,
too.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
# A change of what is installed can affect every group. What all tests start from, the fixtures in
# tests/conftest.py, is tested by those that are not slow.
PROJECT = "pyproject.toml"
# Tools whose options in that file make no group due.
OTHER_TOOLS = ("codespell", "coverage", "mypy", "pytest", "ruff")
DEPENDENCIES = ("constraints.txt", "hashes.txt", PROJECT)
PACKAGE = "svc_notebook/"


class Group(NamedTuple):
    """Folders or modules of tests, and other paths whose change makes their slow tests run."""

    tests: tuple[str, ...]
    paths: tuple[str, ...]
    # Paths below those that belong to another group.
    except_paths: tuple[str, ...] = ()

    def is_due(self, changed: list[str] | None) -> bool:
        """Return whether a change affects the group; unknown changes affect all.

        A changed module of tests affects no other module of its folder.
        """
        if changed is None:
            return True
        needed = (*DEPENDENCIES, *self.paths, *self.tests)
        return any(
            path.startswith(needed)
            and not path.startswith(self.except_paths)
            and (path in self.tests or not is_test_module(path))
            for path in changed
        )


def in_package(*paths: str) -> tuple[str, ...]:
    """Return paths of the package."""
    return tuple(PACKAGE + path for path in paths)


CRAWL = in_package("service/crawl/", "service/crawlers/")
# The slow tests of each folder, with the packages that they are about. What else a change breaks is
# found by the tests that are not slow, which always run, or by the scheduled workflow.
FOLDERS = {
    "engine": Group(
        ("tests/service/engine/",), in_package("service/engine/", "core/tokenization/")
    ),
    "crawl": Group(("tests/service/crawl/", "tests/service/crawlers/"), CRAWL),
    "service": Group(
        ("tests/service/test_", "tests/service/rules/", "tests/hostile/"),
        in_package("service/", "core/api/", "core/locked_folders", "core/child_process"),
        except_paths=CRAWL,
    ),
    "clients": Group(
        ("tests/clients/", "tests/page/", "tests/peers/"),
        in_package("service/", "core/api/"),
        except_paths=CRAWL,
    ),
    "client": Group(
        ("tests/data/client/", "tests/data/session/"),
        in_package("data/client/", "data/session/", "core/"),
        except_paths=in_package("core/tokenization/"),
    ),
    "loading": Group(("tests/data/loading/", "tests/data/dask/"), in_package("data/loading/")),
    "frames": Group(
        ("tests/data/declarations/", "tests/data/frames/", "tests/data/plots/"),
        in_package("data/declarations/", "data/frames/", "data/plots/"),
    ),
    "tuning": Group(
        ("tests/tuning/test_",),
        in_package("tuning/", "service/engine/ranking/"),
        except_paths=in_package("tuning/deployment/"),
    ),
    "deployment": Group(
        ("tests/tuning/deployment/",),
        in_package("tuning/deployment/", "tuning/changes/", "core/yaml_nodes"),
    ),
    "functions": Group(
        ("tests/faces/functions/", "tests/faces/agents/", "tests/documentation/"),
        (*in_package("faces/functions/", "faces/agents/", "data/declarations/"), "docs/"),
    ),
    "commands": Group(
        ("tests/faces/cli/", "tests/faces/commands/", "tests/faces/magics/"),
        in_package("faces/cli", "faces/commands/", "faces/magics/", "data/declarations/"),
    ),
    "kernels": Group(
        ("tests/kernels/",),
        in_package("data/client/", "data/session/", "data/loading/sending/", "faces/magics/"),
    ),
    "editors": Group(
        ("tests/faces/editors/", "tests/faces/lab/"), in_package("faces/editors/", "faces/lab/")
    ),
    "browser": Group(
        ("tests/browser/", "tests/widgets/"),
        ("widgets/", "notebooks/", *in_package("faces/editors/", "faces/lab/")),
    ),
    "tutorials": Group(
        ("tests/notebooks/",),
        (
            *("notebooks/", "docs/build.py", "docs/tutorial_pages.py"),
            *in_package("faces/functions/", "faces/magics/", "tuning/", "samples"),
            *in_package("data/plots/", "data/session/"),
        ),
    ),
    "project": Group(
        ("tests/project/", "tests/core/", "tests/first_minutes/"),
        (PACKAGE, ".ci/", "Makefile", "benchmarks/"),
    ),
}
# Tests that depend on less than their folder, or take too long to run with all of it.
LONG = {
    "soak": Group(
        ("tests/service/test_soak.py",),
        ("tests/service/service_process.py", *in_package("service/", "core/api/")),
    ),
    "hostile-pages": Group(
        ("tests/service/crawl/rendering/test_hostile_pages.py",),
        (
            "tests/service/crawl/rendering/",
            "tests/service/crawl/site.py",
            *in_package("service/crawl/"),
        ),
    ),
    "generated-sites": Group(
        ("tests/clients/test_generated_sites.py",),
        (
            *("tests/clients/test_docsearch.py", "tests/clients/conftest.py"),
            *in_package("service/crawl/extraction/"),
        ),
    ),
    # The explorer, the cells and the files of JupyterLab, and editors without a kernel.
    "jupyterlab": Group(
        tuple(
            f"tests/browser/test_{name}.py"
            for name in (
                *("lab_actions", "lab_cells", "lab_explorer", "lab_files", "lab_tabs"),
                *("marimo", "other_homes", "saved_notebook"),
            )
        ),
        ("widgets/", "notebooks/", "tests/browser/", *in_package("faces/editors/", "faces/lab/")),
    ),
    "docs-search": Group(("tests/browser/test_docs_search.py",), ("docs/",)),
    "oldest-duckdb": Group(
        ("tests/data/loading/test_releases.py",),
        in_package("data/loading/sources/", "data/loading/sending/batches.py"),
    ),
    # What checkers of types and the generator make of the public functions.
    "types-of-scripts": Group(
        (
            "tests/documentation/test_types_of_scripts.py",
            "tests/faces/commands/test_new_function.py",
        ),
        (
            *("docs/generate.py", "tests/documented_code.py"),
            *in_package("core/api/", "data/declarations/", "faces/functions/"),
        ),
    ),
}
# Groups whose tests `.ci/run` selects in another way.
OTHERS = {
    # All sets of a table of which the other runs take a sample.
    "kill-points": Group(
        ("tests/tuning/deployment/",),
        (
            "tests/kill_points.py",
            *in_package("tuning/deployment/", "tuning/changes/", "data/client/"),
        ),
    ),
    # The site with the outputs of the tutorials, which the tests of these run as well.
    "site": Group((), ("notebooks/", "docs/build.py", "docs/tutorial_pages.py")),
    # Only another choice of releases makes this run differ from the one of yesterday.
    "newest-releases": Group((), (".ci/versions.py",)),
}
GROUPS = {**FOLDERS, **LONG, **OTHERS}
# Groups that run half of their slow tests where more groups than this are due. The slow tests of
# the engine, the service, the client, loads, tuning and deployments protect data: all of them run.
MAX_WHOLE_GROUPS = 8
HALVED = (
    *("crawl", "clients", "frames", "functions", "commands", "editors", "browser", "tutorials"),
    *("hostile-pages", "generated-sites", "jupyterlab", "types-of-scripts"),
)
# Commits of this time are pushed and tested together.
PUSH_SECONDS = 4 * 60 * 60


def main(arguments: list[str]) -> int:
    """Print the groups that are due, the options that select their tests, or the other groups."""
    changed = None if os.environ.get("CI_ALL") else list_changes(find_base())
    due = [name for name, group in GROUPS.items() if group.is_due(changed)]
    if "--left-out" in arguments:
        for name in [name for name in GROUPS if name not in due]:
            print(f"{name}: no change in {', '.join([*DEPENDENCIES, *GROUPS[name].paths])}")
        if halved := find_halved(due):
            print(f"half of the slow tests of {', '.join(halved)}")
    elif "--options" in arguments:
        print("\n".join(make_options(due, changed or [])))
    else:
        print("\n".join(due))
    return 0


def make_options(due: list[str], changed: list[str]) -> Iterator[str]:
    """Return options of pytest for the slow tests of these groups and of the changed modules."""
    left_out = {test for name, group in LONG.items() if name not in due for test in group.tests}
    halved = find_halved(due)
    whole = [name for name in due if name not in halved]
    selected = tuple(test for name in whole if name in FOLDERS for test in GROUPS[name].tests)
    long_tests = (test for name in whole if name in LONG for test in LONG[name].tests)
    selected += tuple(
        path
        for path in (*long_tests, *changed)
        if is_test_module(path) and not path.startswith(selected)
    )
    yield from (f"--slow-in={path}" for path in dict.fromkeys(selected))
    yield from (f"--half-in={test}" for name in halved for test in GROUPS[name].tests)
    yield from (f"--ignore={path}" for path in sorted(left_out))


def find_halved(due: list[str]) -> list[str]:
    """Return the due groups that run half of their slow tests; none with `CI_ALL`."""
    is_whole = os.environ.get("CI_ALL") or len(due) <= MAX_WHOLE_GROUPS
    return [] if is_whole else [name for name in due if name in HALVED]


def is_test_module(path: str) -> bool:
    """Return whether a path is that of a module of tests, and not what several of them use."""
    return path.startswith("tests/") and Path(path).name.startswith("test_")


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
    new = git("ls-files", "--others", "--exclude-standard").splitlines()
    changed = git("diff", "--name-only", base).splitlines()
    if PROJECT in changed and read_project(git("show", f"{base}:{PROJECT}")) == read_project(
        (ROOT / PROJECT).read_text(encoding="utf-8")
    ):
        changed.remove(PROJECT)
    return [*changed, *new]


def read_project(text: str) -> dict[str, Any]:
    """Return a project file without its version and the tools that make no group due."""
    project = tomllib.loads(text)
    project.get("project", {}).pop("version", None)
    tools = project.get("tool", {}).items()
    return {**project, "tool": {name: tool for name, tool in tools if name not in OTHER_TOOLS}}


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
