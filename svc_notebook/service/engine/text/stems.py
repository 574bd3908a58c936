"""Stems: words of a language with a common stem, such as `paint`, `painted` and `painting`.

The rules are those of Snowball. Texts are normalized before they are stemmed, so that a stem has no
diacritics; words of a query and of records are treated alike.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.term_dictionary import TermDictionary, starts_of

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


NO_WORDS = np.zeros(0, np.int32)
