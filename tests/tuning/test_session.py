"""A tuning session on real products and judged queries, from the first score to the undo."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from svc_notebook import tuning
from svc_notebook.data.client import Client
from tests.conftest import ROOT
from tests.tuning.shop import client

__all__ = ["client"]

DATA = ROOT.parent / "shared" / "data" / "esci_small"
SETTINGS: Any = {
    "searchableAttributes": [
        "title", "brand", "color", "category", "bullet_points", "description",
    ],
}  # fmt: skip
STEPS: dict[str, Any] = {
    "plurals": {"ignorePlurals": ["en"], "queryLanguages": ["en"]},
    "stop words": {"removeStopWords": ["en"]},
    "words optional": {"removeWordsIfNoResults": "allOptional"},
}
PLAUSIBLE: list[dict[str, Any]] = [
    {"objectID": f"by-hand-{n}", "type": "synonym", "synonyms": words}
    for n, words in enumerate([
        ["shoes", "slippers", "boots"], ["bottle", "jar", "container"], ["bed", "mattress"],
        ["women", "ladies", "girls"], ["leather", "strap"], ["kitchen", "home"],
    ])
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.skipif(not DATA.exists(), reason="the judged products do not lie beside the checkout")
def test_a_session_gains_shows_what_would_harm_and_goes_back(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    index = "judged-products"
    with gzip.open(DATA / "records.jsonl.gz", "rt", encoding="utf-8") as file:
        client.replace_all(index, map(json.loads, file))
    client.wait(client.set_settings(index, SETTINGS), index=index)
    judgments = pd.read_csv(DATA / "judgments.csv").query("query_id <= 75")
    judgments = judgments[["query", "objectID", "rating"]]
    start, before = tuning.snapshot(index), tuning.run(index, judgments)

    means = []
    for note, change in STEPS.items():
        promised = tuning.impact(index, change, judgments=judgments).comparison
        tuning.apply(index, change, note=note)
        found = tuning.run(index, judgments)
        means.append(tuning.compare(before, found, judgments).test().iloc[0])
        assert promised
        assert promised.test()["after"][0] == pytest.approx(means[-1]["after"])
    harm = tuning.impact(index, PLAUSIBLE, judgments=judgments)
    for _ in STEPS:
        tuning.undo(index)

    assert means[0]["before"] == pytest.approx(0.5, abs=0.1)
    assert [row["delta"] for row in means] == sorted(row["delta"] for row in means)
    assert means[-1]["low"] > 0.04  # the whole interval
    assert means[-1]["after"] > 0.6
    assert harm.comparison
    assert harm.comparison.test()["delta"][0] <= 0
    assert len(harm.unjudged) > 5
    assert (before["nbHits"] == 0).sum() > 10 > (found["nbHits"] == 0).sum()
    assert tuning.snapshot(index).hash == start.hash
