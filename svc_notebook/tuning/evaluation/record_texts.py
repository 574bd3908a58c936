"""The texts and words of records, by attribute."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from svc_notebook.tokenization.tokenizer import TokenizerSettings, positions, split, tokens

# The column of judgments with the digest of the record that was judged.
RECORD_HASH = "record_hash"
MIN_WORD_LETTERS = 3
_RULES = TokenizerSettings()
_URL_START = re.compile(r"\w+://")


def attribute_texts(record: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the attributes of a record that contain text, with their text; URLs are left out."""
    for name, value in record.items():
        if name.startswith("_") or (not prefix and name == "objectID"):
            continue
        path = f"{prefix}{name}"
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, str) and each and not is_url(each):
                yield path, each
            elif isinstance(each, Mapping):
                yield from attribute_texts(each, f"{path}.")


def digest_record(record: Mapping[str, Any]) -> str:
    """Return a digest of the texts of a record; numbers, such as a price, do not change it."""
    text = json.dumps(sorted(attribute_texts(record)), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def is_url(text: str) -> bool:
    """Return whether a text begins as a URL does."""
    return _URL_START.match(text) is not None


def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case, as they are written."""
    return [text[token.start : token.end].casefold() for token in tokens(text, _RULES)]


def words_of(value: Any) -> list[str]:
    """Return the words of a text, or of the texts in a list or an object."""
    if isinstance(value, str):
        return split_words(value)
    inner = value.values() if isinstance(value, Mapping) else value
    members = inner if isinstance(value, Mapping | list) else ()
    return [word for item in members for word in words_of(item)]


def long_words(value: Any) -> set[str]:
    """Return the words of a value that are long enough to have a meaning of their own."""
    return {word for word in words_of(value) if len(word) >= MIN_WORD_LETTERS}


def fold_words(query: str) -> list[str]:
    """Return the words of a query as the engine looks them up, each once."""
    return list(dict.fromkeys(split(query, _RULES)))


def index_words(text: str) -> set[str]:
    """Return the words of a text as the engine indexes them, with the parts of joined words."""
    return {token.text for position in positions(text, _RULES) for token in position.tokens}


def words_by_attribute(
    record: Mapping[str, Any], words_of: Callable[[str], Iterable[str]] = split_words
) -> dict[str, set[str]]:
    """Return the words of each attribute with text."""
    words: dict[str, set[str]] = {}
    for path, text in attribute_texts(record):
        words.setdefault(path, set()).update(words_of(text))
    return words


def searchable_names(settings: Mapping[str, Any]) -> list[str]:
    """Return the names in `searchableAttributes`, without `unordered` and groups."""
    return [
        part.strip().removeprefix("unordered(").removesuffix(")")
        for entry in settings.get("searchableAttributes") or []
        for part in entry.split(",")
    ]
