"""First lines, a connection, a pause, and what a user does first, in fresh processes.

Every combination ends, and the package's threads import nothing that a user's thread may import.
"""

from __future__ import annotations

import textwrap
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import Running
from tests.first_minutes.pairs import cover_pairs
from tests.first_minutes.processes import run_fresh, user_environment

IMPORTS = {
    "nothing": "",
    "pandas": "import pandas as pd",
    "polars": "import polars",
    "pyarrow": "import pyarrow",
    "matplotlib": "import matplotlib.pyplot as plt",
    "scipy": "import scipy.sparse, scipy.stats",
    "dask": "import dask.dataframe as dd",
    "slow": "import slow_package",
}
PLACES = ["before", "between", "after"]
CONNECTIONS = {
    "arguments": "svc.connect(url=os.environ['URL'], app_id=os.environ['APP'], "
    "api_key=os.environ['KEY'])",
    "profile": "svc.connect('shop')",
    "environment": "os.environ |= {'SVC_URL': os.environ['URL'], 'SVC_APP_ID': os.environ['APP'],"
    " 'SVC_API_KEY': os.environ['KEY']}; svc.connect()",
    "use": "svc.use('shop')",
    "local": "svc.connect('local', data='data')",
}
PAUSES = ["0", "0.05", "0.5"]
SEARCH = """
try:
    svc.search("first", "lamp")
except svc.errors.NotFound:  # a new local service
    pass
"""
ACTS = {
    "frame": "import pandas as pd\npd.DataFrame({'id': ['a']}).svc.plan('first', id='id')",
    "read_csv": "import pandas as pd\npd.read_csv('rows.csv').describe()",
    "array": "import pyarrow\npyarrow.array(['a']).to_pandas()",
    "plot": "import pandas as pd\npd.DataFrame({'a': [1, 2]}).plot()",
    "load_csv": "svc.load('rows.csv', 'first', id='id')",
    "push": "svc.push([{'objectID': '1', 'name': 'lamp'}], 'first')",
    "search": SEARCH,
    "editor": "svc.push([{'objectID': '1', 'name': 'lamp'}], 'first')\nsvc.edit.query('first')",
    "asyncio": "import asyncio\nasyncio.run(svc.aio.push([{'objectID': '1'}], 'first'))",
    "fork": f"""
import warnings
warnings.simplefilter("ignore", DeprecationWarning)  # of forks with threads
child = os.fork()
if not child:
    import pandas as pd
    pd.DataFrame({{"id": ["a"]}})
    {textwrap.indent(SEARCH, "    ").strip()}
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
{SEARCH}
""",
    "spawn": """
import multiprocessing, pandas
with multiprocessing.get_context("spawn").Pool(1) as pool:
    pool.map(pandas.DataFrame, [[1]])
""",
    "threads": f"""
from concurrent.futures import ThreadPoolExecutor
def act(number):
    import pandas as pd
    pd.DataFrame({{"id": ["a"]}})
    {textwrap.indent(SEARCH, "    ").strip()}
with ThreadPoolExecutor(4) as pool:
    list(pool.map(act, range(4)))
""",
    "nested": f"""
import asyncio, nest_asyncio2
nest_asyncio2.apply()
async def act():
    {textwrap.indent(SEARCH, "    ").strip()}
asyncio.run(act())
""",
}
# A package that takes long to import, and that imports others halfway.
SLOW_PACKAGE = """
import threading, time
time.sleep(0.2)
import numpy, pandas
time.sleep(0.2)
pandas.DataFrame({"id": ["a"]})
"""
CHOICES = {
    "imports": [*IMPORTS],
    "place": PLACES,
    "connection": [*CONNECTIONS],
    "pause": PAUSES,
    "act": [*ACTS],
}
ROWS = cover_pairs(CHOICES)
# Reports imports on the background loop of this package, and of others that are not complete.
WATCH = """
import os, sys, threading, time
class Watch:
    @staticmethod
    def find_spec(name, path=None, target=None):
        package = name.partition(".")[0]
        if threading.current_thread().name == "svc-portal" and (
            package == "svc_notebook"
            or package in ("pandas", "numpy", "pyarrow", "matplotlib") and is_open(package)
        ):
            print("imported by a thread:", name, flush=True)
def is_open(package):
    spec = getattr(sys.modules.get(package), "__spec__", None)
    return spec is None or getattr(spec, "_initializing", False)
sys.meta_path.insert(0, Watch)
"""


def write_script(row: dict[str, str]) -> str:
    """Return the script of one row of the table."""
    library = IMPORTS[row["imports"]]
    lines = ["import svc_notebook as svc", CONNECTIONS[row["connection"]]]
    lines.insert(PLACES.index(row["place"]), library)
    # Rows of other columns do not replace the records of another act.
    act = textwrap.indent(ACTS[row["act"]], "    ").replace("first", f"first-{row['act']}")
    pause = f"time.sleep({row['pause']})" if row["pause"] != "0" else ""
    return "\n".join([WATCH, *lines, pause, "if __name__ == '__main__':", act, "    print('done')"])


@pytest.mark.rotated
@pytest.mark.parametrize("row", ROWS, ids=lambda row: "-".join(row.values()))
def test_first_lines_end(row: dict[str, str], service: Running, tmp_path: Path) -> None:
    (tmp_path / "slow_package.py").write_text(SLOW_PACKAGE)
    (tmp_path / "rows.csv").write_text("id,name\n1,lamp\n2,desk\n")
    (tmp_path / "svc.toml").write_text(
        f'[profiles.shop]\nurl = "{service.url}"\napp_id = "{service.appId}"\n'
        f'api_key = "{service.adminKey}"\n'
    )
    named = {"URL": service.url, "APP": service.appId, "KEY": service.adminKey}
    config = {"SVC_CONFIG": str(tmp_path / "svc.toml")}
    environment = user_environment(tmp_path, **named, **config, SVC_WORKERS="0")

    output = run_fresh(write_script(row), tmp_path, environment)

    assert output.splitlines()[-1:] == ["done"]
    assert "imported by a thread" not in output


def test_every_pair_of_choices_occurs() -> None:
    pairs = {(a, b) for row in ROWS for a in row.items() for b in row.items()}

    assert all(
        ((first, a), (second, b)) in pairs
        for first in CHOICES
        for second in CHOICES
        if first != second
        for a in CHOICES[first]
        for b in CHOICES[second]
    )
    assert all(find_spec(name) for name in ("polars", "dask", "matplotlib", "nest_asyncio2"))
    assert len(ROWS) < 150
