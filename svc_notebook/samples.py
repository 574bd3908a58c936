"""Sample data, generated in memory: it needs neither a file nor the network."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pandas import DataFrame

VARIANTS_PER_PRODUCT = 10
FIRST_DAY = date(2021, 1, 4)
MAX_DAYS = 1500
# A product with fewer reviews has no rating yet.
MIN_REVIEWS = 12

STYLES = (
    "Classic", "Compact", "Nordic", "Studio", "Vintage", "Slim", "Everyday", "Rustic", "Modern",
    "Grand",
)  # fmt: skip
COLORS = ("black", "white", "sand", "forest green", "navy", "terracotta", "grey", "mustard")
BRANDS = (
    "Norrvik", "Haldenhaus", "Lumebright", "Oakandline", "Tesserado", "Millbeck", "Fjordby",
    "Casavela",
)  # fmt: skip


class _Kind(NamedTuple):
    code: str
    noun: str
    category: str
    price: float
    materials: tuple[str, ...]
    feature: str


KINDS = (
    _Kind("LMP", "desk lamp", "Lighting", 34, ("brass", "steel", "oak"),
          "The arm turns and stays where it is put, and the light can be dimmed"),
    _Kind("FLR", "floor lamp", "Lighting", 79, ("steel", "bamboo"),
          "A wide shade spreads warm light over a reading chair"),
    _Kind("PEN", "pendant light", "Lighting", 62, ("glass", "rattan"),
          "Hangs above a dining table from a cord of two metres"),
    _Kind("NIT", "night light", "Lighting", 14, ("silicone", "porcelain"),
          "Glows softly for eight hours and charges by USB"),
    _Kind("DSK", "desk", "Furniture", 180, ("oak", "walnut", "birch"),
          "Room for two screens, with a drawer and a tray for cables"),
    _Kind("CHR", "office chair", "Furniture", 140, ("mesh", "leather"),
          "Seat, back and arms adjust for long days at a desk"),
    _Kind("SHF", "bookshelf", "Furniture", 95, ("pine", "oak", "steel"),
          "Five shelves that carry thirty kilograms each"),
    _Kind("STL", "stool", "Furniture", 45, ("beech", "steel"),
          "Stacks in a corner and seats one more at the table"),
    _Kind("TBL", "side table", "Furniture", 60, ("marble", "walnut", "glass"),
          "Just high enough for a cup and a lamp beside the sofa"),
    _Kind("MUG", "mug", "Kitchen", 9, ("stoneware", "porcelain"),
          "Holds a third of a litre and goes into the dishwasher"),
    _Kind("PAN", "frying pan", "Kitchen", 32, ("cast iron", "steel"),
          "Browns evenly on every stove, induction too"),
    _Kind("KNF", "kitchen knife", "Kitchen", 28, ("steel", "ceramic"),
          "A blade of twenty centimetres that keeps its edge"),
    _Kind("KTL", "kettle", "Kitchen", 38, ("steel", "enamel"),
          "Boils a litre and a half and whistles when it is done"),
    _Kind("BWL", "mixing bowl", "Kitchen", 16, ("glass", "bamboo", "steel"),
          "A spout and a ring below that does not slip"),
    _Kind("TWL", "bath towel", "Bath", 15, ("cotton", "linen"),
          "Thick, soft, and dry again by the evening"),
    _Kind("SHW", "shower curtain", "Bath", 19, ("polyester", "linen"),
          "Two metres long, with a weighted hem and twelve rings"),
    _Kind("BLK", "blanket", "Textiles", 42, ("wool", "cotton"),
          "Large enough for two on the sofa"),
    _Kind("CSH", "cushion", "Textiles", 18, ("velvet", "linen"),
          "The cover comes off and is washed at thirty degrees"),
    _Kind("RUG", "rug", "Textiles", 85, ("wool", "jute"),
          "Woven by hand, flat enough for a door to pass over"),
    _Kind("NTB", "notebook", "Stationery", 7, ("recycled paper", "leather"),
          "Two hundred dotted pages that lie flat"),
    _Kind("PNC", "pencil case", "Stationery", 11, ("canvas", "leather"),
          "Pens to the left, everything else to the right"),
    _Kind("ORG", "desk organizer", "Stationery", 17, ("bamboo", "felt"),
          "Six compartments keep a desk clear"),
    _Kind("BAG", "backpack", "Travel", 58, ("canvas", "recycled polyester"),
          "A padded pocket for a laptop and straps for a long way"),
    _Kind("BTL", "water bottle", "Travel", 21, ("steel", "glass"),
          "Cold for a day, hot for half of one"),
)  # fmt: skip


def products() -> DataFrame:
    """Return 240 products of a fictitious shop, always the same.

    Returns
    -------
    DataFrame
        One row per product: `sku` (str, unique), `name`, `description`, `category`, `brand`,
        `color` and `material` (str), `price` (float64), `rating` (float64, from 3 to 5, missing
        if there are too few reviews), `reviews` and `stock` (int64) and `released` (str, a date
        such as `2024-05-17`).

    Examples
    --------
    >>> products = svc.samples.products()
    >>> products.loc[0, ["sku", "name"]].tolist()
    ['LMP-001', 'Classic brass desk lamp']
    >>> products.to_csv("products.csv", index=False)
    """
    from pandas import DataFrame

    rows = [
        _row(number, kind, n)
        for number, kind in enumerate(KINDS)
        for n in range(VARIANTS_PER_PRODUCT)
    ]
    return DataFrame(rows)


def _row(number: int, kind: _Kind, variant: int) -> dict[str, Any]:
    material = kind.materials[variant % len(kind.materials)]
    color = COLORS[(variant * 3 + number) % len(COLORS)]
    reviews = (variant * variant * 53 + number * 97) % 400
    price = round(kind.price * (70 + 8 * ((variant * 7 + number * 5) % 10)) / 100) - 0.1
    released = FIRST_DAY + timedelta(days=(variant * 131 + number * 47) % MAX_DAYS)
    return {
        "sku": f"{kind.code}-{variant + 1:03d}",
        "name": f"{STYLES[(variant + number) % len(STYLES)]} {material} {kind.noun}",
        "description": f"{kind.noun.capitalize()} of {material} in {color}. {kind.feature}.",
        "category": kind.category,
        "brand": BRANDS[(variant * 5 + number * 3) % len(BRANDS)],
        "color": color,
        "material": material,
        "price": round(price, 2),
        "rating": (30 + (variant * 37 + number * 17) % 21) / 10 if reviews >= MIN_REVIEWS else None,
        "reviews": reviews if reviews >= MIN_REVIEWS else 0,
        "stock": (variant * 29 + number * 13) % 120,
        "released": released.isoformat(),
    }
