"""Run the benchmarks one after the other, then print all figures as one table: `make bench`.

    python benchmarks/table.py [--rounds N] [--only NAME ...] [--with-scale] [--markdown PATH]

Each script compares with its peers in one run. Run a script alone to give it other sizes.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from benchmarks.figures import FILE_VARIABLE, Figure, read_figures  # noqa: E402
from tests.browser.lab import CHROMIUM  # noqa: E402

HERE = Path(__file__).parent
SCRIPTS = {
    HERE / "load.py": "Loading CSV files",
    HERE / "frames.py": "Pushing and browsing DataFrames",
    HERE / "service_load.py": "Loading into the local service, and its engine alone",
    HERE / "engine.py": "The engine",
    HERE / "throughput.py": "Searches of several clients, with and without search workers",
    HERE / "measuring.py": "Evaluating judged queries",
    HERE / "simulations.py": "Simulated users and searches without an effect",
    HERE / "startup.py": "Importing the package",
    HERE / "keystroke.py": "Typing in the query editor",
    HERE / "extension.py": "JupyterLab with and without the extension",
    HERE / "kill.py": "Killing the service during writes",
}
# These need a browser.
IN_BROWSER = (HERE / "keystroke.py", HERE / "extension.py")
SCALE = {HERE / "scale.py": "Ten million records"}
COLUMNS = ("figure", "ours", "peer", "ratio", "wanted", "holds")
RIGHT_ALIGNED = ("ours", "ratio")
HOLDS = {True: "yes", False: "missed", None: ""}


class Run(NamedTuple):
    """The figures and the exit status of one run of a script."""

    figures: list[Figure]
    status: int


class Group(NamedTuple):
    """The part of the table for one script: a row for each figure, and one if the script failed."""

    title: str
    rows: list[tuple[str, ...]]


def main(arguments: Sequence[str] | None = None, scripts: Mapping[Path, str] = SCRIPTS) -> int:
    given = read_options(arguments, {**scripts, **SCALE})
    chosen = choose_scripts(given, scripts)
    if CHROMIUM is None and (skipped := [path.name for path in chosen if path in IN_BROWSER]):
        print(f"Skipped without Chromium: {', '.join(skipped)}; apt-get install chromium")
        chosen = {path: title for path, title in chosen.items() if path not in IN_BROWSER}
    runs: dict[Path, list[Run]] = {path: [] for path in chosen}
    for number in range(given.rounds):
        for path, title in chosen.items():
            print_title(f"{title}, round {number + 1}" if given.rounds > 1 else title)
            runs[path].append(run_script(path))
    groups = [Group(title, make_rows(runs[path])) for path, title in chosen.items()]
    summary = [describe_run(given.rounds), *summarize(runs)]
    print_title(summary[0])
    print("\n".join([*format_text(groups), "", *summary[1:]]))
    if given.markdown:
        lines = [summary[0], "", *format_markdown(groups), "", *summary[1:]]
        given.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return int(any(run.status for some in runs.values() for run in some))


def read_options(
    arguments: Sequence[str] | None, scripts: Mapping[Path, str]
) -> argparse.Namespace:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument(
        "--rounds", type=int, default=1, help="run everything N times", metavar="N"
    )
    names = [path.stem for path in scripts]
    options.add_argument("--only", nargs="+", choices=names, help="run only these scripts")
    options.add_argument("--with-scale", action="store_true", help="also load ten million records")
    options.add_argument("--markdown", type=Path, help="also write the table to this file")
    given = options.parse_args(arguments)
    if given.rounds < 1:
        options.error("--rounds must be 1 or more")
    return given


def choose_scripts(given: argparse.Namespace, scripts: Mapping[Path, str]) -> dict[Path, str]:
    """Return the scripts to run, in the order of the table."""
    named = {path.stem for path in scripts} if given.only is None else set(given.only)
    if given.with_scale:
        named |= {path.stem for path in SCALE}
    return {path: title for path, title in {**scripts, **SCALE}.items() if path.stem in named}


def print_title(title: str) -> None:
    print(f"\n{title}\n{'-' * len(title)}", flush=True)


def run_script(path: Path) -> Run:
    """Run a script that prints its own text, and collect its figures."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figures.jsonl"
        environment = os.environ | {FILE_VARIABLE: str(file)}
        done = subprocess.run([sys.executable, path], env=environment, check=False)
        return Run(read_figures(file), done.returncode)


def make_rows(runs: Sequence[Run]) -> list[tuple[str, ...]]:
    """Make the rows of one script; a figure has one value for each run that recorded it."""
    rows = [make_row(figures) for figures in group_by_name(runs)]
    if failed := [run.status for run in runs if run.status]:
        rounds = f" in {len(failed)} of {len(runs)} rounds" if len(runs) > 1 else ""
        rows.append((f"failed{rounds}: exit status {failed[0]}", "", "", "", "", "failed"))
    return rows


def group_by_name(runs: Iterable[Run]) -> Iterable[list[Figure]]:
    figures: dict[str, list[Figure]] = {}
    for run in runs:
        for figure in run.figures:
            figures.setdefault(figure.name, []).append(figure)
    return figures.values()


def make_row(figures: Sequence[Figure]) -> tuple[str, ...]:
    """Make the row of a figure that was measured in each round."""
    median = take_median(figures)
    values = [figure.value for figure in figures]
    ratios = [figure.ratio for figure in figures if figure.ratio is not None]
    peer = format_number(median.peer_value, median.unit)
    wanted_unit = "x" if ratios else f" {median.unit}"
    return (
        median.name,
        format_number(median.value, median.unit) + format_range(values),
        f"{median.peer} {peer}".strip(),
        f"{format_number(median.ratio)}x{format_range(ratios)}" if ratios else "",
        f"{median.wanted}{wanted_unit}".rstrip() if median.wanted else "",
        HOLDS[check_wanted(figures)],
    )


def check_wanted(figures: Sequence[Figure]) -> bool | None:
    """Return whether the median is as wanted; an exact number must be met in every round."""
    if figures[0].wanted.startswith("="):
        return all(figure.holds for figure in figures)
    return take_median(figures).holds


def take_median(figures: Sequence[Figure]) -> Figure:
    """Return the figure with the medians of values, peer's values and ratios."""

    def median(numbers: Iterable[float | None]) -> float | None:
        present = [number for number in numbers if number is not None]
        return statistics.median(present) if present else None

    return replace(
        figures[0],
        value=statistics.median(figure.value for figure in figures),
        peer_value=median(figure.peer_value for figure in figures),
        ratio=median(figure.ratio for figure in figures),
    )


def format_number(number: float | None, unit: str = "") -> str:
    """Format a number with three significant digits, or as an integer from 100 on."""
    if number is None:
        return ""
    whole = abs(number) >= 100 or float(number).is_integer()
    text = f"{number:,.0f}" if whole else f"{number:#.3g}".rstrip(".")
    return f"{text} {unit}".rstrip()


def format_range(numbers: Sequence[float]) -> str:
    """Format the minimum and the maximum of several rounds."""
    if len(numbers) < 2:
        return ""
    return f" ({format_number(min(numbers))} to {format_number(max(numbers))})"


def describe_run(rounds: int) -> str:
    """Describe what was measured where, so that tables of releases can be compared."""
    parts = [
        f"svc-notebook {version('svc-notebook')}",
        f"Python {platform.python_version()}",
        f"{platform.system()} {platform.machine()}",
        f"{os.cpu_count()} processors",
        time.strftime("%Y-%m-%d"),
    ]
    if rounds > 1:
        parts.append(f"median (minimum to maximum) of {rounds} rounds")
    return ", ".join(parts)


def summarize(runs: Mapping[Path, Sequence[Run]]) -> list[str]:
    """Count the figures, and name the scripts that failed."""
    checks = [check_wanted(some) for each in runs.values() for some in group_by_name(each)]
    wanted = [holds for holds in checks if holds is not None]
    lines = [f"Figures: {len(checks)}; as wanted: {sum(wanted)} of {len(wanted)}."]
    if failed := [path.name for path, each in runs.items() if any(run.status for run in each)]:
        lines.append(f"Failed: {', '.join(failed)}.")
    return lines


def format_text(groups: Sequence[Group]) -> list[str]:
    """Align the columns of all groups."""
    rows = [COLUMNS, *(row for group in groups for row in group.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

    def align(row: Sequence[str]) -> str:
        cells = [
            cell.rjust(width) if column in RIGHT_ALIGNED else cell.ljust(width)
            for column, cell, width in zip(COLUMNS, row, widths, strict=True)
        ]
        return "  ".join(cells).rstrip()

    lines = [align(COLUMNS)]
    for group in groups:
        lines += ["", group.title, *map(align, group.rows)]
    return lines


def format_markdown(groups: Sequence[Group]) -> list[str]:
    """Write the same as one table, where a row in bold starts a group."""
    rules = ["---:" if column in RIGHT_ALIGNED else "---" for column in COLUMNS]
    rows: list[Sequence[str]] = [COLUMNS, rules]
    for group in groups:
        rows += [(f"**{group.title}**", *[""] * (len(COLUMNS) - 1)), *group.rows]
    return ["| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |" for row in rows]


if __name__ == "__main__":
    sys.exit(main())
