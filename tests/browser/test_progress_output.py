"""The progress bar of a cell in JupyterLab: its Cancel button, and what a saved notebook keeps."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.notebook import ERRORS, Notebook

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(120), pytest.mark.in_lab]

LOAD = """
import pandas as pd
rows = pd.DataFrame({"objectID": [str(number) for number in range(20_000)]})
"""
# A subshell takes the button's message while the cell runs; a kernel without is interrupted.
NO_SUBSHELLS = """
from svc_notebook.faces.editors.progress_output import ProgressLine
cancel, ProgressLine.cancel = ProgressLine.cancel, lambda line: None
"""
RESTORED = "\nif 'cancel' in globals(): ProgressLine.cancel = cancel"


def outputs_of(notebook: Notebook, cell: int) -> list[dict[str, Any]]:
    outputs: list[dict[str, Any]] = notebook.save()["cells"][cell]["outputs"]
    return outputs


@pytest.mark.parametrize("setup", ["", NO_SUBSHELLS], ids=["message", "interrupt"])
def test_a_load_is_cancelled_by_its_button_and_says_what_was_published(
    notebook: Notebook, setup: str
) -> None:
    notebook.run(LOAD + setup)
    notebook.begin("svc.load(rows, 'slow', id='objectID', per_second=1_000)", cell=1)
    line = notebook.page.locator(".svc-progress-line")
    expect(line).to_contain_text("/20000")

    line.get_by_role("button", name="Cancel").click()
    notebook.page.evaluate("() => window.ran.catch(() => null)")

    expect(line).to_have_count(0)
    [error] = notebook.page.evaluate(ERRORS, 1)
    stopped = re.search(r"([\d,]+) of 20,000 rows were sent to slow, ([\d,]+) published", error)
    assert stopped, error
    records = int(stopped[2].replace(",", ""))
    assert 0 < records < 20_000
    notebook.await_value("client.search('slow')['nbHits']", records)
    notebook.run("svc.drop_index('slow')" + RESTORED)


def test_a_finished_bar_is_one_line_of_the_saved_notebook(notebook: Notebook) -> None:
    notebook.run(LOAD + "result = svc.load(rows[:1_500], 'soon', id='objectID', per_second=900)")

    [output] = outputs_of(notebook, 0)

    assert output["data"].keys() == {"text/plain"}
    assert "1500/1500" in "".join(output["data"]["text/plain"]).replace(".50k", "500")
