"""The page on tuning names what exists."""

from __future__ import annotations

import re

import pytest

import svc_notebook as svc
from svc_notebook.tuning.evaluation.metrics import FAMILIES, read_measure
from svc_notebook.tuning.evaluation.scores import SCORES
from svc_notebook.tuning.tables.schema import JUDGMENTS, QUERIES, RUNS
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "tuning.md").read_text(encoding="utf-8")
TABLES = {"judgments": JUDGMENTS, "queries": QUERIES, "runs": RUNS, "scores": SCORES}


def test_every_name_it_calls_is_there() -> None:
    for name in set(re.findall(r"svc\.tuning\.(\w+)", PAGE)):
        assert hasattr(svc.tuning, name), name


def test_every_function_is_spoken_of() -> None:
    plain = {name for name in dir(svc.tuning) if name.islower() and name != "aio"}

    unsaid = {name for name in plain if not re.search(rf"\b{name}\b", PAGE)}

    own = {"check_queries", "check_runs"}
    said_elsewhere = {"clicks", "count_queries", "no_results", "zero_shares", "plot_zero_shares",
                      "sample_queries", "split"}  # fmt: skip
    assert unsaid <= own | said_elsewhere


@pytest.mark.parametrize("table", TABLES)
def test_columns_are_those_of_the_code(table: str) -> None:
    [columns] = re.findall(rf"^\| {table} \|[^|]*\| `([^`]*)` \|$", PAGE, re.MULTILINE)

    assert columns.split() == list(TABLES[table])


def test_metrics_are_those_of_the_code() -> None:
    written = re.findall(r"^\| `(\w+(?:@k|\(p\)))` \|", PAGE, re.MULTILINE)

    names = [read_measure(name.replace("@k", "@10").replace("(p)", "(0.8)")) for name in written]

    assert [measure.family for measure in names] == list(FAMILIES)
