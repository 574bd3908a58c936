"""Choice among the splits of a query word: the most frequent one that records have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from svc_notebook.service.engine.index.segment_reader import SegmentReader
from svc_notebook.service.engine.query.options import EffectiveParameters
from svc_notebook.service.engine.query.query import Query, QueryWord, is_split
from svc_notebook.service.engine.query.searched_attributes import SearchedAttributes
from svc_notebook.service.engine.query.term_variants import TermVariant
from svc_notebook.service.engine.ranking.occurrences import PostingsLookup


def keep_frequent_splits(
    query: Query, readers: Sequence[SegmentReader], options: EffectiveParameters
) -> Query:
    """Return the query with the most frequent split of each word instead of all of them.

    Of equally frequent ones, the one with the longest first part counts.
    """
    splits = [variant for word in query.words for variant in word.variants if is_split(variant)]
    if not splits:
        return query
    counts = _count_occurrences(splits, readers, options)
    if len(counts) < 2:
        return query
    return replace(query, words=tuple(_keep_best(word, counts) for word in query.words))


def _count_occurrences(
    splits: Sequence[TermVariant], readers: Sequence[SegmentReader], options: EffectiveParameters
) -> Counter[TermVariant]:
    counts: Counter[TermVariant] = Counter()
    looked_up = Query((QueryWord("", tuple(splits)),))
    for reader in readers:
        fields = SearchedAttributes.of(reader.segment.slots, options)
        lookup = PostingsLookup.of(reader.segment.postings, looked_up, fields, frozenset())
        for split in filter(lookup.may_match, splits):
            if occurrences := sum(map(len, lookup.find([split]))):
                counts[split] += occurrences
    return counts


def _keep_best(word: QueryWord, counts: Counter[TermVariant]) -> QueryWord:
    present = [variant for variant in word.variants if is_split(variant) and counts[variant]]
    if len(present) < 2:
        return word
    best = max(present, key=lambda variant: (counts[variant], len(variant.words[0])))
    kept = [variant for variant in word.variants if not is_split(variant) or variant == best]
    return replace(word, variants=tuple(kept))
