"""Variants of query words: what a word matches besides itself, by language and by synonyms."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import NamedTuple

from svc_notebook.core.tokenization.tokenizer import TokenizerSettings, split
from svc_notebook.service.engine.query.options import EffectiveParameters
from svc_notebook.service.engine.text.compounds import LINKS, Splitter
from svc_notebook.service.engine.text.inflections import Stemmer
from svc_notebook.service.engine.text.synonyms import Replacement
from svc_notebook.service.engine.text.typos import Vocabulary

# The languages of word forms if neither the query nor the index declares one.
DEFAULT_LANGUAGES = ("en",)
# The alternative that, besides `ignorePlurals`, turns stems on.
CONJUGATIONS = "ignoreConjugations"
# Looking up this word loads all language resources.
SAMPLE_WORD = "warmwarm"


class TermVariant(NamedTuple):
    """One variant of a query word: one word, or several adjacent words.

    `typos` is the variant's own typo cost, `max_typos` the number of further typos allowed. `span`
    is a number that neighbouring query words share if the variant matches all of them at once, 0 if
    it matches one word. `replaced` are the query words that a synonym replaces. With `anywhere`,
    the words match anywhere in a record that has them all; with `splitter`, the word is looked up
    as a part of compounds; with `stemmer`, it is a stem. `attributes` are those where the variant
    matches, all if empty.
    """

    words: tuple[str, ...]
    typos: int = 0
    max_typos: int = 0
    prefix: bool = False
    exact: bool = True
    span: int = 0
    replaced: str = ""
    anywhere: bool = False
    splitter: Splitter | None = None
    stemmer: Stemmer | None = None
    attributes: tuple[str, ...] = ()


def expand_words(
    words: Sequence[str],
    dropped: AbstractSet[int],
    before: int,
    options: EffectiveParameters,
    prefixes: Sequence[int] = (),
) -> Iterator[tuple[int, TermVariant]]:
    """Return the variants from languages and synonyms for a run of words, with word positions.

    Words at `dropped` positions are not searched and not counted in the returned positions, but a
    synonym may match them. `before` is the number of words before the run. Words at `prefixes`
    match as prefixes.
    """
    left = [position for position in range(len(words)) if position not in dropped]
    moved = {position: number for number, position in enumerate(left)}
    variants = chain(
        find_language_variants(words, options),
        _find_synonyms(words, moved, before, options, prefixes),
    )
    yield from ((moved[position], variant) for position, variant in variants if position in moved)


def find_language_variants(
    words: Sequence[str], options: EffectiveParameters
) -> Iterator[tuple[int, TermVariant]]:
    """Return the variants that languages add to a query's words, each with its word's position."""
    finders = [find for option, find in _FINDERS.items() if options[option]]
    for position, word in enumerate(words):
        for find in finders:
            yield from ((position, variant) for variant in find(word, options))


def warm_languages(options: EffectiveParameters, vocabularies: Collection[Vocabulary]) -> None:
    """Load and precompute the language resources that the settings need."""
    variants = find_language_variants([SAMPLE_WORD], options)
    for stemmer in [variant.stemmer for _, variant in variants if variant.stemmer]:
        for vocabulary in vocabularies:
            vocabulary.stems(stemmer)
    if options.languages_of("removeStopWords"):
        options.is_stop_word(SAMPLE_WORD)
    for language, attributes in options["decompoundedAttributes"].items():
        for vocabulary in vocabularies if attributes and language in LINKS else ():
            vocabulary.compounds(options.lexicon.splitter(language))


def transliterate(word: str, rules: TokenizerSettings) -> Iterator[tuple[str, ...]]:
    """Return a word in the other kana scripts; Latin letters only if they spell kana."""
    import jaconv

    if word.isascii():
        kana = jaconv.alphabet2kana(word) if word.isalpha() else ""
        if kana and jaconv.kana2alphabet(kana) == word:
            yield from (tuple(split(text, rules)) for text in (kana, jaconv.hira2kata(kana)))
        return
    for other in (jaconv.hira2kata(word), jaconv.kata2hira(word)):
        if other != word:
            yield tuple(split(other, rules))


def _find_inflections(word: str, options: EffectiveParameters) -> Iterator[TermVariant]:
    """Return the other singular and plural forms of a word, and its stem if stems count, too."""
    enabled = options.languages_of("ignorePlurals")
    if not enabled:
        return
    lexicon = options.lexicon
    languages = options.query_languages or (*DEFAULT_LANGUAGES, *lexicon.inflected)
    exact = "ignorePlurals" in options["alternativesAsExact"]
    for form in lexicon.forms(word, languages if enabled is True else enabled):
        yield TermVariant(form, exact=exact)
    if CONJUGATIONS in options["alternativesAsExact"]:
        for language in languages if enabled is True else enabled:
            if stemmer := lexicon.stemmer(language):
                yield TermVariant(tuple(stemmer.stem([word])), stemmer=stemmer)


def _find_parts(word: str, options: EffectiveParameters) -> Iterator[TermVariant]:
    """Return the parts of a compound, which match anywhere in a record."""
    if options["decompoundQuery"]:
        for language in options["queryLanguages"]:
            if language in LINKS:
                for parts in options.lexicon.splitter(language).readings(word):
                    yield TermVariant(parts, exact=False, anywhere=True)


def _find_compounds(word: str, options: EffectiveParameters) -> Iterator[TermVariant]:
    """Return the word as a part of compounds."""
    for language, attributes in options["decompoundedAttributes"].items():
        if language in LINKS and attributes:
            splitter = options.lexicon.splitter(language)
            yield TermVariant((word,), exact=False, splitter=splitter, attributes=tuple(attributes))


def _find_transliterations(word: str, options: EffectiveParameters) -> Iterator[TermVariant]:
    attributes = tuple(options["attributesToTransliterate"])
    for words in transliterate(word, options.rules):
        yield TermVariant(words, attributes=attributes)


# By the option without which each returns nothing.
_FINDERS: Mapping[str, Callable[[str, EffectiveParameters], Iterator[TermVariant]]] = {
    "ignorePlurals": _find_inflections,
    "queryLanguages": _find_parts,
    "decompoundedAttributes": _find_compounds,
    "attributesToTransliterate": _find_transliterations,
}


def _find_synonyms(
    words: Sequence[str],
    left: Collection[int],
    before: int,
    options: EffectiveParameters,
    prefixes: Sequence[int],
) -> Iterator[tuple[int, TermVariant]]:
    if options["synonyms"]:
        synonyms = options.resources.synonyms.find(words, options.rules, prefixes)
        for replacement in dict.fromkeys(
            synonym for synonym in synonyms if _applies(synonym, words, options)
        ):
            yield from _spread(
                replacement, words, left, before, exact=_is_exact(replacement, options)
            )


def _applies(replacement: Replacement, words: Sequence[str], options: EffectiveParameters) -> bool:
    """Return whether a synonym applies: corrections count as typos and need typo tolerance."""
    if not replacement.typos:
        return True
    if options.typo_tolerance is False:
        return False
    return options.words_without_typos.isdisjoint(_source(replacement, words))


def _is_exact(replacement: Replacement, options: EffectiveParameters) -> bool:
    single = replacement.length == len(replacement.words) == 1
    kind = "singleWordSynonym" if single else "multiWordsSynonym"
    if replacement.typos or replacement.partial:
        return False
    return kind in options["alternativesAsExact"]


def _spread(
    replacement: Replacement,
    words: Sequence[str],
    left: Collection[int],
    before: int,
    *,
    exact: bool,
) -> Iterator[tuple[int, TermVariant]]:
    """Return one variant of a whole run for each of its words.

    If all words of the run match by it, it counts as one match of the run; only the first has its
    typo cost.
    """
    replaced = " ".join(_source(replacement, words))
    span = before + replacement.start + 1 if replacement.length > 1 else 0
    typos = replacement.typos
    for position in range(replacement.start, replacement.start + replacement.length):
        if position in left:
            yield (
                position,
                TermVariant(replacement.words, typos, exact=exact, span=span, replaced=replaced),
            )
            typos = 0


def _source(replacement: Replacement, words: Sequence[str]) -> Sequence[str]:
    return words[replacement.start : replacement.start + replacement.length]
