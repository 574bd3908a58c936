"""Highlight spans: the tokens and runs of adjacent tokens to mark in a text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple


class TokenMatch(NamedTuple):
    """The numbers of the query words that a token matches, and how many of its letters to mark.

    `instead` are the words of the query of which the token is a synonym.
    """

    words: tuple[int, ...]
    letters: int
    instead: str = ""


class Run(NamedTuple):
    """The numbers of the query words that tokens match where they stand side by side."""

    words: tuple[int, ...]
    tokens: tuple[str, ...]
    instead: str = ""


Matcher = Callable[[str, AbstractSet[str]], Mapping[str, TokenMatch]]
"""Tells which of some tokens under a path match."""

Runs = Callable[[str], Mapping[str, Sequence[Run]]]
"""Tells the runs to mark under a path, by the first word of each."""


class Marker(NamedTuple):
    """What to mark under a path."""

    match: Matcher
    runs: Runs
