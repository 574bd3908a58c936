"""\"Run All\" of notebooks as users write them, with nbconvert and papermill, in fresh kernels."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Running
from tests.first_minutes.processes import DUMP_SECONDS, limit_seconds
from tests.kernels.conftest import environment

CONNECT = (
    "import os\nsvc.connect(url=os.environ['URL'], app_id=os.environ['APP'], "
    "api_key=os.environ['KEY'])"
)
FRAME = "df = pd.DataFrame({'id': ['1', '2'], 'name': ['desk lamp', 'chair'], 'price': [9.5, 80]})"
# The cells of each notebook; the last one must have run.
NOTEBOOKS: dict[str, list[str]] = {
    "push and search": [
        "import pandas as pd\nimport svc_notebook as svc", CONNECT, FRAME,
        "df.svc.push('all-push', id='id')", "svc.search('all-push', 'lamp')",
    ],
    "package first": [
        "import svc_notebook as svc", CONNECT, f"import pandas as pd\n{FRAME}",
        "df.svc.push('all-first', id='id')", "svc.read_browse('all-first').plot.bar(y='price')",
    ],
    "magics and a local service": [
        "%load_ext svc_notebook", "%svc connect local --data data",
        f"import pandas as pd\n{FRAME}\ndf.svc.push('films', id='id')",
        "%svc search films lamp", "%svc stop --data data",
    ],
    "one cell": [
        f"import svc_notebook as svc\nimport pandas as pd\n{CONNECT}\n{FRAME}\n"
        "df.svc.push('all-one', id='id')\nsvc.search('all-one', 'chair')",
    ],
    "csv and plot": [
        "import pandas as pd\nimport matplotlib.pyplot as plt\nimport svc_notebook as svc", FRAME,
        "df.to_csv('rows.csv', index=False)", CONNECT, "svc.load('rows.csv', 'all-csv', id='id')",
        "df.plot(y='price')\nplt.show()",
    ],
    "await": [
        "import svc_notebook as svc", CONNECT,
        "await svc.aio.push([{'objectID': '1', 'name': 'lamp'}], 'all-await')",
        "(await svc.aio.search('all-await', 'lamp')).shape",
        "import pandas as pd\npd.DataFrame({'a': [1]}).svc",
    ],
    "editor": [
        "import pandas as pd, svc_notebook as svc", CONNECT,
        "svc.push([{'objectID': '1', 'name': 'lamp'}], 'all-editor')",
        "svc.edit.query('all-editor', 'lamp')", FRAME,
    ],
    "workbench": [
        "import svc_notebook as svc", CONNECT,
        "svc.push([{'objectID': '1', 'name': 'lamp'}], 'all-bench')",
        "bench = svc.edit('all-bench', 'lamp')\nbench",
    ],
    "polars and threads": [
        "import polars as pl\nimport svc_notebook as svc", CONNECT,
        "svc.load(pl.DataFrame({'id': ['1'], 'name': ['lamp']}), 'all-polars', id='id')",
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(4) as pool:\n"
        "    found = list(pool.map(lambda q: svc.search('all-polars', q), ['lamp'] * 4))",
        "!echo a shell command",
    ],
    "measure": [
        "import svc_notebook as svc\nimport pandas as pd", CONNECT, FRAME,
        "df.svc.push('all-measure', id='id')",
        "judged = pd.DataFrame({'query': ['lamp'], 'objectID': ['1'], 'rating': [1]})\n"
        "svc.tuning.evaluate(svc.tuning.run('all-measure', ['lamp']), judged)",
    ],
}  # fmt: skip
TOOLS = {
    "nbconvert": ["nbconvert", "--execute", "--to", "notebook", "--output", "out"],
    "papermill": ["papermill", "--no-progress-bar"],
}
# All threads of a kernel that hangs, written before the tool ends it.
WATCH = (
    "import faulthandler\nfaulthandler.dump_traceback_later({limit}, file=open('stacks.txt', 'w'))"
)
CELLS = [(tool, name) for name in NOTEBOOKS for tool in TOOLS]


def write_notebook(path: Path, cells: list[str], limit: float) -> None:
    import nbformat

    notebook = nbformat.v4.new_notebook()
    notebook.cells = [
        nbformat.v4.new_code_cell(source) for source in [WATCH.format(limit=limit), *cells]
    ]
    notebook.metadata["kernelspec"] = {
        "name": "python3", "display_name": "Python 3", "language": "python",
    }  # fmt: skip
    nbformat.write(notebook, path)


def run_all(tool: str, path: Path, home: Path, service: Running) -> None:
    """Run a notebook; fail with the stacks of its kernel if it does not end."""
    limit = limit_seconds()
    named = {"URL": service.url, "APP": service.appId, "KEY": service.adminKey}
    options = {
        "nbconvert": [f"--ExecutePreprocessor.timeout={2 * limit:.0f}", path.name],
        "papermill": ["--execution-timeout", f"{2 * limit:.0f}", path.name, "out.ipynb"],
    }
    process = subprocess.Popen(
        [sys.executable, "-m", *TOOLS[tool], *options[tool]], cwd=path.parent,
        env=environment(home) | named | {"SVC_WORKERS": "0"}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        output, _ = process.communicate(timeout=3 * limit + DUMP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        output += "\nthe notebook does not end"
    stacks = (path.parent / "stacks.txt").read_text() if process.returncode else ""
    assert process.returncode == 0, f"{output}\n{stacks}"


@pytest.mark.rotated
@pytest.mark.parametrize(("tool", "name"), CELLS, ids=lambda word: word.replace(" ", "-"))
def test_a_notebook_runs_to_its_end(tool: str, name: str, service: Running, tmp_path: Path) -> None:
    import nbformat

    path = tmp_path / "notebook.ipynb"
    write_notebook(path, NOTEBOOKS[name], limit_seconds())

    run_all(tool, path, tmp_path, service)

    ran = nbformat.read(tmp_path / "out.ipynb", as_version=4)
    counts = [cell["execution_count"] for cell in ran.cells if cell["cell_type"] == "code"]
    assert counts == [*range(1, len(NOTEBOOKS[name]) + 2)]
