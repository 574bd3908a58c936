"""The test suite of the vendor's Django integration, as it was released, passes at the service."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Running
from tests.installation import install_once
from tests.kernels.overlays import install_alone, run_pip

RELEASE = "algoliasearch-django==4.0.0"
# What the suite and Django need, and the environment of the tests does not have.
PACKAGES = (
    "django==5.2.8", "asgiref==3.10.0", "sqlparse==0.5.3", "factory_boy==3.3.3", "Faker==40.1.2",
    "six==1.17.0", "mock==5.2.0", "tzdata==2025.2",
)  # fmt: skip
TESTS = 60
PROJECT = Path(__file__).parent / "django_project"


def fill(folder: Path) -> None:
    """Install the packages, and unpack the integration's archive, which has its tests."""
    install_alone(PACKAGES, folder)
    run_pip("download", "--no-binary=algoliasearch-django", f"--dest={folder}", RELEASE)
    [archive] = folder.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        # Early patch releases of Python 3.11 have no filters, and the archive is pinned.
        safely: Any = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        packed.extractall(folder / "archive", **safely)
    [unpacked] = (folder / "archive").iterdir()
    (unpacked / "algoliasearch_django").rename(folder / "algoliasearch_django")
    (unpacked / "tests").rename(folder / "suite")


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_suite_of_the_django_integration_passes(
    service: Running, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    packages = install_once(pytestconfig.cache.mkdir("clients") / "django", fill)
    shutil.copytree(packages / "suite", tmp_path / "tests")
    shutil.copytree(PROJECT, tmp_path / "tests", dirs_exist_ok=True)
    address = {
        "SERVICE_URL": service.url,
        "SERVICE_APP_ID": service.appId,
        "SERVICE_KEY": service.adminKey,
        "PYTHONPATH": os.pathsep.join([str(tmp_path), str(packages)]),
    }

    done = subprocess.run(
        [sys.executable, "-m", "django", "test", "--settings=tests.settings", "tests"],
        cwd=tmp_path,
        env=os.environ | address,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    ran = re.search(r"^Ran (\d+) tests.*\n\nOK$", done.stderr, re.M)
    assert ran, done.stderr
    assert int(ran[1]) == TESTS
