"""Synonyms and rules: saved, replaced, deleted, taken out and in again, on a real service."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.verbs import curation
from tests.conftest import Running
from tests.verbs.conftest import Typed

SYNONYMS: list[dict[str, Any]] = [
    {"objectID": "alt1", "type": "altcorrection1", "word": "lmap", "corrections": ["lamp"]},
    {"objectID": "alt2", "type": "altcorrection2", "word": "lapm", "corrections": ["lamp"]},
    {"objectID": "one", "type": "onewaysynonym", "input": "torch", "synonyms": ["lamp", "light"]},
    {"objectID": "pair", "type": "synonym", "synonyms": ["lamp, tall", 'light "x"']},
    {"objectID": "place", "type": "placeholder", "placeholder": "<n>", "replacements": ["1", "2"]},
]
RULES: list[dict[str, Any]] = [
    {
        "objectID": "sale",
        "conditions": [{"pattern": "sale", "anchoring": "contains"}],
        "consequence": {"params": {"filters": "price < 9"}, "userData": {"note": 'a "b"\n'}},
        "description": "cheap, first",
        "enabled": False,
        "validity": [{"from": 1, "until": 2_000_000_000}],
    },
    {"objectID": "top", "consequence": {"promote": [{"objectID": "1", "position": 0}]}},
]
KINDS = {"synonyms": SYNONYMS, "rules": RULES}
BODIES = {
    "synonyms": (
        "objectID: pair\ntype: synonym\nsynonyms: lamp, light\n---\n"
        "objectID: one\ntype: onewaysynonym\ninput: torch\nsynonyms: lamp"
    ),
    "rules": (
        'objectID: pair\nconditions: [{"pattern": "lamp", "anchoring": "is"}]\n'
        'consequence: {"filterPromotes": true}\nenabled: false\n---\n'
        'objectID: one\nconsequence: {"userData": 1}'
    ),
}


@pytest.fixture
def index(admin: svc.Client, tmp_path: Path) -> str:
    """An index of this test's own."""
    name = f"curation-{tmp_path.name}"
    svc.push(pd.DataFrame({"objectID": ["1"], "name": ["lamp"]}), name)
    return name


def stored(typed: Typed, kind: str, index: str, folder: Path) -> list[dict[str, Any]]:
    typed(f"{kind} export {index} {folder / 'stored.json'}")
    found: list[dict[str, Any]] = pd.read_json(folder / "stored.json", typ="series").tolist()
    return sorted(found, key=lambda one: str(one["objectID"]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("suffix", ["csv", "json", "ndjson"])
def test_what_is_exported_is_imported_again_without_loss(
    typed: Typed, index: str, tmp_path: Path, kind: str, suffix: str
) -> None:
    typed(f"{kind} save {index} --from held", held=KINDS[kind])
    path = tmp_path / f"held.{suffix}"

    written = typed(f"{kind} export {index} {path}")
    typed(f"{kind} clear {index} --yes")
    done = typed(f"{kind} import {index} {path}")

    count = len(KINDS[kind])
    assert written["written"] == count
    assert done == {"index": index, "saved": count, "before": 0, "after": count}
    assert stored(typed, kind, index, tmp_path) == KINDS[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_that_was_read_is_saved_again(typed: Typed, index: str, kind: str) -> None:
    typed(f"{kind} save {index} --from held", held=KINDS[kind])
    table = typed(f"{kind} {index}")
    typed(f"{kind} clear {index} --yes")

    typed(f"{kind} save {index} --from table", table=table)

    pd.testing.assert_frame_equal(typed(f"{kind} list {index}"), table)


@pytest.mark.parametrize("kind", KINDS)
def test_a_body_holds_several_as_lines(typed: Typed, index: str, kind: str) -> None:
    done = typed(f"{kind} save {index}", BODIES[kind])

    assert done["saved"] == 2
    assert typed(f"{kind} {index}")["objectID"].tolist() == ["one", "pair"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_body_is_json_of_one_or_several(typed: Typed, index: str, kind: str) -> None:
    typed(f"{kind} save {index}", json.dumps(KINDS[kind][0]))
    typed(f"{kind} save {index}", json.dumps(KINDS[kind]))

    assert len(typed(f"{kind} {index}")) == len(KINDS[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_a_replacement_leaves_none_of_the_old(typed: Typed, index: str, kind: str) -> None:
    typed(f"{kind} save {index} --from held", held=KINDS[kind][1:])

    done = typed(f"{kind} replace {index} --from one --yes", one=KINDS[kind][0])

    assert (done["before"], done["after"]) == (len(KINDS[kind]) - 1, 1)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_no_replacement(typed: Typed, index: str, kind: str) -> None:
    typed(f"{kind} save {index} --from held", held=KINDS[kind])

    with pytest.raises(svc.errors.BadInput, match="`clear` is for it"):
        typed(f"{kind} replace {index} --from none --yes", none=[])

    assert len(typed(f"{kind} {index}")) == len(KINDS[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_one_is_read_as_it_was_saved(typed: Typed, index: str, kind: str) -> None:
    typed(f"{kind} save {index} --from held", held=KINDS[kind])

    assert typed(f"{kind} get {index} {KINDS[kind][0]['objectID']}") == KINDS[kind][0]


@pytest.mark.parametrize("kind", KINDS)
def test_some_are_deleted_by_their_ids(typed: Typed, index: str, kind: str) -> None:
    typed(f"{kind} save {index} --from held", held=KINDS[kind])
    first, second = (one["objectID"] for one in KINDS[kind][:2])

    done = typed(f"{kind} delete {index} {first} {second} --yes")

    assert (done["before"], done["after"]) == (len(KINDS[kind]), len(KINDS[kind]) - 2)


@pytest.mark.parametrize("kind", KINDS)
def test_an_id_that_is_not_there_deletes_nothing(typed: Typed, index: str, kind: str) -> None:
    typed(f"{kind} save {index} --from held", held=KINDS[kind])

    with pytest.raises(svc.errors.NotFound, match=f"has no {kind} none; nothing was deleted"):
        typed(f"{kind} delete {index} {KINDS[kind][0]['objectID']} none --yes")

    assert len(typed(f"{kind} {index}")) == len(KINDS[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_a_misspelt_index_is_not_cleared(typed: Typed, kind: str) -> None:
    with pytest.raises(svc.errors.NotFound, match="does not exist"):
        typed(f"{kind} clear curation-misspelt --yes")


@pytest.mark.parametrize("line", ["replace {} --from held", "delete {} a", "clear {}"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_takes_away_asks_first(
    typed: Typed, monkeypatch: pytest.MonkeyPatch, kind: str, line: str
) -> None:
    asked: list[str] = []

    def refuse(question: str) -> str:
        asked.append(question)
        return "no"

    monkeypatch.setattr("builtins.input", refuse)

    with pytest.raises(svc.errors.Stopped, match="nothing was done"):
        typed(f"{kind} {line.format('products')}", held=pd.DataFrame(KINDS[kind]))

    assert f"{kind} of products" in asked[0]
    assert "http://127.0.0.1" in asked[0]
    assert "\n" not in asked[0]


def test_more_than_one_request_takes_are_saved(index: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curation, "PAGE", 2)

    assert svc.save_synonyms(index, SYNONYMS)["after"] == 5
    assert svc.delete_synonyms(index, [one["objectID"] for one in SYNONYMS])["after"] == 0


def test_a_key_that_may_not_read_them_saves_and_counts_nothing(
    index: str, admin: svc.Client, service: Running
) -> None:
    key = admin.add_key(acl=["editSettings", "addObject"])["key"]
    svc.connect(url=service.url, app_id=service.appId, api_key=key)

    done = svc.save_rules(index, RULES)

    assert done == {"index": index, "saved": 2, "before": None, "after": None}


@pytest.mark.parametrize(
    ("line", "body", "message"),
    [
        ("synonyms save x", None, "FILE is missing"),
        ("synonyms save x a.csv", "objectID: a", "given twice"),
        ("synonyms save x", "objectID: a\ntpye: synonym", "line 2: `tpye`.*did you mean `type`"),
        ("synonyms save x", "objectID: a\nobjectID: b", "line 2: `objectID` is given twice"),
        ("synonyms save x", "[{]", "line 1, column 3: not valid JSON"),
        ("synonyms save x", '{"objectID": "a"}', "`synonyms.0..type` is missing"),
        ("synonyms import x a.csv", "objectID: a", "takes no body"),
        ("rules save x a.xlsx", None, "should end in one of .csv"),
    ],
)
def test_a_mistake_is_said_before_anything_is_sent(
    typed: Typed, line: str, body: str | None, message: str
) -> None:
    with pytest.raises(svc.errors.BadInput, match=message):
        typed(line, body)


def test_the_awaited_twins_do_the_same(index: str, tmp_path: Path) -> None:
    async def save_and_export() -> list[Any]:
        saved = await svc.aio.save_rules(index, RULES)
        return [saved, await svc.aio.export_rules(index, tmp_path / "rules.csv")]

    saved, exported = asyncio.run(save_and_export())

    assert (saved["after"], exported["written"]) == (2, 2)
