"""Values are validated against types, also by many threads at once."""

from __future__ import annotations

import subprocess
import sys

# Where it is not guarded against, this ends the process: in one of its own.
CROWD = """
import sys, threading, typing
from svc_notebook.api.validation import check_value

sys.setswitchinterval(1e-6)
for n in range(100):
    inner = typing.TypedDict(f"Inner{n}", {f"b{i}": int for i in range(40)}, total=False)
    members = {f"a{i}": int | None for i in range(60)} | {"inner": inner}
    shape = typing.TypedDict(f"Outer{n}", members, total=False)
    begin = threading.Barrier(4)

    def check():
        begin.wait()
        check_value({"a59": 1, "inner": {"b39": 2}}, shape, "body")

    threads = [threading.Thread(target=check) for _ in range(4)]
    for one in threads: one.start()
    for one in threads: one.join()
"""


def test_a_type_may_be_met_by_several_threads_at_once() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CROWD], capture_output=True, text=True, check=False, timeout=50
    )

    assert (done.returncode, done.stderr) == (0, "")
