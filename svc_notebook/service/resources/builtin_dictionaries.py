"""Search in the built-in entries of the dictionaries: stop words, plurals and compounds.

Stop words are listed one by one. Plurals and compounds are computed word by word, so a query finds
them by whole words, in the language that the request names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from svc_notebook.service.engine.text.compounds import LINKS, standard_splitter
from svc_notebook.service.engine.text.lemmatization import known_forms
from svc_notebook.service.engine.text.stop_words import standard_languages, standard_words
from svc_notebook.service.engine.text.tokenization import TokenizerSettings, split
from svc_notebook.service.resources.entries import Entry

UNSAID = "en"
"""The language of word forms if the request names none."""

Folded = tuple[str, ...]


def find_standard(
    dictionary: str, query: str, language: str | None, covered: Callable[[Entry], bool]
) -> list[Entry]:
    """Return the built-in entries that match, except those that custom entries replace."""
    words = tuple(split(query, TokenizerSettings()))
    found = FINDERS[dictionary](words, language)
    return [
        {**entry, "objectID": _name(dictionary, entry), "type": "standard"}
        for entry in found
        if not covered(entry)
    ]


def words_of(entry: Entry) -> list[str]:
    """Return the words of an entry."""
    return list(entry["words"]) if "words" in entry else [entry["word"]]


def _find_stop_words(words: Folded, language: str | None) -> Iterator[Entry]:
    for one in [language] if language else standard_languages():
        for folded, entry in _stop_words(one):
            if all(any(own.startswith(word) for own in folded) for word in words):
                yield entry


def _find_forms(words: Folded, language: str | None) -> Iterator[Entry]:
    language = language or UNSAID
    groups = {tuple(sorted({word, *(known_forms(word, language) or ())})) for word in words}
    for group in sorted(groups):
        if len(group) > 1:
            yield {"language": language, "words": list(group)}


def _find_compounds(words: Folded, language: str | None) -> Iterator[Entry]:
    if language not in LINKS:
        return
    splitter = standard_splitter(language)
    for word in dict.fromkeys(words):
        if pieces := splitter.pieces(word):
            parts = [piece[0] for piece in pieces]
            yield {"language": language, "word": word, "decomposition": parts}


FINDERS: dict[str, Callable[[Folded, str | None], Iterable[Entry]]] = {
    "stopwords": _find_stop_words,
    "plurals": _find_forms,
    "compounds": _find_compounds,
}


@cache
def _stop_words(language: str) -> Sequence[tuple[Folded, Entry]]:
    return [
        (
            tuple(split(word, TokenizerSettings())),
            {"language": language, "word": word, "state": "enabled"},
        )
        for word in standard_words(language)
    ]


def _name(dictionary: str, entry: Entry) -> str:
    """Return a stable objectID for an entry."""
    text = "/".join((dictionary, entry["language"], *words_of(entry)))
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
