"""A latent semantic model: vectors of words from the records themselves, without a language model.

Words that occur in the same records have similar vectors. The model is the truncated singular value
decomposition of the weights (tf-idf) of the words of a sample of the records. The vector of a text
is the sum of the vectors of its words, each by its weight. A word counts more in an attribute that
`searchableAttributes` has earlier; with `indexLanguages`, words with a common stem are one word.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from svc_notebook.service.engine.arrays import Array, Arrays, add_prefix, group_by_prefix
from svc_notebook.service.engine.index.postings import SLOT_SHIFT
from svc_notebook.service.engine.index.schema import Searched, first_covering, read_searched
from svc_notebook.service.engine.index.segment import Segment, SegmentReader
from svc_notebook.service.engine.semantic.vector_table import VectorTable
from svc_notebook.service.engine.term_dictionary import TermDictionary, union
from svc_notebook.service.engine.text.inflections import find_stemmer
from svc_notebook.service.engine.text.synonyms import FIRST_MARKER, LAST_MARKER, ONLY_MARKER

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
# Components of a vector, and of one in an index of at least `LARGE_INDEX_RECORDS`.
MAX_DIMENSIONS, LARGE_INDEX_DIMENSIONS = 200, 128
LARGE_INDEX_RECORDS = 50_000
MIN_DIMENSIONS = 2
# A small index has fewer dimensions: with one for each word, no two words would be related.
RECORDS_PER_DIMENSION, TERMS_PER_DIMENSION = 8, 4
# Records that a model is computed from, at most.
SAMPLED_RECORDS = 50_000
# The number of words in a model is at most half the number of records, within these limits.
MIN_TERMS_LIMIT, MAX_TERMS_LIMIT = 20_000, 65_536
# In a sample of this size or more, words of a single record are left out.
COMMON_SAMPLE_RECORDS = 5_000
OVERSAMPLED_DIMENSIONS, POWER_ITERATIONS, SKETCH_SEED = 10, 2, 0
# Records that are embedded at one time.
CHUNK_ROWS = 10_000
Pause = Callable[[], None]


@dataclass(frozen=True, eq=False)
class LatentModel:
    """The words of a model, or their stems, the rarity of each, and their vectors."""

    terms: TermDictionary
    rarities: Array
    vectors: VectorTable
    settings: ModelSettings = DEFAULT_SETTINGS

    @classmethod
    def fit(
        cls,
        readers: Sequence[SegmentReader],
        settings: ModelSettings = DEFAULT_SETTINGS,
        pause: Pause = lambda: None,
    ) -> LatentModel:
        """Compute a model from the live records; `pause` is called between steps and may wait.

        Raises `ImportError` without SciPy.
        """
        samples = list(_sample(readers))
        words, renamed = union([segment.postings.vocabulary.names for segment, _ in samples])
        names, stems = settings.stem_dictionary(words)
        stems = np.where(_are_markers(words), -1, stems)
        pause()
        parts = [
            _count_terms(segment, stems[places], mask, len(names), settings)
            for (segment, mask), places in zip(samples, renamed, strict=True)
        ]
        counts = _stack(parts, len(names))
        records = counts.shape[0]
        frequencies = np.bincount(counts.indices, minlength=len(names))
        chosen = _choose_terms(frequencies, records)
        pause()
        rarities = _rarity(records, frequencies[chosen])
        weights = _weigh(counts[:, np.flatnonzero(chosen)], rarities)
        size = _count_dimensions(sum(reader.count for reader in readers), len(rarities))
        vectors = VectorTable.of(_decompose(weights, size, pause), unit=False)
        return cls(names.select(chosen), rarities, vectors, settings)

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> LatentModel:
        """Restore a model from `arrays`."""
        groups = group_by_prefix(arrays)
        terms = TermDictionary.from_arrays(groups["terms"])
        vectors = VectorTable.from_arrays(groups["vectors"], "")
        return cls(terms, arrays["rarities"], vectors, ModelSettings.from_array(arrays["settings"]))

    def arrays(self) -> Arrays:
        """Return the arrays to store."""
        return {
            "rarities": self.rarities,
            "settings": self.settings.to_array(),
            **add_prefix("terms", self.terms.arrays()),
            **add_prefix("vectors", self.vectors.arrays()),
        }

    def embed_words(self, words: Sequence[str]) -> Array:
        """Return the vector of a query by its words; 0 if the model has none of them."""
        counts = Counter(self.settings.stem_words([*words]))
        places = self.terms.find_many([*counts])
        in_model = places >= 0
        times = np.array([*counts.values()], np.float32)[in_model]
        places = places[in_model]
        weights = (1 + np.log(times)) * self.rarities[places]
        return np.asarray(weights @ self.vectors.take(places).decoded(), np.float32)

    def embed_segment(self, segment: Segment, pause: Pause = lambda: None) -> VectorTable:
        """Return the vectors of all records of a segment."""
        words = self.settings.stem_words(segment.postings.vocabulary.names.all())
        places = self.terms.find_many(words)
        vectors = self.vectors.decoded()
        parts = []
        for start in range(0, len(segment), CHUNK_ROWS):
            pause()
            mask = np.zeros(len(segment), bool)
            mask[start : start + CHUNK_ROWS] = True
            counts = _count_terms(segment, places, mask, len(self.terms), self.settings)
            parts.append(VectorTable.of(_weigh(counts, self.rarities) @ vectors))
        starts = range(0, len(segment), CHUNK_ROWS)
        rows = [np.arange(start, min(start + CHUNK_ROWS, len(segment))) for start in starts]
        return VectorTable.joined(len(segment), list(zip(rows, parts, strict=True)))


def _sample(readers: Sequence[SegmentReader]) -> Iterator[tuple[Segment, Array]]:
    """Return the segments with the masks of an even sample of their live records."""
    step = max(1, math.ceil(sum(reader.count for reader in readers) / SAMPLED_RECORDS))
    before = 0
    for reader in readers:
        mask = np.zeros(len(reader.alive), bool)
        mask[np.flatnonzero(reader.alive)[-before % step :: step]] = True
        before += reader.count
        yield reader.segment, mask


def _count_terms(
    segment: Segment, places: Array, mask: Array, terms: int, settings: ModelSettings
) -> Any:
    """Return how often each masked record has each term, as a sparse matrix.

    `places` are the terms of the words of the segment, -1 for none. Each occurrence counts by the
    weight of its attribute.
    """
    from scipy.sparse import coo_array

    postings = segment.postings
    columns = np.repeat(places, np.diff(postings.starts))
    kept = np.flatnonzero(mask[postings.rows] & (columns >= 0))
    rows = (np.cumsum(mask) - 1)[postings.rows[kept]]
    shape = (int(np.count_nonzero(mask)), terms)
    weights = settings.weigh_attributes(segment.slots)[postings.spots[kept] >> SLOT_SHIFT]
    return coo_array((weights, (rows, columns[kept])), shape=shape).tocsr()


def _stack(parts: Sequence[Any], terms: int) -> Any:
    from scipy.sparse import csr_array, vstack

    return vstack(parts, format="csr") if parts else csr_array((0, terms), dtype=np.float32)


def _are_markers(names: TermDictionary) -> Array:
    """Return which words are those of placeholders."""
    markers = np.zeros(len(names), bool)
    for marker in (FIRST_MARKER, LAST_MARKER, ONLY_MARKER):
        low, high = names.prefix_range(marker)
        markers[low:high] = True
    return markers


def _choose_terms(frequencies: Array, records: int) -> Array:
    """Return the mask of the words of the model: the most frequent ones."""
    min_records = 2 if records >= COMMON_SAMPLE_RECORDS else 1
    chosen = np.asarray(frequencies >= min_records)
    limit = min(max(MIN_TERMS_LIMIT, records // 2), MAX_TERMS_LIMIT)
    numbers = np.flatnonzero(chosen)
    if len(numbers) > limit:
        chosen[numbers[np.argsort(-frequencies[numbers], kind="stable")[limit:]]] = False
    return chosen


def _count_dimensions(records: int, terms: int) -> int:
    most = LARGE_INDEX_DIMENSIONS if records >= LARGE_INDEX_RECORDS else MAX_DIMENSIONS
    few = min(records // RECORDS_PER_DIMENSION, terms // TERMS_PER_DIMENSION)
    return min(most, max(few, MIN_DIMENSIONS))


def _rarity(records: int, frequencies: Array) -> Array:
    return np.log((1 + records) / (1 + frequencies)).astype(np.float32) + np.float32(1)


def _weigh(counts: Any, rarities: Array) -> Any:
    """Return the weights of the words, each row of length 1."""
    weights = counts.copy()
    weights.data = (1 + np.log(weights.data)) * rarities[weights.indices]
    owners = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
    squares = np.bincount(owners, weights.data**2, weights.shape[0])
    weights.data = (weights.data / np.sqrt(squares)[owners]).astype(np.float32)
    return weights


def _decompose(weights: Any, dimensions: int, pause: Pause) -> Array:
    """Return the right singular vectors of the highest singular values, a row for each word.

    Source: Halko, Martinsson and Tropp, Finding structure with randomness (2011), algorithm 4.4.
    """
    size = min(dimensions + OVERSAMPLED_DIMENSIONS, *weights.shape)
    if not size:
        return np.zeros((weights.shape[1], 1), np.float32)
    random = np.random.default_rng(SKETCH_SEED)
    sketch = weights @ random.standard_normal((weights.shape[1], size), np.float32)
    for _ in range(POWER_ITERATIONS):
        pause()
        basis = np.linalg.qr(sketch)[0]
        sketch = weights @ (weights.T @ basis)
    pause()
    reduced = weights.T @ np.linalg.qr(sketch)[0]
    values, vectors = np.linalg.eigh(reduced.T @ reduced)
    kept = np.argsort(-values)[:dimensions]
    kept = kept[values[kept] > np.finfo(np.float32).eps * max(values.max(initial=0), 1e-30)]
    return np.asarray(reduced @ vectors[:, kept] / np.sqrt(values[kept]), np.float32)
