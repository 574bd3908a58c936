"""The tree of errors is complete and documented."""

from __future__ import annotations

import re

import pytest

from svc_notebook import errors
from svc_notebook.errors import SvcError, did_you_mean

CLASSES = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, SvcError)]


def test_the_tree_in_the_docstring_is_the_tree_in_the_code() -> None:
    drawn = re.findall(r"^([ │├└─]*)(\w+)", (errors.__doc__ or "").split("```")[1], re.MULTILINE)

    depths = {name: len(lines) // 3 for lines, name in drawn}

    assert depths == {c.__name__: c.__mro__.index(SvcError) for c in CLASSES}


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_error_says_what_it_means(kind: type[SvcError]) -> None:
    assert kind.__doc__


def test_a_notebook_shows_the_message_and_its_notes_alone() -> None:
    error = errors.BadInput("give an index")
    error.add_note("nothing was sent")

    assert error._render_traceback_() == ["BadInput: give an index", "nothing was sent"]


@pytest.mark.parametrize(
    ("word", "advice"),
    [
        ("hitsPerPge", "; did you mean `hitsPerPage`?"),
        ("HITSPERPAGE", "; did you mean `hitsPerPage`?"),
        ("zebra", ""),
        ("", ""),
    ],
)
def test_a_near_word_is_offered(word: str, advice: str) -> None:
    assert did_you_mean(word, ["query", "hitsPerPage"]) == advice
