"""Programs without a console: no standard streams, closed ones, or objects that only write."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Running
from tests.first_minutes.processes import run_fresh

# What a program has in place of its streams, each as one line of Python.
STREAMS = {
    "none": "sys.stdin = sys.stdout = sys.stderr = None",
    "closed": "sys.stdin.close(); sys.stdout.close(); sys.stderr.close()",
    "write-only": "sys.stdin = sys.stdout = sys.stderr = "
    "type('Log', (), {'write': lambda self, text: None, 'flush': lambda self: None})()",
}
WORK = """
import svc_notebook as svc
svc.connect(url={url!r}, app_id={app!r}, api_key={key!r})
rows = [{{"objectID": str(number), "name": "lamp"}} for number in range(3)]
svc.push(rows, {index!r})
svc.load(svc.read_browse({index!r}), {index!r}, if_exists="replace")
svc.push(rows, {index!r}, progress=True)
with open("hits.txt", "w") as file:
    file.write(str(len(svc.search({index!r}, "lamp"))))
svc.show(svc.search({index!r}, "lamp"))
svc.overview()
svc.drop_index({index!r})
"""


@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.sampled(2)
def test_functions_work_without_streams(kind: str, service: Running, tmp_path: Path) -> None:
    facts = {"url": service.url, "app": service.appId, "key": service.adminKey}
    work = WORK.format(**facts, index=f"streams-{kind}")

    run_fresh(f"import sys\n{STREAMS[kind]}\n{work}", tmp_path)

    assert (tmp_path / "hits.txt").read_text() == "3"
