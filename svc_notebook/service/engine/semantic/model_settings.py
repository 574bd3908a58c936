"""What a latent model depends on besides the records: attribute weights and a stemmer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.index.schema import Searched, first_covering, read_searched
from svc_notebook.service.engine.term_dictionary import TermDictionary
from svc_notebook.service.engine.text.stems import find_stemmer

# The format of a stored model and its vectors; those of another format are computed again.
MODEL_FORMAT = 2


@dataclass(frozen=True)
class ModelSettings:
    """The entries of searchableAttributes, if their weights differ, and the language of stems.

    Vectors that were computed by other settings are outdated.
    """

    searched: tuple[Searched, ...] = ()
    language: str = ""

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> ModelSettings:
        """Read them from the settings of an index.

        The language is the first of `indexLanguages` that has a stemmer, empty without one.
        """
        # Whether positions count makes no difference to vectors.
        entries = [Searched(read.path, read.rank, False) for read in read_searched(settings)]
        differ = len({entry.weight for entry in entries}) > 1
        languages = settings.get("indexLanguages") or ()
        return cls(
            tuple(entries) if differ else (),
            next((language for language in languages if find_stemmer(language)), ""),
        )

    @classmethod
    def from_array(cls, array: Array) -> ModelSettings:
        """Restore the settings; raises `ValueError` if they are of another format."""
        number, searched, language = msgspec.json.decode(array.tobytes())
        if number != MODEL_FORMAT:
            raise ValueError(f"the latent model has the format {number}")
        return cls(tuple(Searched(*entry) for entry in searched), language)

    def to_array(self) -> Array:
        """Return the settings as an array to store."""
        entries = [(entry.path, entry.rank, entry.ordered) for entry in self.searched]
        return np.frombuffer(msgspec.json.encode([MODEL_FORMAT, entries, self.language]), np.uint8)

    def weigh_attributes(self, slots: Sequence[str]) -> Array:
        """Return how much an occurrence counts in each attribute; the least weight counts 1."""
        entries = [first_covering(path, self.searched) for path in slots]
        min_weight = min((entry.weight for entry in self.searched), default=1)
        return np.array(
            [entry.weight / min_weight if entry else 1 for entry in entries], np.float32
        )

    def stem_words(self, words: list[str]) -> list[str]:
        """Return the stem of each word; the words themselves without a stemmer."""
        stemmer = find_stemmer(self.language) if self.language else None
        return stemmer.stem(words) if stemmer else words

    def stem_dictionary(self, names: TermDictionary) -> tuple[TermDictionary, Array]:
        """Return the dictionary of the stems of words, and the place of each word's stem."""
        if not self.language:
            return names, np.arange(len(names))
        stems = self.stem_words(names.all())
        ascending = sorted(set(stems))
        number_of = {stem: number for number, stem in enumerate(ascending)}
        places = np.fromiter(map(number_of.__getitem__, stems), np.int64, len(stems))
        return TermDictionary.of(ascending), places


# Those of an index without settings: all attributes count the same, and words are not stemmed.
DEFAULT_SETTINGS = ModelSettings()
