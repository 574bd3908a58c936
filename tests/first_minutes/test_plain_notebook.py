"""Import pandas and the package, connect, make a DataFrame."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.first_minutes.processes import run_fresh

IMPORTS = ["import pandas as pd\nimport svc_notebook as svc", "import svc_notebook as svc"]
CONNECT = "svc.connect(url='http://127.0.0.1:1', app_id='app', api_key='key')"
ACTS = [
    "pd.DataFrame({'id': ['a']})",
    "pd.Series(['a'])",
    "__import__('pyarrow').array(['a'])",
    "__import__('io'); pd.read_csv(__import__('io').StringIO('id\\na'))",
]


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("imports", IMPORTS)
def test_the_plainest_notebook_runs(imports: str, act: str, tmp_path: Path) -> None:
    late = "" if "pandas" in imports else "import pandas as pd\n"

    run_fresh(f"{imports}\n{CONNECT}\n{late}{act}\npd.DataFrame({{'id': ['a']}}).svc\n", tmp_path)
