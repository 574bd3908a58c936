"""The numbers of calls that search workers answered, and declined by reason."""

from __future__ import annotations

import sys
from collections import Counter

from svc_notebook.terminal import escape_controls


class WorkerCounts:
    """Counts of one service; only its event loop changes them."""

    def __init__(self) -> None:
        self.processes = 0
        self.answered = 0
        self.declined: Counter[str] = Counter()

    def decline(self, reason: str, fault: str = "") -> None:
        """Count a search that the service has to run itself.

        `fault` is the traceback of an unexpected error, which is reported once for each reason.
        """
        self.declined[reason] += 1
        if fault and self.declined[reason] == 1:
            sys.stderr.write(
                f"a search worker failed ({reason}), the service runs such searches itself:\n"
                f"{escape_controls(fault)}"
            )
