"""One way to do some work, measured in a process of its own: the first call, and later ones.

Cold is the first call of a process that has imported its packages and made its client; warm is the
median of the calls after it. Processor time is given beside time by the clock, because it does not
count what else the machine does.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

# Does the work once, and returns the number of rows.
Work = Callable[[], int]
WARM_CALLS = 2


class Spent(NamedTuple):
    """Seconds of one call by the clock, and of the processor."""

    clock: float
    processor: float


class Trial(NamedTuple):
    """What one process measured; the peak of memory in MB is that of the first call."""

    rows: int
    cold: Spent
    warm: Spent
    peak: float


def run_trial(work: Work) -> None:
    """Do the work several times in this process, and print the trial."""
    cold, rows = spend(work)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    warm = [spend(work)[0] for _ in range(WARM_CALLS)]
    print(json.dumps(Trial(rows, cold, median(warm), peak)))


def spend(work: Work) -> tuple[Spent, int]:
    """Do the work once; return what it took, and the rows."""
    clock, processor = time.perf_counter(), time.process_time()
    rows = work()
    return Spent(time.perf_counter() - clock, time.process_time() - processor), rows


def read_trial(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Trial:
    """Run a command that runs a trial; return the trial."""
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    rows, cold, warm, peak = json.loads(done.stdout.splitlines()[-1])
    return Trial(rows, Spent(*cold), Spent(*warm), peak)


def median(many: Sequence[Spent]) -> Spent:
    """Return the medians of each time."""
    return Spent(*map(statistics.median, zip(*many, strict=True)))


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


def _rate(rows: int, spent: Spent) -> str:
    shown = f"{spent.clock * 1000:7.0f} ms" if rows < 10_000 else f"{rows / spent.clock:8,.0f}/s"
    return f"{shown:>11} {spent.processor * 1000:7.0f} ms cpu"


def print_ratio(
    rounds: Sequence[Mapping[str, Trial]], ours: str, other: str, wanted: str = ""
) -> None:
    """Print how many times as fast ours is, row for row: the median of the rounds' own ratios."""
    found = []
    for when in ("cold", "warm"):
        for time_of in ("clock", "processor"):
            ratios = [
                (getattr(getattr(one[other], when), time_of) / one[other].rows)
                / (getattr(getattr(one[ours], when), time_of) / one[ours].rows)
                for one in rounds
            ]
            found.append(statistics.median(ratios))
    cold, cold_cpu, warm, warm_cpu = found
    print(
        f"{ours} / {other}: cold {cold:.1f}x ({cold_cpu:.1f}x cpu), "
        f"warm {warm:.1f}x ({warm_cpu:.1f}x cpu)   {wanted}".rstrip()
    )


def wait_for_imports() -> None:
    """Wait until the thread that `svc.connect` starts has imported its packages."""
    for thread in threading.enumerate():
        if thread.name == "svc-imports":
            thread.join()
