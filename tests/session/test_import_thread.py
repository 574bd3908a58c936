"""The imports that `connect` starts in a thread, in processes that have imported nothing yet."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

CONNECT = "svc.connect(url='http://127.0.0.1:1', app_id='app', api_key='key')\n"
START = f"import sys, threading\nimport svc_notebook as svc\nbefore = {{*sys.modules}}\n{CONNECT}"
JOIN = "[each.join() for each in threading.enumerate() if each.name == 'svc-imports']\n"


def run(script: str) -> str:
    """Run a script in a process of its own; return its output."""
    command = [sys.executable, "-W", "error::ImportWarning", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert not done.stderr
    assert done.returncode == 0
    return done.stdout.strip()


def test_connecting_imports_what_the_first_load_needs() -> None:
    needed = "{'pandas', 'duckdb', 'svc_notebook.loading', 'svc_notebook.frames'}"

    found = run(f"{START}{JOIN}print({needed} & before, {needed} <= {{*sys.modules}})")

    assert found == "set() True"


@pytest.mark.parametrize(
    "imports",
    [
        "import numpy.linalg, pandas.testing",
        "from pandas.core.arrays import IntegerArray",
        "import svc_notebook.loading.load_plan.plan",
        "from svc_notebook.frames.columns import Columns",
        "svc.read_browse, svc.load",
    ],
)
@pytest.mark.sampled(2)
def test_imports_wait_for_the_thread_and_find_complete_modules(imports: str) -> None:
    found = run(f"{START}{imports}\nimport pandas\n{JOIN}print(pandas.DataFrame([1]).size)")

    assert found == "1"


def test_connecting_during_an_import_leaves_the_imports_to_the_first_call() -> None:
    script = (
        "import importlib._bootstrap, sys\n"
        "from svc_notebook.session.import_thread import start_imports\n"
        "lock = importlib._bootstrap._get_module_lock('pandas')\n"
        "start_imports().join()\n"
        "print('numpy' in sys.modules)"
    )

    assert run(script) == "False"


def test_a_package_that_cannot_be_imported_is_an_error_of_the_call() -> None:
    script = (
        f"import sys\nsys.modules['duckdb'] = None\n{START}{JOIN}"
        "try:\n    svc.plan('x.csv', 'i')\nexcept svc.errors.BadInput as error:\n    print(error)"
    )

    assert "svc-notebook[bulk]" in run(script)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
def test_a_process_that_is_forked_meanwhile_can_import() -> None:
    script = (
        f"{START}import os, warnings\nwarnings.simplefilter('ignore')\n"
        "if not os.fork():\n    import pandas\n    print(pandas.DataFrame([1]).size, flush=True)\n"
        "    os._exit(0)\nos.wait()"
    )

    assert run(script) == "1"


def test_a_process_ends_while_the_thread_imports() -> None:
    assert run(START) == ""
