"""Figures of benchmarks: a measured value, the value of a peer, and the comparison that is wanted.

A script prints its own text. If the variable `SVC_BENCH_FIGURES` names a file, each figure is also
appended to that file as a line of JSON; `table.py` reads these lines.
"""

from __future__ import annotations

import json
import operator
import os
import re
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

FILE_VARIABLE = "SVC_BENCH_FIGURES"
COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}
WANTED = re.compile(r"(>=|<=|>|<|=) (\d[\d,]*(?:\.\d+)?)")


@dataclass(frozen=True)
class Figure:
    """A measured value beside that of a peer.

    The ratio is the value divided by that of the peer. `wanted` is a comparison such as `>= 8`: of
    the ratio if there is one, of the value otherwise.
    """

    name: str
    value: float
    unit: str = ""
    peer: str = ""
    peer_value: float | None = None
    ratio: float | None = None
    wanted: str = ""

    def __post_init__(self) -> None:
        if self.wanted:
            parse_wanted(self.wanted)

    @property
    def holds(self) -> bool | None:
        """Whether the figure is as wanted; None if nothing is wanted."""
        if not self.wanted:
            return None
        compare, bound = parse_wanted(self.wanted)
        return compare(self.value if self.ratio is None else self.ratio, bound)


def parse_wanted(wanted: str) -> tuple[Callable[[float, float], bool], float]:
    """Return the comparison and its bound."""
    found = WANTED.fullmatch(wanted)
    if not found:
        raise ValueError(f"`{wanted}` is not a comparison such as `>= 8`")
    return COMPARISONS[found[1]], float(found[2].replace(",", ""))


def record(
    name: str,
    value: float,
    unit: str = "",
    *,
    peer: str = "",
    peer_value: float | None = None,
    ratio: float | None = None,
    wanted: str = "",
) -> Figure:
    """Append a figure to the file of `SVC_BENCH_FIGURES`, if set.

    `ratio` is the median of the ratios of several rounds; if omitted, it is computed from both
    values.
    """
    if ratio is None and peer_value:
        ratio = value / peer_value
    figure = Figure(name, value, unit, peer, peer_value, ratio, wanted)
    if path := os.environ.get(FILE_VARIABLE):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(figure)) + "\n")
    return figure


def read_figures(path: Path) -> list[Figure]:
    """Read the figures of a file; none if no figure was recorded."""
    if not path.exists():
        return []
    return [Figure(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


class Percentiles(NamedTuple):
    """The median and the 95th percentile of times in milliseconds."""

    p50: float
    p95: float


def compute_percentiles(times: Sequence[float]) -> Percentiles:
    """Compute the percentiles of times in milliseconds."""
    return Percentiles(statistics.median(times), sorted(times)[int(len(times) * 0.95)])


def record_percentiles(
    name: str,
    ours: Percentiles,
    *,
    peer: str = "",
    theirs: Percentiles | None = None,
    wanted_p50: str = "",
    wanted_p95: str = "",
) -> None:
    """Record both percentiles as figures."""
    p50, p95 = theirs or (None, None)
    record(f"{name}, p50", ours.p50, "ms", peer=peer, peer_value=p50, wanted=wanted_p50)
    record(f"{name}, p95", ours.p95, "ms", peer=peer, peer_value=p95, wanted=wanted_p95)
