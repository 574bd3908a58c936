"""The table of verbs matches the functions."""

from __future__ import annotations

from typing import get_args

import pytest

from svc_notebook.data.loading.options import Action, Duplicates, IfExists, Nulls, RowOptions
from svc_notebook.faces.commands.binding import bind_words
from svc_notebook.faces.commands.registry import VERBS, find_verb, pick_verb
from svc_notebook.faces.commands.tokenizer import split_line
from svc_notebook.faces.commands.verb import Face, Verb
from tests.looping import loop_over

ROWS = [(verb, face) for verb in VERBS for face in verb.faces]


@loop_over("verb, face", ROWS)
def test_the_examples_can_be_typed(verb: Verb, face: Face) -> None:
    variables = {"df": 1, "prices": 2, "answer": 3, "graded": 4}

    for example in verb.examples:
        found, words = pick_verb([word.text for word in split_line(example)], face)

        assert bind_words(found, words, face, variables).verb is verb


@pytest.mark.parametrize("face", ["magic", "command"])
def test_name_belongs_to_one_verb(face: Face) -> None:
    names = [verb.name for verb in VERBS if face in verb.faces]

    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("option", "words"),
    [("if-exists", IfExists), ("nulls", Nulls), ("duplicates", Duplicates), ("action", Action)],
)
def test_a_load_offers_the_words_its_function_knows(option: str, words: object) -> None:
    row = find_verb("load", "command").named("command")[option]

    assert row.choices == list(get_args(words))


def test_every_row_option_is_an_option_of_the_line() -> None:
    said = {row.parameter for row in find_verb("load", "command").named("command").values()}

    assert set(RowOptions.__annotations__) - said == {"record_bytes", "batch_bytes"}


@pytest.mark.parametrize(
    ("words", "name", "left"),
    [
        (["synonyms", "products"], "synonyms", ["products"]),
        (["synonyms", "save", "products"], "synonyms save", ["products"]),
        (["synonyms", "list", "save"], "synonyms", ["save"]),
        (["synonyms", "list"], "synonyms", []),
        (["synonyms"], "synonyms", []),
        (["synonyms", "search", "products", "lamp"], "synonyms", ["products", "lamp"]),
        (["keys", "search"], "keys", ["search"]),
        (["indices", "list"], "indices", []),
        (["crawlers", "list", "--format", "csv"], "crawlers", ["--format", "csv"]),
        (["search", "list", "save"], "search", ["list", "save"]),
    ],
)
def test_a_line_begins_with_one_or_two_words_of_a_verb(
    words: list[str], name: str, left: list[str]
) -> None:
    verb, rest = pick_verb(words, "magic")

    assert (verb.name, rest) == (name, left)
