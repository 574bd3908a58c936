"""The names of `import svc_notebook as svc`, and the cost of the import."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import subprocess
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, assert_type

import pytest

import svc_notebook as svc
from svc_notebook import client
from tests.conftest import ROOT
from tests.looping import loop_over

if TYPE_CHECKING:
    from pandas import DataFrame

HEAVY = {
    "IPython", "anywidget", "duckdb", "httpx", "keyring", "matplotlib", "pandas", "platformdirs",
    "pyarrow", "starlette", "tqdm", "uvicorn",
}  # fmt: skip


# Packages that neither a connection nor a load uses.
UNNEEDED = (
    *("svc_notebook.tuning.evaluation", "svc_notebook.tuning.deployment", "svc_notebook.service"),
    *("svc_notebook.tuning.plots", "scipy", "matplotlib", "IPython"),
)


def run(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *options], capture_output=True, text=True, check=False, cwd=ROOT
    )


def imported_by(code: str) -> set[str]:
    """The packages a fresh Python holds after running some code."""
    told = f"{code}\nimport json, sys\nprint(json.dumps([m.split('.')[0] for m in sys.modules]))"
    done = run("-c", told)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_the_face_is_small_and_sorted() -> None:
    assert sorted(svc.__all__) == svc.__all__
    assert len(svc.__all__) <= 20


@pytest.mark.slow
def test_connecting_and_loading_import_no_measurements() -> None:
    code = "import svc_notebook as svc, sys; svc.connect; svc.load; print(*sys.modules, sep='\\n')"
    done = run("-c", code)

    assert done.returncode == 0, done.stderr
    modules = done.stdout.splitlines()
    assert "svc_notebook.data.loading.dispatch" in modules
    assert not [name for name in modules if name.startswith(UNNEEDED)]


@loop_over("name", dir(svc))
def test_every_name_is_there_and_explained(name: str) -> None:
    found = getattr(svc, name)

    assert inspect.getdoc(found)


def test_the_modules_that_users_import_are_there() -> None:
    text = (ROOT / "docs" / "releases.md").read_text(encoding="utf-8")
    sentence = text[text.index("- **Public names**") : text.index("Everything else may change")]
    paths = re.findall(r"`(?:svc_notebook)?\.(\w+)`", sentence)

    assert {"client", "errors", "tuning"} <= {*paths}
    assert all(find_spec(f"svc_notebook.{path}") for path in paths), paths
    assert client.Client is svc.Client


def test_all_is_a_part_of_what_tab_shows() -> None:
    assert set(svc.__all__) <= set(dir(svc))


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'serach'; did you mean `search`"):
        svc.serach  # type: ignore[attr-defined]  # noqa: B018


def test_importing_the_package_imports_nothing_heavy() -> None:
    assert not imported_by("import svc_notebook") & HEAVY


@pytest.mark.slow
def test_a_connection_brings_the_client_and_pandas_alone() -> None:
    heavy = imported_by("import svc_notebook as svc\nsvc.connect") & HEAVY

    assert heavy <= {"httpx", "pandas", "pyarrow"}


@pytest.mark.slow
def test_the_magic_brings_nothing_heavy() -> None:
    shell = "from IPython.core.interactiveshell import InteractiveShell\nshell = InteractiveShell()"

    before = imported_by(shell)
    after = imported_by(f"{shell}\nimport svc_notebook\nsvc_notebook.load_ipython_extension(shell)")

    assert not (after - before) & HEAVY


@pytest.mark.slow
def test_the_command_serves_without_pandas_and_ipython() -> None:
    code = "from svc_notebook.faces import cli\nfrom svc_notebook.service import server as serve"

    assert not imported_by(code) & {"pandas", "IPython", "httpx", "duckdb"}


@pytest.mark.parametrize(
    "code",
    [
        "import svc_notebook as svc\nimport pandas as pd\nsvc.connect",
        "import svc_notebook as svc\nsvc.connect\nimport pandas as pd",
        "import svc_notebook as svc\nimport pandas as pd\nsvc.Client",
        "import pandas as pd\nimport svc_notebook",
        "import pandas as pd\nimport svc_notebook, importlib; importlib.reload(svc_notebook)",
    ],
)
def test_the_accessors_come_with_the_first_use(code: str) -> None:
    ask = "assert pd.DataFrame().svc and pd.Series([], dtype=str).svc"

    done = run("-W", "error", "-c", f"{code}\n{ask}")

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "use", ["svc.connect", "search\ntry: search('films')\nexcept svc.errors.SvcError: pass"]
)
def test_each_use_registers_the_accessors_of_packages_imported_since(use: str) -> None:
    code = (
        "import svc_notebook as svc\nfrom svc_notebook import search\nsvc.connect\n"
        f"import dask.dataframe as dd\n{use}\nassert dd.DataFrame.svc"
    )

    done = run("-c", code)

    assert (done.returncode, done.stderr) == (0, "")


def test_a_call_of_the_package_never_stands_in_the_import_system() -> None:
    code = "import sys; before = [*sys.meta_path], [*sys.path_hooks]\nimport svc_notebook as svc\n"

    done = run(
        "-c", f"{code}svc.connect, svc.load\nprint(before == (sys.meta_path, sys.path_hooks))"
    )

    assert (done.stdout, done.stderr) == ("True\n", "")


@pytest.mark.slow
def test_the_accessors_bring_nothing_heavy() -> None:
    added = imported_by("import pandas, svc_notebook") - imported_by("import pandas")

    assert not added & HEAVY


@pytest.mark.slow
def test_without_a_client_it_is_said_what_to_type() -> None:
    code = (
        "import svc_notebook as svc\n"
        "try: svc.search('films')\n"
        "except svc.errors.NotConnected as error: print(error)"
    )

    done = run("-c", code)

    assert 'connect("local")' in done.stdout


if TYPE_CHECKING:
    assert_type(svc.search("films", "god", hitsPerPage=3), DataFrame)
    assert_type(svc.read_browse("films"), DataFrame)
    assert_type(svc.connect("local"), svc.Client)
    assert_type(asyncio.run(svc.aio.search("films", criteria=True)), DataFrame)
