"""Every measurement against a peer, one after the other: `make bench`.

Each script compares in one run and prints ratios; run one alone to give it other sizes.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SCRIPTS = {
    "Loading CSV files: ours, the official client, bodies made beforehand": "load.py",
    "DataFrames: ours, the official client": "frames.py",
    "Loading into the local service, and the engine alone": "service_load.py",
    "The engine: ours and milli": "engine.py",
    "Searches from several clients: with search workers and in one process": "throughput.py",
    "Typing in the query editor: ours and a widget that only echoes": "keystroke.py",
    "Opening notebooks with and without JupyterLab's extension; its explorer": "extension.py",
    "Judged queries evaluated: ours and the same searches one by one": "measuring.py",
    "Killed while it is written to": "kill.py",
}


def main() -> int:
    failed = 0
    for title, script in SCRIPTS.items():
        print(f"\n{title}\n{'-' * len(title)}", flush=True)
        failed |= subprocess.run([sys.executable, HERE / script], check=False).returncode
    return failed


if __name__ == "__main__":
    sys.exit(main())
