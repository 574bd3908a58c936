"""Kernels of the versions that are in use, connected to the real service."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.conftest import ROOT, Running, start_service, stop_service
from tests.faces.magics.kernel import Kernel, running_kernel
from tests.kernels.overlays import put_before

RELEASES = ("6", "7")  # the last before kernels had subshells, and today's
FOLDERS = {
    "HOME": "",
    "IPYTHONDIR": "ipython",
    "JUPYTER_RUNTIME_DIR": "runtime",
    "TMPDIR": "",
    "XDG_CACHE_HOME": "cache",
    "XDG_CONFIG_HOME": "config",
    "XDG_DATA_HOME": "share",
    "XDG_STATE_HOME": "state",
}


def environment(home: Path, before: Sequence[str] = ()) -> dict[str, str]:
    """The environment of a user with a home of their own; folders to put before the path."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
    private = {name: str(home / folder) for name, folder in FOLDERS.items()}
    path = {"PYTHONPATH": os.pathsep.join([*before, str(ROOT)])}
    return own | private | path | {"SVC_CONFIG": str(home / "config.toml")}


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service of this folder's own, whose few indices are shown whole."""
    process, running = start_service(tmp_path_factory.mktemp("service"))
    yield running
    stop_service(process)


@pytest.fixture(scope="package", params=RELEASES, ids=lambda release: f"ipykernel-{release}")
def kernel(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, service: Running
) -> Iterator[Kernel]:
    """A notebook on one release of ipykernel, in a folder of its own."""
    before = put_before(request.config.cache, "ipykernel", request.param, "nest-asyncio")
    home = tmp_path_factory.mktemp("home")
    with running_kernel(environment(home, before)) as started:
        started.good(
            f"import ipykernel\nassert ipykernel.__version__.startswith({request.param!r})"
        )
        started.good(f"%cd -q {home}\n%load_ext svc_notebook\nimport svc_notebook as svc")
        started.good(
            f"client = svc.connect(url={service.url!r}, app_id={service.appId!r}, "
            f"api_key={service.adminKey!r})"
        )
        yield started
