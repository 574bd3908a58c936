"""Relevance as a test: verdicts, exit statuses, and the pytest plugin."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from pandas import DataFrame

import svc_notebook as svc
from svc_notebook.errors import BadInput
from svc_notebook.faces.cli import main
from svc_notebook.tuning.evaluation.requirements import read_relevance_file
from tests.conftest import Running

WORDS = [f"word{n:02}" for n in range(30)]


@pytest.fixture
def index(admin: svc.Client, tmp_path: Path) -> str:
    """An index in which the record of each word is found by it, first."""
    name = f"relevant-{tmp_path.name}"
    svc.push([{"objectID": word, "name": word} for word in WORDS], name, progress=False)
    return name


def judge(right: int, wrong: int) -> DataFrame:
    """Judge queries of which some find their record, and some another one."""
    rows = [(word, word, 1) for word in WORDS[:right]]
    rows += [(word, "other", 1) for word in WORDS[right : right + wrong]]
    return DataFrame(rows, columns=["query", "objectID", "rating"])


@pytest.mark.parametrize(
    ("right", "wrong", "bound", "outcome"),
    [
        (20, 0, 0.7, "passed"),
        (15, 5, 0.7, "passed"),
        (13, 7, 0.7, "undecided"),
        (2, 18, 0.7, "failed"),
        (2, 1, 0.7, "undecided"),
        (0, 1, 0.7, "undecided"),
        (7, 3, 0.7, "passed"),
        (0, 3, 0.7, "failed"),
    ],
)
@pytest.mark.filterwarnings("ignore:none of the .* hits")
def test_a_verdict_knows_its_uncertainty(
    index: str, right: int, wrong: int, bound: float, outcome: str
) -> None:
    verdict = svc.tuning.check_relevance(
        index, judge(right, wrong), {"ndcg@10": bound}, progress=False
    )

    assert verdict.outcome == outcome
    assert verdict.complete == (outcome != "failed")
    strict = svc.tuning.check_relevance(
        index, judge(right, wrong), {"ndcg@10": bound}, strict=True, progress=False
    )
    assert strict.complete == (outcome == "passed")


@pytest.mark.slow
def test_a_loss_against_the_baseline(index: str, tmp_path: Path) -> None:
    path, judged = tmp_path / "baseline.parquet", judge(20, 0)
    svc.tuning.check_relevance(index, judged, {"ndcg@10": 0.5}, save=path, progress=False)
    options: Any = {"no_worse_than": path, "progress": False}

    assert svc.tuning.check_relevance(index, judged, **options).outcome == "passed"
    svc.delete_records(index, WORDS[:1])
    one = svc.tuning.check_relevance(index, judged, **options)
    allowed = svc.tuning.check_relevance(index, judged, margin=0.06, **options)
    svc.delete_records(index, WORDS[1:9])
    many = svc.tuning.check_relevance(index, judged, **options)

    assert (one.outcome, allowed.outcome, many.outcome) == ("undecided", "passed", "failed")
    assert "0 won, 11 tied, 9 lost" in repr(many)
    assert "lowest scores" in many._repr_html_() or "<table>" in many._repr_html_()


def test_broken_searches_and_judgments_never_pass(index: str) -> None:
    none = DataFrame([("word01", "word01", 0)], columns=["query", "objectID", "rating"])
    one = judge(5, 0).assign(filters=["", "", "", "", "("])

    verdict = svc.tuning.check_relevance(index, one, {"ndcg@10": 0.0}, progress=False)
    assert verdict.outcome == "failed"
    assert "failed; the first is" in repr(verdict)
    nothing = svc.tuning.check_relevance(index, none, {"ndcg@10": 0.0}, progress=False)
    assert "no judged query has a relevant record" in repr(nothing)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "nothing is required"),
        ({"at_least": {"ndcg@10": 70}}, "from 0 to 1, not 70"),
        ({"at_least": {"ndgc@10": 0.7}}, "did you mean `ndcg`"),
        ({"at_least": {"ndcg@10": 0.7}, "margin": -1}, "`margin`"),
    ],
)
def test_requirements_are_checked_before_the_searches(
    admin: svc.Client, given: Any, message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        svc.tuning.check_relevance("none", judge(1, 0), progress=False, **given)


@pytest.mark.slow
def test_the_command_has_an_exit_status(
    index: str, tmp_path: Path, service: Running, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    for name, value in (
        ("URL", service.url), ("APP_ID", service.appId), ("API_KEY", service.adminKey),
    ):  # fmt: skip
        monkeypatch.setenv(f"SVC_{name}", value)
    judged, weak = tmp_path / "judged.csv", tmp_path / "weak.csv"
    judge(13, 7).to_csv(judged, index=False)
    judge(2, 18).to_csv(weak, index=False)
    words = ["evaluate", index, str(judged)]
    run = str(tmp_path / "run.parquet")

    assert main([*words, "--save", run]) == 0
    assert main([*words, "--at-least", "ndcg@10=0.5", "--no-worse-than", run]) == 0
    assert main([*words, "--at-least", "ndcg@10=0.7"]) == 0
    assert "undecided: ndcg@10 at least 0.7" in capsys.readouterr().out
    assert main([*words, "--at-least", "ndcg@10=0.7", "--strict"]) == 1
    assert main(["evaluate", index, str(weak), "--at-least", "ndcg@10=0.7,rr@10=0.1"]) == 1
    assert main([*words, "--at-least", "ndcg"]) == 2
    assert main([*words, "--strict"]) == 2


@pytest.mark.slow
def test_a_check_that_fails_has_another_exit_status_than_a_score_that_is_too_low(
    index: str, tmp_path: Path, service: Running, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    for name, value in (
        ("URL", service.url), ("APP_ID", service.appId), ("API_KEY", service.adminKey),
    ):  # fmt: skip
        monkeypatch.setenv(f"SVC_{name}", value)
    judged, single = tmp_path / "judged.csv", tmp_path / "single.csv"
    judge(2, 18).to_csv(judged, index=False)
    judge(1, 0).to_csv(single, index=False)
    required = ["--at-least", "ndcg@10=0.7"]

    assert main(["evaluate", index, str(judged), *required]) == 1
    assert main(["evaluate", index, str(judged), *required, "--filters", "price <"]) == 2
    assert main(["evaluate", "no-such-index", str(judged), *required]) == 2
    assert main(["evaluate", index, str(tmp_path / "none.csv"), *required]) == 2
    monkeypatch.setenv("SVC_API_KEY", "wrong")
    assert main(["evaluate", index, str(judged), *required]) == 2
    monkeypatch.setenv("SVC_API_KEY", service.adminKey)
    capsys.readouterr()
    assert main(["evaluate", index, str(single), *required]) == 0
    assert main(["evaluate", index, str(single), *required, "--strict"]) == 1
    shown = capsys.readouterr().out
    assert "undecided: ndcg@10 at least 0.7" in shown
    assert "of 1 query: too few to decide" in shown


FILE = """\
# The lamps must stay on top.
index: {index}
at_least:
  ndcg@10: {bound}
  rr@10: 0.1
queries:
{queries}
"""


def write_file(folder: Path, index: str, bound: float, right: int, wrong: int) -> None:
    rows = judge(right, wrong).itertuples()
    queries = "\n".join(f"  {row.query}:\n    {row.objectID}: {row.rating}" for row in rows)
    text = FILE.format(index=index, bound=bound, queries=queries)
    (folder / f"words-{bound}.judgments.yaml").write_text(text)


def run_pytest(folder: Path, service: Running, *words: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a folder as a user would, with the service in the configuration."""
    (folder / "config.toml").write_text(
        f'[profiles.shop]\nurl = "{service.url}"\napp_id = "{service.appId}"\n'
        f'api_key = "{service.adminKey}"\n'
    )
    (folder / "pytest.ini").write_text("[pytest]\n")
    environment = {"SVC_CONFIG": str(folder / "config.toml")}
    command = [sys.executable, "-m", "pytest", "-p", "svc_notebook_pytest", "-p", "no:xdist"]
    return subprocess.run(
        [*command, "-p", "no:cov", "--svc-profile", "shop", "-rs", *words],
        cwd=folder, env=keep_environment() | environment,
        capture_output=True, text=True, timeout=50, check=False,
    )  # fmt: skip


def keep_environment() -> dict[str, str]:
    """Return the environment without options of this run of the tests, and without a profile."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("SVC_") and name != "PYTEST_ADDOPTS"
    }


@pytest.mark.slow
def test_pytest_collects_files(index: str, service: Running, tmp_path: Path) -> None:
    for bound, right, wrong in ((0.6, 20, 0), (0.7, 13, 7), (0.9, 2, 18)):
        write_file(tmp_path, index, bound, right, wrong)

    ran = run_pytest(tmp_path, service, "--junitxml=out.xml")

    assert ran.returncode == 1
    assert "1 failed, 4 passed, 1 skipped" in ran.stdout, ran.stdout
    assert "undecided: ndcg@10 at least 0.7" in ran.stdout
    assert "lowest scores:" in ran.stdout
    assert "Traceback" not in ran.stdout
    cases = ET.parse(tmp_path / "out.xml").getroot().iter("testcase")
    assert {"value", "low", "high", "bound"} == {
        one.attrib["name"] for case in cases for one in case.iter("property")
    }


@pytest.mark.slow
def test_pytest_has_a_fixture(index: str, service: Running, tmp_path: Path) -> None:
    judge(20, 0).to_csv(tmp_path / "good.csv", index=False)
    judge(2, 18).to_csv(tmp_path / "bad.csv", index=False)
    (tmp_path / "test_search.py").write_text(
        f"def test_good(svc_relevance):\n"
        f'    assert svc_relevance("{index}", "good.csv", {{"ndcg@10": 0.7}}).complete\n'
        f"def test_bad(svc_relevance):\n"
        f'    svc_relevance("{index}", "bad.csv", {{"ndcg@10": 0.7}})\n'
    )

    ran = run_pytest(tmp_path, service)

    assert "1 failed, 1 passed" in ran.stdout, ran.stdout


@pytest.mark.slow
def test_a_wrong_file_is_an_error_of_the_collection(service: Running, tmp_path: Path) -> None:
    (tmp_path / "x.judgments.yaml").write_text("index: a\nat_lest: {}\n")

    ran = run_pytest(tmp_path, service)

    assert ran.returncode == 2
    assert "did you mean `at_least`" in ran.stdout, ran.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("at_least: {ndcg@10: 1}\nqueries: {a: {b: 1}}\n", "`index` is missing"),
        ("index: a\nat_least: {ndcg@10: 1}\n", "give either `queries` or"),
        ("index: a\nqueries: {a: {b: 1}}\n", "nothing is required"),
        ("index: a\nat_least: {ndgc@10: 1}\nqueries: {a: {b: 1}}\n", "did you mean `ndcg`"),
        ("- a\n", "must contain `index`"),
    ],
)
def test_a_wrong_file_says_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.judgments.yaml"
    path.write_text(text)

    with pytest.raises(BadInput, match=message):
        read_relevance_file(path)


def test_a_file_reads_words_as_text(tmp_path: Path) -> None:
    path = tmp_path / "x.judgments.yaml"
    path.write_text("index: no\nat_least: {ndcg@10: 1}\nqueries:\n  on:\n    007: 1\n    1e3: 2\n")

    assert read_relevance_file(path)["index"] == "no"
    assert read_relevance_file(path)["queries"] == {"on": {"007": 1, "1e3": 2}}


@pytest.mark.slow
def test_the_plugin_imports_nothing_of_the_package_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "test_empty.py").write_text(
        "import sys\n"
        "def test_empty():\n"
        "    assert 'svc_notebook_pytest' in sys.modules\n"
        "    assert not [m for m in sys.modules if m.partition('.')[0] == 'svc_notebook']\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "svc_notebook_pytest", "-p", "no:cov"]

    ran = subprocess.run(
        command, cwd=tmp_path, env=keep_environment(),
        capture_output=True, text=True, timeout=50, check=False,
    )  # fmt: skip

    assert ran.returncode == 0, ran.stdout
