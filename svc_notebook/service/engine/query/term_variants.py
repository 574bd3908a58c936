"""The ways in which a word of a query may stand in a text."""

from __future__ import annotations

from dataclasses import dataclass

from svc_notebook.service.engine.text.compounds import Splitter


@dataclass(frozen=True)
class Alternative:
    """One way a query word may stand in a text: one word, or several next to each other.

    `typos` is what it costs by itself, `forgiven` how many misspellings come on top. `span` is a
    number that neighbouring words of the query share where this stands for all of them at once,
    0 where it stands for one; `instead` are the words of the query that a synonym replaces.
    With `apart` the words may stand anywhere in a record, as long as it has them all; with `inside`
    the one word is looked for as a part of compounds. `within` are the attributes where this
    counts, all where none is named.
    """

    words: tuple[str, ...]
    typos: int = 0
    forgiven: int = 0
    prefix: bool = False
    exact: bool = True
    span: int = 0
    instead: str = ""
    apart: bool = False
    inside: Splitter | None = None
    within: tuple[str, ...] = ()
