"""Clients and integrations that others wrote, at a real service."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import Running, start_service, stop_service


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service with two clusters; it reads headers as the vendor's clients name them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SVC_VENDOR", "Algolia")
        process, running = start_service(tmp_path_factory.mktemp("clients"), "--clusters", "2")
    yield running
    stop_service(process)
