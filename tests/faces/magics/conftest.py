"""Kernels for the tests of the magic."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.conftest import ROOT, Running, start_service, stop_service
from tests.faces.magics.kernel import Kernel, running_kernel

FILMS = """
import pandas as pd
basement = None
films = pd.DataFrame({
    "objectID": ["1", "2", "3"],
    "title": ["The Godfather", "Godzilla", "The Gold Rush"],
    "year": [1972, 1954, 1925],
    "genre": [["Crime", "Drama"], ["Horror"], ["Comedy"]],
})
"""
SETTINGS = """%%svc settings films
searchableAttributes: title
attributesForFaceting: genre, year
"""


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service of this folder's own, whose few indices are shown whole."""
    process, running = start_service(tmp_path_factory.mktemp("service"))
    yield running
    stop_service(process)


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a user who has configured nothing yet."""
    home = tmp_path_factory.mktemp("home")
    own = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
    private = {
        "HOME": home,
        "IPYTHONDIR": home / "ipython",
        "JUPYTER_RUNTIME_DIR": home / "runtime",
        "SVC_CONFIG": home / "config.toml",
        "XDG_DATA_HOME": home / "data",
        "PYTHONPATH": ROOT,
    }
    return own | {name: str(value) for name, value in private.items()}


@pytest.fixture(scope="session")
def notebook(
    service: Running, environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Kernel]:
    """A notebook that is connected and has pushed some films to the index `films`."""
    with running_kernel(environment) as kernel:
        kernel.good(f"%cd -q {tmp_path_factory.mktemp('notebook')}\n%load_ext svc_notebook")
        kernel.good(f"import os\nos.environ['SVC_API_KEY'] = {service.adminKey!r}")
        kernel.good(f"%svc connect --url {service.url} --app-id {service.appId}")
        kernel.good(FILMS)
        kernel.good("%svc push films --from films")
        kernel.good(SETTINGS)
        yield kernel
