"""Strategies of events for property tests: valid events, and events with one error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import strategies as st

Event = dict[str, Any]
Strategy = st.SearchStrategy[Any]

TOKENS = st.text("abcXYZ019_=+/-", min_size=1, max_size=129)
NAMES = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), min_size=1, max_size=64)
QUERIES = st.text("0123456789abcdef", min_size=32, max_size=32)
WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
INDICES = st.sampled_from(["films", "a/b c", "é"])
FILTERS = st.sampled_from(
    ["brand:acme", "size:10%25", "a%3Ab:c", "price>=10", "lvl0:a > b", "brand%3AAcme", "n%3E%3D10"]
)
AMOUNTS = st.one_of(
    st.integers(0, 10**6),
    st.floats(0, 10**6, allow_nan=False),
    st.sampled_from(["9.99", "0", "1234567890123.45"]),
)


class Kind(NamedTuple):
    """A row of api.md's table of events."""

    type: str
    subtype: str | None
    members: tuple[str, ...]

    @property
    def outline(self) -> Event:
        """What tells its events from others."""
        return {"eventType": self.type, **dict.fromkeys(self.members)}


KINDS = [
    Kind("click", None, ("objectIDs",)),
    Kind("click", None, ("queryID", "objectIDs", "positions")),
    Kind("click", None, ("filters",)),
    Kind("conversion", None, ("objectIDs",)),
    Kind("conversion", None, ("queryID", "objectIDs")),
    Kind("conversion", None, ("filters",)),
    Kind("conversion", "addToCart", ("objectIDs",)),
    Kind("conversion", "addToCart", ("objectIDs", "objectData", "currency")),
    Kind("conversion", "addToCart", ("queryID", "objectIDs", "value", "currency")),
    Kind("conversion", "purchase", ("objectIDs", "value", "currency")),
    Kind("conversion", "purchase", ("objectIDs", "objectData", "currency", "value")),
    Kind("view", None, ("objectIDs",)),
    Kind("view", None, ("filters",)),
]


@st.composite
def events(draw: st.DrawFn, spoiling: Spoiling | None = None) -> Event:
    """A valid event of any kind, or of any that can be spoiled in a way."""
    kinds = [kind for kind in KINDS if spoiling is None or spoiling.fits(kind.outline)]
    kind = draw(st.sampled_from(kinds))
    count = draw(st.integers(1, 4))
    members: dict[str, Strategy] = {
        "queryID": QUERIES,
        "objectIDs": st.lists(WORDS, min_size=count, max_size=count),
        "positions": st.lists(st.integers(1, 1000), min_size=count, max_size=count),
        "objectData": st.lists(items(), min_size=count, max_size=count),
        "filters": st.lists(FILTERS, min_size=1, max_size=10),
        "value": AMOUNTS,
        "currency": st.sampled_from(["EUR", "USD"]),
    }
    event = {
        "eventType": kind.type,
        "eventName": draw(NAMES),
        "index": draw(INDICES),
        "userToken": draw(TOKENS),
        **{name: draw(members[name]) for name in kind.members},
    }
    if kind.subtype:
        event["eventSubtype"] = kind.subtype
    if draw(st.booleans()):
        event["authenticatedUserToken"] = draw(TOKENS)
    return event


def items() -> Strategy:
    """What is known of one object that was bought."""
    return st.fixed_dictionaries(
        {},
        optional={
            "queryID": QUERIES,
            "price": AMOUNTS,
            "quantity": st.integers(1, 9),
            "discount": AMOUNTS,
        },
    )


class Spoiling(NamedTuple):
    """A way to make any event invalid: what it changes, and the place that must be named."""

    apply: Callable[[Event], Event]
    place: str
    fits: Callable[[Event], bool] = lambda event: True


def put(**members: Any) -> Callable[[Event], Event]:
    return lambda event: {**event, **members}


def drop(*names: str) -> Callable[[Event], Event]:
    return lambda event: {name: value for name, value in event.items() if name not in names}


def has(*names: str) -> Callable[[Event], bool]:
    return lambda event: all(name in event for name in names)


def first_item(**members: Any) -> Callable[[Event], Event]:
    def apply(event: Event) -> Event:
        first, *others = event["objectData"]
        return {**event, "objectData": [{**first, **members}, *others]}

    return apply


def is_sale(event: Event) -> bool:
    return bool(event["eventType"] == "conversion")


def is_plain_click(event: Event) -> bool:
    return event["eventType"] == "click" and "queryID" not in event and "objectIDs" in event


ONES = [str(number) for number in range(21)]
SPOILINGS = {
    "type missing": Spoiling(drop("eventType"), ".eventType"),
    "type unknown": Spoiling(put(eventType="look"), ".eventType"),
    "subtype unknown": Spoiling(put(eventSubtype="rent"), ".eventSubtype"),
    "subtype of no sale": Spoiling(
        put(eventSubtype="purchase"), ".eventSubtype", lambda e: not is_sale(e)
    ),
    "subtype of filters": Spoiling(
        put(eventSubtype="addToCart"), ".eventSubtype", lambda e: is_sale(e) and "filters" in e
    ),
    "name missing": Spoiling(drop("eventName"), ".eventName"),
    "name empty": Spoiling(put(eventName=""), ".eventName"),
    "name long": Spoiling(put(eventName="x" * 65), ".eventName"),
    "name not ASCII": Spoiling(put(eventName="caf\u00e9"), ".eventName"),
    "name of two lines": Spoiling(put(eventName="a\n"), ".eventName"),
    "index missing": Spoiling(drop("index"), ".index"),
    "index empty": Spoiling(put(index=""), ".index"),
    "user missing": Spoiling(drop("userToken"), ".userToken"),
    "user empty": Spoiling(put(userToken=""), ".userToken"),
    "user long": Spoiling(put(userToken="x" * 130), ".userToken"),
    "user with a blank": Spoiling(put(userToken="a b"), ".userToken"),
    "user with a line": Spoiling(put(userToken="ab\n"), ".userToken"),
    "user a number": Spoiling(put(userToken=7), ".userToken"),
    "known user wrong": Spoiling(put(authenticatedUserToken="a@b"), ".authenticatedUserToken"),
    "query upper case": Spoiling(put(queryID="A" * 32), ".queryID"),
    "query short": Spoiling(put(queryID="a" * 31), ".queryID"),
    "no objects": Spoiling(put(objectIDs=[]), ".objectIDs"),
    "many objects": Spoiling(put(objectIDs=ONES), ".objectIDs"),
    "object a number": Spoiling(put(objectIDs=[1]), ".objectIDs[0]"),
    "object empty": Spoiling(put(objectIDs=[""]), ".objectIDs[0]"),
    "no filters": Spoiling(put(filters=[]), ".filters"),
    "many filters": Spoiling(put(filters=["a:b"] * 11), ".filters"),
    "filter without a value": Spoiling(put(filters=["a:b", "a:"]), ".filters[1]"),
    "filter without a colon": Spoiling(put(filters=["ab"]), ".filters[0]"),
    "encoded filter without a value": Spoiling(put(filters=["a%3A"]), ".filters[0]"),
    "encoded filter without a colon": Spoiling(put(filters=["a%2520b"]), ".filters[0]"),
    "objects and filters": Spoiling(put(filters=["a:b"]), ".filters", has("objectIDs")),
    "nothing it is about": Spoiling(
        drop("objectIDs", "filters", "positions", "objectData"), "", lambda e: True
    ),
    "positions of a sale": Spoiling(
        put(positions=[1]), ".positions", lambda e: e["eventType"] != "click"
    ),
    "positions without a query": Spoiling(put(positions=[1]), ".positions", is_plain_click),
    "positions missing": Spoiling(drop("positions"), ".positions", has("positions")),
    "too many positions": Spoiling(put(positions=[1] * 5), ".positions", has("positions")),
    "a position of nought": Spoiling(put(positions=[0]), ".positions[0]"),
    "a position in words": Spoiling(put(positions=["1"]), ".positions[0]"),
    "a position with decimals": Spoiling(put(positions=[1.5]), ".positions[0]"),
    "time in words": Spoiling(put(timestamp="now"), ".timestamp"),
    "time with decimals": Spoiling(put(timestamp=1.5), ".timestamp"),
    "data of no sale": Spoiling(
        lambda e: {**e, "objectData": [{}] * len(e["objectIDs"])},
        ".objectData",
        lambda e: "objectIDs" in e and not is_sale(e),
    ),
    "too much data": Spoiling(
        put(objectData=[{}] * 5), ".objectData", lambda e: "objectIDs" in e and is_sale(e)
    ),
    "data of filters": Spoiling(
        put(objectData=[{}]), ".objectData", lambda e: "filters" in e and is_sale(e)
    ),
    "data of an unknown name": Spoiling(
        first_item(cost=3), ".objectData[0].cost", has("objectData")
    ),
    "data with a wrong query": Spoiling(
        first_item(queryID="x"), ".objectData[0].queryID", has("objectData")
    ),
    "a price in words": Spoiling(
        first_item(price="dear"), ".objectData[0].price", has("objectData")
    ),
    "a quantity in words": Spoiling(
        first_item(quantity="2"), ".objectData[0].quantity", has("objectData")
    ),
    "a value in words": Spoiling(put(value="much"), ".value"),
    "a long value": Spoiling(put(value="1" * 17), ".value"),
    "a value of no sale": Spoiling(put(value=3), ".value", lambda e: not is_sale(e)),
    "a value without a currency": Spoiling(
        lambda e: drop("currency")(put(value=3)(e)), ".currency", is_sale
    ),
    "a price without a currency": Spoiling(
        lambda e: drop("currency", "value")(first_item(price=3)(e)), ".currency", has("objectData")
    ),
    "a currency in words": Spoiling(put(currency="euros"), ".currency"),
    "an unknown member": Spoiling(put(objectID="1"), ".objectID"),
    "null": Spoiling(put(queryID=None), ".queryID"),
}
