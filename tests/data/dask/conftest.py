"""A real cluster of two worker processes, which may be killed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from distributed import Client as Cluster
from distributed import LocalCluster

from svc_notebook.data.client import Client, ClientConfig, Secret
from tests.conftest import Running


@pytest.fixture(scope="package")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = str(tmp_path_factory.mktemp("dask"))
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs=50,
            local_directory=folder,
        ) as local,
        Cluster(local, set_as_default=False) as connected,
    ):
        yield connected


@pytest.fixture
def workers(cluster: Any) -> Iterator[Any]:
    """The cluster, as the one this test's code finds."""
    with cluster.as_current():
        yield cluster


@pytest.fixture
def client(service: Running) -> Iterator[Client]:
    key = Secret(service.adminKey)
    with Client(ClientConfig(url=service.url, app_id=service.appId, api_key=key)) as client:
        yield client


@pytest.fixture
def index() -> str:
    return f"dask-{uuid4().hex[:8]}"
