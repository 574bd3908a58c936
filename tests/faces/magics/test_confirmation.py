"""Destructive verbs require confirmation in a notebook."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.faces.magics.kernel import Kernel


@pytest.fixture
def copied(notebook: Kernel) -> Iterator[Kernel]:
    """A notebook with a copy of the films to lose."""
    notebook.good("%svc copy films asking --yes")
    yield notebook
    notebook.good("%svc drop asking --yes")
    notebook.answers.clear()


def test_a_yes_does_it(copied: Kernel) -> None:
    cell = copied.run("%svc clear asking", answer="y")

    assert "Delete all records of asking, no profile, application " in copied.answers[-1]
    assert (cell.status, cell.result) == (
        "ok",
        "{'index': 'asking', 'before': 3, 'after': 0}",
    )


@pytest.mark.parametrize("answer", ["", "no"])
def test_anything_else_is_a_no_that_stops_the_notebook(copied: Kernel, answer: str) -> None:
    cell = copied.run("%svc drop asking", answer=answer)

    assert (cell.status, cell.error[:25]) == ("error", "Stopped: nothing was done")
    assert "Godzilla" in copied.good("%svc browse asking").result


def test_notebook_run_by_a_program_requires_yes(copied: Kernel) -> None:
    cell = copied.run("%svc drop asking")

    assert cell.status == "error"
    assert cell.error.startswith(
        "BadOption: confirmation needed but no prompt is available: pass `--yes`"
    )
    assert "pass `--yes`" in cell.error
