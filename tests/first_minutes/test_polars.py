"""Accessors of Polars in fresh processes, with the oldest and the installed release of Polars."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.first_minutes.processes import run_fresh, user_environment
from tests.kernels.overlays import put_before

ORDERS = {
    "first": "import polars as pl\nimport svc_notebook as svc\n",
    "second": "import svc_notebook as svc\nimport polars as pl\n",
}
WORK = """
svc.connect("local")
frame = pl.DataFrame({"id": ["1", "2"], "name": ["desk lamp", "mug"], "tags": [["a"], []]})
print(frame.svc.push("in-polars", id="id", if_exists="replace", progress=False).published)
print(frame.lazy().svc.push("in-polars", id="id", progress=False).published)
hits = pl.Series(["lamp", "mug"]).svc.search("in-polars")
print(type(hits).__module__.partition(".")[0], hits["name"].to_list())
print(frame.svc.records("in-polars", id="id")["tags"].to_list())
print(svc.to_polars(svc.read_browse("in-polars")).sort("name")["name"].to_list())
"""
PRINTED = ["2", "2", "polars ['desk lamp', 'mug']", "[['a'], []]", "['desk lamp', 'mug']"]
WITHOUT = """
import sys
import svc_notebook as svc
svc.connect("local")
svc.push(svc.samples.products(), "products", id="sku", progress=False)
svc.search("products", "lamp")
print("polars" in sys.modules)
"""


def oldest() -> str:
    """The oldest release that the project's own requirements allow."""
    named = re.search(r'"polars>=([\d.]+)"', (ROOT / "pyproject.toml").read_text())
    assert named
    return f"{named[1]}.0" if named[1].count(".") == 1 else named[1]


@pytest.mark.parametrize("order", ORDERS)
def test_both_orders_of_imports_work(order: str, tmp_path: Path) -> None:
    assert run_fresh(ORDERS[order] + WORK, tmp_path).splitlines() == PRINTED


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_oldest_release_works(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    before = put_before(request.config.cache, "polars", oldest())
    path = os.pathsep.join([*before, str(ROOT)])
    environment = user_environment(tmp_path, PYTHONPATH=path)
    version = "print(pl.__version__)\n"

    output = run_fresh(ORDERS["second"] + version + WORK, tmp_path, environment, steps=3)

    assert output.splitlines() == [oldest(), *PRINTED]


def test_polars_is_not_imported_by_the_package(tmp_path: Path) -> None:
    assert run_fresh(WITHOUT, tmp_path).splitlines() == ["False"]
