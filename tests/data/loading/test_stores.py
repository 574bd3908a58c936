"""S3, tables of Iceberg and datasets of Hugging Face, through the real libraries."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from typing import Any

import pytest

from tests.conftest import ROOT, Running
from tests.installation import install_once
from tests.kernels.overlays import install_alone

# What the installed packages lack; moto needs an earlier release of dateutil.
PACKAGES = (
    *("aiobotocore==3.10.0", "aioitertools==0.13.0", "blinker==1.9.0", "boto3==1.43.117"),
    *("botocore==1.43.117", "cachetools==8.0.2", "datasets==5.2.0", "dill==0.4.1", "flask==3.1.3"),
    *("flask-cors==6.0.5", "jmespath==1.1.0", "mmh3==5.3.1", "moto==5.2.5"),
    *("multiprocess==0.70.19", "py-partiql-parser==0.6.3", "pyiceberg==0.12.0"),
    *("pyroaring==1.2.0", "python-dateutil==2.9.0.post0", "responses==0.26.3", "s3fs==2026.9.0"),
    *("s3transfer==0.19.3", "strictyaml==1.7.3", "werkzeug==3.1.9", "xmltodict==1.0.4"),
    *("xxhash==4.1.0", "zstandard==0.25.0"),
)
ROWS = [{"id": "a", "name": "Lamp", "n": 1}, {"id": "b", "name": "Desk", "n": 2}]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def loaded(
    service: Running, pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, Any], str]:
    cache = pytestconfig.cache
    assert cache
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    folder = cache.mkdir("overlays") / f"stores-{python}"
    packages = install_once(folder, partial(install_alone, PACKAGES))
    home = tmp_path_factory.mktemp("stores")
    done = subprocess.run(
        [sys.executable, "-m", "tests.data.loading.stores", str(home),
         service.url, service.appId, service.adminKey],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(packages), "HF_HOME": str(home), "HOME": str(home)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def test_files_and_folders_of_s3_are_loaded(loaded: tuple[dict[str, Any], str]) -> None:
    stored = loaded[0]["s3"]

    assert stored["file"] == ROWS[:1]
    assert stored["pattern"] == ROWS
    assert stored["folder"] == ROWS
    assert "s3://shop/csv/9.csv" in stored["missing"]
    assert "canary" not in f"{loaded}"


def test_a_table_of_iceberg_has_its_current_rows_only(loaded: tuple[dict[str, Any], str]) -> None:
    assert loaded[0]["iceberg"]["scan"] == ROWS
    assert loaded[0]["iceberg"]["table"] == ROWS


def test_datasets_are_loaded(loaded: tuple[dict[str, Any], str]) -> None:
    assert loaded[0]["datasets"]["dataset"] == ROWS
    assert loaded[0]["datasets"]["streaming"] == ROWS
    assert "train" in str(loaded[0]["datasets"]["splits"])
