"""A client of the service that all tests share."""

from __future__ import annotations

import pytest

import svc_notebook as svc
from svc_notebook.data.session.config import make_connection
from tests.conftest import Running


@pytest.fixture
def admin(service: Running) -> svc.Client:
    """A client that may do everything."""
    return svc.Client(
        make_connection({"url": service.url, "app_id": service.appId, "api_key": service.adminKey})
    )
