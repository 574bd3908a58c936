"""A notebook is asked before something is taken away."""

from __future__ import annotations

import pytest

from tests.magics.kernel import Kernel


@pytest.fixture
def copied(notebook: Kernel) -> Kernel:
    """A notebook with a copy of the films to lose."""
    notebook.good("%svc copy films films-asking --yes")
    return notebook


def test_a_yes_does_it(copied: Kernel) -> None:
    cell = copied.run("%svc clear films-asking", answer="y")

    assert "delete all records of films-asking, application " in copied.answers[-1]
    assert (cell.status, cell.result) == (
        "ok",
        "{'index': 'films-asking', 'before': 3, 'after': 0}",
    )


@pytest.mark.parametrize("answer", ["", "no"])
def test_anything_else_is_a_no_that_stops_the_notebook(copied: Kernel, answer: str) -> None:
    cell = copied.run("%svc drop films-asking", answer=answer)

    assert (cell.status, cell.error[:25]) == ("error", "Stopped: nothing was done")
    assert "Godzilla" in copied.good("%svc browse films-asking").result


def test_a_notebook_run_by_a_program_wants_it_said(copied: Kernel) -> None:
    cell = copied.run("%svc drop films-asking")

    assert cell.status == "error"
    assert cell.error.startswith("BadOption: nobody can be asked here; to delete the whole index")
    assert "add `--yes`" in cell.error
