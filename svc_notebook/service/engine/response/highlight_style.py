"""Highlighting options: the attributes to highlight and snippet, and the tags around matches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any

from svc_notebook.core.tokenization.tokenizer import TokenizerSettings
from svc_notebook.errors import BadInput
from svc_notebook.service.engine.index.schema import is_covered
from svc_notebook.service.engine.query.options import EffectiveParameters

SNIPPET_WORDS = 10
_SNIPPET = re.compile(r"([^:]+)(?::0*([1-9][0-9]{0,8}))?")


@dataclass(frozen=True)
class HighlightedAttributes:
    """Selected attributes, each with the number of words of its snippet.

    `parents` are the parent objects of selected attributes that are not selected themselves.
    """

    numbers: Mapping[str, int]
    rest: int | None
    hidden: frozenset[str]
    parents: frozenset[str]

    @classmethod
    def of(cls, numbers: Mapping[str, int], hidden: Sequence[str]) -> HighlightedAttributes:
        """Select attributes by name, `*` for all; hidden attributes are always excluded."""
        named = {
            path: number
            for path, number in numbers.items()
            if path != "*" and not is_covered(path, hidden)
        }
        parents = frozenset(
            parent for path in named for parent in accumulate(path.split(".")[:-1], "{}.{}".format)
        )
        return cls(named, numbers.get("*"), frozenset(hidden), parents)

    def __bool__(self) -> bool:
        return bool(self.numbers) or self.rest is not None

    def number(self, path: str, inherited: int | None) -> int | None:
        """Return the attribute's number, else that of its parent object, or None."""
        return None if path in self.hidden else self.numbers.get(path, inherited)

    def members(self, record: Mapping[str, Any]) -> Iterable[str]:
        """Return the top-level attributes that may contain selected ones."""
        if self.rest is not None:
            return record
        return [name for name in record if name in self.numbers or name in self.parents]


@dataclass(frozen=True)
class Style:
    """How one search marks its hits; `words` are the query's, in the matcher's numbering.

    With `replacing`, a synonym is shown as the query words that it matches.
    """

    words: tuple[str, ...]
    rules: TokenizerSettings
    highlighted: HighlightedAttributes
    snippeted: HighlightedAttributes
    before: str
    after: str
    ellipsis: str
    only_matching_items: bool
    replacing: bool
    _words_of: dict[tuple[int, ...], frozenset[str]] = field(
        default_factory=dict, init=False, compare=False
    )

    @cached_property
    def distinct(self) -> tuple[str, ...]:
        """The distinct words."""
        return tuple(dict.fromkeys(self.words))

    @cached_property
    def whole(self) -> frozenset[str]:
        """The words that a text must contain for a full match."""
        return frozenset(self.words)

    def of_numbers(self, numbers: tuple[int, ...]) -> frozenset[str]:
        """Return the words with these numbers, cached: there are few such sets and many texts."""
        cached = self._words_of.get(numbers)
        if cached is None:
            cached = self._words_of[numbers] = frozenset([self.words[number] for number in numbers])
        return cached

    @classmethod
    def of(
        cls, settings: Mapping[str, Any], params: Mapping[str, Any], words: Sequence[str]
    ) -> Style:
        """Read the style of a search from its parameters and the index's settings."""
        chosen = EffectiveParameters(settings, params)
        hidden = () if params.get("_seeUnretrievable") else settings.get("unretrievableAttributes")
        highlighted = chosen["attributesToHighlight"]
        if highlighted is None:
            highlighted = [entry.path for entry in chosen.searched] or ["*"]
        return cls(
            words=tuple(words),
            rules=chosen.rules,
            highlighted=HighlightedAttributes.of(
                {name.strip(): 0 for name in highlighted}, hidden or ()
            ),
            snippeted=HighlightedAttributes.of(
                read_snippets(chosen["attributesToSnippet"]), hidden or ()
            ),
            before=chosen["highlightPreTag"],
            after=chosen["highlightPostTag"],
            ellipsis=chosen["snippetEllipsisText"],
            only_matching_items=chosen["restrictHighlightAndSnippetArrays"],
            replacing=chosen["replaceSynonymsInHighlight"],
        )


def read_snippets(entries: Iterable[str]) -> dict[str, int]:
    """Read `attributesToSnippet`: the number of words of each attribute; raises `BadInput`."""
    return dict(_read_snippet(entry, position) for position, entry in enumerate(entries))


def _read_snippet(entry: str, position: int) -> tuple[str, int]:
    read = _SNIPPET.fullmatch(entry.strip())
    if not read:
        raise BadInput(
            f'attributesToSnippet[{position}]: expected name or name:words, found "{entry}"'
        )
    return read[1].strip(), int(read[2] or SNIPPET_WORDS)
