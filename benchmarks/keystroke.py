"""From a key to drawn hits in the query editor: the floor of a widget that echoes, and ours.

`python benchmarks/keystroke.py [RECORDS]`, 100,000 by default. JupyterLab, its kernel, Chromium
and the service share this machine; a key's time ends once the page is painted.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from svc_notebook.client import Client, ClientConfig, Secret  # noqa: E402
from tests.browser.lab import CHROMIUM, FLAGS, open_lab  # noqa: E402
from tests.browser.notebook import Notebook  # noqa: E402
from tests.browser.shop import ADJECTIVES, NOUNS, connect  # noqa: E402
from tests.conftest import Running, start_service, stop_service  # noqa: E402

SYLLABLES = ["ka", "lo", "mi", "ten", "ru", "sa", "pel", "dor", "vin", "gra", "bel", "tis", "fi"]
TYPED = ["kalo", "red lamp", "miten ru", "table", "oak dor", "grabel"]
REST = 350  # milliseconds between two keys, so that nothing of the last is under way
EDITOR = """
asked = []
e = svc.edit.query("big")
e.observe(lambda change: asked.append(change["new"]["took"]), "answer")
e
"""
ECHO = """
import ipywidgets
box, label = ipywidgets.Text(), ipywidgets.Label("")
box.observe(lambda change: setattr(label, "value", change["new"]), "value")
box.add_class("svc-editor"), label.add_class("told")
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
    const told = () => requestAnimationFrame(() => setTimeout(done));
    new MutationObserver(told).observe(document.querySelector(drawn),
        {childList: true, subtree: true, characterData: true});
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", nargs="?", type=int, default=100_000)
    records = parser.parse_args().records
    with tempfile.TemporaryDirectory() as folder, run_service(Path(folder) / "data") as service:
        fill(service, records)
        alone = search_alone(service)
        echo, ours, told = measure(service, Path(folder))
    floor = statistics.median(echo)
    print(f"{records:,} records; milliseconds, median and 95th of 100")
    for name, times in (("search alone", alone), ("echo", echo), ("query editor", ours)):
        print(f"{name:14} {statistics.median(times):7.1f} {quantile(times):7.1f}")
    print(f"{'of which asked':14} {statistics.median(told):7.1f} {quantile(told):7.1f}")
    print(f"query editor / echo: {statistics.median(ours) / floor:.2f}")


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
            time.sleep(REST / 1000)
    return times


def measure(service: Running, folder: Path) -> tuple[list[float], list[float], list[float]]:
    """Type into a widget that echoes and into the editor, in one notebook."""
    for name in ("home", "lab"):
        (folder / name).mkdir()
    with open_lab(folder / "home", folder / "lab") as lab, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        notebook = Notebook(browser.new_page(), lab, "keys.ipynb")
        notebook.open(ECHO)
        echo = type_all(notebook, ".svc-editor input", ".told")
        notebook.run(connect(service))
        notebook.open(EDITOR)
        notebook.page.locator(".svc-hit").first.wait_for()
        ours = type_all(notebook, ".svc-search", ".svc-count")
        told = notebook.ask("asked")
        browser.close()
    return echo, ours, told


def type_all(notebook: Notebook, box: str, drawn: str) -> list[float]:
    page = notebook.page
    page.evaluate(WATCH, [box, drawn])
    for text in TYPED:
        page.locator(box).fill("")
        page.wait_for_timeout(REST)
        for sign in text:
            page.keyboard.type(sign)
            page.wait_for_timeout(REST)
    times: list[float] = page.evaluate("() => window.times")
    return times


def quantile(times: Sequence[float]) -> float:
    return sorted(times)[int(len(times) * 0.95)]


if __name__ == "__main__":
    main()
