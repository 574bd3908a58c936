"""Time from a key press to painted hits in the query editor, and in a widget that only echoes.

`python benchmarks/keystroke.py [RECORDS]`, 100,000 by default. JupyterLab, its kernel, Chromium
and the service share this machine; the time of a key ends when the page is painted.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from benchmarks.figures import compute_percentiles, record_percentiles  # noqa: E402
from svc_notebook.data.client import Client, ClientConfig, Secret  # noqa: E402
from tests.browser.lab import CHROMIUM, FLAGS, open_lab  # noqa: E402
from tests.browser.notebook import Notebook  # noqa: E402
from tests.browser.shop import ADJECTIVES, NOUNS, connect  # noqa: E402
from tests.conftest import Running, start_service, stop_service  # noqa: E402

SYLLABLES = ["ka", "lo", "mi", "ten", "ru", "sa", "pel", "dor", "vin", "gra", "bel", "tis", "fi"]
TYPED = ["kalo", "red lamp", "miten ru", "table", "oak dor", "grabel"]
KEY_INTERVAL_MS = 350  # so that the search for the key before has ended
EDITOR = """
searches = []
e = svc.edit.query("big")
e.observe(lambda change: searches.append(change["new"]["took"]), "answer")
e
"""
ECHO = """
import ipywidgets
box, label = ipywidgets.Text(), ipywidgets.Label("")
box.observe(lambda change: setattr(label, "value", change["new"]), "value")
box.add_class("svc-editor"), label.add_class("echoed")
ipywidgets.VBox([box, label])
"""
WATCH = """([typed, drawn]) => {
    window.times = [];
    let since = 0;
    const done = () => {
        if (!since) return;
        times.push(performance.now() - since);
        since = 0;
    };
    const begin = () => (since = performance.now());
    document.querySelector(typed).addEventListener("input", begin, true);
    const changed = () => requestAnimationFrame(() => setTimeout(done));
    new MutationObserver(changed).observe(document.querySelector(drawn),
        {childList: true, subtree: true, characterData: true});
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", nargs="?", type=int, default=100_000)
    records = parser.parse_args().records
    with tempfile.TemporaryDirectory() as folder, run_service(Path(folder) / "data") as service:
        fill(service, records)
        alone = search_alone(service)
        echo, ours, searches = measure(service, Path(folder))
    print(f"{records:,} records; milliseconds, median and 95th of 100")
    report({"search alone": alone, "echo": echo, "query editor": ours, "of it: search": searches})


def report(times: dict[str, list[float]]) -> None:
    """Print and record the percentiles of all."""
    found = {name: compute_percentiles(some) for name, some in times.items()}
    for name, one in found.items():
        print(f"{name:14} {one.p50:7.1f} {one.p95:7.1f}")
    print(f"query editor / echo: {found['query editor'].p50 / found['echo'].p50:.2f}")
    record_percentiles("search alone", found["search alone"])
    record_percentiles("query editor", found["query editor"], peer="echo", theirs=found["echo"])
    record_percentiles("query editor, search of it", found["of it: search"])


@contextmanager
def run_service(data: Path) -> Iterator[Running]:
    process, running = start_service(data)
    try:
        yield running
    finally:
        stop_service(process)


def fill(service: Running, count: int) -> None:
    settings: Any = {
        "searchableAttributes": ["name", "brand", "description"],
        "attributesForFaceting": ["searchable(brand)", "colour", "price"],
        "customRanking": ["desc(rating)"],
    }
    with client_of(service) as client:
        client.replace_all("big", make_records(count))
        client.wait(client.set_settings("big", settings), index="big")


def client_of(service: Running) -> Client:
    key = Secret(service.adminKey)
    return Client(ClientConfig(url=service.url, app_id=service.appId, api_key=key))


def make_records(count: int) -> list[dict[str, Any]]:
    chance = random.Random(1)
    words = ["".join(chance.choices(SYLLABLES, k=chance.randint(2, 3))) for _ in range(8000)]
    words += ADJECTIVES + NOUNS
    weights = [1 / (place + 5) for place in range(len(words))]
    return [
        {
            "objectID": str(number),
            "name": " ".join([*chance.choices(words, weights, k=4), chance.choice(NOUNS)]),
            "brand": f"brand {int(chance.paretovariate(1)) % 300}",
            "colour": chance.choice(ADJECTIVES),
            "price": chance.randint(1, 2000),
            "rating": chance.randint(0, 50) / 10,
            "description": " ".join(chance.choices(words, weights, k=25)),
        }
        for number in range(count)
    ]


def search_alone(service: Running) -> list[float]:
    """Time the same searches without a browser or a notebook, from the same machine."""
    times = []
    with client_of(service) as client:
        for query in [text[:end] for text in TYPED for end in range(1, len(text) + 1)]:
            start = time.perf_counter()
            client.search("big", query, getRankingInfo=True, facets=[])
            times.append((time.perf_counter() - start) * 1000)
            time.sleep(KEY_INTERVAL_MS / 1000)
    return times


def measure(service: Running, folder: Path) -> tuple[list[float], list[float], list[float]]:
    """Type into a widget that echoes and into the editor, in one notebook."""
    for name in ("home", "lab"):
        (folder / name).mkdir()
    with open_lab(folder / "home", folder / "lab") as lab, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        notebook = Notebook(browser.new_page(), lab, "keys.ipynb")
        notebook.open(ECHO)
        echo = type_all(notebook, ".svc-editor input", ".echoed")
        notebook.run(connect(service))
        notebook.open(EDITOR)
        notebook.page.locator(".svc-hit").first.wait_for()
        ours = type_all(notebook, ".svc-search", ".svc-count")
        searches = notebook.ask("searches")
        browser.close()
    return echo, ours, searches


def type_all(notebook: Notebook, box: str, drawn: str) -> list[float]:
    page = notebook.page
    page.evaluate(WATCH, [box, drawn])
    for text in TYPED:
        page.locator(box).fill("")
        page.wait_for_timeout(KEY_INTERVAL_MS)
        for sign in text:
            page.keyboard.type(sign)
            page.wait_for_timeout(KEY_INTERVAL_MS)
    times: list[float] = page.evaluate("() => window.times")
    return times


if __name__ == "__main__":
    main()
