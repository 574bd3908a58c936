"""Synonyms and rules: saved, replaced, deleted, exported and imported, on a real service."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.data.client.curation import HITS_PER_PAGE
from tests.conftest import Running
from tests.faces.commands.conftest import Typed

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
def test_body_contains_several_objects_as_lines(typed: Typed, index: str, kind: str) -> None:
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
def test_empty_replacement_is_refused(typed: Typed, index: str, kind: str) -> None:
    typed(f"{kind} save {index} --from held", held=KINDS[kind])

    with pytest.raises(svc.errors.BadInput, match=f"`%svc {kind} clear {index}` deletes all"):
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
def test_destructive_verb_requires_confirmation(
    typed: Typed, answer_questions: Callable[..., list[str]], kind: str, line: str
) -> None:
    asked = answer_questions("no")

    with pytest.raises(svc.errors.Stopped, match="nothing was done"):
        typed(f"{kind} {line.format('products')}", held=pd.DataFrame(KINDS[kind]))

    assert f"{kind} of products" in asked[0]
    assert "http://127.0.0.1" in asked[0]
    assert "\n" not in asked[0]


@pytest.mark.slow
def test_more_objects_than_fit_in_one_request_are_saved(index: str) -> None:
    ids = [f"pair-{n}" for n in range(HITS_PER_PAGE + 1)]
    synonyms = [{"objectID": name, "type": "synonym", "synonyms": [name, "pair"]} for name in ids]

    assert svc.save_synonyms(index, synonyms)["after"] == len(ids)
    assert svc.delete_synonyms(index, ids)["after"] == 0


def test_a_key_that_may_not_read_them_saves_and_counts_nothing(
    index: str, admin: svc.Client, service: Running
) -> None:
    key = admin.add_key(acl=["editSettings", "addObject"])["key"]
    svc.connect(url=service.url, app_id=service.appId, api_key=key)

    with pytest.warns(UserWarning, match="cannot read the rules .* cannot be undone"):
        done = svc.save_rules(index, RULES)

    assert done == {"index": index, "saved": 2, "before": None, "after": None}


@pytest.mark.parametrize(
    ("line", "body", "message"),
    [
        ("synonyms save x", None, "FILE is missing"),
        ("synonyms save x a.csv", "objectID: a", "given twice"),
        (
            "synonyms save x",
            "objectID: a\ntpye: synonym",
            "line 2: unknown .*did you mean `type`",
        ),
        ("synonyms save x", "objectID: a\nobjectID: b", "line 2: `objectID` is given twice"),
        ("synonyms save x", "[{]", "line 1, column 3: not valid JSON"),
        ("synonyms save x", '{"objectID": "a"}', "`synonyms.0..type` is missing"),
        ("synonyms import x a.csv", "objectID: a", "has no body"),
        ("rules save x a.xlsx", None, "unsupported format .* use .csv"),
    ],
)
def test_mistake_is_an_error_before_anything_is_sent(
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


NAMELESS: dict[str, Any] = {
    "synonyms": {"type": "synonym", "synonyms": ["sofa", "couch"]},
    "rules": {"conditions": [{"context": "sale"}], "consequence": {"userData": {"a": 1}}},
}


@pytest.mark.parametrize("way", ["object", "frame", "csv", "json", "ndjson", "body", "lines"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_has_no_id_gets_one_and_the_same_again(
    typed: Typed, index: str, tmp_path: Path, kind: str, way: str
) -> None:
    one = NAMELESS[kind]
    path = tmp_path / f"held.{way}"
    cells = {name: json.dumps(v) if not isinstance(v, str) else v for name, v in one.items()}
    texts = {
        "csv": pd.DataFrame([{"objectID": None, **cells}]).to_csv(index=False),
        "json": json.dumps([one]),
        "ndjson": json.dumps({"objectID": "", **one}),
    }
    path.write_text(texts.get(way, ""))
    lines = "\n".join(f"{name}: {text}" for name, text in cells.items())

    def save() -> Any:
        match way:
            case "object" | "frame":
                held = one if way == "object" else pd.DataFrame([{"objectID": None, **one}])
                return typed(f"{kind} save {index} --from held", held=held)
            case "body" | "lines":
                return typed(f"{kind} save {index}", json.dumps(one) if way == "body" else lines)
            case _:
                return typed(f"{kind} import {index} {path}")

    first, second = save(), save()

    assert first["made"] == second["made"] == [known_id(kind)]
    assert (first["saved"], second["before"], second["after"]) == (1, 1, 1)
    assert stored(typed, kind, index, tmp_path) == [{"objectID": known_id(kind), **one}]


def known_id(kind: str) -> str:
    text = json.dumps(NAMELESS[kind], sort_keys=True)
    return f"{kind[:-1]}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


@pytest.mark.parametrize("kind", KINDS)
def test_ids_are_made_where_they_are_missing_alone(typed: Typed, index: str, kind: str) -> None:
    held = [*KINDS[kind], NAMELESS[kind]]

    saved = typed(f"{kind} replace {index} --from held --yes", held=held)
    named = typed(f"{kind} save {index} --from held", held=KINDS[kind])

    assert saved["made"] == [known_id(kind)]
    assert "made" not in named
    assert set(typed(f"{kind} {index}")["objectID"]) == {
        known_id(kind), *(one["objectID"] for one in KINDS[kind])
    }  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_client_accepts_the_id_of_the_path(
    admin: svc.Client, index: str, kind: str, tmp_path: Path
) -> None:
    save: Any = admin.save_synonym if kind == "synonyms" else admin.save_rule
    get: Any = admin.get_synonym if kind == "synonyms" else admin.get_rule

    admin.wait(save(index, "of the path", NAMELESS[kind]), index=index)

    assert get(index, "of the path") == {"objectID": "of the path", **NAMELESS[kind]}


@pytest.mark.parametrize("kind", KINDS)
def test_a_proposal_makes_ids_too(admin: svc.Client, index: str, kind: str) -> None:
    changed = svc.tuning.apply(index, {kind: [NAMELESS[kind]]})

    assert changed["name"].tolist() == [known_id(kind)]


def test_editor_accepts_objects_without_ids(admin: svc.Client, index: str, tmp_path: Path) -> None:
    path = tmp_path / "held.json"
    path.write_text(json.dumps([NAMELESS["synonyms"]]))

    editor = svc.edit.synonyms(index, client=admin)
    editor.read_file(path)

    assert [one["objectID"] for one in editor.value] == [known_id("synonyms")]


@pytest.mark.parametrize(
    "wrong",
    [{"type": "synonym", 3: "a"}, {"type": "\ud83d"}, {"type": set()}],
    ids=["name", "surrogate", "set"],
)
def test_what_is_wrong_is_refused_before_an_id_is_made(index: str, wrong: Any) -> None:
    with pytest.raises(svc.errors.BadInput):
        svc.save_synonyms(index, [wrong])

    assert len(svc.read_synonyms(index)) == 0


def test_files_in_the_form_of_the_vendors_command_line_are_read_and_written(
    typed: Typed, index: str, tmp_path: Path
) -> None:
    """One JSON object a line, with what the service adds; settings as one object."""
    exported = {
        "rules": [
            {**rule, "_metadata": {"lastUpdate": 1}, "_highlightResult": {}} for rule in RULES
        ],
        "synonyms": [{**synonym, "_highlightResult": {}} for synonym in SYNONYMS],
    }
    (tmp_path / "settings.json").write_text('{"hitsPerPage": 5, "version": 2}')

    for kind, rows in exported.items():
        path, written = tmp_path / f"{kind}.ndjson", tmp_path / f"{kind}-out.ndjson"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        typed(f"{kind} save {index} {path}")
        typed(f"{kind} export {index} {written}")
        lines = [json.loads(line) for line in written.read_text().splitlines()]
        assert sorted(lines, key=lambda row: row["objectID"]) == KINDS[kind]
    typed(f"settings set {index} --file {tmp_path / 'settings.json'}")

    assert svc.settings(index).set_index("setting")["value"]["hitsPerPage"] == 5
