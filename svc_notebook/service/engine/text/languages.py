"""Apply language resources to the words of a query: stop words and word variants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from svc_notebook.service.engine.query.options import YES_AND_NO, EffectiveParameters
from svc_notebook.service.engine.query.term_variants import Alternative
from svc_notebook.service.engine.text.compounds import LINKS
from svc_notebook.service.engine.text.lexicon import Wordbook
from svc_notebook.service.engine.text.stop_words import standard_languages
from svc_notebook.service.engine.text.tokenization import TokenizerSettings, split
from svc_notebook.service.engine.text.typos import Vocabulary


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


UNSAID = ("en",)
"""The language of word forms if neither the query nor the index declares one."""
COMPOUND = "warmwarm"
"""A sample word; looking it up loads all language resources."""


def speak(words: Sequence[str], options: EffectiveParameters) -> Iterator[tuple[int, Alternative]]:
    """Return the variants that languages add to a query's words, each with its word's position."""
    for place, word in enumerate(words):
        for ways in (_inflect, _take_apart, _look_inside, _change_script):
            yield from ((place, way) for way in ways(word, options))


def warm(options: EffectiveParameters, vocabularies: Iterable[Vocabulary]) -> None:
    """Load and precompute the language resources that the settings need."""
    list(speak([COMPOUND], options))
    if removes_stop_words(options):
        is_stop_word(COMPOUND, options)
    for language, attributes in options["decompoundedAttributes"].items():
        for vocabulary in vocabularies if attributes and language in LINKS else ():
            vocabulary.compounds(_book(options).splitter(language))


def removes_stop_words(options: EffectiveParameters) -> bool:
    """Return whether a search removes stop words."""
    return bool(_asked(options, "removeStopWords"))


def is_stop_word(word: str, options: EffectiveParameters) -> bool:
    """Return whether a word is a stop word in the languages of the option or of the query."""
    asked = _asked(options, "removeStopWords") or True
    spoken = _spoken(options) or standard_languages()
    return _book(options).is_stop_word(word, spoken if asked is True else asked)


def loosen(options: EffectiveParameters) -> EffectiveParameters:
    """Return the options with `similarQuery` as the query and all its words optional."""
    similar = options.params.get("similarQuery")
    if not similar:
        return options
    others = [entry for entry in options["ranking"] if entry != "words"]
    loose = {
        "query": similar,
        "queryType": "prefixNone",
        "removeStopWords": _asked(options, "removeStopWords") or True,
        "optionalWords": split(similar, options.rules),
        "ranking": ["words", *others],
    }
    return replace(options, params={**options.params, **loose})


def _inflect(word: str, options: EffectiveParameters) -> Iterator[Alternative]:
    """Return the other singular and plural forms of a word."""
    asked = _asked(options, "ignorePlurals")
    if not asked:
        return
    book = _book(options)
    languages = (_spoken(options) or (*UNSAID, *book.inflected)) if asked is True else asked
    exact = "ignorePlurals" in options["alternativesAsExact"]
    for form in book.forms(word, languages):
        yield Alternative(form, exact=exact)


def _take_apart(word: str, options: EffectiveParameters) -> Iterator[Alternative]:
    """Return the parts of a compound, which match anywhere in a record."""
    if options["decompoundQuery"]:
        for language in options["queryLanguages"]:
            if language in LINKS:
                for parts in _book(options).splitter(language).readings(word):
                    yield Alternative(parts, exact=False, apart=True)


def _look_inside(word: str, options: EffectiveParameters) -> Iterator[Alternative]:
    """Return the word as a part of compounds."""
    for language, attributes in options["decompoundedAttributes"].items():
        if language in LINKS and attributes:
            splitter = _book(options).splitter(language)
            yield Alternative((word,), exact=False, inside=splitter, within=tuple(attributes))


def _change_script(word: str, options: EffectiveParameters) -> Iterator[Alternative]:
    attributes = tuple(options["attributesToTransliterate"])
    for letters in transliterate(word, options.rules) if attributes else ():
        yield Alternative(letters, within=attributes)


def _asked(options: EffectiveParameters, name: str) -> bool | Sequence[str]:
    """Return true, false or the languages for which an option is enabled."""
    given = options[name]
    return YES_AND_NO.get(given, False) if isinstance(given, str) else given


def _spoken(options: EffectiveParameters) -> Sequence[str]:
    """Return the languages of the query, otherwise those of the index."""
    spoken: Sequence[str] = options["queryLanguages"] or options["indexLanguages"]
    return spoken


def _book(options: EffectiveParameters) -> Wordbook:
    return options.knowledge.lexicon.under(options.rules)
