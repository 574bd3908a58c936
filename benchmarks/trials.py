"""A trial: a process that measures one way of doing some work, in its first call and in later ones.

Cold is the first call of a process that has imported its packages and made its client; warm is the
median of the calls after it. Processor time is given beside time by the clock, because other
processes on the machine do not change it.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from benchmarks.figures import record  # noqa: E402

# Does the work once, and returns the number of rows.
Work = Callable[[], int]
WARM_CALLS = 2


class Elapsed(NamedTuple):
    """Seconds of one call by the clock, and of the processor."""

    clock: float
    processor: float


class Trial(NamedTuple):
    """The times of one process; the peak of memory in MB is that of the first call."""

    rows: int
    cold: Elapsed
    warm: Elapsed
    peak: float


def run_trial(work: Work) -> None:
    """Do the work several times in this process, and print the trial."""
    cold, rows = time_work(work)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    warm = [time_work(work)[0] for _ in range(WARM_CALLS)]
    print(json.dumps(Trial(rows, cold, median(warm), peak)))


def time_work(work: Work) -> tuple[Elapsed, int]:
    """Do the work once; return its times and the number of rows."""
    clock, processor = time.perf_counter(), time.process_time()
    rows = work()
    return Elapsed(time.perf_counter() - clock, time.process_time() - processor), rows


def read_trial(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Trial:
    """Run a command that runs a trial; return the trial."""
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    rows, cold, warm, peak = json.loads(done.stdout.splitlines()[-1])
    return Trial(rows, Elapsed(*cold), Elapsed(*warm), peak)


def median(many: Sequence[Elapsed]) -> Elapsed:
    """Return the medians of each time."""
    return Elapsed(*map(statistics.median, zip(*many, strict=True)))


def print_trials(rounds: Sequence[Mapping[str, Trial]]) -> None:
    """Print the medians of each way; a round is one trial of each way."""
    print(f"{'':17} {'cold':>22} {'warm':>24}")
    for way in rounds[0]:
        trials = [one[way] for one in rounds]
        rows = trials[0].rows
        cold, warm = (median([getattr(each, when) for each in trials]) for when in ("cold", "warm"))
        peak = statistics.median(trial.peak for trial in trials)
        shown = f"{_rate(rows, cold)} {_rate(rows, warm)}"
        print(f"{way:17} {shown}   {rows:9,} rows, peak {peak:5.0f} MB")


def _rate(rows: int, taken: Elapsed) -> str:
    shown = f"{taken.clock * 1000:7.0f} ms" if rows < 10_000 else f"{rows / taken.clock:8,.0f}/s"
    return f"{shown:>11} {taken.processor * 1000:7.0f} ms cpu"


def print_ratio(
    rounds: Sequence[Mapping[str, Trial]], ours: str, other: str, wanted: str = ""
) -> None:
    """Print how many times as fast ours is, row for row: the median of the rounds' own ratios."""
    cold, cold_cpu, warm, warm_cpu = (
        median_ratio(rounds, ours, other, when, time_of)
        for when in ("cold", "warm")
        for time_of in ("clock", "processor")
    )
    print(
        f"{ours} / {other}: cold {cold:.1f}x ({cold_cpu:.1f}x cpu), "
        f"warm {warm:.1f}x ({warm_cpu:.1f}x cpu)   {wanted}".rstrip()
    )


def median_ratio(
    rounds: Sequence[Mapping[str, Trial]], ours: str, other: str, when: str, time_of: str
) -> float:
    """Return the median of the rounds' own ratios of rows per second."""
    return statistics.median(
        _rows_per_second(one[ours], when, time_of) / _rows_per_second(one[other], when, time_of)
        for one in rounds
    )


def _rows_per_second(trial: Trial, when: str, time_of: str) -> float:
    seconds: float = getattr(getattr(trial, when), time_of)
    return trial.rows / seconds


def record_rates(
    name: str,
    rounds: Sequence[Mapping[str, Trial]],
    ours: str,
    other: str,
    *,
    peer: str,
    wanted: str = "",
) -> None:
    """Record the rows per second by the clock of our way and another, cold and warm."""
    for when in ("cold", "warm"):
        value, peer_value = (
            statistics.median(_rows_per_second(one[way], when, "clock") for one in rounds)
            for way in (ours, other)
        )
        record(
            f"{name}, {when}", value, "rows/s", peer=peer, peer_value=peer_value,
            ratio=median_ratio(rounds, ours, other, when, "clock"), wanted=wanted,
        )  # fmt: skip
