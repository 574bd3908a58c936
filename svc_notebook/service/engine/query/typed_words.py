"""The last words of a query that is being typed in a script without blanks.

A dictionary divides an incomplete word differently from the complete word in the records. Therefore
all divisions whose last word is incomplete are tried; those whose words occur in records count.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from svc_notebook.core.tokenization.character_table import INVISIBLE_SPACE
from svc_notebook.core.tokenization.tokenizer import TokenizerSettings, fold
from svc_notebook.core.tokenization.word_breaks import find_last_run
from svc_notebook.service.engine.index.segment_reader import SegmentReader
from svc_notebook.service.engine.query.options import EffectiveParameters
from svc_notebook.service.engine.term_dictionary import TermDictionary

# The longest beginning of a word that is looked for.
MAX_TYPED_LETTERS = 20


def separate_query(options: EffectiveParameters, readers: Sequence[SegmentReader]) -> str:
    """Return the query with separators between its words, of which records have the last."""
    rules, query = options.rules, str(options["query"])
    start = find_last_run(query.rstrip(), rules.languages) if rules.languages else None
    if start is None or options["queryType"] == "prefixNone":
        return rules.separate(query)
    run = query[start:].rstrip()
    return INVISIBLE_SPACE.join([rules.separate(query[:start]), _separate_run(run, rules, readers)])


def _separate_run(run: str, rules: TokenizerSettings, readers: Sequence[SegmentReader]) -> str:
    """Separate the words of the run that ends a query."""
    written = rules.separate(run)
    candidates = [written, *_cut_before_tail(run, rules)]
    folded = {text: fold(text, rules, separated=True).split() for text in candidates}
    existing = _find_existing({word for words in folded.values() for word in words}, readers)
    if existing.issuperset(folded[written]):
        return written
    present = [
        text
        for text, words in folded.items()
        if words and existing.issuperset(words[:-1]) and _is_beginning(words[-1], readers)
    ]
    return min(present, key=lambda text: len(folded[text]), default=written)


def _cut_before_tail(run: str, rules: TokenizerSettings) -> Iterator[str]:
    """Cut a run before each tail, which stays whole; the longest tail comes first."""
    for cut in range(max(0, len(run) - MAX_TYPED_LETTERS), len(run)):
        yield INVISIBLE_SPACE.join([rules.separate(run[:cut]), run[cut:]])


def _find_existing(words: Collection[str], readers: Sequence[SegmentReader]) -> set[str]:
    """Return the words that records have."""
    listed = [*words]
    return {
        word
        for reader in readers
        for word, number in zip(listed, _names(reader).find_many(listed).tolist(), strict=True)
        if number >= 0
    }


def _is_beginning(word: str, readers: Sequence[SegmentReader]) -> bool:
    """Return whether records have words that begin with this one."""
    ranges = (_names(reader).prefix_range(word) for reader in readers)
    return any(low < high for low, high in ranges)


def _names(reader: SegmentReader) -> TermDictionary:
    return reader.segment.postings.vocabulary.names
