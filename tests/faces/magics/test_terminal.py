"""IPython in a terminal shows results as text."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.first_minutes.processes import user_environment

LINES = """import svc_notebook as svc
svc.connect("local")
result = svc.push(svc.samples.products(), "products", id="sku")
result
result.plan
svc.edit.query("products", "lamp")
svc.edit("products")
svc.search("products", "lamp", hitsPerPage=2)
svc.show_search("products", "lamp")
svc.show("products", "lamp")
svc.tuning.impact("products", {"customRanking": ["desc(reviews)"]}, ["mug"])
svc.tuning.diff("products", "products")
svc.tuning.history("products")
svc.overview()
svc.explain("products", "lamp")
svc.plot_facets("products", "brand")
%load_ext svc_notebook
%svc search products lamp --hitsPerPage 2
%svc show products lamp
%svc edit query products
%svc settings diff products products
%svc overview
"""


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_terminal_shows_texts_and_no_objects(tmp_path: Path) -> None:
    environment = user_environment(tmp_path, IPYTHONDIR=str(tmp_path / "ipython"))

    done = subprocess.run(
        [sys.executable, "-m", "IPython", "--simple-prompt", "--no-banner", "--colors=NoColor"],
        input=LINES, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=100,
        check=True,
    )  # fmt: skip

    output = done.stdout + done.stderr
    assert "Traceback" not in output
    assert "<Query editor: products>" in output
    assert "<Workbench: products>" in output
    assert not re.findall(r"<[\w.]+ object[^>]*>|<IPython[^>]*>|<(?:table|div|p|h\d)\b.*", output)
