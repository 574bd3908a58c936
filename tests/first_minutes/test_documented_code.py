"""Each page's code in a fresh process, with pandas imported before and after the package."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.documented_code import PAGES, write_script
from tests.first_minutes.processes import run_fresh

ORDERS = {
    "pandas-first": "import pandas as pd\nimport svc_notebook as svc",
    "package-first": "import svc_notebook as svc\nimport pandas as pd",
}
# A page has many steps: searches over variants, crawls, loads.
STEPS = 8


@pytest.mark.rotated
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_code_of_a_page_runs(page: Path, order: str, tmp_path: Path) -> None:
    script = write_script(page, ORDERS[order])

    run_fresh(script, tmp_path, None, "-W", "error::UserWarning", steps=STEPS)
