"""The script of the guide for users of the official client, beside that client."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import Running
from tests.documented_code import DOCS
from tests.first_minutes.processes import run_fresh
from tests.peers.official import connect, own_warnings


@pytest.mark.slow
@own_warnings
def test_the_migrated_script_prints_what_the_official_client_prints(
    service: Running, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (DOCS / "coming-from" / "python-client.md").read_text(encoding="utf-8")
    before, after = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    before = "\n".join(line for line in before.splitlines() if "SearchClientSync" not in line)

    with connect(service) as client:
        exec(before, {"client": client})
    printed = capsys.readouterr().out
    ran = run_fresh(after, tmp_path)

    assert printed == "1 desk lamp\n1 hits\n"
    assert ran == printed
