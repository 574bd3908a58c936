"""Judgments and runs of other tools are read and written without a change of their meaning."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ir_measures
import pytest

from svc_notebook import tuning
from svc_notebook.errors import BadInput, SvcError
from tests.tuning.tables import judgments_of, run_of

JUDGED = judgments_of(**{"red lamp": {"a": 3, "b": 0, "c": 1}, "table": {"b": 2}})
RUN = run_of("mine", **{"red lamp": ["b", "c", "a"], "table": ["a", "b"], "sofa": []})


def test_written_files_are_read_by_ir_measures_with_equal_scores(tmp_path: Path) -> None:
    ids = tuning.write_trec_run(RUN, tmp_path / "run.txt")
    tuning.write_qrels(JUDGED, tmp_path / "qrels.txt", ids)

    oracle: Any = ir_measures
    qrels = list(oracle.read_trec_qrels(str(tmp_path / "qrels.txt")))
    run = list(oracle.read_trec_run(str(tmp_path / "run.txt")))
    expected = {
        value.query_id: value.value for value in oracle.iter_calc([oracle.nDCG @ 10], qrels, run)
    }

    scores = tuning.evaluate(RUN, JUDGED).set_index("query")["value"]
    texts = dict(zip(ids["query_id"], ids["query"], strict=True))
    assert {texts[one]: value for one, value in expected.items()} == pytest.approx(
        scores.dropna().to_dict()
    )


def test_trec_files_are_read_as_they_were_written(tmp_path: Path) -> None:
    ids = tuning.write_qrels(JUDGED, tmp_path / "qrels.txt")
    more = {**dict(zip(ids["query_id"], ids["query"], strict=True)), "9": "sofa"}
    tuning.write_trec_run(RUN, tmp_path / "run.txt", more)

    judged = tuning.read_qrels(tmp_path / "qrels.txt", ids)
    run = tuning.read_trec_run(tmp_path / "run.txt", more)

    columns = ["query", "objectID", "rating"]
    assert judged[columns].equals(tuning.check_judgments(JUDGED)[columns])
    found = RUN[RUN["objectID"].notna()].sort_values(["query", "rank"])
    assert run["objectID"].tolist() == found["objectID"].tolist()
    assert set(run["run"]) == {"mine"}


def test_a_run_is_ranked_by_its_scores_as_trec_eval_does(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text("q1 Q0 a 1 0.5 x\n\nq1 Q0 b 2 0.9 x\nq1 Q0 c 3 0.5 x\nq1 Q0 d 1 -2 y\n")
    topics = tmp_path / "topics.tsv"
    topics.write_text("q1\tred lamp\n")

    found = tuning.read_trec_run(path, topics)

    assert found[found["run"] == "x"]["objectID"].tolist() == ["b", "a", "c"]
    assert found["query"].unique().tolist() == ["red lamp"]
    assert tuning.read_trec_run(path)["query"].unique().tolist() == ["q1"]


def test_a_negative_rating_is_unrateable(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text("q1 0 a -1\nq1 0 b 2\n")

    judged = tuning.read_qrels(path)

    assert judged["unrateable"].tolist() == [True, False]


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_a_case_of_quepid_is_read_as_it_was_written(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"case{suffix}"

    tuning.write_quepid(JUDGED, path)
    judged = tuning.read_quepid(path)

    columns = ["query", "objectID", "rating"]
    assert judged[columns].equals(tuning.check_judgments(JUDGED)[columns])
    assert set(judged["source"]) == {"import"}


def test_exports_of_quepid_leave_out_what_is_not_rated(tmp_path: Path) -> None:
    basic, general, case = (tmp_path / name for name in ("b.csv", "g.csv", "c.json"))
    basic.write_text('query,docid,rating\n"sofa, red"\nlamp,1,3\nlamp,2,\n')
    general.write_text(
        "Team Name,Case Name,Case ID,Query Text,Doc ID,Doc Position,Rating\n"
        "t,c,1,lamp,1,1,3\nt,c,1,lamp,2,2,\n"
    )
    case.write_text(json.dumps({"queries": [
        {"query": "lamp", "ratings": {"1": 3}}, {"query": "sofa", "ratings": {}},
    ]}))  # fmt: skip

    for path in (basic, general, case):
        [row] = tuning.read_quepid(path).to_dict("records")
        assert (row["query"], row["objectID"], row["rating"]) == ("lamp", "1", 3)


def _write(tmp_path: Path, name: str, text: str) -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def test_what_cannot_be_read_or_written_is_named(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    half: Any = judgments_of(q={"a": 0.5})
    spaced: Any = judgments_of(q={"a b": 1})
    calls: list[tuple[str, Any]] = [
        ("not one whole number", lambda: tuning.write_qrels(half, path)),
        ("contains a space", lambda: tuning.write_qrels(spaced, path)),
        ("has no id", lambda: tuning.write_qrels(JUDGED, path, {"1": "table"})),
        ("line 1: 3 fields instead of 4",
         lambda: tuning.read_qrels(_write(tmp_path, "a", "q 0 a\n"))),
        ("'x' is not a number", lambda: tuning.read_qrels(_write(tmp_path, "b", "q 0 a x\n"))),
        ("has no text in", lambda: tuning.read_qrels(_write(tmp_path, "c", "q 0 a 1\n"), {})),
        ("no hit", lambda: tuning.read_trec_run(_write(tmp_path, "d", ""))),
        ("an id, a tab and a text",
         lambda: tuning.read_qrels(tmp_path / "c", _write(tmp_path, "t", "q text\n"))),
        ("nothing cannot be read", lambda: tuning.read_qrels(tmp_path / "nothing")),
        ("unsupported format", lambda: tuning.write_quepid(JUDGED, path)),
        ("it needs the columns", lambda: tuning.read_quepid(_write(tmp_path, "e.csv", "a,b\n"))),
        ("is not a JSON export", lambda: tuning.read_quepid(_write(tmp_path, "f.json", "[]"))),
        ("is not a number",
         lambda: tuning.read_quepid(_write(tmp_path, "g.csv", "query,docid,rating\nq,a,x\n"))),
    ]  # fmt: skip

    for message, call in calls:
        with pytest.raises(SvcError, match=message):
            call()
    assert not path.exists()


def test_filters_have_no_place_in_quepid(tmp_path: Path) -> None:
    judged = [
        {"query": "q", "objectID": "a", "rating": 1, "filters": each} for each in ("", "brand:x")
    ]

    with pytest.raises(BadInput, match="several filters"):
        tuning.write_quepid(judged, tmp_path / "x.csv")
