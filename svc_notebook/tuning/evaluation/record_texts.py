"""The texts and words of records, by attribute."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_WORD = re.compile(r"\w+")
_URL_START = re.compile(r"\w+://")


def attribute_texts(record: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the attributes of a record that contain text, with their text; URLs are left out."""
    for name, value in record.items():
        if name.startswith("_") or (not prefix and name == "objectID"):
            continue
        path = f"{prefix}{name}"
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, str) and each and not _URL_START.match(each):
                yield path, each
            elif isinstance(each, Mapping):
                yield from attribute_texts(each, f"{path}.")


def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return [word.casefold() for word in _WORD.findall(text)]


def words_by_attribute(record: Mapping[str, Any]) -> dict[str, set[str]]:
    """Return the words of each attribute with text."""
    found: dict[str, set[str]] = {}
    for path, text in attribute_texts(record):
        found.setdefault(path, set()).update(split_words(text))
    return found


def searchable_names(settings: Mapping[str, Any]) -> list[str]:
    """Return the names in `searchableAttributes`, without `unordered` and groups."""
    return [
        part.strip().removeprefix("unordered(").removesuffix(")")
        for entry in settings.get("searchableAttributes") or []
        for part in entry.split(",")
    ]
