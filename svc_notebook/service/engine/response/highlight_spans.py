"""Highlight spans: the tokens and runs of adjacent tokens to mark in a text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple


class TokenMatch(NamedTuple):
    """The numbers of the query words that a token matches, and how many of its letters to mark.

    `replaced` are the query words of which the token is a synonym.
    """

    words: tuple[int, ...]
    letters: int
    replaced: str = ""


class Run(NamedTuple):
    """The numbers of the query words that a run of adjacent tokens matches."""

    words: tuple[int, ...]
    tokens: tuple[str, ...]
    replaced: str = ""


# Returns the matches among some tokens of a path.
Matcher = Callable[[str, AbstractSet[str]], Mapping[str, TokenMatch]]

# Returns the runs to mark in a path, by first word.
Runs = Callable[[str], Mapping[str, Sequence[Run]]]


class Marker(NamedTuple):
    """The matcher and the runs of a search."""

    match: Matcher
    runs: Runs
