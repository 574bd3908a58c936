"""Extract the attribute names that settings and search parameters contain."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from svc_notebook.core.api.parameters import ALIASES

_CALL = re.compile(r"(\w+)\((.*)\)", re.S)
_QUOTED = re.compile(r"""(["'])(?:\\.|(?!\1).)*\1""")
_FILTERED = re.compile(r"([\w.]+)\s*:(?!\s*-?[\d.]+\s+TO\b)")  # `price:1 TO 5` is a numeric filter
_COMPARED = re.compile(r"([\w.]+)\s*(?:<=|>=|!=|<|>|=|:\s*-?[\d.]+\s+TO\b)")
# What structures a filter expression; quoted texts are skipped as a whole.
_SYNTAX = re.compile(r"""(["'])(?:\\.|(?!\1).)*\1|[()]|\bAND\b""", re.I)
_WORDS = re.compile(r":\d+$")
# All settings and parameters whose entries contain attribute names, plain or inside a modifier.
NAMING = (
    "searchableAttributes", "attributesForFaceting", "customRanking", "ranking",
    "attributesToRetrieve", "attributesToHighlight", "attributesToSnippet",
    "unretrievableAttributes", "numericAttributesForFiltering", "attributeForDistinct",
    "disableTypoToleranceOnAttributes", "disableExactOnAttributes", "disablePrefixOnAttributes",
    "attributesToTransliterate", "camelCaseAttributes", "decompoundedAttributes",
    "restrictSearchableAttributes", "facets",
)  # fmt: skip
# Attributes that every record has, or may have without a setting that names them.
OF_EVERY_RECORD = frozenset({"*", "objectID", "_geoloc", "_tags"})


def attributes_in(entry: str) -> list[str]:
    """List the attributes of an entry: `title` for `unordered(title)`, two for `a,b`."""
    inner = entry
    while match := _CALL.fullmatch(inner.strip()):
        inner = match[2]
    parts = (part.strip() for part in inner.split(","))
    return [match[2] if (match := _CALL.fullmatch(part)) else part for part in parts if part]


def name_attributes(values: Mapping[str, Any]) -> dict[str, str]:
    """Map each attribute in settings or parameters to the first setting or parameter with it."""
    named: dict[str, str] = {}
    for member, value in values.items():
        name = ALIASES.get(member, member)
        if name not in NAMING:
            continue
        for entry in entries_of(value):
            for attribute in _attributes_of(name, entry):
                if attribute not in OF_EVERY_RECORD:
                    named.setdefault(attribute, name)
    return named


def has_attribute(record: Any, path: str) -> bool:
    """Return whether a record has an attribute; `size.width` is also looked up inside `size`."""
    if isinstance(record, list):
        return any(has_attribute(item, path) for item in record)
    if not isinstance(record, Mapping):
        return False
    if path in record:
        return True
    head, _, rest = path.partition(".")
    return bool(rest) and has_attribute(record.get(head), rest)


def values_of(record: Any, path: str) -> Iterator[Any]:
    """Yield the values of an attribute; those of a list, and of members of objects, one by one."""
    if isinstance(record, list):
        for item in record:
            yield from values_of(item, path)
    elif isinstance(record, Mapping):
        if path in record:
            value = record[path]
            yield from value if isinstance(value, list) else [value]
        head, _, rest = path.partition(".")
        if rest and path not in record:
            yield from values_of(record.get(head), rest)


def filtered_attributes(filters: Any) -> Iterator[str]:
    """Yield the attributes before the colons of a filter expression or of nested lists of them."""
    if isinstance(filters, (list, tuple)):
        for entry in filters:
            yield from filtered_attributes(entry)
    elif isinstance(filters, str):
        yield from _FILTERED.findall(_QUOTED.sub('""', filters))


def compared_attributes(filters: Any) -> Iterator[str]:
    """Yield the attributes that filters compare with numbers, such as `price < 10`."""
    if isinstance(filters, (list, tuple)):
        for entry in filters:
            yield from compared_attributes(entry)
    elif isinstance(filters, str):
        yield from _COMPARED.findall(_QUOTED.sub('""', filters))


def split_conjunction(filters: str) -> list[str]:
    """Split a filter expression at each `AND` outside of parentheses and quotes.

    `OR` binds tighter than `AND`.
    """
    parts, depth, start = list[str](), 0, 0
    for mark in _SYNTAX.finditer(filters):
        token = mark[0].upper()
        if token in "()":
            depth += 1 if token == "(" else -1
        elif depth == 0 and token == "AND":
            parts.append(filters[start : mark.start()].strip())
            start = mark.end()
    return [part for part in [*parts, filters[start:].strip()] if part]


def entries_of(value: Any) -> Iterator[str]:
    """Yield the strings in a value: a string, a list, or lists by language."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from entries_of(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from entries_of(inner)


def _attributes_of(name: str, entry: str) -> list[str]:
    if name == "ranking" and not _CALL.fullmatch(entry.strip()):
        return []  # a ranking criterion, not an attribute
    if name == "attributesToRetrieve":
        entry = entry.removeprefix("-")
    if name == "attributesToSnippet":
        entry = _WORDS.sub("", entry)
    return attributes_in(entry)
