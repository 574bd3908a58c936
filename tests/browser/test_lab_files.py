"""Files loaded from the file browser of JupyterLab and Notebook 7."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Locator, Page, expect

from svc_notebook import samples
from tests.browser.lab import Lab
from tests.browser.labextension import LabPage
from tests.browser.looks import draw
from tests.browser.test_lab_actions import connected, records
from tests.conftest import Running

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(180)]
HOSTILE_CELL = "<img src=x onerror='window.struck=1'>"


@pytest.fixture
def lab_page(shared_notebook: LabPage, service: Running) -> LabPage:
    return connected(shared_notebook, service)


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


def write_doubtful(path: Path) -> None:
    """Write a table whose columns have proposals: lists between bars, dates, a ranking."""
    tags, brands = ["red|small", "blue|small", "red|large"], ["Acme", "Umbra"]
    lines = [
        f"p{number},lamp number {number},{brands[number % 2]},{tags[number % 3]},{number % 5},"
        f"{13 + number}/02/2024,{number},{number},{number}"
        for number in range(12)
    ]
    head = "sku,name,brand,tags,rating,added,width,height,depth"
    path.write_text("\n".join([head, *lines]), encoding="utf-8")


def test_each_proposal_has_a_check_box_and_the_editor_opens_at_the_end(
    lab_page: LabPage, extended_lab: Lab, service: Running
) -> None:
    write_doubtful(extended_lab.folder / "doubtful.csv")
    show_files(lab_page)
    dialog = choose_file(lab_page.page, "doubtful.csv")
    proposals = dialog.get_by_role("region", name="Proposals")
    box = proposals.get_by_role("checkbox", name="dtype={'tags': 'list'}")
    expect(box).not_to_be_checked()
    expect(proposals).to_contain_text("tags: 100% contain |")
    columns = dialog.get_by_role("table", name="Columns")
    tags = columns.get_by_role("row").filter(has=lab_page.page.get_by_text("tags", exact=True))
    expect(tags).to_contain_text("text")
    expect(columns).to_contain_text("whole number")
    expect(dialog.get_by_text("scroll for more")).to_be_visible()

    box.check()
    expect(tags).to_contain_text("list")
    expect(dialog).to_contain_text("Before the proposals")
    expect(dialog.locator("pre").last).to_contain_text('"tags":["red","small"]')
    expect(box).to_be_checked()
    draw(dialog, "file-proposals.png")
    proposals.get_by_role("button", name="Take all").click()
    for name in ("searchableAttributes", "attributesForFaceting", "customRanking", "dates="):
        expect(proposals.get_by_role("checkbox", name=name)).to_be_checked()
    expect(dialog.get_by_role("button", name="Load 12 rows")).to_be_enabled()
    dialog.get_by_role("button", name="Load 12 rows").click()

    expect(dialog).to_contain_text("12 rows published")
    expect(dialog).to_contain_text("Set: searchableAttributes")
    with service.client() as client:
        settings = client.get("/1/indexes/doubtful/settings").json()
        hit = client.post("/1/indexes/doubtful/query", json={"query": ""}).json()["hits"][0]
    assert settings["customRanking"] == ["desc(rating)"]
    assert "tags" in settings["attributesForFaceting"]
    assert isinstance(hit["tags"], list)
    dialog.get_by_role("button", name="Open in the query editor").click()
    expect(lab_page.page.locator(".svc-editor-tab .svc-query .svc-hit").first).to_be_visible()
    assert not lab_page.complaints


def test_options_change_how_a_file_is_read(
    lab_page: LabPage, extended_lab: Lab, service: Running
) -> None:
    path = extended_lab.folder / "exported.csv"
    path.write_text("made,by;x\nsku;name;price\n1;lamp;5;more\n2;desk;6\n", encoding="utf-8")
    show_files(lab_page)

    dialog = choose_file(lab_page.page, "exported.csv")
    expect(dialog.get_by_role("button", name="Load ")).to_be_enabled()
    dialog.get_by_text("Options", exact=True).click()
    dialog.get_by_label("Separator").select_option("semicolon")
    dialog.get_by_label("Lines to skip").fill("1")
    expect(dialog.get_by_role("button", name="Load 2 rows")).to_be_enabled()
    expect(dialog.get_by_label("objectID", exact=True)).to_contain_text("price")
    dialog.get_by_label("Reject rows that differ").check()
    expect(dialog.get_by_role("button", name="Load 1 row")).to_be_enabled()
    dialog.get_by_label("Columns to send").select_option(["sku", "price"])
    expect(dialog.get_by_role("table", name="Columns").get_by_role("row")).to_have_count(3)
    dialog.get_by_label("objectID", exact=True).select_option("sku")
    dialog.get_by_label("Comment character").fill("\u20ac")
    expect(dialog.get_by_role("table", name="Columns").get_by_role("row")).to_have_count(4)
    dialog.get_by_label("Columns to send").select_option(["sku", "price"])
    expect(dialog.get_by_role("table", name="Columns").get_by_role("row")).to_have_count(3)
    dialog.get_by_role("button", name="Load 1 row").click()

    expect(dialog).to_contain_text("1 row published")
    dialog.get_by_role("button", name="Close").click()
    with service.client() as client:
        answer = client.post("/1/indexes/exported/query", json={"attributesToHighlight": []})
    assert answer.json()["hits"] == [{"objectID": "2", "sku": 2, "price": 6}]


def test_an_option_that_does_not_fit_is_an_error_until_it_is_changed(
    lab_page: LabPage, extended_lab: Lab
) -> None:
    write_sample(extended_lab.folder / "encoded.csv")
    show_files(lab_page)

    dialog = choose_file(lab_page.page, "encoded.csv")
    dialog.get_by_text("Options", exact=True).click()
    dialog.get_by_label("Encoding").fill("martian")

    expect(dialog).to_contain_text("`martian` is not an encoding")
    expect(dialog.get_by_role("button", name="Load", exact=False)).to_be_disabled()
    dialog.get_by_label("Encoding").fill("")
    expect(dialog.get_by_role("button", name="Load 9 rows")).to_be_enabled()


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


def test_a_closed_tab_ends_the_kernel_of_its_dialog(
    page: Page, extended_lab: Lab, service: Running
) -> None:
    write_sample(extended_lab.folder / "closed.csv")
    kernels = f"{extended_lab.url}/api/kernels"
    before = {kernel["id"] for kernel in page.request.get(kernels).json()}
    page.goto(f"{extended_lab.url}/tree")
    dialog = choose_file(page, "closed.csv")
    dialog.get_by_role("button", name="Connect").wait_for(timeout=60_000)
    started = {kernel["id"] for kernel in page.request.get(kernels).json()} - before
    assert len(started) == 1
    request = page.context.request

    page.close()

    for _ in range(100):
        if not started & {kernel["id"] for kernel in request.get(kernels).json()}:
            break
        time.sleep(0.1)
    assert not started & {kernel["id"] for kernel in request.get(kernels).json()}


def test_other_files_have_no_such_entry(lab_page: LabPage, extended_lab: Lab) -> None:
    (extended_lab.folder / "notes.txt").write_text("nothing")
    show_files(lab_page)

    lab_page.page.locator(".jp-DirListing-item").filter(has_text="notes.txt").click(button="right")

    lab_page.page.get_by_role("menuitem", name="Rename").wait_for()
    assert lab_page.page.get_by_role("menuitem", name="Load into an index…").count() == 0


def test_a_file_of_parts_is_loaded_after_a_choice(
    lab_page: LabPage, extended_lab: Lab, service: Running
) -> None:
    page = lab_page.page
    table = samples.products().head(8)
    table.to_csv(extended_lab.folder / "whole.csv", index=False)
    table[["sku"]].assign(stock=0).to_csv(extended_lab.folder / "part.csv", index=False)
    show_files(lab_page)
    dialog = choose_file(page, "whole.csv")
    dialog.get_by_label("objectID", exact=True).select_option("sku")
    dialog.get_by_role("button", name="Load 8 rows").click()
    dialog.get_by_role("button", name="Close").click()

    dialog = choose_file(page, "part.csv")
    dialog.get_by_label("Index", exact=True).fill("whole")
    dialog.get_by_label("objectID", exact=True).select_option("sku")
    choice = dialog.get_by_label("Attributes that the rows lack")
    expect(dialog).to_contain_text("the load deletes")
    expect(dialog.get_by_role("button", name="Load 8 rows")).to_be_disabled()
    choice.select_option("update")
    dialog.get_by_role("button", name="Load 8 rows").click()
    expect(dialog).to_contain_text("8 rows published")

    with service.client() as client:
        hit = client.post("/1/indexes/whole/query", json={"hitsPerPage": 1}).json()["hits"][0]
    assert (hit["stock"], bool(hit["name"])) == (0, True)
