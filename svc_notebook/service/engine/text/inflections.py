"""Inflections: words with a common stem, and other forms of nouns and adjectives.

The rules of stems are those of Snowball. Texts are normalized before they are stemmed, so that a
stem has no diacritics; words of a query and of records are treated alike. English forms come from a
lexicon that distinguishes nouns from verbs; the other languages use form tables. Words in neither
are inflected by the regular endings of their language.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.execution import stop_clock
from svc_notebook.service.engine.term_dictionary import TermDictionary, starts_of
from svc_notebook.service.engine.text.word_forms import standard_table

# The Snowball algorithm of each language.
ALGORITHMS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german",
    "el": "greek", "en": "english", "es": "spanish", "et": "estonian", "eu": "basque",
    "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian",
    "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "nb": "norwegian",
    "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese",
    "pt-br": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish",
    "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip


@dataclass(frozen=True)
class Stemmer:
    """Stems words of one language."""

    algorithm: str

    def stem(self, words: list[str]) -> list[str]:
        """Return the stem of each word."""
        library, lock = _load(self.algorithm)
        with lock:
            stems: list[str] = library.stemWords(words)
        return stems


@cache
def find_stemmer(language: str) -> Stemmer | None:
    """Return the stemmer of a language, None if there is none."""
    import Stemmer as Snowball

    algorithm = ALGORITHMS.get(language, "")
    return Stemmer(algorithm) if algorithm in Snowball.algorithms() else None


@cache
def _load(algorithm: str) -> tuple[Any, threading.Lock]:
    """Return the library's stemmer, whose calls keep a cache and must not overlap."""
    import Stemmer as Snowball

    return Snowball.Stemmer(algorithm), threading.Lock()


NO_WORDS = np.zeros(0, np.int32)


@dataclass(frozen=True, eq=False)
class Stems:
    """The words of a vocabulary by their stems."""

    stems: TermDictionary
    starts: Array
    words: Array

    @classmethod
    def of(cls, vocabulary: TermDictionary, stemmer: Stemmer) -> Stems:
        """Stem every word of a vocabulary."""
        stems = stemmer.stem(vocabulary.all())
        ascending = sorted(set(stems))
        number = {stem: at for at, stem in enumerate(ascending)}
        keys = np.fromiter(map(number.__getitem__, stems), np.int64, len(stems))
        counts = np.bincount(keys, minlength=len(ascending))
        words = np.argsort(keys, kind="stable").astype(np.int32)
        return cls(TermDictionary.of(ascending), starts_of(counts), words)

    def words_with(self, stem: str) -> Array:
        """Return the numbers of the words with a stem, ascending."""
        at = self.stems.find(stem)
        return self.words[self.starts[at] : self.starts[at + 1]] if at >= 0 else NO_WORDS


# The endings of singular and plural nouns by language, normalized.
ENDINGS: dict[str, tuple[tuple[str, str], ...]] = {
    "ca": (("", "s"), ("a", "es"), ("", "os")),
    "de": (("", "s"), ("", "e"), ("e", "en"), ("", "en"), ("", "n")),
    "en": (("", "s"), ("", "es"), ("y", "ies")),
    "es": (("", "s"), ("", "es"), ("z", "ces")),
    "fr": (("", "s"), ("", "x"), ("al", "aux")),
    "gl": (("", "s"), ("", "es")),
    "it": (("o", "i"), ("e", "i"), ("a", "e")),
    "nl": (("", "en"), ("", "s")),
    "pt": (("", "s"), ("", "es"), ("m", "ns"), ("l", "is"), ("ao", "oes")),
}
MIN_STEM_LETTERS = 2
# The language with a lexicon of its own instead of a form table.
LEXICON_LANGUAGE = "en"


@lru_cache(maxsize=50_000)
def standard_forms(word: str, language: str) -> tuple[str, ...]:
    """Return the other forms of a word in a language, normalized."""
    forms = known_forms(word, language)
    return regular_forms(word, language) if forms is None else tuple(sorted(forms - {word}))


def regular_forms(word: str, language: str) -> tuple[str, ...]:
    """Return the other forms of a word by the regular endings of a language, normalized."""
    return tuple(sorted({*_regular_forms(word, language.partition("-")[0])} - {word}))


def known_forms(word: str, language: str) -> set[str] | None:
    """Return the forms of a word in a language's lexicon, None if it is not listed."""
    if language == LEXICON_LANGUAGE:
        return _english_forms(word)
    forms = standard_table(language).forms(word)
    return set(forms) if len(forms) > 1 else None


def _english_forms(word: str) -> set[str] | None:
    with stop_clock():  # the first import reads the lexicon
        import lemminflect

    lemmas = lemminflect.getAllLemmas(word)
    nouns = lemmas.get("NOUN", ())
    inflections = [lemminflect.getAllInflections(noun, upos="NOUN") for noun in nouns]
    forms = {form for analysis in inflections for same in analysis.values() for form in same}
    return {form for form in forms if form.isalpha()} if lemmas else None


def _regular_forms(word: str, language: str) -> Iterator[str]:
    for singular, many in ENDINGS.get(language, ()):
        for end, other in ((singular, many), (many, singular)):
            stem = word.removesuffix(end)
            if word.endswith(end) and len(stem) >= MIN_STEM_LETTERS and word.isalpha():
                yield stem + other
