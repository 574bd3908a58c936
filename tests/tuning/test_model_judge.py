"""Judging by a model behind an endpoint: a process that answers by rules, with failures."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.errors import BadInput, CallFailed
from svc_notebook.tuning import ModelJudge
from svc_notebook.tuning.evaluation.model_judge import KEY_VARIABLE, PRICE_VARIABLE
from tests.looping import loop_over

# The model gives 3 if the record's name has the query, else 0; a file has the statuses and answers
# of its next responses, and every request is a line of another file.
MODEL = """
import json, re, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
folder, lock = Path(sys.argv[1]), threading.Lock()
class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = body["messages"][0]["content"]
        query, name = re.search("Query: (.*)", prompt)[1], re.search('"name": "(.*?)"', prompt)[1]
        text = 'Here: {"reason": "its name", "rating": %d}' % (3 if query in name.lower() else 0)
        with lock, (folder / "requests").open("a") as file:
            file.write(json.dumps([self.path, self.headers["Authorization"], body]) + "\\n")
            rules = json.loads((folder / "rules").read_text())
            status, answer = rules.pop(0) if rules else (200, None)
            (folder / "rules").write_text(json.dumps(rules))
        message = {"choices": [{"message": {"content": answer or text}}],
                   "usage": {"total_tokens": 100}}
        data = json.dumps(message).encode()
        self.send_response(status)
        self.send_header("Retry-After", "0")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
    def log_message(self, *_): pass
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""


class Model:
    """The process, and the folder of its rules and requests."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.name = folder, f"http://127.0.0.1:{port}/v1#small"
        self.rule()

    def rule(self, *responses: tuple[int, str | None]) -> None:
        (self.folder / "rules").write_text(json.dumps(responses))

    @property
    def requests(self) -> list[Any]:
        path = self.folder / "requests"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Model]:
    monkeypatch.setenv(KEY_VARIABLE, "secret")
    monkeypatch.setenv(PRICE_VARIABLE, "10")
    seconds = (0.0, 0.0)
    monkeypatch.setattr("svc_notebook.tuning.evaluation.model_judge.RETRY_SECONDS", seconds)
    folder = tmp_path / "model"
    folder.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", MODEL, str(folder)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    yield Model(folder, int(process.stdout.readline()))
    process.terminate()
    process.wait(20)
    process.stdout.close()


@pytest.fixture
def pairs(measured: str) -> pd.DataFrame:
    hits = svc.search(measured, "", hitsPerPage=5)
    return pd.DataFrame({"query": "lamp", "objectID": hits["objectID"].tolist()})


def expected(measured: str, pairs: pd.DataFrame) -> list[float]:
    names = svc.search(measured, "", hitsPerPage=5).set_index("objectID")["name"]
    return [3.0 if "lamp" in names[name].lower() else 0.0 for name in pairs["objectID"]]


def test_a_model_rates_pairs_and_its_cost_is_told_before_and_after(
    measured: str, pairs: pd.DataFrame, model: Model
) -> None:
    judge = ModelJudge(model.name)

    planned = svc.tuning.rate(measured, pairs, judge, dry_run=True)
    before = len(model.requests)
    with pytest.raises(BadInput, match="more than max_cost"):
        svc.tuning.rate(measured, pairs, judge, max_cost=1e-9)
    judged = svc.tuning.rate(measured, pairs, judge)

    assert before == 0
    assert planned["cost"][0] > 0
    assert judged["rating"].tolist() == expected(measured, pairs)
    assert judged.attrs["svc"]["usage"] == "5 requests, 500 tokens, cost 0.0050"
    assert set(judge.reasons.values()) == {"its name"}
    path, key, body = model.requests[0]
    assert (path, key, body["model"]) == ("/v1/chat/completions", "Bearer secret", "small")


def test_a_busy_or_confused_model_is_asked_again(
    measured: str, pairs: pd.DataFrame, model: Model
) -> None:
    model.rule((429, None), (200, "no idea"))
    one = pairs.head(1)

    judged = svc.tuning.rate(measured, one, ModelJudge(model.name))

    assert judged["rating"].tolist() == expected(measured, one)
    assert len(model.requests) == 3


def test_answers_without_a_grade_are_unrateable_and_named(
    measured: str, pairs: pd.DataFrame, model: Model
) -> None:
    model.rule(*[(200, '{"rating": 7}')] * 3)

    with pytest.warns(UserWarning, match=r"1 pair unrateable.*0, 1, 2, 3.*rating.*7"):
        judged = svc.tuning.rate(measured, pairs.head(1), ModelJudge(model.name))

    assert judged["unrateable"].tolist() == [True]


@pytest.mark.slow
def test_a_stopped_call_resumes_from_its_cache(
    measured: str, pairs: pd.DataFrame, model: Model, tmp_path: Path
) -> None:
    cache = tmp_path / "ratings.jsonl"
    options: Any = {"cache": cache, "batch": 2}
    model.rule(*[(200, None)] * 2, *[(500, None)] * 6)

    with pytest.raises(CallFailed, match=r"judge .* failed: status 500") as failure:
        svc.tuning.rate(measured, pairs, ModelJudge(model.name), **options)
    model.rule()
    asked = len(model.requests)
    judged = svc.tuning.rate(measured, pairs, ModelJudge(model.name), **options)

    assert "secret" not in str(failure.value)
    assert judged["rating"].tolist() == expected(measured, pairs)
    assert judged.attrs["svc"]["cached"] == 2
    assert len(model.requests) - asked == 3


def test_a_trial_shows_the_model_beside_people(
    measured: str, pairs: pd.DataFrame, model: Model
) -> None:
    truth = expected(measured, pairs)
    human = pairs.assign(rating=[0.0, *truth[1:]] if truth[0] else [3.0, *truth[1:]], rater="anna")

    trial = svc.tuning.try_judge(measured, human, ModelJudge(model.name), n=4)

    assert len(trial) == len(model.requests) == 4
    assert trial["difference"].abs().is_monotonic_decreasing
    assert trial["reason"].tolist() == ["its name"] * 4
    assert len(trial.attrs["svc"]["agreement"])


def test_new_hits_of_a_run_are_judged(measured: str, model: Model) -> None:
    run = svc.tuning.run(measured, ["lamp"])
    first = run["objectID"].iloc[0]
    known = [{"query": "lamp", "objectID": first, "rating": 2, "rater": "anna"}]

    judged = svc.tuning.complete_judgments(measured, run, known, ModelJudge(model.name), k=3)

    assert judged["objectID"].tolist() == run["objectID"].head(3).tolist()
    assert judged["rater"].tolist() == ["anna", "judge", "judge"]
    assert len(model.requests) == 2


def test_prompts_are_templates_that_records_cannot_fill(model: Model) -> None:
    judge = ModelJudge(model.name, prompt="Query: {{query}}, {{title}}, {{absent}}.")
    record = {"title": "{{query}} {{record}}"}

    filled = judge.fill({"query": "lamp", "filters": "", "record": record})

    assert filled == "Query: lamp, {{query}} {{record}}, ."
    for prompt in ("{{record}}", "{{query}} {{grades}}"):
        with pytest.raises(BadInput, match=r"needs \{\{query\}\}, and"):
            ModelJudge(model.name, prompt=prompt)
    with pytest.raises(BadInput, match="numbers of 0 or more"):
        ModelJudge(model.name, grades={-1: "bad"})
    with pytest.raises(CallFailed, match="sent by https only"):
        ModelJudge("http://models.example/v1#m")


@loop_over("address", ["http://[", "http://[x]/v1", "https://host:99999/v1", "https://a b/v1",
                       "ftp://host/v1", "https://user:key@host/v1", "host/v1", ""])  # fmt: skip
def test_an_address_that_is_none_is_refused(address: str) -> None:
    for name in (address, f"{address}#model"):
        with pytest.raises(CallFailed, match="the URL of the judge is https://HOST/PATH#MODEL"):
            ModelJudge(name)


def test_agreement_is_measured_for_each_grade_with_an_interval() -> None:
    anna = [3.0] * 40 + [0.0] * 40 + [1.0] * 20
    model = [3.0] * 38 + [0.0] * 42 + [0.0] * 10 + [1.0] * 10
    ids = [str(number) for number in range(100)]
    tables = [
        pd.DataFrame({"query": "q", "objectID": ids, "rating": ratings, "rater": rater})
        for rater, ratings in (("anna", anna), ("model", model))
    ]
    judgments = pd.concat(tables)

    table = svc.tuning.grade_agreement(judgments).set_index("grade")
    differing = svc.tuning.disagreements(judgments, ["anna", "model"])

    plain = svc.tuning.agreement(judgments).set_index("measure")["value"]
    assert table.loc["all", "kappa"] == plain["Cohen's kappa, squared weights"]
    counts = table[["first", "second", "both"]].loc["1"]
    assert [*counts] == [20, 10, 10]
    # 2 x 2: both 10, neither 80, only the first 10: (.9 - .74) / (1 - .74)
    assert table.loc["1", "kappa"] == pytest.approx((0.9 - 0.74) / 0.26)
    assert (table["low"] <= table["kappa"]).all()
    assert (table["kappa"] <= table["high"]).all()
    assert differing["difference"].tolist() == [-3.0] * 2 + [-1.0] * 10
    with pytest.raises(BadInput, match="name two raters"):
        svc.tuning.grade_agreement(judgments, ["anna", "ben"])
