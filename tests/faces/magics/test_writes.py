"""Verbs that write, in a real kernel."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.faces.magics.kernel import Kernel

SYNONYMS = """%%svc synonyms save curated
objectID: pair
type: synonym
synonyms: lamp, light
---
objectID: one
type: onewaysynonym
input: torch
synonyms: lamp"""


def test_a_body_of_several_objects_is_saved(notebook: Kernel) -> None:
    cell = notebook.good(SYNONYMS)

    assert "'saved': 2" in cell.result
    assert cell.printed == cell.warned == ""
    assert notebook.good("t = %svc synonyms curated\nlist(t['objectID'])").result == (
        "['one', 'pair']"
    )


def test_rules_are_exported_to_a_file_and_imported(notebook: Kernel, tmp_path: Path) -> None:
    notebook.good("rule = {'objectID': 'top', 'consequence': {'filterPromotes': True}}")
    notebook.good("%svc rules save curated --from rule")
    notebook.good(f"%svc rules export curated {tmp_path}/rules.json")

    notebook.good("%svc rules clear curated --yes")
    back = notebook.good(f"%svc rules replace curated {tmp_path}/rules.json --yes")

    held = [{"objectID": "top", "consequence": {"filterPromotes": True}}]
    assert json.loads((tmp_path / "rules.json").read_text()) == held
    assert "'before': 0" in back.result
    assert "'after': 1" in back.result


def test_declined_confirmation_fails_the_cell(notebook: Kernel) -> None:
    notebook.good(SYNONYMS)
    notebook.good("kept = 'old'")

    cell = notebook.run("kept = %svc synonyms clear curated", answer="n")

    assert (cell.status, cell.error.partition(":")[0]) == ("error", "Stopped")
    assert "Delete all synonyms of curated, no profile, application" in notebook.answers[-1]
    assert notebook.good("kept").result == "'old'"


def test_a_made_key_is_not_in_the_notebook(notebook: Kernel) -> None:
    made = notebook.good("made = %svc keys add --acl search --description mine\nmade")
    whole = notebook.good("made['key'].reveal()").result.strip("'")
    shown = notebook.good("%svc keys get --from made")
    listed = notebook.good("%svc keys")
    notebook.good("secured = %svc keys secure --from made --filters owner:42")
    explained = notebook.good("%svc keys explain --from secured")
    gone = notebook.good("%svc keys delete --from made --yes")

    assert "mine" in shown.result
    assert "owner:42" in explained.result
    for cell in (made, shown, listed, explained, gone):
        assert whole not in cell.result + cell.html + cell.printed


def test_hits_are_shown_marked_and_escaped(notebook: Kernel) -> None:
    notebook.good("bad = pd.DataFrame({'objectID': ['1'], 'title': ['<script>x</script> lamp']})")
    notebook.good("%svc push shown --from bad")

    cell = notebook.good("%svc show shown lamp")

    assert "<mark>lamp</mark>" in cell.html
    assert "<script" not in cell.html
    assert cell.result.startswith('1 hit for "lamp" in shown')


def test_an_order_is_explained(notebook: Kernel) -> None:
    cell = notebook.good("why = %svc explain films god\nlist(why['criterion'])")

    assert cell.result.startswith("['")


def test_settings_are_compared(notebook: Kernel) -> None:
    notebook.good("%svc settings set compared --hitsPerPage 3")

    cell = notebook.good("d = %svc settings diff compared\nd.values.tolist()")

    assert cell.result == "[['hitsPerPage', 3, 20]]"


@pytest.mark.parametrize(
    ("code", "fragment", "matches"),
    [
        ("%svc synonyms sa", "sa", ["save"]),
        ("%svc synonyms delete curated pa", "pa", ["pair"]),
        ("%%svc synonyms save curated\nobjectID: x\ntype: place", "place", ["placeholder"]),
        ('%%svc synonyms save curated\n[{"correct', "correct", ["corrections"]),
        ("%svc keys add --acl list", "list", ["listIndexes"]),
        ("%svc call get_obj", "get_obj", ["get_objects", "get_object"]),
        ("%svc settings reset films hitsP", "hitsP", ["hitsPerPage"]),
    ],
)
def test_tab_completes(notebook: Kernel, code: str, fragment: str, matches: list[str]) -> None:
    notebook.good(SYNONYMS)

    assert notebook.complete(code) == (fragment, matches)


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("%%svc synonyms save curated\ntyp: x", "BadOption: line 1: unknown member `typ`"),
        ("%svc synonyms sve curated", "did you mean `synonyms save`?"),
        ("%svc synonyms save curated no.csv", "BadInput: no.csv cannot be read"),
        ("%svc synonyms get curated none", "NotFound: "),
        ("%svc settings reset films hitPerPage --yes", "did you mean `hitsPerPage`?"),
        ("%svc crawlers", "ServiceBroken|KeyRefused"),
    ],
)
def test_a_failing_cell_fails_with_one_short_message(
    notebook: Kernel, code: str, error: str
) -> None:
    cell = notebook.run(code)

    assert cell.status == "error"
    assert any(part in cell.error + cell.traceback for part in error.split("|"))
    assert len(cell.traceback.splitlines()) <= 2
