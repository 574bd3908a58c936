"""What tests of loads share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from svc_notebook.data.client import Client, ClientConfig, Secret
from tests.conftest import Running


@pytest.fixture
def client(service: Running) -> Iterator[Client]:
    """A client of the service that all tests share."""
    key = Secret(service.adminKey)
    with Client(ClientConfig(url=service.url, app_id=service.appId, api_key=key)) as client:
        yield client
