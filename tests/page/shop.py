"""A shop whose page has another origin than its search service."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

FOLDER = Path(__file__).parent
PACKAGES = ("algoliasearch@5.64.0", "instantsearch.js@4.118.0")
BRANDS = ["Acme", "Borg", "Cyan", "Delta", "Écru"]
TAGS = ["red", "small", "new"]
SETTINGS = {
    "searchableAttributes": ["name", "description"],
    "attributesForFaceting": ["searchable(brand)", "tags", "price"],
    "customRanking": ["asc(n)"],
    "replicas": ["shop_cheapest"],
}
PRODUCTS: list[dict[str, Any]] = [
    {
        "objectID": str(n),
        "name": f"{'Lamp' if n % 2 else 'Table'} {n} <b>&co</b>",
        "description": f"one two three {'lamp' if n % 2 else 'table'} four five six seven",
        "brand": BRANDS[n % len(BRANDS)],
        "tags": [tag for place, tag in enumerate(TAGS) if n >> place & 1],
        "price": 5 + (n * 37) % 100,
        "n": n,
    }
    for n in range(40)
]


def stock(client: httpx.Client) -> None:
    """Fill the shop's index and its replica, and wait until they can be searched."""
    cheapest = {**SETTINGS, "ranking": ["asc(price)"]}
    del cheapest["replicas"]
    requests = [{"action": "addObject", "body": product} for product in PRODUCTS]
    for path, verb, body in (
        ("shop/settings", "PUT", SETTINGS),
        ("shop_cheapest/settings", "PUT", cheapest),
        ("shop/batch", "POST", {"requests": requests}),
    ):
        answer = client.request(verb, f"/1/indexes/{path}", json=body)
        assert answer.is_success, answer.text
        while client.get(f"/1/task/{answer.json()['taskID']}").json()["status"] != "published":
            pass


@contextmanager
def serve_pages(packages: Path, folder: Path = FOLDER) -> Iterator[str]:
    """Serve the pages of a folder and the packages they load; yields their origin."""

    class Handler(SimpleHTTPRequestHandler):
        def translate_path(self, path: str) -> str:
            root = packages if path.startswith("/node_modules/") else folder
            return str(root / path.split("?")[0].lstrip("/"))

        def log_message(self, *_: Any) -> None:
            """Keep quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
