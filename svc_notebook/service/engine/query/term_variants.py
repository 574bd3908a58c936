"""Variants of a query word that match in a text."""

from __future__ import annotations

from dataclasses import dataclass

from svc_notebook.service.engine.text.compounds import Splitter


@dataclass(frozen=True)
class Alternative:
    """One variant of a query word: one word, or several adjacent words.

    `typos` is the variant's own typo cost, `forgiven` the number of further typos allowed. `span`
    is a number that neighbouring query words share if the variant matches all of them at once, 0 if
    it matches one word. `instead` are the query words that a synonym replaces. With `apart`, the
    words match anywhere in a record that has them all; with `inside`, the word is looked up as a
    part of compounds. `within` are the attributes where the variant matches, all if empty.
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
