"""Import svc_notebook, load its extension, and import pandas, each in fresh processes.

    python benchmarks/startup.py [--rounds 15]

The processes of a round alternate. `%load_ext svc_notebook` is timed in a process that has imported
IPython, and so is the import of pandas that it is compared with. pandas is imported on first use of
svc_notebook, so a further comparison imports both.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from benchmarks.figures import record  # noqa: E402

WANTED = "<= 1.25"  # ratio to the import of pandas
TIMED = """
import sys, time
sys.path.insert(0, sys.argv[1])
{prepare}
begun = time.perf_counter()
{work}
print((time.perf_counter() - begun) * 1000)
"""
SHELL = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
"""
LOAD_EXTENSION = "shell.run_line_magic('load_ext', 'svc_notebook')"
PEER = "import pandas"
# The lines before the clock starts, the timed statements, and the ratio that is wanted.
COMPARED = {
    "import svc_notebook": ("", "import svc_notebook", WANTED),
    "%load_ext svc_notebook": (SHELL, LOAD_EXTENSION, WANTED),
    "import pandas, then %load_ext svc_notebook": (SHELL, f"{PEER}; {LOAD_EXTENSION}", ""),
}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("--rounds", type=int, default=15)
    rounds = options.parse_args().rounds
    print(f"milliseconds, median of {rounds} processes")
    for name, (prepare, work, wanted) in COMPARED.items():
        compare(name, prepare, work, rounds, wanted)


def compare(name: str, prepare: str, work: str, rounds: int, wanted: str) -> None:
    """Print and record the times of our statements and the peer's in processes that alternate."""
    run_process(prepare, work)  # compiles the modules
    run_process(prepare, PEER)
    pairs = [(run_process(prepare, work), run_process(prepare, PEER)) for _ in range(rounds)]
    value, peer_value = (statistics.median(times) for times in zip(*pairs, strict=True))
    ratio = statistics.median(mine / other for mine, other in pairs)
    shown = f"{name:42} {value:7.1f}   {PEER} {peer_value:7.1f}   {ratio:.2f}x"
    print(f"{shown}   {wanted and f'wanted {wanted}'}".rstrip())
    record(name, value, "ms", peer=PEER, peer_value=peer_value, ratio=ratio, wanted=wanted)


def run_process(prepare: str, work: str) -> float:
    """Run a statement in a fresh process; return its milliseconds."""
    code = TIMED.format(prepare=prepare, work=work)
    command = [sys.executable, "-c", code, str(ROOT)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
