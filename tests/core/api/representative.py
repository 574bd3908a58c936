"""Values, as JSON, each accepted by some parameter and refused by others."""

from __future__ import annotations

from typing import Any

NUMBERS: list[Any] = [0, 1, 5, 8, -1, 101, 1001, 20001, 2.5]
WORDS: list[Any] = [
    "", "true", "min", "text", "en", "all", "alpha", "word", "lastWords", "prefixAll",
    "keywordSearch", "48.8,2.3", "brand:a", "brand:a AND", "n > 5",
]  # fmt: skip
LISTS: list[Any] = [
    [], ["en"], ["title"], [1], [True], ["title", "*"], ["exactPhrase"], ["ignorePlurals"],
    ["asc(n)"], ["asc("], ["typo", "desc(n)"], ["n > 5"], [["brand:a", "brand:b"], "brand:c"],
    [[48.1, 2.1, 48.9, 2.9]], [[1, 2]], [[48.0, 2.0, 48.5, 2.5, 48.9, 2.0]],
    [{"from": 0, "value": 20}], [{"from": 0}],
]  # fmt: skip
OBJECTS: list[Any] = [
    {}, {"a": 1}, {"en": ["title"]}, {"default": {"ä": "ae"}}, {"facetOrdering": {}},
]  # fmt: skip
VALUES: list[Any] = [True, False, *NUMBERS, *WORDS, *LISTS, *OBJECTS]
