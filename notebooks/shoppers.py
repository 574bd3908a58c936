"""Simulated shoppers for the tutorial on analytics: they search, click, search again, and buy.

They use some words that the shop does not: a carpet is a rug there. A shopper who finds nothing
searches again with the word of the shop in half of the cases, and leaves otherwise.
"""

from __future__ import annotations

import random
from typing import Any

from svc_notebook.client import Client

# What shoppers type, the product that they want, and how many of 100 shoppers want it.
WISHES = [
    ("desk lamp", "lamp", 20),
    ("mug", "mug", 14),
    ("wool blanket", "blanket", 10),
    ("carpet", "rug", 12),
    ("rucksack", "backpack", 10),
    ("drapes", "curtain", 8),
    ("side table", "table", 8),
    ("kettle", "kettle", 8),
    ("towel", "towel", 6),
    ("toaster", "toaster", 4),
]
CLICK_SHARE, PURCHASE_SHARE, RETRY_SHARE = 0.2, 0.3, 0.5
SEEN_HITS = 8


def shop(client: Client, index: str, shoppers: int, seed: int) -> int:
    """Let shoppers search an index; return the number of their searches."""
    chance = random.Random(seed)
    events: list[dict[str, Any]] = []
    searches = 0
    for number in range(shoppers):
        user = f"shopper-{seed}-{number}"
        query, product, _ = chance.choices(WISHES, [weight for *_, weight in WISHES])[0]
        for text in (query, product):
            searches += 1
            answer = client.search(
                index, text, clickAnalytics=True, userToken=user, hitsPerPage=SEEN_HITS
            )
            clicks = _click(chance, answer, product, user, index)
            events += clicks
            if clicks or text == product or chance.random() > RETRY_SHARE:
                break
    client.push_events(events)
    return searches


def _click(
    chance: random.Random, answer: Any, product: str, user: str, index: str
) -> list[dict[str, Any]]:
    """Return the events of a shopper, who reads the hits from the top."""
    for position, hit in enumerate(answer["hits"], 1):
        if product not in hit["name"] or chance.random() > CLICK_SHARE:
            continue
        shared = {
            "index": index,
            "userToken": user,
            "queryID": answer["queryID"],
            "objectIDs": [hit["objectID"]],
        }
        click = {"eventType": "click", "eventName": "Opened", "positions": [position], **shared}
        if chance.random() > PURCHASE_SHARE:
            return [click]
        bought = {"price": hit["price"], "quantity": 1, "queryID": shared["queryID"]}
        purchase = {
            "eventType": "conversion",
            "eventSubtype": "purchase",
            "eventName": "Bought",
            "currency": "EUR",
            "value": hit["price"],
            "objectData": [bought],
            **shared,
        }
        return [click, purchase]
    return []
