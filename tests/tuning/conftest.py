"""A connected session, and an index to measure."""

from __future__ import annotations

from pathlib import Path

import pytest
from pandas import DataFrame

import svc_notebook as svc
from tests.conftest import Running

RECORDS = [
    {"objectID": "1", "name": "red lamp", "brand": "Acme", "price": 10, "sold": 5},
    {"objectID": "2", "name": "lamp", "brand": "Bolt", "price": 20, "sold": 9},
    {"objectID": "3", "name": "oak table", "brand": "Acme", "price": 90, "sold": 7},
    {"objectID": "4", "name": "lamp table", "brand": "Bolt", "price": 50, "sold": 2},
    {"objectID": "5", "name": "lump", "brand": "Acme", "price": 5, "sold": 99},
]


@pytest.fixture
def admin(service: Running, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> svc.Client:
    """The current client of this test, which may do everything."""
    monkeypatch.setenv("SVC_CONFIG", str(tmp_path / "config.toml"))
    return svc.connect(url=service.url, app_id=service.appId, api_key=service.adminKey)


@pytest.fixture
def measured(admin: svc.Client, tmp_path: Path) -> str:
    """An index of five records, lamps most of them, that ranks by what was sold."""
    name = f"measured-{tmp_path.name}"
    svc.push(DataFrame(RECORDS), name, progress=False)
    svc.settings(
        name, searchableAttributes=["name"], customRanking=["desc(sold)"],
        attributesForFaceting=["brand"],
    )  # fmt: skip
    return name
