"""The searched attributes of a search: the rank of each, and what may match in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.index.postings import (
    ALONE_FLAG,
    LAST_POSITION,
    POSITION_MASK,
    SLOT_SHIFT,
)
from svc_notebook.service.engine.index.schema import (
    Searched,
    covers,
    first_covering,
    is_covered,
    read_searched,
)
from svc_notebook.service.engine.query.options import EffectiveParameters

# An occurrence's rank: its attribute's rank times this, plus its position if order counts.
POSITIONS_PER_ATTRIBUTE = LAST_POSITION + 1

# The entry of attributes that `searchableAttributes` does not name.
UNLISTED = Searched("", 0, ordered=False)
# Of segments with more attributes, few results are cached: they take megabytes each.
MAX_CACHED_SLOTS = 1_000
Paths = tuple[str, ...]
RESTRICTING_OPTIONS = (
    "disableTypoToleranceOnAttributes", "disablePrefixOnAttributes", "disableExactOnAttributes",
)  # fmt: skip

# A value of `attributeWeights`, whose pairs of names and numbers are a tuple.
GivenWeights = str | tuple[tuple[str, float], ...]

# A mask over attributes, None if all are allowed.
Allowed = Array | None

ATTRIBUTE_WEIGHTS = "attributeWeights"
HALVING, FLAT = "halving", "flat"


@dataclass(frozen=True, eq=False)
class SearchedAttributes:
    """The searched attributes of one segment; `counted` masks the position bits that count.

    `groups` is for each attribute the number of the entry of searchableAttributes that covers it;
    `weights` are the weights of the entries in textual relevance. Without searchableAttributes,
    all attributes are one group. Group numbers are equal in all segments of an index.
    """

    slots: Sequence[str]
    ranks: Array
    counted: Array
    groups: Array
    weights: tuple[float, ...]
    searched: Allowed
    with_typos: Allowed
    with_prefixes: Allowed
    with_exact: Allowed

    @classmethod
    def of(cls, slots: Sequence[str], options: EffectiveParameters) -> SearchedAttributes:
        """Resolve the options for these attributes; the results are cached."""
        excluded = (tuple(options[name]) for name in RESTRICTING_OPTIONS)
        make = _make_searched_attributes if len(slots) <= MAX_CACHED_SLOTS else _make_for_many
        weights = options[ATTRIBUTE_WEIGHTS]
        if ATTRIBUTE_WEIGHTS in options.params:
            check_weights(options.params, options.settings)
        if isinstance(weights, Mapping):
            weights = tuple(weights.items())
        restricted = _restricted(options) if options["restrictSearchableAttributes"] else None
        searched = tuple(options.searched)
        return make(tuple(slots), searched, weights, restricted, *excluded)

    @classmethod
    def unrestricted(cls) -> SearchedAttributes:
        """Return a single attribute without restrictions."""
        ranks, counted, groups = np.zeros(1, np.int64), np.zeros(1, np.int32), np.zeros(1, np.intp)
        return cls(("",), ranks, counted, groups, (1.0,), None, None, None, None)

    @cached_property
    def best_slots(self) -> Sequence[int]:
        """The attributes of the best rank if positions count in all of these; empty otherwise."""
        searched = np.ones(len(self.slots), bool) if self.searched is None else self.searched
        if not searched.any():
            return []
        best = np.flatnonzero(searched & (self.ranks == self.ranks[searched].min()))
        return best.tolist() if self.counted[best].all() else []

    def mask_of(self, paths: Sequence[str]) -> Allowed:
        """Return the mask of the named attributes and those nested in them, all if none."""
        return _only(self.slots, paths or None)

    def groups_of(self, spots: Array) -> Array:
        """Return the group of attributes of each occurrence."""
        return np.asarray(self.groups[spots >> SLOT_SHIFT])

    def rank(self, spots: Array) -> Array:
        """Return the rank of each occurrence: attribute first, then position."""
        if len(spots) < len(self.ranks) << SLOT_SHIFT:
            return self._ranks_of(spots)
        return np.asarray(self._rank_of_spot[spots])

    def ranks_within(self, spots: Array, max_rank: int) -> Array:
        """Return which occurrences have a rank of at most `max_rank`."""
        if len(spots) < len(self.ranks) << SLOT_SHIFT:
            return np.asarray(self._ranks_of(spots) <= max_rank)
        # Ranks depend on attributes and positions only, so that those within are few ranges, and
        # comparing with these is faster than looking up each occurrence.
        within = (self._rank_of_spot <= max_rank).reshape(-1, ALONE_FLAG)
        within[1::2] = within[::2, -1:]
        edges = np.flatnonzero(np.diff(within.reshape(-1), prepend=False, append=False))
        places = spots & ~np.int32(ALONE_FLAG)
        counted: Array = np.zeros(len(spots), bool)
        for start, end in edges.reshape(-1, 2).tolist():
            inside = places < end
            counted |= inside & (places >= start) if start else inside
        return counted

    @cached_property
    def _rank_of_spot(self) -> Array:
        """The rank of every spot: one lookup replaces four passes over many occurrences."""
        return self._ranks_of(np.arange(len(self.ranks) << SLOT_SHIFT))

    def _ranks_of(self, spots: Array) -> Array:
        slots = spots >> SLOT_SHIFT
        return np.asarray(self.ranks[slots] + (spots & self.counted[slots]))


@lru_cache(maxsize=256)
def _make_searched_attributes(
    slots: Paths,
    searched: tuple[Searched, ...],
    weights: GivenWeights,
    restricted: Paths | None,
    no_typos: Paths,
    no_prefixes: Paths,
    no_exact: Paths,
) -> SearchedAttributes:
    covering = [first_covering(path, searched) or UNLISTED for path in slots]
    # By path, so that another order of the entries has the same groups.
    entries = sorted(searched, key=lambda entry: entry.path)
    number_of = {entry: number for number, entry in enumerate(entries)}
    groups = [number_of.get(entry, 0) for entry in covering]
    return SearchedAttributes(
        slots,
        np.array([entry.rank for entry in covering], np.int64) * POSITIONS_PER_ATTRIBUTE,
        np.array([POSITION_MASK * entry.ordered for entry in covering], np.int32),
        np.array(groups, np.intp),
        _choose_weights(weights, entries) or (1.0,),
        _only(slots, restricted),
        _all_but(slots, no_typos),
        _all_but(slots, no_prefixes),
        _all_but(slots, no_exact),
    )


def _choose_weights(given: GivenWeights, entries: Sequence[Searched]) -> tuple[float, ...]:
    """Return the weight of each entry: the given one, or half of the one before it."""
    if given == HALVING:
        return tuple(entry.weight for entry in entries)
    return read_weights(given, entries)


_make_for_many = lru_cache(maxsize=8)(_make_searched_attributes.__wrapped__)


def allowed_in(spots: Array, *masks: Allowed) -> Array | None:
    """Return which occurrences all masks allow, None for all."""
    given = [mask for mask in masks if mask is not None]
    if not given:
        return None
    allowed: Array = np.logical_and.reduce(given)
    return np.asarray(allowed[spots >> SLOT_SHIFT])


def both(first: Allowed, other: Allowed) -> Allowed:
    """Return the intersection of two masks."""
    if first is None or other is None:
        return other if first is None else first
    allowed: Array = first & other
    return allowed


def is_alone(spots: Array) -> Array:
    """Return which occurrences are the only word of their text."""
    return np.asarray((spots & ALONE_FLAG) != 0)


def path_test(paths: Iterable[str]) -> Callable[[str], bool]:
    """Return a predicate: whether an attribute is one of these paths or nested in one."""
    entries = list(paths)
    return lambda path: is_covered(path, entries)


def _restricted(options: EffectiveParameters) -> Paths:
    """Return the attributes that a search is restricted to; raises `BadInput`."""
    paths = options["restrictSearchableAttributes"]
    searched = [entry.path for entry in options.searched]
    for path in paths if searched else ():
        if not any(covers(path, entry) or covers(entry, path) for entry in searched):
            raise BadInput(
                f'restrictSearchableAttributes: "{path}" is not in searchableAttributes'
                f"{did_you_mean(path, searched)}"
            )
    return tuple(paths)


def _only(slots: Sequence[str], paths: Sequence[str] | None) -> Allowed:
    if paths is None:
        return None
    chosen = path_test(paths)
    return np.array([chosen(path) for path in slots], bool)


def _all_but(slots: Sequence[str], excluded: Sequence[str]) -> Allowed:
    if not excluded:
        return None
    chosen = path_test(excluded)
    return np.array([not chosen(path) for path in slots], bool)


def read_weights(
    given: str | Sequence[tuple[str, float]], entries: Sequence[Searched]
) -> tuple[float, ...]:
    """Return the weight of each entry of searchableAttributes; 1 for one that is not named.

    Attributes that are no longer searched are ignored, as `searchableAttributes` may have changed.
    """
    weights = {} if isinstance(given, str) else dict(given)
    return tuple(float(weights.get(entry.path, 1)) for entry in entries)


def check_weights(given: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Raise `BadInput` if the weights among given parameters are of attributes not searched."""
    weights = given.get(ATTRIBUTE_WEIGHTS)
    if not isinstance(weights, Mapping):
        return
    paths = [entry.path for entry in read_searched(settings)]
    for path in weights:
        if not paths:
            raise BadInput(
                f"{ATTRIBUTE_WEIGHTS}: without searchableAttributes all attributes count as one "
                f'text; set searchableAttributes before the weight of "{path}"'
            )
        if path not in paths:
            raise BadInput(
                f'{ATTRIBUTE_WEIGHTS}: "{path}" is not in searchableAttributes'
                f"{did_you_mean(path, paths)}"
            )
