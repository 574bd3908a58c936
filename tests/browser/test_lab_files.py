"""Files loaded from the file browser of JupyterLab and Notebook 7."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Locator, Page, expect

from svc_notebook import samples
from tests.browser.lab import Lab
from tests.browser.labextension import LabPage, fresh
from tests.browser.looks import draw
from tests.browser.shop import connect
from tests.browser.test_lab_actions import records
from tests.conftest import Running

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(180)]
HOSTILE_CELL = "<img src=x onerror='window.struck=1'>"


@pytest.fixture
def lab_page(page: Page, extended_lab: Lab, service: Running) -> LabPage:
    opened = fresh(page, extended_lab)
    opened.run(connect(service))
    opened.await_connected()
    return opened


def choose_file(page: Page, name: str) -> Locator:
    """Choose the entry of a file's menu, and return the dialog."""
    page.locator(".jp-DirListing-item").filter(has_text=name).click(button="right")
    page.get_by_role("menuitem", name="Load into an index…").click()
    dialog = page.get_by_role("dialog", name=f"Load {name}")
    dialog.wait_for()
    return dialog


def show_files(lab_page: LabPage) -> None:
    lab_page.execute("filebrowser:activate")
    lab_page.execute("filebrowser:refresh")


def write_sample(path: Path, rows: int = 8) -> None:
    """Write a table in the format that the suffix says; the last row has the id of the first."""
    table = samples.products().head(rows)
    table = pd.concat([table, table.head(1)])
    match path.suffix:
        case ".csv":
            table.to_csv(path, index=False)
        case ".tsv":
            table.to_csv(path, index=False, sep="\t")
        case ".ndjson":
            table.to_json(path, orient="records", lines=True)
        case ".json":
            table.to_json(path, orient="records")
        case ".parquet":
            table.to_parquet(path)


def test_a_file_of_each_format_is_loaded(
    lab_page: LabPage, extended_lab: Lab, service: Running
) -> None:
    for suffix in ("csv", "tsv", "ndjson", "json", "parquet"):
        name = f"of-{suffix}"
        write_sample(extended_lab.folder / f"{name}.{suffix}")
        show_files(lab_page)

        dialog = choose_file(lab_page.page, f"{name}.{suffix}")
        expect(dialog).to_contain_text(f"{name} does not exist yet")
        assert records(service, name) is None
        dialog.get_by_label("objectID", exact=True).select_option("sku")
        dialog.get_by_role("button", name="Load 8 rows").click()

        expect(dialog).to_contain_text("8 rows published")
        expect(dialog).to_contain_text("duplicate objectID (same as row 1)")
        dialog.get_by_role("button", name="Close").click()
        assert records(service, name) == 8
    lab_page.page.evaluate("() => window.jupyterapp.commands.execute('svc:show-explorer')")
    expect(lab_page.row("of-parquet")).to_contain_text("8")
    assert not lab_page.complaints


def test_the_plan_in_a_picture(lab_page: LabPage, extended_lab: Lab) -> None:
    write_sample(extended_lab.folder / "products.csv", rows=120)
    show_files(lab_page)

    dialog = choose_file(lab_page.page, "products.csv")
    dialog.get_by_label("objectID", exact=True).select_option("sku")

    expect(dialog).to_contain_text("1 row cannot be sent")
    expect(dialog.get_by_role("button", name="Load 120 rows")).to_be_enabled()
    draw(dialog, "file-plan.png")


def test_nothing_is_sent_without_confirmation(
    lab_page: LabPage, extended_lab: Lab, service: Running
) -> None:
    write_sample(extended_lab.folder / "looked-at.csv")
    show_files(lab_page)

    dialog = choose_file(lab_page.page, "looked-at.csv")
    expect(dialog.get_by_role("button", name="Load 9 rows")).to_be_enabled()
    lab_page.page.keyboard.press("Escape")

    expect(dialog).to_have_count(0)
    assert records(service, "looked-at") is None


def test_a_load_is_stopped_from_its_dialog(
    lab_page: LabPage, extended_lab: Lab, service: Running
) -> None:
    path = extended_lab.folder / "long.ndjson"
    with path.open("w") as file:
        for number in range(300_000):
            file.write(json.dumps({"objectID": str(number), "text": f"lamp {number} " * 8}) + "\n")
    show_files(lab_page)

    dialog = choose_file(lab_page.page, "long.ndjson")
    dialog.get_by_role("button", name="Load 300,000 rows").click(timeout=60_000)
    expect(dialog).to_contain_text("of 300,000 rows sent", timeout=60_000)
    dialog.get_by_role("button", name="Stop the load").click()

    expect(dialog).to_contain_text("stopped", timeout=60_000)
    dialog.get_by_role("button", name="Close").click()
    assert (records(service, "long") or 0) < 300_000
    lab_page.run("'go on'", cell=1)


def test_hostile_cells_stay_text(lab_page: LabPage, extended_lab: Lab) -> None:
    path = extended_lab.folder / "hostile.csv"
    path.write_text(f'sku,"{HOSTILE_CELL}"\n1,"{HOSTILE_CELL}"\n1,x\n')
    show_files(lab_page)

    dialog = choose_file(lab_page.page, "hostile.csv")
    dialog.get_by_label("objectID", exact=True).select_option("sku")
    expect(dialog).to_contain_text("cannot be sent")

    assert dialog.locator("img").count() == 0
    assert lab_page.page.evaluate("() => window.struck") is None


def test_a_file_is_loaded_in_notebook_7_without_a_notebook(
    page: Page, extended_lab: Lab, service: Running
) -> None:
    write_sample(extended_lab.folder / "in-seven.csv")
    page.goto(f"{extended_lab.url}/tree")

    dialog = choose_file(page, "in-seven.csv")
    dialog.get_by_role("button", name="Connect").click(timeout=60_000)

    expect(dialog).to_contain_text("in-seven does not exist yet", timeout=60_000)
    dialog.get_by_role("button", name="Load 9 rows").click()
    expect(dialog).to_contain_text("9 rows published")
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)


def test_other_files_have_no_such_entry(lab_page: LabPage, extended_lab: Lab) -> None:
    (extended_lab.folder / "notes.txt").write_text("nothing")
    show_files(lab_page)

    lab_page.page.locator(".jp-DirListing-item").filter(has_text="notes.txt").click(button="right")

    lab_page.page.get_by_role("menuitem", name="Rename").wait_for()
    assert lab_page.page.get_by_role("menuitem", name="Load into an index…").count() == 0
