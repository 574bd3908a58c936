"""The cost of the JupyterLab extension: notebooks opened with and without it, and its explorer.

`python benchmarks/extension.py [INDICES]`, 100 indices by default. JupyterLab, its kernels,
Chromium and the service share this machine. Notebooks are opened in turn in a JupyterLab with the
extension and in one without, until their kernels have run a first cell. The explorer is timed from
the click on Refresh until a changed number of records is painted.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from benchmarks.figures import compute_percentiles, record_percentiles  # noqa: E402
from tests.browser.lab import CHROMIUM, FLAGS, Lab, open_lab  # noqa: E402
from tests.browser.labextension import LabPage, link_extension  # noqa: E402
from tests.browser.notebook import Notebook, write_notebook  # noqa: E402
from tests.browser.shop import connect  # noqa: E402
from tests.conftest import Running, start_service, stop_service  # noqa: E402

PARTS = ("open a notebook", "open it and run a first cell")
ROUNDS = 12
REFRESHES = 30
OPEN_AND_RUN = """async name => {
    const app = window.jupyterapp;
    const start = performance.now();
    const panel = await app.commands.execute("docmanager:open", {path: name});
    await panel.context.ready;
    await panel.sessionContext.ready;
    const opened = performance.now();
    panel.content.model.sharedModel.getCell(0).setSource("1 + 1");
    panel.content.activeCellIndex = 0;
    await app.commands.execute("notebook:run-cell");
    return [opened - start, performance.now() - start];
}"""
CLOSE = """async () => {
    const panel = window.jupyterapp.shell.currentWidget;
    await panel.sessionContext.shutdown();
    panel.dispose();
}"""
REFRESH = """count => new Promise(done => {
    const start = performance.now();
    const tree = document.querySelector(".svc-explorer-tree");
    const look = () => {
        if (!tree.innerText.includes(count)) return;
        watcher.disconnect();
        requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
    };
    const watcher = new MutationObserver(look);
    watcher.observe(tree, {childList: true, subtree: true, characterData: true});
    document.querySelector(".svc-explorer-head button").click();
})"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("indices", nargs="?", type=int, default=100)
    indices = parser.parse_args().indices
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        opened = measure_opening(browser, Path(folder))
        refreshed = measure_refresh(browser, Path(folder), indices)
        browser.close()
    report(opened, f"explorer, {indices} indices", refreshed)


def report(opened: dict[str, list[float]], explorer: str, refreshed: list[float]) -> None:
    """Print and record the percentiles of all."""
    print("milliseconds, median and 95th percentile")
    found = {
        name: compute_percentiles(times) for name, times in {**opened, explorer: refreshed}.items()
    }
    for name, one in found.items():
        print(f"{name:32} {one.p50:7.1f} {one.p95:7.1f}")
    for part in PARTS:
        plain = found[f"{part}, without"]
        record_percentiles(part, found[f"{part}, with"], peer="without extension", theirs=plain)
    record_percentiles(explorer, found[explorer])


def measure_opening(browser: Browser, folder: Path) -> dict[str, list[float]]:
    """Open notebooks in turn in a JupyterLab without the extension and in one with it."""
    names = ("without", "with")
    for name in names:
        (folder / name / "lab").mkdir(parents=True)
        for number in range(ROUNDS + 2):
            write_notebook(folder / name / "lab" / f"{number}.ipynb")
    linked = {"JUPYTER_PATH": str(link_extension(folder / "jupyter"))}
    times: dict[str, list[float]] = {f"{what}, {name}": [] for what in PARTS for name in names}
    with (
        open_lab(folder / "without", folder / "without" / "lab") as plain,
        open_lab(folder / "with", folder / "with" / "lab", **linked) as extended,
    ):
        pages = {
            "without": Notebook(browser.new_page(), plain, "0.ipynb"),
            "with": Notebook(browser.new_page(), extended, "0.ipynb"),
        }
        for number in range(1, ROUNDS + 2):
            for name, page in pages.items():
                found = page.page.evaluate(OPEN_AND_RUN, f"{number}.ipynb")
                page.page.evaluate(CLOSE)
                if number > 1:  # the first loads modules that later ones share
                    for part, milliseconds in zip(PARTS, found, strict=True):
                        times[f"{part}, {name}"].append(milliseconds)
    return times


def measure_refresh(browser: Browser, folder: Path, indices: int) -> list[float]:
    """Change an index, click Refresh, and wait for its new number of records."""
    (folder / "explored" / "lab").mkdir(parents=True)
    linked = {"JUPYTER_PATH": str(link_extension(folder / "explored" / "jupyter"))}
    process, service = start_service(folder / "explored" / "data")
    try:
        fill(service, indices)
        lab = folder / "explored" / "lab"
        with open_lab(folder / "explored", lab, **linked) as running:
            return refresh_all(browser, running, service)
    finally:
        stop_service(process)


def refresh_all(browser: Browser, lab: Lab, service: Running) -> list[float]:
    page = LabPage(browser.new_page(), lab, "explored.ipynb")
    page.run(connect(service))
    page.await_connected()
    page.row("index-0000").wait_for()
    times = []
    for count in range(2, REFRESHES + 2):
        push(service, {"index-0000": [{"objectID": str(count)}]})
        page.page.wait_for_timeout(300)
        times.append(float(page.page.evaluate(REFRESH, f"index-0000\n{count}")))
    return times


def fill(service: Running, indices: int) -> None:
    push(service, {f"index-{number:04}": [{"objectID": "1"}] for number in range(indices)})


def push(service: Running, records: dict[str, list[dict[str, str]]]) -> None:
    requests = [
        {"action": "addObject", "indexName": index, "body": record}
        for index, some in records.items()
        for record in some
    ]
    with service.client() as client:
        answer = client.post("/1/indexes/*/batch", json={"requests": requests})
        for index, task in answer.raise_for_status().json()["taskID"].items():
            while client.get(f"/1/indexes/{index}/task/{task}").json()["status"] != "published":
                pass


if __name__ == "__main__":
    main()
