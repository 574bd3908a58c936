"""Language resources: stop words, word forms, compounds and the synonyms of an index."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from typing import Any

from svc_notebook.core.tokenization.tokenizer import TokenizerSettings, split
from svc_notebook.service.engine.text.compounds import Splitter, standard_splitter
from svc_notebook.service.engine.text.inflections import (
    LEXICON_LANGUAGE,
    Stemmer,
    find_stemmer,
    regular_forms,
    standard_forms,
)
from svc_notebook.service.engine.text.synonyms import Thesaurus
from svc_notebook.service.engine.text.word_forms import is_table_ready

Entry = Mapping[str, Any]
Phrase = tuple[str, ...]


@dataclass(frozen=True)
class Dictionaries:
    """An application's entries by dictionary, and the languages without standard ones."""

    custom: Mapping[str, Sequence[Entry]] = field(default_factory=dict)
    off: Mapping[str, frozenset[str]] = field(default_factory=dict)


class Lexicon:
    """An application's dictionaries, combined with the standard ones; loaded on first use."""

    def __init__(self, read: Callable[[], Dictionaries] = Dictionaries) -> None:
        self._read = read
        self._normalized: dict[TokenizerSettings, NormalizedLexicon] = {}
        self._compiling = threading.Lock()

    def normalized(self, rules: TokenizerSettings) -> NormalizedLexicon:
        """Return the dictionaries with their words normalized by the tokenizer settings."""
        lexicon = self._normalized.get(rules)
        if lexicon is None:
            with self._compiling:
                lexicon = self._normalized.get(rules)
                if lexicon is None:
                    lexicon = self._normalized[rules] = NormalizedLexicon(self._read(), rules)
        return lexicon


class NormalizedLexicon:
    """Dictionaries under one set of tokenizer settings; custom entries override standard ones."""

    def __init__(self, dictionaries: Dictionaries, rules: TokenizerSettings) -> None:
        self._dictionaries = dictionaries
        self._rules = rules
        self._splitters: dict[tuple[str, bool], Splitter] = {}

    def is_stop_word(self, word: str, languages: Iterable[str]) -> bool:
        """Return whether a word is a stop word in one of the languages."""
        return any(self._stops(word, language) for language in languages)

    def forms(self, word: str, languages: Iterable[str]) -> list[Phrase]:
        """Return the other forms of a word in any of the languages."""
        phrases = (form for language in languages for form in self._forms(word, language))
        return [form for form in dict.fromkeys(phrases) if form != (word,)]

    def stemmer(self, language: str) -> Stemmer | None:
        """Return the stemmer of a language; standard plurals and stems are turned off together."""
        return find_stemmer(language) if self._standard("plurals", language) else None

    def splitter(self, language: str) -> Splitter:
        """Return the compound splitter of a language."""
        standard = self._standard("compounds", language) and is_table_ready(language)
        splitter = self._splitters.get((language, standard))
        if splitter is None:
            entries = self._compounds.get(language, {})
            plain = standard and not entries
            splitter = (
                standard_splitter(language) if plain else Splitter(language, entries, standard)
            )
            self._splitters[language, standard] = splitter
        return splitter

    @property
    def inflected(self) -> tuple[str, ...]:
        """The languages with custom word forms."""
        return tuple(dict.fromkeys(language for language, _ in self._plurals))

    def _stops(self, word: str, language: str) -> bool:
        configured = self._stop_words.get((language, word))
        if configured is not None:
            return configured
        return self._standard("stopwords", language) and word in standard_stops(language)

    def _forms(self, word: str, language: str) -> Iterable[Phrase]:
        configured = self._plurals.get((language, word))
        if configured is not None:
            return configured
        if not self._standard("plurals", language):
            return ()
        ready = language == LEXICON_LANGUAGE or is_table_ready(language)
        return ((form,) for form in (standard_forms if ready else regular_forms)(word, language))

    def _standard(self, dictionary: str, language: str) -> bool:
        return language not in self._dictionaries.off.get(dictionary, ())

    @cached_property
    def _stop_words(self) -> dict[tuple[str, str], bool]:
        return {
            (entry["language"], " ".join(split(entry["word"], self._rules))): (
                entry.get("state", "enabled") == "enabled"
            )
            for entry in self._entries("stopwords")
        }

    @cached_property
    def _plurals(self) -> dict[tuple[str, str], list[Phrase]]:
        plurals: dict[tuple[str, str], list[Phrase]] = {}
        for entry in self._entries("plurals"):
            forms = [tuple(split(word, self._rules)) for word in entry["words"]]
            for form in forms:
                if len(form) == 1:
                    plurals.setdefault((entry["language"], form[0]), []).extend(filter(None, forms))
        return plurals

    @cached_property
    def _compounds(self) -> dict[str, dict[str, Phrase]]:
        compounds: dict[str, dict[str, Phrase]] = {}
        for entry in self._entries("compounds"):
            parts = tuple(self._words(entry["decomposition"]))
            entries = compounds.setdefault(entry["language"], {})
            words = split(entry["word"], self._rules)
            entries.update({words[0]: parts} if len(words) == 1 else {})
        return compounds

    def _words(self, texts: Iterable[str]) -> Iterator[str]:
        for text in texts:
            yield from split(text, self._rules)

    def _entries(self, dictionary: str) -> Sequence[Entry]:
        return self._dictionaries.custom.get(dictionary, ())


@dataclass(frozen=True, eq=False)
class LanguageResources:
    """The synonyms of an index and the lexicon of its application."""

    synonyms: Thesaurus = field(default_factory=Thesaurus)
    lexicon: Lexicon = field(default_factory=Lexicon)


# Empty language resources.
NO_LANGUAGE_RESOURCES = LanguageResources()
# The source lists words of web pages and domain endings as English stop words, among them many
# words that people search for. Here they are not stop words.
SHORT_ENGLISH_STOP_WORDS = frozenset(
    """
    a am an as at be by do go he i if in is it me my no of oh on or so to up us we
    """.split()  # noqa: SIM905 - quotes around each would hide the words
)
ENGLISH_SEARCH_WORDS = frozenset(
    """
    abroad area areas backed best better big bill billion book bottom brief call caption case
    cases clear click computer con copy course cry data date dear detail dot downs early edge
    edu effect eight eighty eleven empty end face faces fact facts fifteen fifth fifty fill film
    fire first five fix forty four free front full general good goods great greater greatest
    group groups half hell hello help high higher highest home homepage html http hundred index
    information inner inside interest interests invention keys kind large last latest length
    line little long longer longest low lower man member members men microsoft mill million mine
    minus miss move msie mug name near net netscape new newer newest nine ninety novel number
    numbers old older oldest open order orders org outside page pages part parts past place
    places plus point points problem problems proud recent refs research result results right
    ring room rooms round run saw second seconds section self seven seventy shell show shows
    side sides site six sixty small smaller smallest sorry state states stop system taking ten
    test text thick thin thing things third thirty thousand three tip today top trillion turn
    twelve twenty two uucp value versus vol vols web webpage website wed wells whim wish wonder
    words work works world year years young younger youngest zero
    """.split()  # noqa: SIM905
)
# Languages that use the stop words of another language.
ALIASES = {"nb": "no", "nn": "no"}
# More than the existing languages: unknown language codes are cached, too.
MAX_CACHED_LANGUAGES = 200


@cache
def standard_languages() -> tuple[str, ...]:
    """Return the languages with standard stop words."""
    import stopwordsiso

    return tuple(sorted(stopwordsiso.langs()))


@lru_cache(maxsize=MAX_CACHED_LANGUAGES)
def standard_words(language: str) -> tuple[str, ...]:
    """Return a language's stop words as written, sorted; empty for a language without a list."""
    import stopwordsiso

    code = ALIASES.get(language, language).partition("-")[0]
    listed = stopwordsiso.stopwords(code) if stopwordsiso.has_lang(code) else ()
    return tuple(sorted(word for word in listed if _is_word(word) and _is_stop_word(word, code)))


@lru_cache(maxsize=MAX_CACHED_LANGUAGES)
def standard_stops(language: str) -> frozenset[str]:
    """Return a language's stop words, normalized for comparison with query words."""
    folded = (split(word, TokenizerSettings()) for word in standard_words(language))
    return frozenset(words[0] for words in folded if len(words) == 1)


def _is_word(text: str) -> bool:
    return any(map(str.isalpha, text)) and not any(map(str.isdigit, text))


def _is_stop_word(word: str, language: str) -> bool:
    if language != "en":
        return True
    # Normalization removes the apostrophe: "we'll" must not make "well" a stop word.
    folded = word.replace("'", "")
    return word in SHORT_ENGLISH_STOP_WORDS if len(word) < 3 else folded not in ENGLISH_SEARCH_WORDS
