"""Language resources: stop words, word forms, compounds and the synonyms of an index."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from svc_notebook.core.tokenization.tokenizer import TokenizerSettings, split
from svc_notebook.service.engine.text.compounds import Splitter, standard_splitter
from svc_notebook.service.engine.text.lemmatization import (
    LEXICON_LANGUAGE,
    regular_forms,
    standard_forms,
)
from svc_notebook.service.engine.text.stems import Stemmer, find_stemmer
from svc_notebook.service.engine.text.stop_words import standard_stops
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
