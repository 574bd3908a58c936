"""What tests of functions, commands and editors share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import pytest
from ipywidgets import Widget

from svc_notebook.data.session import connection
from svc_notebook.faces.functions import keys


@pytest.fixture(autouse=True)
def _editors_of_this_test() -> Iterator[None]:
    """Close the editors that a test opens: each would read again whenever a later test connects."""
    before = {*connection._followers}
    yield
    for editor in {*connection._followers} - before:
        assert isinstance(editor, Widget)
        editor.close()


@pytest.fixture
def without_key_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that is not visible yet is not read again: these services never show one."""
    monkeypatch.setattr(keys, "PROPAGATION_SECONDS", 0)


@pytest.fixture
def output_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The captured standard output is a terminal; `capsys` makes another stream for each phase."""
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda stream: stream is sys.stdout)


@pytest.fixture
def answer_questions(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Answer each question: `answer_questions("no")` returns the list of the questions.

    `before` is called before each answer.
    """

    def set_answer(text: str, before: Callable[[], object] = bool) -> list[str]:
        questions: list[str] = []

        def answer(question: str) -> str:
            questions.append(question)
            before()
            return text

        monkeypatch.setattr("builtins.input", answer)
        return questions

    return set_answer
