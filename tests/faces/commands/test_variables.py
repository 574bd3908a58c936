"""Variables named where a line contains literal words."""

from __future__ import annotations

import warnings
from pathlib import Path

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.errors import SvcError
from svc_notebook.faces.commands.interpolation import variable_meant
from svc_notebook.faces.commands.registry import VERBS
from svc_notebook.faces.commands.verb import Verb
from svc_notebook.faces.magics.extension import run
from tests.looping import loop_over

INDEX = "variables"


@pytest.fixture(autouse=True)
def lamps(admin: svc.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index that is there, in a folder without files."""
    monkeypatch.chdir(tmp_path)
    svc.push(FRAME, INDEX)


FRAME = pd.DataFrame({"objectID": ["1", "2"], "name": ["lamp", "desk"]})
VARIABLES: dict[str, object] = {
    "df": FRAME,
    "saved": {"hitsPerPage": 5},
    "ids": ["1", "2"],
    "answer": {"taskID": 1},
    "name": INDEX,
    "path": "x.csv",
    "pd": pd,
    "products": pd.DataFrame(),
}


def note_on(line: str) -> str:
    """What is added to the error of a line."""
    with pytest.raises(SvcError) as caught:
        run(line, None, dict(VARIABLES))
    return "\n".join(getattr(caught.value, "__notes__", []))


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("evaluate {} df", "did you mean `--from df`?"),
        ("compare {} {} df", "did you mean `--from df`?"),
        ("push {} df", "did you mean `--from df`?"),
        ("push df {}", "did you mean `--from df`?"),
        ("push df", "did you mean `--from df`?"),
        ("replace {} df --yes", "did you mean `--from df`?"),
        ("wait answer", "did you mean `--from answer`?"),
        ("tasks show answer", "did you mean `--from answer`?"),
        ("settings diff {} saved", "did you mean `--from saved`?"),
        ("settings {} saved", "did you mean `--params saved`?"),
        ("settings set {} saved", "did you mean `--params saved`?"),
        ("synonyms save {} df", "did you mean `--from df`?"),
        ("rules replace {} df --yes", "did you mean `--from df`?"),
        ("dictionaries save stopwords df", "did you mean `--from df`?"),
        ("events send df", "did you mean `--from df`?"),
        ("sources replace df --yes", "did you mean `--from df`?"),
        ("crawlers create docs saved", "did you mean `--from saved`?"),
        ("keys get saved", "did you mean `--from saved`?"),
        ("load df {}", "`df` is a variable; use `%svc push INDEX --from df`"),
        ("rules import {} df", "`df` is a variable; use `%svc rules save ... --from df`"),
        ("diff saved {}", "`saved` is a variable; use svc.tuning.diff"),
        ("search df lamp", "`df` is a variable; words of a line are literal"),
        (
            "search name lamp",
            "`name` is a variable, but words of a line are literal; write its value",
        ),
        (
            "load path {}",
            "`path` is a variable, but words of a line are literal; write its value",
        ),
    ],
)
def test_a_variable_that_is_named_by_its_place_is_recognised(line: str, advice: str) -> None:
    assert advice in note_on(line.format(INDEX, INDEX))


@pytest.mark.parametrize(
    "line",
    [
        "evaluate products judged.csv",  # there is a variable by the name of the index
        "evaluate {} --from ids",
        "load pd {}",
        "load nowhere.csv {}",
        "search nowhere df",
        "search {} lamp --filters df>x",
        "search {} lamp --hitsPerPage name",
    ],
)
def test_what_fails_for_another_reason_is_not_put_down_to_a_variable(line: str) -> None:
    note = note_on(line.format(INDEX)).replace(f" {INDEX} ", " ")

    assert "variable" not in note
    assert "--from" not in note


@pytest.mark.filterwarnings("ignore:.* of .* ids (is|are) not in:UserWarning")
@pytest.mark.parametrize("line", ["get {} ids", "delete {} ids --yes", "multi-search {} ids"])
def test_warns_that_a_word_named_like_a_collection_is_literal(line: str) -> None:
    with pytest.warns(UserWarning, match="`ids` is literal text here; .* `--from ids`"):
        run(line.format(INDEX), None, dict(VARIABLES))


@pytest.mark.parametrize(
    "line",
    [
        "get {} 1",
        "get {} ids 1",
        "get {} --from ids",
        "search {} df",
        "multi-search {} name",
        "get {} 1 -o ids",
        "get {} -o ids 1",
        "scratches -o df",
    ],
)
def test_no_warning_for_a_literal_word(line: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "1 of 2 ids is not in")  # there is no record `ids`
        warnings.simplefilter("ignore", svc.errors.NoHitsWarning)
        run(line.format(INDEX), None, dict(VARIABLES))


def test_content_of_a_variable_is_not_shown() -> None:
    with pytest.raises(SvcError) as caught:
        run("search token", None, {"token": "0123456789abcdef"})

    assert "0123" not in f"{caught.value} {caught.value.__notes__}"


def test_an_expression_is_to_be_named_first() -> None:
    with pytest.raises(svc.errors.BadOption, match=r"`df.head\(\)` is not one; assign it"):
        run(f"push {INDEX} --from df.head()", None, dict(VARIABLES))


@loop_over("verb", VERBS)
def test_no_verb_fails_to_give_advice(verb: Verb) -> None:
    words = ["df", "name", "saved", "--", "--from", "-o", "x"]

    advice = variable_meant(verb, words, VARIABLES, svc.errors.BadInput("df, name and saved"))

    assert "{}" not in advice
