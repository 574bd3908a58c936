"""The first tutorial in JupyterLab."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.lab import Lab

NAME = "01-from-csv-to-search.ipynb"
OPEN = """async name => {
    const app = window.jupyterapp;
    await app.restored;
    const panel = await app.commands.execute("docmanager:open", {path: name});
    await panel.context.ready;
    await panel.sessionContext.ready;
}"""
RUN = """async () => {
    await window.jupyterapp.commands.execute("notebook:run-all-cells");
    const cells = window.jupyterapp.shell.currentWidget.content.model.sharedModel.toJSON().cells;
    return cells.filter(cell => cell.cell_type === "code").map(
        cell => ({count: cell.execution_count, kinds: cell.outputs.map(o => o.output_type)}));
}"""
COMPLETE = """async code => {
    const {sessionContext} = window.jupyterapp.shell.currentWidget;
    const reply = await sessionContext.session.kernel.requestComplete(
        {code, cursor_pos: code.length});
    return reply.content.matches;
}"""


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.timeout(240)
def test_the_tutorial_runs_and_completes_in_jupyterlab(lab: Lab, page: Page) -> None:
    page.goto(f"{lab.url}/lab?reset")
    page.wait_for_function("window.jupyterapp !== undefined", timeout=60_000)
    page.evaluate(OPEN, NAME)

    ran = page.evaluate(RUN)
    names = page.evaluate(COMPLETE, "%%svc search fil")
    parameters = page.evaluate(COMPLETE, "%%svc search films star\nhitsPer")

    assert all(cell["count"] for cell in ran)
    assert not [cell for cell in ran if "error" in cell["kinds"]]
    assert [name for name in names if name.startswith("films")]
    assert [name for name in parameters if name.startswith("hitsPerPage")]
    assert page.get_by_text("The Godfather Part II").count()
