"""The schema of an index: what its settings require to be stored for each record."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from svc_notebook.core.tokenization.tokenizer import TokenizerSettings
from svc_notebook.errors import BadInput

TAGS = "_tags"
OBJECT_ID = "objectID"
GEOLOC = "_geoloc"
# Attributes that are searched only if searchableAttributes names them.
INTERNAL = frozenset({OBJECT_ID, TAGS, GEOLOC})
# The least weight of an attribute in textual relevance; the first attribute has 1.
MIN_WEIGHT = 0.1

# Settings and entries of settings whose meaning is kept: every search reads them.
MAX_CACHED_SETTINGS = 256

_MODIFIER = re.compile(r"\s*(\w+)\((.*)\)\s*\Z", re.DOTALL)


@dataclass(frozen=True)
class Searched:
    """One attribute of searchableAttributes: its rank, and whether the word position counts."""

    path: str
    rank: int
    ordered: bool

    @property
    def weight(self) -> float:
        """The weight in vectors, and in textual relevance by default: half for each position."""
        return max(MIN_WEIGHT, 0.5**self.rank)


@dataclass(frozen=True)
class Faceted:
    """One entry of attributesForFaceting with its modifiers."""

    path: str
    counted: bool = True
    searchable: bool = False
    after_distinct: bool = False


@dataclass(frozen=True)
class Sorted:
    """One `asc(x)` or `desc(x)`."""

    path: str
    descending: bool


@dataclass(frozen=True)
class Schema:
    """What is stored of each record; settings with equal schemas need no reindexing."""

    searched: tuple[str, ...] = ()
    facets: tuple[str, ...] = ()
    sorts: frozenset[str] = frozenset()
    distinct: str = ""
    rules: TokenizerSettings = field(default_factory=TokenizerSettings)

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Schema:
        """Read the schema from an index's settings."""
        return cls(
            tuple(sorted(entry.path for entry in read_searched(settings))),
            tuple(sorted(read_faceted(settings).keys() - {TAGS})),
            frozenset(entry.path for entry in read_sorts(settings)),
            settings.get("attributeForDistinct") or "",
            TokenizerSettings.of(settings),
        )

    def serves(self, other: Schema) -> bool:
        """Return whether data stored under this schema is sufficient for another one."""
        return other.sorts <= self.sorts and other == Schema(
            self.searched, self.facets, other.sorts, self.distinct, self.rules
        )


def covers(entry: str, path: str) -> bool:
    """Return whether an attribute equals the entry or is nested in it."""
    return path == entry or path.startswith(f"{entry}.")


def is_covered(path: str, entries: Iterable[str]) -> bool:
    """Return whether an attribute equals one of the entries or is nested in one."""
    return any(covers(entry, path) for entry in entries)


def first_covering(path: str, entries: Sequence[Searched]) -> Searched | None:
    """Return the first entry that covers an attribute, None if there is none."""
    return next((entry for entry in entries if covers(entry.path, path)), None)


def split_excluded(entries: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the entries in the form of `attributesToRetrieve`, and those that a minus excludes."""
    names = [entry.strip() for entry in entries]
    excluded = [name[1:] for name in names if name.startswith("-")]
    return [name for name in names if not name.startswith("-")], excluded


def names_path(entries: Sequence[str], path: str) -> bool:
    """Return whether a list in the form of `attributesToRetrieve` includes an attribute."""
    named, excluded = split_excluded(entries)
    everything = "*" in named or (not named and bool(excluded))
    return (everything or is_covered(path, named)) and not is_covered(path, excluded)


def read_searched(settings: Mapping[str, Any]) -> list[Searched]:
    """Read searchableAttributes; attributes of one `a,b` entry are equal and unordered."""
    return [*_read_searched(tuple(settings.get("searchableAttributes") or ()))]


@lru_cache(MAX_CACHED_SETTINGS)
def _read_searched(entries: tuple[str, ...]) -> tuple[Searched, ...]:
    searched: dict[str, Searched] = {}
    for rank, entry in enumerate(entries):
        paths = _split_outside(entry)
        for text in paths:
            modifier, path = _modified(text, "searchableAttributes", {"unordered", "ordered"})
            ordered = modifier != "unordered" and len(paths) == 1
            searched.setdefault(path, Searched(path, rank, ordered))
    return (*searched.values(),)


def read_faceted(settings: Mapping[str, Any]) -> dict[str, Faceted]:
    """Read attributesForFaceting."""
    return dict(_read_faceted(tuple(settings.get("attributesForFaceting") or ())))


@lru_cache(MAX_CACHED_SETTINGS)
def _read_faceted(entries: tuple[str, ...]) -> Mapping[str, Faceted]:
    faceted = {}
    for text in entries:
        modifiers, path = set(), text.strip()
        while _MODIFIER.match(path):
            modifier, path = _modified(path, "attributesForFaceting", FACET_MODIFIERS)
            modifiers.add(modifier)
        faceted[path] = Faceted(
            path,
            counted="filterOnly" not in modifiers,
            searchable="searchable" in modifiers,
            after_distinct="afterDistinct" in modifiers,
        )
    return faceted


# A list with one blank name unlinks all replicas.
MAY_BE_BLANK = ("replicas",)


def check_entries(settings: Mapping[str, Any]) -> None:
    """Raise for entries that are blank, name no attribute or have an unclosed modifier.

    Only for new settings: settings stored by older versions may contain such entries and remain
    searchable.
    """
    for setting in ("searchableAttributes", "attributesForFaceting", NUMERIC):
        for entry in settings.get(setting) or ():
            if not _split_outside(entry):
                raise BadInput(f'{setting}: "{entry}" names no attribute; remove it')
    for setting, value in settings.items():
        if setting not in MAY_BE_BLANK:
            _refuse_blank(setting, value)
    for path in read_faceted(settings):
        _refuse_open(path, "attributesForFaceting", FACET_MODIFIERS)


def _refuse_blank(setting: str, value: object) -> None:
    for entry in value if isinstance(value, list) else ():
        if isinstance(entry, str) and not entry.strip():
            raise BadInput(f'{setting}: "{entry}" is blank; remove it')


def read_filterable(settings: Mapping[str, Any]) -> dict[str, bool]:
    """Read numericAttributesForFiltering: for each path, whether only equality is allowed."""
    entries = settings.get(NUMERIC) or ()
    read = (_modified(text, NUMERIC, {"equalOnly"}) for text in entries)
    return {path: modifier == "equalOnly" for modifier, path in read}


def read_sorts(settings: Mapping[str, Any]) -> list[Sorted]:
    """Read the entries of customRanking, and the sort attributes in ranking."""
    custom = [read_sort(entry, "customRanking") for entry in settings.get("customRanking") or ()]
    ranking = [entry for entry in settings.get("ranking") or () if entry not in CRITERIA]
    return custom + [read_sort(entry, "ranking") for entry in ranking]


@lru_cache(MAX_CACHED_SETTINGS)
def read_sort(entry: str, setting: str) -> Sorted:
    """Read one `asc(x)` or `desc(x)`."""
    match = _MODIFIER.match(entry)
    if match is None or match[1] not in ("asc", "desc") or not match[2].strip():
        alternatives = f", or one of {', '.join(CRITERIA)}" if setting == "ranking" else ""
        raise BadInput(
            f'{setting}: expected asc(attribute) or desc(attribute){alternatives}: "{entry}"'
        )
    return Sorted(match[2].strip(), match[1] == "desc")


CRITERIA = ("typo", "geo", "words", "filters", "proximity", "attribute", "exact", "custom")
FACET_MODIFIERS = ("filterOnly", "searchable", "afterDistinct")
NUMERIC = "numericAttributesForFiltering"


def _modified(text: str, setting: str, modifiers: Iterable[str]) -> tuple[str, str]:
    match = _MODIFIER.match(text)
    if match is None:
        _refuse_open(text, setting, modifiers)
        return "", text.strip()
    if match[1] not in modifiers:
        names = ", ".join(sorted(modifiers))
        raise BadInput(f'{setting}: unknown modifier "{match[1]}" in "{text}"; known: {names}')
    if not match[2].strip():
        raise BadInput(f'{setting}: expected {match[1]}(attribute): "{text}"')
    return match[1], match[2].strip()


def _refuse_open(text: str, setting: str, modifiers: Iterable[str]) -> None:
    if text.strip().startswith(tuple(f"{modifier}(" for modifier in modifiers)):
        raise BadInput(f'{setting}: a parenthesis is never closed: "{text}"')


def _split_outside(entry: str) -> list[str]:
    return [part for text in entry.split(",") if (part := text.strip())]
