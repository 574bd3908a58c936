"""Help texts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from generators.verbs_page import write_page

import svc_notebook as svc
from svc_notebook.errors import BadOption
from svc_notebook.faces.commands.help import JOBS
from svc_notebook.faces.commands.help import help as help_on
from svc_notebook.faces.commands.registry import VERBS
from svc_notebook.faces.commands.verb import Face, Verb
from svc_notebook.faces.functions.homes import COROUTINES, FUNCTIONS, OVERVIEW
from tests.looping import loop_over

PAGE = Path(__file__).parents[3] / "docs" / "magics.md"
ROWS = [(verb, face) for verb in VERBS for face in verb.faces]


@loop_over("verb, face", ROWS)
def test_help_of_a_verb_names_all_parameters(verb: Verb, face: Face) -> None:
    text = help_on(verb.name, face=face)

    assert verb.summary in " ".join(text.split())
    assert all(operand.name.upper() in text for operand in verb.placed(face))
    assert all(f"--{name}" in text for name in verb.named(face))
    assert all(example in text for example in verb.examples)
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("face", ["magic", "command"])
def test_help_lists_the_verbs_of_its_face(face: Face) -> None:
    text = help_on(face=face)

    rows = [line for line in text.splitlines()[2:] if line.startswith("  ")]
    listed = [line.split()[0] for line in rows if line[2] != " "]
    assert sorted(listed) == sorted({verb.family for verb in VERBS if face in verb.faces})
    assert "subcommands: get, save, import, replace, delete, clear, export" in " ".join(
        text.split()
    )


def test_help_on_a_family_lists_its_verbs() -> None:
    text = help_on("synonyms")

    assert text.startswith("%svc synonyms INDEX")
    assert "`%svc synonyms list ...` is an alias" in text
    assert "synonyms replace" in text


def test_help_on_a_verb_with_a_body_lists_its_members() -> None:
    text = help_on("synonyms save")

    assert "several separated by `---`" in text
    assert "corrections, placeholder, replacements." in text


def test_help_on_an_unknown_verb_advises() -> None:
    with pytest.raises(BadOption, match="did you mean `search`"):
        help_on("serach")


def test_a_notebook_shows_help_as_it_is() -> None:
    assert repr(help_on("get")) == help_on("get")


def test_the_page_on_verbs_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == write_page(), "run `make docs`"


def test_no_family_of_verbs_has_two_jobs_or_is_unknown() -> None:
    """A family without a job is listed under others."""
    named = [family for families in JOBS.values() for family in families]

    assert len(named) == len(set(named))
    assert set(named) <= {verb.family for verb in VERBS}


def test_help_states_the_defaults_of_options() -> None:
    text = " ".join(help_on("load", face="command").split())

    assert "(default append)" in text
    assert "default None" not in text
    assert "(default 20)" in " ".join(help_on("tasks", face="magic").split())


def test_help_of_the_package_lists_every_function_by_its_job() -> None:
    jobs = [text.partition(":")[2] for text in OVERVIEW.split("\n\n")]
    listed = [name for text in jobs for name in re.findall(r"\w+", text)]

    assert sorted(listed) == sorted({**COROUTINES, **FUNCTIONS})
    assert OVERVIEW in (svc.__doc__ or "")
