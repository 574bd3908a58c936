"""A query as words, and for each word every way it may stand in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from svc_notebook.service.engine.options import Options
from svc_notebook.service.engine.words import Rules, split

JOINED = 1
"""What it costs in typos to write two words as one, or one as two."""
SHORTEST_PART = 2
MOST_WORDS = 100
"""Later words of a query are ignored."""


@dataclass(frozen=True)
class Alternative:
    """One way a query word may stand in a text: one word, or several next to each other.

    `typos` is what it costs by itself, `forgiven` how many misspellings come on top.
    """

    words: tuple[str, ...]
    typos: int = 0
    forgiven: int = 0
    prefix: bool = False
    exact: bool = True


@dataclass(frozen=True)
class QueryWord:
    """One word of a query, or a quoted phrase, which counts as `weight` words."""

    text: str
    alternatives: tuple[Alternative, ...]
    optional: bool = False
    weight: int = 1


@dataclass(frozen=True)
class Query:
    """What a query looks for, and what it shuts out."""

    words: tuple[QueryWord, ...] = ()
    excluded: tuple[Alternative, ...] = ()

    @cached_property
    def spellings(self) -> list[str]:
        """Every word that is looked up as it is written."""
        ways = [way for word in self.words for way in word.alternatives]
        return list(dict.fromkeys(word for way in (*ways, *self.excluded) for word in way.words))

    def optional_at(self, places: Sequence[int]) -> Query:
        """Return the query with the words at these places made optional."""
        return replace(
            self,
            words=tuple(
                replace(word, optional=True) if place in places else word
                for place, word in enumerate(self.words)
            ),
        )


def read_query(options: Options) -> Query:
    """Read the query of a search."""
    words: list[QueryWord] = []
    excluded: list[Alternative] = []
    parts = [part for part in _read_parts(options) if part.words]
    for number, part in enumerate(parts):
        if part.excluded:
            excluded.append(Alternative(part.words))
        elif part.quoted:
            text = " ".join(part.words)
            words.append(QueryWord(text, (Alternative(part.words),), weight=len(part.words)))
        else:
            words += _read_run(part.words, options, ends_query=number == len(parts) - 1)
    found = Query(tuple(words[:MOST_WORDS]), tuple(excluded))
    return found.optional_at(_optional_places(found.words, options))


def typos_forgiven(word: str, options: Options) -> int:
    """Return how many typos a query word may be away."""
    if options.typo_tolerance is False:
        return 0
    if not options["allowTyposOnNumericTokens"] and any(map(str.isnumeric, word)):
        return 0
    if word in words_without_typos(options):
        return 0
    one, two = options["minWordSizefor1Typo"], options["minWordSizefor2Typos"]
    return 2 if len(word) >= two else 1 if len(word) >= one else 0


def words_without_typos(options: Options) -> frozenset[str]:
    """Return the words that match only as they are written."""
    given = options["disableTypoToleranceOnWords"]
    return frozenset(word for text in given for word in split(text, options.rules))


@dataclass(frozen=True)
class _Part:
    words: tuple[str, ...]
    quoted: bool = False
    excluded: bool = False


_PART = re.compile(r'(?<!\S)(?P<minus>-?)"(?P<phrase>[^"]*)"|(?<!\S)-(?P<word>[^\s"-]\S*)')


def _read_parts(options: Options) -> Iterator[_Part]:
    """Cut a query at its phrases and exclusions; the runs between them are ordinary words."""
    text, rules = options["query"], options.rules
    features = options["advancedSyntaxFeatures"] if options["advancedSyntax"] else ()
    start = 0
    for found in _PART.finditer(text) if features else ():
        part = _read_part(found, rules)
        if ("excludeWords" if part.excluded else "exactPhrase") in features:
            yield _Part(tuple(split(text[start : found.start()], rules)))
            yield part
            start = found.end()
    yield _Part(tuple(split(text[start:], rules)))


def _read_part(found: re.Match[str], rules: Rules) -> _Part:
    if found["word"] is not None:
        return _Part(tuple(split(found["word"], rules)), excluded=True)
    return _Part(tuple(split(found["phrase"], rules)), quoted=True, excluded=bool(found["minus"]))


def _read_run(words: Sequence[str], options: Options, *, ends_query: bool) -> list[QueryWord]:
    kind = options["queryType"]
    last = len(words) - 1
    read = []
    for place, word in enumerate(words):
        prefix = kind == "prefixAll" or (kind == "prefixLast" and ends_query and place == last)
        own = Alternative((word,), forgiven=typos_forgiven(word, options), prefix=prefix)
        read.append([own, *_split_apart(word, options)])
    for place, (word, after) in enumerate(pairwise(words)):
        if _may_join(word, options) and _may_join(after, options):
            read[place].append(Alternative((word + after,), typos=JOINED, exact=False))
            read[place + 1].append(Alternative((word + after,), exact=False))
    return [QueryWord(word, tuple(ways)) for word, ways in zip(words, read, strict=True)]


def _split_apart(word: str, options: Options) -> list[Alternative]:
    if not typos_forgiven(word, options):
        return []
    cuts = range(SHORTEST_PART, len(word) - SHORTEST_PART + 1)
    return [Alternative((word[:cut], word[cut:]), typos=JOINED, exact=False) for cut in cuts]


def _may_join(word: str, options: Options) -> bool:
    return options.typo_tolerance is not False and word not in words_without_typos(options)


def _optional_places(words: Sequence[QueryWord], options: Options) -> list[int]:
    """Find the words, and runs of words, that optionalWords names."""
    given = options["optionalWords"]
    entries = [given] if isinstance(given, str) else given
    texts = [word.text for word in words]
    places: list[int] = []
    for entry in entries:
        wanted = split(entry, options.rules)
        for start in range(len(texts) - len(wanted) + 1 if wanted else 0):
            if texts[start : start + len(wanted)] == wanted:
                places += range(start, start + len(wanted))
    return places
