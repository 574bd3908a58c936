"""Parse a query into words, each with all its variants."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from svc_notebook.core.tokenization.character_table import INVISIBLE_SPACE, compose
from svc_notebook.core.tokenization.joined_words import MIN_INDEXED_LETTERS, split_parts
from svc_notebook.core.tokenization.tokenizer import TokenizerSettings, fold, split
from svc_notebook.core.tokenization.word_breaks import find_last_run
from svc_notebook.service.engine.index.segment import SegmentReader
from svc_notebook.service.engine.query.options import EffectiveParameters
from svc_notebook.service.engine.query.term_variants import TermVariant, expand_words
from svc_notebook.service.engine.term_dictionary import TermDictionary

# The typo cost of several words joined into one, or one split into several.
JOINED_TYPOS = 1
# A word is split into two after each of so many letters.
MAX_FIRST_PART_LETTERS = 12
# Further words of a query are ignored.
MAX_QUERY_WORDS = 100
# The longest beginning of a word that is looked for in a script without blanks.
MAX_TYPED_LETTERS = 20


@dataclass(frozen=True)
class QueryWord:
    """One word of a query, or a quoted phrase, which counts as `weight` words."""

    text: str
    variants: tuple[TermVariant, ...]
    optional: bool = False
    weight: int = 1


class WordSequence(NamedTuple):
    """Words of a query that a record must have next to each other, in their order.

    `start` is the number of the first one; `widths` are the numbers of positions that each takes.
    """

    start: int
    widths: tuple[int, ...]

    @property
    def stop(self) -> int:
        """The number of the word after the last one."""
        return self.start + len(self.widths)


@dataclass(frozen=True)
class Query:
    """The words of a query, its excluded words, and the words that must be adjacent."""

    words: tuple[QueryWord, ...] = ()
    excluded: tuple[TermVariant, ...] = ()
    sequences: tuple[WordSequence, ...] = ()

    @cached_property
    def written_words(self) -> list[str]:
        """Every word that is looked up as written."""
        variants = [variant for word in self.words for variant in word.variants]
        return list(
            dict.fromkeys(word for variant in (*variants, *self.excluded) for word in variant.words)
        )

    def optional_at(self, positions: Sequence[int]) -> Query:
        """Return the query with the words at these positions optional."""
        if not positions:
            return self
        return replace(
            self,
            words=tuple(
                replace(word, optional=True) if position in positions else word
                for position, word in enumerate(self.words)
            ),
        )


def read_query(options: EffectiveParameters, readers: Sequence[SegmentReader] = ()) -> Query:
    """Parse the query of a search; the words of the readers decide where its end can be cut."""
    text = options["query"]
    if not text.isascii():
        text = separate_query(options, readers)
    words: list[QueryWord] = []
    excluded: list[TermVariant] = []
    sequences: list[WordSequence] = []
    parts = _read_parts(text, options)
    before = 0
    for number, part in enumerate(parts):
        if part.excluded:
            excluded += part.phrases
        elif part.quoted:
            text = " ".join(part.words)
            words.append(QueryWord(text, part.phrases, weight=len(part.words)))
        else:
            ends = number == len(parts) - 1
            if part.typed_together:
                sequences += part.find_sequences(len(words))
            words += _read_run(part, options, ends_query=ends, before=before)
        before += len(part.all_words)
    kept = [sequence for sequence in sequences if sequence.stop <= MAX_QUERY_WORDS]
    query = Query(tuple(words[:MAX_QUERY_WORDS]), tuple(excluded), tuple(kept))
    if not options["optionalWords"]:
        return query
    return query.optional_at(_optional_places(query.words, options))


def max_typos_of(word: str, options: EffectiveParameters) -> int:
    """Return the number of typos allowed for a query word."""
    if options.typo_tolerance is False:
        return 0
    if not options["allowTyposOnNumericTokens"] and any(map(str.isnumeric, word)):
        return 0
    if word in options.words_without_typos:
        return 0
    min_length, two = options["minWordSizefor1Typo"], options["minWordSizefor2Typos"]
    return 2 if len(word) >= two else 1 if len(word) >= min_length else 0


@dataclass(frozen=True)
class _Part:
    """A part of a query: its words, and the parts of each, which `joined_words` joins.

    `dropped` are the positions of words that are not searched, `words` and `parts` those of the
    others. `typed_together` are the ranges of words that are typed without blanks around separators
    that are words themselves.
    """

    written: tuple[tuple[str, ...], ...]
    all_words: tuple[str, ...]
    words: tuple[str, ...]
    parts: tuple[tuple[str, ...], ...]
    quoted: bool = False
    excluded: bool = False
    dropped: frozenset[int] = frozenset()
    typed_together: tuple[range, ...] = ()

    def find_sequences(self, before: int) -> Iterator[WordSequence]:
        """Return the words that must be adjacent; `before` is the number of words before these."""
        for typed in self.typed_together:
            if self.dropped.isdisjoint(typed):
                start = before + typed.start - sum(number < typed.start for number in self.dropped)
                widths = [len(_indexed_parts(self.written[number])) for number in typed]
                yield WordSequence(start, tuple(widths))

    def without(self, dropped: frozenset[int]) -> _Part:
        """Return the part with the words at these positions dropped."""
        kept = [number for number in range(len(self.written)) if number not in dropped]
        words = tuple(self.all_words[number] for number in kept)
        parts = tuple(self.written[number] for number in kept)
        return replace(self, words=words, parts=parts, dropped=dropped)

    @property
    def phrases(self) -> tuple[TermVariant, ...]:
        """The part as a phrase: its words, and the indexed parts of those at several positions."""
        indexed = [word for parts in self.written for word in _indexed_parts(parts)]
        return tuple(TermVariant(words) for words in dict.fromkeys([self.words, tuple(indexed)]))


def _indexed_parts(parts: tuple[str, ...]) -> Sequence[str]:
    """Return the parts of a word that have positions of their own, or the word."""
    indexed = [part for part in parts if len(part) >= MIN_INDEXED_LETTERS]
    return indexed if len(indexed) > 1 else ["".join(parts)]


_PART = re.compile(r'(?<!\S)(?P<minus>-?)"(?P<phrase>[^"]*)"|(?<!\S)-(?P<word>[^\s"-]\S*)')


def _read_parts(text: str, options: EffectiveParameters) -> list[_Part]:
    """Split a query at its phrases and exclusions; the runs between them are ordinary words."""
    rules = options.rules
    features = options["advancedSyntaxFeatures"] if options["advancedSyntax"] else ()
    parts: list[_Part] = []
    start = 0
    for match in _PART.finditer(text) if features else ():
        part = _read_part(match, rules)
        if ("excludeWords" if part.excluded else "exactPhrase") in features:
            parts += [_read_words(text[start : match.start()], rules), part]
            start = match.end()
    parts.append(_read_words(text[start:], rules))
    parts = [part for part in parts if part.words]
    return _remove_stop_words(parts, options) if options.languages_of("removeStopWords") else parts


def _read_part(match: re.Match[str], rules: TokenizerSettings) -> _Part:
    if match["word"] is not None:
        return _read_words(match["word"], rules, excluded=True)
    return _read_words(match["phrase"], rules, quoted=True, excluded=bool(match["minus"]))


def _read_words(
    text: str, rules: TokenizerSettings, *, quoted: bool = False, excluded: bool = False
) -> _Part:
    parts = tuple(split_parts(fold(text, rules, separated=True)))
    words = tuple(map("".join, parts))
    part = _Part(parts, words, words, parts, quoted, excluded)
    if not rules.separators or quoted or excluded:
        return part
    return replace(part, typed_together=_find_typed_together(text, len(parts), rules))


def _find_typed_together(text: str, words: int, rules: TokenizerSettings) -> tuple[range, ...]:
    """Return the ranges of words that are typed without blanks around indexed separators."""
    # Characters that are neither indexed nor part of a word end a sequence as a blank does.
    letters = {letter for letter in text if rules.table[ord(letter)].strip(" ")}
    marks = letters & set(rules.separators)
    spaced = "".join(
        letter if letter in letters or not rules.table[ord(letter)] else " " for letter in text
    )
    sequences, start = [], 0
    for chain in spaced.split():
        stop = start + len(split_parts(fold(chain, rules, separated=True)))
        if not marks.isdisjoint(chain) and not marks.issuperset(chain):
            sequences.append(range(start, stop))
        start = stop
    return tuple(sequences) if start == words else ()


def _remove_stop_words(parts: list[_Part], options: EffectiveParameters) -> list[_Part]:
    """Remove stop words, except a prefix being typed, and unless no word would be left."""
    last = len(parts) - 1
    left = [
        part
        if part.quoted or part.excluded
        else part.without(_find_stop_words(part.all_words, options, ends_query=number == last))
        for number, part in enumerate(parts)
    ]
    return left if any(part.words for part in left if not part.excluded) else parts


def _find_stop_words(
    words: Sequence[str], options: EffectiveParameters, *, ends_query: bool
) -> frozenset[int]:
    prefixes = _find_prefixes(len(words), options, ends_query=ends_query)
    return frozenset(
        position
        for position, word in enumerate(words)
        if position not in prefixes and options.is_stop_word(word)
    )


def _find_prefixes(count: int, options: EffectiveParameters, *, ends_query: bool) -> range:
    """Return the positions of the words, among `count`, that match as prefixes."""
    starts = {"prefixAll": 0, "prefixLast": max(0, count - ends_query)}
    return range(starts.get(options["queryType"], count), count)


def _read_run(
    part: _Part, options: EffectiveParameters, *, ends_query: bool, before: int
) -> list[QueryWord]:
    words = part.words
    prefixes = _find_prefixes(len(words), options, ends_query=ends_query)
    # Joining and splitting words costs a typo.
    fixed = words if options.typo_tolerance is False else options.words_without_typos
    read = []
    for position, (word, parts) in enumerate(zip(words, part.parts, strict=True)):
        typos = max_typos_of(word, options)
        variant_typed = TermVariant((word,), max_typos=typos, prefix=position in prefixes)
        read.append([variant_typed, *_split_word(word, parts, typos, fixed)])
    for position, variant in _join_words(words, before, fixed):
        read[position].append(variant)
    prefixes = _find_prefixes(len(part.all_words), options, ends_query=ends_query)
    for position, variant in expand_words(part.all_words, part.dropped, before, options, prefixes):
        prefix_of_compound = variant.splitter is not None and read[position][0].prefix
        read[position].append(variant._replace(prefix=True) if prefix_of_compound else variant)
    return [QueryWord(word, tuple(variants)) for word, variants in zip(words, read, strict=True)]


def _split_word(
    word: str, parts: tuple[str, ...], max_typos: int, fixed: Collection[str]
) -> Iterator[TermVariant]:
    """Return the word cut in two after each letter, and its parts as it was typed."""
    cuts = range(1, min(MAX_FIRST_PART_LETTERS + 1, len(word)) if max_typos else 1)
    splits: list[tuple[str, ...]] = [(word[:cut], word[cut:]) for cut in cuts]
    if len(parts) > 1 and parts not in splits and word not in fixed:
        splits.append(parts)
    return (TermVariant(split, typos=JOINED_TYPOS, exact=False) for split in splits)


def is_split(variant: TermVariant) -> bool:
    """Return whether a variant is a word in two parts, at the cost of a typo."""
    return len(variant.words) == 2 and variant.typos == JOINED_TYPOS and not variant.anywhere


def _join_words(
    words: Sequence[str], before: int, fixed: Collection[str]
) -> Iterator[tuple[int, TermVariant]]:
    """Return each pair of neighbours, and all words, joined to one word, for each of its words.

    Those that contain `fixed` words are not joined.
    """
    runs = [range(position, position + 2) for position in range(len(words) - 1)]
    if len(words) > 2:
        runs.append(range(len(words)))
    for run in runs:
        if not any(words[position] in fixed for position in run):
            text, span = ("".join(words[position] for position in run),), before + run.start + 1
            yield run.start, TermVariant(text, typos=JOINED_TYPOS, exact=False, span=span)
            rest = TermVariant(text, exact=False, span=span)
            yield from ((position, rest) for position in run[1:])


def _optional_places(words: Sequence[QueryWord], options: EffectiveParameters) -> list[int]:
    """Return the positions of the words and runs of words that optionalWords lists."""
    given = options["optionalWords"]
    entries = [given] if isinstance(given, str) else given
    texts = [word.text for word in words]
    places: list[int] = []
    for entry in entries:
        entry_words = _split_optional(entry, options)
        for start in range(len(texts) - len(entry_words) + 1 if entry_words else 0):
            if texts[start : start + len(entry_words)] == entry_words:
                places += range(start, start + len(entry_words))
    return places


def _split_optional(entry: str, options: EffectiveParameters) -> list[str]:
    """Return the words of an entry of optionalWords, without stop words if others are left."""
    words = split(entry, options.rules)
    if not options.languages_of("removeStopWords"):
        return words
    stop_words = _find_stop_words(words, options, ends_query=False)
    return [word for position, word in enumerate(words) if position not in stop_words] or words


def separate_query(options: EffectiveParameters, readers: Sequence[SegmentReader]) -> str:
    """Return the query with separators between its words, of which records have the last.

    In a script without blanks, a dictionary divides an incomplete word differently from the
    complete word in the records. Therefore all divisions whose last word is incomplete are tried;
    those whose words occur in records count.
    """
    rules, query = options.rules, str(options["query"])
    if not query.isascii():
        query = compose(query)
    start = find_last_run(query.rstrip(), rules.languages) if rules.languages else None
    if start is None or options["queryType"] == "prefixNone":
        return rules.separate(query)
    run = query[start:].rstrip()
    return INVISIBLE_SPACE.join([rules.separate(query[:start]), _separate_run(run, rules, readers)])


def _separate_run(run: str, rules: TokenizerSettings, readers: Sequence[SegmentReader]) -> str:
    """Separate the words of the run that ends a query."""
    written = rules.separate(run)
    candidates = [written, *_cut_before_tail(run, rules)]
    folded = {text: fold(text, rules, separated=True).split() for text in candidates}
    existing = _find_existing({word for words in folded.values() for word in words}, readers)
    if existing.issuperset(folded[written]):
        return written
    present = [
        text
        for text, words in folded.items()
        if words and existing.issuperset(words[:-1]) and _is_beginning(words[-1], readers)
    ]
    return min(present, key=lambda text: len(folded[text]), default=written)


def _cut_before_tail(run: str, rules: TokenizerSettings) -> Iterator[str]:
    """Cut a run before each tail, which stays whole; the longest tail comes first."""
    for cut in range(max(0, len(run) - MAX_TYPED_LETTERS), len(run)):
        yield INVISIBLE_SPACE.join([rules.separate(run[:cut]), run[cut:]])


def _find_existing(words: Collection[str], readers: Sequence[SegmentReader]) -> set[str]:
    """Return the words that records have."""
    listed = [*words]
    return {
        word
        for reader in readers
        for word, number in zip(listed, _names(reader).find_many(listed).tolist(), strict=True)
        if number >= 0
    }


def _is_beginning(word: str, readers: Sequence[SegmentReader]) -> bool:
    """Return whether records have words that begin with this one."""
    ranges = (_names(reader).prefix_range(word) for reader in readers)
    return any(low < high for low, high in ranges)


def _names(reader: SegmentReader) -> TermDictionary:
    return reader.segment.postings.vocabulary.names
