"""A search index: records under settings, with search, facets, filters and persistence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from svc_notebook.core.tokenization.tokenizer import TokenizerSettings
from svc_notebook.service.engine.index.flatten import Record
from svc_notebook.service.engine.index.schema import Schema, Sorted
from svc_notebook.service.engine.index.segment_store import Chunks, SegmentStore
from svc_notebook.service.engine.query.options import EffectiveParameters
from svc_notebook.service.engine.query.searched_attributes import SearchedAttributes
from svc_notebook.service.engine.query.term_variants import warm_languages
from svc_notebook.service.engine.ranking.promoted_hits import NO_PINS, Pins
from svc_notebook.service.engine.ranking.ranking import Order, ScoreRecords, read_steps
from svc_notebook.service.engine.ranking.semantic_hits import VectorSource
from svc_notebook.service.engine.response import search
from svc_notebook.service.engine.response.facets import Named, find_named
from svc_notebook.service.engine.response.hits import Fetch
from svc_notebook.service.engine.response.search import FacetFound, SearchResult
from svc_notebook.service.engine.semantic.latent_model import ModelSettings
from svc_notebook.service.engine.semantic.vector_index import EmbedQuery
from svc_notebook.service.engine.text.lexicon import NO_LANGUAGE_RESOURCES, LanguageResources

NO_SETTINGS: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class IndexState:
    """The state that a search uses: the settings and the segments under their schema."""

    settings: Mapping[str, Any]
    segment_store: SegmentStore


class Index:
    """A searchable index: records under settings.

    One writer at a time, any number of searches in other threads.
    """

    def __init__(
        self, settings: Mapping[str, Any] = NO_SETTINGS, segment_store: SegmentStore | None = None
    ) -> None:
        search.check_settings(settings)
        if segment_store is None:
            model_settings = ModelSettings.of(settings)
            segment_store = SegmentStore(Schema.of(settings), model_settings=model_settings)
        self._state = IndexState(dict(settings), segment_store)

    @property
    def state(self) -> IndexState:
        """What a search that starts now uses."""
        return self._state

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings that differ from their defaults."""
        return self._state.settings

    @property
    def segment_store(self) -> SegmentStore:
        """The segment store, which other indices may share."""
        return self._state.segment_store

    def __len__(self) -> int:
        return len(self.segment_store)

    def put(self, records: Sequence[Record]) -> None:
        """Add or replace whole records by their `objectID`."""
        self.segment_store.put(records)

    def delete(self, ids: Iterable[str]) -> None:
        """Delete records; unknown ids are ignored."""
        self.segment_store.delete(ids)

    def clear(self) -> None:
        """Delete all records."""
        self.segment_store.clear()

    def configure(self, settings: Mapping[str, Any], records: Chunks) -> None:
        """Apply new settings; reindex all `records()` only if other data must be stored."""
        search.check_settings(settings)
        store = self.segment_store.for_schema(Schema.of(settings), records)
        store.model_settings = ModelSettings.of(settings)
        self._state = IndexState(dict(settings), store)

    def copy(self) -> Index:
        """Return an index of the same records that shares the existing segments."""
        return Index(self.settings, self.segment_store.fork())

    def compact(self, after_merge: Callable[[], None] | None = None) -> None:
        """Merge the segments into as few as there may be; a concurrent writer is not blocked.

        `after_merge` is called after each merge: a segment that is saved then needs no memory.
        """
        self.segment_store.compact(after_merge)

    def warm(self, resources: LanguageResources) -> None:
        """Precompute what the first search would otherwise wait for."""
        state = self._state
        options = EffectiveParameters(state.settings, {}, resources)
        segments = [reader.segment for reader in state.segment_store.readers]
        warm_languages(options, [segment.postings.vocabulary for segment in segments])
        sorts = tuple(step for step in read_steps(options) if isinstance(step, Sorted))
        for segment in segments:
            segment.presort(sorts)
            fields = SearchedAttributes.of(segment.slots, options)
            segment.lengths(fields.groups, len(fields.weights))
            _ = segment.postings.leading
            if options["attributeForDistinct"]:
                _ = segment.grouping

    def search(
        self,
        params: Mapping[str, Any],
        fetch: Fetch,
        resources: LanguageResources = NO_LANGUAGE_RESOURCES,
        pins: Pins = NO_PINS,
        embed: EmbedQuery | None = None,
        score: ScoreRecords | None = None,
    ) -> SearchResult:
        """Search; `fetch` returns the records of objectIDs, None for deleted ones.

        `embed` returns the vector of a query if those of the records are by an embedder. `score`
        returns the scores of records by a reranker.
        """
        state = self._state
        store = state.segment_store
        options = EffectiveParameters(state.settings, params, resources)
        vectors = VectorSource(store.vectors, embed, store.model_settings)
        return search.find_hits(store.readers, options, fetch, pins, vectors, score)

    def facet_values(
        self,
        facet: str,
        query: str,
        params: Mapping[str, Any],
        limit: int,
        resources: LanguageResources = NO_LANGUAGE_RESOURCES,
        pins: Pins = NO_PINS,
        embed: EmbedQuery | None = None,
    ) -> FacetFound:
        """Search the values of a facet; `params` select the records that count."""
        state = self._state
        store = state.segment_store
        vectors = VectorSource(store.vectors, embed, store.model_settings)
        options = EffectiveParameters(state.settings, params, resources)
        return search.find_values(store.readers, options, facet, query, limit, pins, vectors)

    def named(self, facet: str, words: Sequence[str], rules: TokenizerSettings) -> list[Named]:
        """Return the runs of words that are values of a facet, the longest first."""
        return find_named(self._state.segment_store.readers, facet, words, rules)

    def matching(self, params: Mapping[str, Any]) -> list[str]:
        """Return the objectIDs of all records that pass the filters."""
        state = self._state
        return search.find_ids(
            state.segment_store.readers, EffectiveParameters(state.settings, params)
        )

    def passing(self, ids: Sequence[str], params: Mapping[str, Any]) -> set[str]:
        """Return the objectIDs among `ids` whose records pass the filters."""
        state = self._state
        return search.find_passing(
            state.segment_store.readers, EffectiveParameters(state.settings, params), ids
        )

    def order(
        self, params: Mapping[str, Any], resources: LanguageResources = NO_LANGUAGE_RESOURCES
    ) -> Order:
        """Return all matching records in browse order."""
        state = self._state
        return search.find_order(
            state.segment_store.readers, EffectiveParameters(state.settings, params, resources)
        )

    def attribute_names(self) -> set[str]:
        """Return the attributes of the records that have searchable texts, numbers or facets."""
        names: set[str] = set()
        for reader in self.segment_store.readers:
            segment = reader.segment
            names.update(segment.slots, segment.numbers, segment.labels, segment.texts)
        return names

    def save(self, folder: Path, stamp: int) -> None:
        """Save the segments to a folder; existing segment files are not rewritten."""
        self.segment_store.save(folder, stamp)

    @classmethod
    def load(cls, folder: Path, settings: Mapping[str, Any]) -> tuple[Index, int] | None:
        """Load a saved index and its stamp; None if unreadable or stored for other settings."""
        stored = SegmentStore.load(folder)
        if stored is None or not stored[0].schema.serves(Schema.of(settings)):
            return None
        segment_store, stamp = stored
        segment_store.model_settings = ModelSettings.of(settings)
        return cls(settings, segment_store), stamp
