"""Edits that rules make to the text of a query."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any

from svc_notebook.service.engine.text.tokenization import TokenizerSettings, split, tokens
from svc_notebook.service.rules.pattern import PLACEHOLDER, Capture
from svc_notebook.service.rules.search_context import Words

MAX_QUERY_CHARACTERS = 1000
"""Maximum characters of a query after rules; a longer one is not edited further, but truncated."""
MAX_FORMS = 100
"""Maximum number of forms of the deleted words that are searched for."""
_BLANKS = re.compile(r"\s+")


class QueryRewriter:
    """Rewrites a query as one rule requires; `words` are those that its captures refer to."""

    def __init__(
        self, captures: Sequence[Capture], words: Sequence[str], rules: TokenizerSettings
    ) -> None:
        self._captures = captures
        self._words = words
        self._rules = rules

    def change(self, text: str, wanted: str | Mapping[str, Any]) -> str:
        """Return the query after the rule's changes."""
        if isinstance(wanted, str):
            return self._fill(wanted)
        for word in wanted.get("remove") or ():
            text = self._replace(text, word, "")
        for edit in wanted.get("edits") or ():
            insert = edit.get("insert", "") if edit["type"] == "replace" else ""
            text = self._replace(text, edit["delete"], self._fill(insert))
        return text

    def _replace(self, text: str, deleted: str, insert: str) -> str:
        """Replace each occurrence of consecutive words by a text."""
        if len(text) > MAX_QUERY_CHARACTERS:
            return text
        for run in dict.fromkeys(self._forms(deleted)):
            spans = list(_find_runs(text, run, self._rules))
            if spans:
                bounds = [0, *(edge for span in spans for edge in span), len(text)]
                kept = [
                    text[start:end] for start, end in zip(bounds[::2], bounds[1::2], strict=True)
                ]
                text = (insert or " ").join(kept)
            if spans and not insert:
                text = _BLANKS.sub(" ", text).strip()
        return text

    def _forms(self, deleted: str) -> Iterator[Words]:
        """Yield the words to delete, and their forms in the query if the pattern allows them."""
        pieces = PLACEHOLDER.split(deleted)
        choices = [
            self._captured(piece.strip()) if number % 2 else [tuple(split(piece, self._rules))]
            for number, piece in enumerate(pieces)
        ]
        for parts in islice(product(*choices), MAX_FORMS):
            if words := sum(parts, ()):
                yield words
                yield from self._as_typed(words)

    def _as_typed(self, words: Words) -> Iterator[Words]:
        for capture in self._captures:
            for start in range(len(words) - len(capture.words) + 1 if capture.words else 0):
                end = start + len(capture.words)
                if words[start:end] == capture.words:
                    yield words[:start] + self._typed(capture) + words[end:]

    def _captured(self, facet: str) -> list[Words]:
        found = (self._typed(one) for one in self._captures if one.facet == facet)
        return list(dict.fromkeys(found))

    def _typed(self, capture: Capture) -> Words:
        return tuple(self._words[capture.start : capture.end])

    def _fill(self, text: str) -> str:
        """Replace placeholders by the text that they matched."""
        pieces = PLACEHOLDER.split(text)
        return "".join(
            " ".join(" ".join(words) for words in self._captured(piece.strip()))
            if number % 2
            else piece
            for number, piece in enumerate(pieces)
        )


def _find_runs(text: str, run: Words, rules: TokenizerSettings) -> Iterator[tuple[int, int]]:
    found = tokens(text, rules)
    end = 0
    for start in range(len(found) - len(run) + 1):
        here = found[start : start + len(run)]
        if start >= end and tuple(token.text for token in here) == run:
            yield here[0].start, here[-1].end
            end = start + len(run)
