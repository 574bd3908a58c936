"""Custom dictionary entries, in a service of this test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import svc_notebook as svc
from tests.faces.commands.conftest import Typed

ENTRIES: dict[str, list[dict[str, Any]]] = {
    "stopwords": [
        {"objectID": "down", "language": "en", "word": "down", "state": "enabled"},
        {"objectID": "the", "language": "en", "word": "the", "state": "disabled"},
    ],
    "plurals": [{"objectID": "horse", "language": "fr", "words": ["cheval", "chevaux, les"]}],
    "compounds": [
        {"objectID": "atom", "language": "de", "word": "kopf", "decomposition": []},
        {"objectID": "whole", "language": "de", "word": "kopfweh", "decomposition": ["kopf"]},
    ],
}


@pytest.fixture
def typed(typed_apart: Typed) -> Typed:
    for name in ENTRIES:
        svc.clear_entries(name)  # type: ignore[arg-type]
    return typed_apart


def own(typed: Typed, name: str, folder: Path) -> list[dict[str, Any]]:
    typed(f"dictionaries export {name} {folder / 'own.ndjson'}")
    return [json.loads(line) for line in (folder / "own.ndjson").read_text().splitlines()]


@pytest.mark.parametrize("suffix", ["csv", "json", "ndjson"])
@pytest.mark.parametrize("name", ENTRIES)
def test_what_is_exported_is_imported_again_without_loss(
    typed: Typed, tmp_path: Path, name: str, suffix: str
) -> None:
    typed(f"dictionaries save {name} --from held", held=ENTRIES[name])
    path = tmp_path / f"held.{suffix}"

    typed(f"dictionaries export {name} {path}")
    cleared = typed(f"dictionaries clear {name} --yes")
    done = typed(f"dictionaries import {name} {path}")

    count = len(ENTRIES[name])
    assert cleared == {"dictionary": name, "before": count, "after": 0}
    assert done == {"dictionary": name, "saved": count, "before": 0, "after": count}
    assert own(typed, name, tmp_path) == ENTRIES[name]


def test_a_table_that_was_read_is_saved_again(typed: Typed, tmp_path: Path) -> None:
    typed("dictionaries save stopwords --from held", held=ENTRIES["stopwords"])
    table = typed("dictionaries stopwords --language en")
    custom = table[table["type"] == "custom"]
    typed("dictionaries clear stopwords --yes")

    typed("dictionaries save stopwords --from custom", custom=custom)

    assert own(typed, "stopwords", tmp_path) == ENTRIES["stopwords"]


def test_a_replacement_leaves_none_of_the_old(typed: Typed, tmp_path: Path) -> None:
    typed("dictionaries save stopwords --from held", held=ENTRIES["stopwords"])

    typed(
        "dictionaries replace stopwords --yes",
        "objectID: up\nlanguage: en\nword: up\nstate: enabled",
    )

    assert [entry["word"] for entry in own(typed, "stopwords", tmp_path)] == ["up"]


def test_entries_are_deleted_by_their_ids(typed: Typed, tmp_path: Path) -> None:
    typed("dictionaries save stopwords --from held", held=ENTRIES["stopwords"])

    done = typed("dictionaries delete stopwords the --yes")

    assert (done["before"], done["after"]) == (2, 1)


def test_an_entry_that_is_not_there_deletes_nothing(typed: Typed) -> None:
    typed("dictionaries save stopwords --from held", held=ENTRIES["stopwords"])

    with pytest.raises(svc.errors.NotFound, match="no custom entry none"):
        typed("dictionaries delete stopwords down none --yes")

    assert svc.delete_entries("stopwords", [])["after"] == 2


def test_standard_entries_are_switched_language_by_language(typed: Typed) -> None:
    typed("dictionaries settings stopwords --off fr,de --on en")
    shown = typed("dictionaries settings")
    reset = typed("dictionaries settings stopwords --reset")

    switched = {row.language for row in shown.itertuples() if row.off}
    assert switched == {"fr", "de"}
    assert not reset["off"].any()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("dictionaries settings --off fr", "`dictionary` is missing"),
        ("dictionaries settings stopwords --off fr --on fr", "in both `off` and `on`"),
        ("dictionaries settings stopwords --off fr --reset", "omit `off` and `on`"),
        ("dictionaries save plural a.csv", "plurals"),
        (
            "dictionaries replace plurals --from none --yes",
            "`%svc dictionaries clear plurals` deletes all",
        ),
    ],
)
def test_mistake_is_an_error_before_anything_is_sent(typed: Typed, line: str, message: str) -> None:
    with pytest.raises(svc.errors.BadInput, match=message):
        typed(line, none=[])


def test_a_dictionary_that_is_none_is_refused_in_python(typed: Typed) -> None:
    with pytest.raises(svc.errors.BadInput, match="did you mean `plurals`"):
        svc.save_entries("plural", [])  # type: ignore[arg-type]
