"""Long texts as several records, and the parts that vanish when a text gets shorter."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any
from uuid import uuid4

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.data import loading
from svc_notebook.data.client import Client, background_loop
from svc_notebook.data.loading.load_plan.derived_columns import cut_text
from svc_notebook.errors import BadInput


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def index() -> str:
    return f"parts-{uuid4().hex[:8]}"


def load(client: Client, source: Any, index: str, **options: Any) -> loading.LoadResult:
    options = {"id": "id", "split": {"body": 40}, "replace_records": True, **options}
    return background_loop.run(loading.load(client.aio, source, index, **options))


def stored(client: Client, index: str) -> dict[str, Any]:
    pages = client.browse_pages(index)
    return {hit.pop("objectID"): hit for page in pages for hit in page["hits"]}


def test_texts_are_cut_at_the_best_boundary() -> None:
    cases = {
        "One sentence. Another one, which is longer.": [
            "One sentence.", "Another one, which is", "longer."
        ],
        'He said: "No." Then he left the room.': ['He said: "No."', "Then he left the room."],
        "first paragraph\n\nsecond. third part of it": [
            "first paragraph", "second.", "third part of it"
        ],
        "x" * 50: ["x" * 22, "x" * 22, "x" * 6],
        "東京は首都です。大阪は商業の都市です。京都は古い。": [
            "東京は首都です。大阪は商業の都市です。", "京都は古い。"
        ],
        "a" * 21 + "e\u0301" + "b" * 5: ["a" * 21, "e\u0301bbbbb"],
        " \n ": [""], "short ": ["short"],
    }  # fmt: skip
    for text, parts in cases.items():
        assert cut_text(text, 22) == parts
    chance = random.Random(2)
    for _ in range(300):
        text = "".join(chance.choices("ab .!?\n\u0301。", k=chance.randint(0, 200)))
        parts = cut_text(text, 20)
        assert "".join("".join(parts).split()) == "".join(text.split())
        assert all(len(part) <= 20 for part in parts)


@pytest.mark.slow
def test_parts_follow_their_text(client: Client, index: str, tmp_path: Path) -> None:
    chance = random.Random(4)
    for if_exists in ("append", "merge", "sync", "replace"):
        texts: dict[str, str] = {}
        for form in ("records", "csv", "frame"):
            for key in chance.sample("abcdefgh", 5):
                texts[key] = "A sentence of some words. " * chance.randint(0, 6) + key
            rows = [{"id": key, "body": text, "n": 7} for key, text in texts.items()]
            source: Any = rows
            if form == "csv":
                source = tmp_path / "a.csv"
                pd.DataFrame(rows).to_csv(source, index=False)
            elif form == "frame":
                source = pd.DataFrame(rows)

            load(client, source, f"{index}-{if_exists}", if_exists=if_exists)

            expected = {
                f"{key}#{number}": {"id": key, "body": part, "n": 7, "document_id": key}
                for key, text in texts.items()
                for number, part in enumerate(cut_text(text, 40), 1)
            }
            assert stored(client, f"{index}-{if_exists}") == expected, (if_exists, form)
    load_id = str(svc.loads(f"{index}-append", client=client).loc[0, "load_id"])
    svc.undo_load(load_id, client=client)


def test_a_load_that_splits_replaces_whole_records_and_is_undone(
    client: Client, index: str
) -> None:
    rows = [{"id": "a", "body": "One sentence of it. " * 9}, {"id": "b", "body": None}]
    load(client, rows, index, split=None)
    before = stored(client, index)

    result = load(client, rows, index, distinct="page")

    assert stored(client, index).keys() == {"a#1", "a#2", "a#3", "a#4", "a#5", "b#1"}
    assert result.deleted == 2
    assert stored(client, index)["a#5"] == {"id": "a", "page": "a", "body": "One sentence of it."}
    svc.undo_load(str(svc.loads(index, client=client).loc[0, "load_id"]), client=client)
    assert stored(client, index) == before


def test_one_hit_of_a_text_is_found(client: Client, index: str) -> None:
    rows = [{"id": key, "body": f"Lamps of {key}. " * 9} for key in "ab"]

    split: Any = {"body": "30"}  # as a command line has it

    svc.load(
        rows, index, id="id", split=split, distinct="page", set_distinct=True,
        client=client,
    )  # fmt: skip

    assert sorted(svc.search(index, "lamps", client=client)["page"]) == ["a", "b"]


def test_options_of_parts_are_checked(client: Client, index: str) -> None:
    rows = [{"id": "a", "body": "x", "document_id": 1}]
    refused: list[tuple[dict[str, Any], str]] = [
        ({}, "distinct="),
        ({"split": {"text": 30}}, "no column `text`"),
        ({"split": {"body": 2}}, "20 or more"),
        ({"distinct": "d", "id": None, "rename": {"id": "k"}}, "pass the column of the ids"),
        ({"distinct": "d", "action": "update"}, "omit `action`"),
    ]
    for options, message in refused:
        with pytest.raises(BadInput, match=message):
            load(client, rows, index, **options)
