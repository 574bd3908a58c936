"""The index of the browser tests, records with hostile texts, and cells that open editors on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.conftest import Running

# Code: the names of all indices.
INDICES = "[item['name'] for item in client.list_indices()['items']]"
ADJECTIVES = ["red", "blue", "green", "small", "large", "brass", "paper", "oak", "steel", "glass"]
NOUNS = ["lamp", "lantern", "table", "chair", "shelf", "desk", "mirror"]
PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwAD"
    "hgGAWjR9awAAAABJRU5ErkJggg=="
)
HOSTILE: list[dict[str, Any]] = [
    {
        "objectID": "<b id=x>1</b>",
        "title": "<img src=x onerror=\"window.struck=1\"> lamp <script>window.struck=1</script>",
        "description": "</textarea></style><svg onload=window.struck=1> lamp",
    },
    {"objectID": "long", "title": "lamp" + "Donaudampfschiffahrt" * 40, "tags": ["x" * 900]},
    {"objectID": "rtl", "title": "lamp مصباح אור‮ evil", "maker": "שלום"},
    {"objectID": "wide", "title": "lamp"} | {f"attribute_{n}": f"value {n}" for n in range(200)},
    {"objectID": "deep", "title": "lamp", "nested": {"a": [{"b": ["lamp", None, True, 2**60]}]}},
]  # fmt: skip


def products() -> list[dict[str, Any]]:
    """Seventy products; every tenth has a picture."""
    return [
        {
            "objectID": f"sku-{number:03}",
            "name": f"{ADJECTIVES[number % 10]} {NOUNS[number % 7]}",
            "brand": ["Acme", "Umbra", "Lumen"][number % 3],
            "colour": ADJECTIVES[number % 3],
            "price": 5 + number * 3 % 97,
            "rating": number * 7 % 50 / 10,
            "description": f"A {NOUNS[number % 7]} of the house's own make, number {number}.",
            **({"image": PIXEL} if number % 10 == 0 else {}),
        }
        for number in range(70)
    ]


def fill(service: Running, index: str, records: Sequence[dict[str, Any]]) -> None:
    """Put records into an index, with settings that suit a shop."""
    settings = {
        "searchableAttributes": ["name", "title", "brand", "description"],
        "attributesForFaceting": ["searchable(brand)", "colour", "price"],
        "customRanking": ["desc(rating)"],
    }
    with service.client() as client:
        client.put(f"/1/indexes/{index}/settings", json=settings).raise_for_status()
        requests = [{"action": "addObject", "body": record} for record in records]
        answer = client.post(f"/1/indexes/{index}/batch", json={"requests": requests})
        task = answer.raise_for_status().json()["taskID"]
        while client.get(f"/1/indexes/{index}/task/{task}").json()["status"] != "published":
            pass


def connect(service: Running, *, crawls: bool = False) -> str:
    """Code that connects a notebook to the service, as `client`; with `crawls`, to crawlers too."""
    crawler = (
        f", crawler_user_id={service.crawlerUserId!r}, crawler_api_key={service.crawlerApiKey!r}"
    )
    return (
        f"import svc_notebook as svc\nclient = svc.connect(url={service.url!r}, "
        f"app_id={service.appId!r}, api_key={service.adminKey!r}{crawler if crawls else ''})\n"
    )
