"""The dictionaries: custom and built-in entries, their checks, and the supported languages.

Built-in stop words are listed one by one. Built-in plurals and compounds are computed word by word,
so a query finds them by whole words, in the language that the request names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from svc_notebook.core.api.validation import place
from svc_notebook.core.tokenization.tokenizer import TokenizerSettings, split
from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.service.engine.text.compounds import LINKS, standard_splitter
from svc_notebook.service.engine.text.inflections import known_forms
from svc_notebook.service.engine.text.lexicon import (
    Dictionaries,
    standard_languages,
    standard_words,
)
from svc_notebook.service.limits import read_object_id
from svc_notebook.service.resources.entries import APPLICATION_ID, Entry, find_entries, read_entries
from svc_notebook.service.store import Store

# The language of word forms if the request names none.
DEFAULT_LANGUAGE = "en"
# api.md, Dictionary entries: what an entry needs besides its objectID and language.
ENTRY_MEMBERS = {
    "stopwords": ("word",),
    "plurals": ("words",),
    "compounds": ("word", "decomposition"),
}
OPTIONAL_MEMBERS = {"stopwords": ("state",), "plurals": (), "compounds": ()}
# The kinds of entries that store for which languages standard entries are disabled.
SWITCH_KINDS = {name: f"{name} off" for name in ENTRY_MEMBERS}
# Maximum custom entries of one dictionary; api.md names a quota but not its value.
MAX_ENTRIES = 100_000
LANGUAGES = tuple(
    """
    af ar az bg bn ca cs cy da de el en eo es et eu fa fi fo fr ga gl he hi hu hy id is it ja ka
    kk ko ku ky lt lv mi mn mr ms mt nb nl no ns pl ps pt pt-br qu ro ru sk sq sv sw ta te th tl tn
    tr tt uk ur uz zh
    """.split()  # noqa: SIM905 - a hundred quotes would hide the codes
)
COMPOUND_LANGUAGES = ("nl", "de", "fi", "da", "sv", "no")

NormalizedWords = tuple[str, ...]


def supports(dictionary: str, language: str) -> bool:
    """Return whether a dictionary supports a language."""
    return language in (COMPOUND_LANGUAGES if dictionary == "compounds" else LANGUAGES)


def read_dictionaries(store: Store) -> Dictionaries:
    """Read the custom entries, and for which languages standard entries are disabled."""
    stored = {name: read_entries(store, APPLICATION_ID, name) for name in ENTRY_MEMBERS}
    return Dictionaries(
        stored, {name: _read_disabled_languages(store, name) for name in ENTRY_MEMBERS}
    )


def find_words(store: Store, dictionary: str, query: str, language: str | None) -> list[Entry]:
    """Search the custom entries, and the standard entries that they do not replace."""
    kept = read_entries(store, APPLICATION_ID, dictionary)
    chosen = [entry for entry in kept if language in (None, "", entry["language"])]
    stored = [
        {**{name: value for name, value in hit.items() if name[0] != "_"}, "type": "custom"}
        for hit in find_entries(chosen, query)
    ]
    off = _read_disabled_languages(store, dictionary)
    replaced = {pair for entry in kept for pair in _language_words(entry)}

    def covered(entry: Entry) -> bool:
        return entry["language"] in off or not replaced.isdisjoint(_language_words(entry))

    return stored + find_standard_entries(dictionary, query, language, covered)


def _read_disabled_languages(store: Store, dictionary: str) -> frozenset[str]:
    switches = read_entries(store, APPLICATION_ID, SWITCH_KINDS[dictionary])
    return frozenset(entry["objectID"] for entry in switches if entry["off"])


def _language_words(entry: Entry) -> set[tuple[str, str]]:
    words = (" ".join(split(word, TokenizerSettings())) for word in words_of(entry))
    return {(entry["language"], word) for word in words}


def check_entry(dictionary: str, body: Mapping[str, Any], at: str) -> Entry:
    """Return an entry in its stored form; raises `BadInput`."""
    name = read_object_id(body["objectID"], place(at, "objectID"))
    needed, optional = ENTRY_MEMBERS[dictionary], OPTIONAL_MEMBERS[dictionary]
    for field in ("language", *needed):
        if field not in body:
            raise BadInput(f"`{place(at, field)}` is missing; it is required in {dictionary}")
    for field in body.keys() - {"objectID", "language", "type", *needed, *optional}:
        raise BadInput(f"`{place(at, field)}` is not a member of an entry of {dictionary}")
    check_language(dictionary, body["language"], place(at, "language"))
    members = {field: body[field] for field in (*needed, *optional) if field in body}
    if "state" in optional:
        members.setdefault("state", "enabled")
    return {"objectID": name, "language": body["language"], **members}


def check_language(dictionary: str, language: str, at: str) -> None:
    """Raise `BadInput` for a language that the dictionary does not support."""
    if not supports(dictionary, language):
        supported = [name for name in LANGUAGES if supports(dictionary, name)]
        advice = did_you_mean(language, supported)
        raise BadInput(f"`{at}`: {dictionary} do not support the language {language[:40]}{advice}")


def find_standard_entries(
    dictionary: str, query: str, language: str | None, covered: Callable[[Entry], bool]
) -> list[Entry]:
    """Return the built-in entries that match, except those that custom entries replace."""
    words = tuple(split(query, TokenizerSettings()))
    standard = FINDERS[dictionary](words, language)
    return [
        {**entry, "objectID": _standard_id(dictionary, entry), "type": "standard"}
        for entry in standard
        if not covered(entry)
    ]


def words_of(entry: Entry) -> list[str]:
    """Return the words of an entry."""
    return list(entry["words"]) if "words" in entry else [entry["word"]]


def _find_stop_words(words: NormalizedWords, language: str | None) -> Iterator[Entry]:
    for code in [language] if language else standard_languages():
        for folded, entry in _stop_words(code):
            if all(any(part.startswith(word) for part in folded) for word in words):
                yield entry


def _find_forms(words: NormalizedWords, language: str | None) -> Iterator[Entry]:
    language = language or DEFAULT_LANGUAGE
    groups = {tuple(sorted({word, *(known_forms(word, language) or ())})) for word in words}
    for group in sorted(groups):
        if len(group) > 1:
            yield {"language": language, "words": list(group)}


def _find_compounds(words: NormalizedWords, language: str | None) -> Iterator[Entry]:
    if language not in LINKS:
        return
    splitter = standard_splitter(language)
    for word in dict.fromkeys(words):
        if pieces := splitter.pieces(word):
            parts = [piece[0] for piece in pieces]
            yield {"language": language, "word": word, "decomposition": parts}


FINDERS: dict[str, Callable[[NormalizedWords, str | None], Iterable[Entry]]] = {
    "stopwords": _find_stop_words,
    "plurals": _find_forms,
    "compounds": _find_compounds,
}


@cache
def _stop_words(language: str) -> Sequence[tuple[NormalizedWords, Entry]]:
    return [
        (
            tuple(split(word, TokenizerSettings())),
            {"language": language, "word": word, "state": "enabled"},
        )
        for word in standard_words(language)
    ]


def _standard_id(dictionary: str, entry: Entry) -> str:
    """Return a stable objectID for an entry."""
    text = "/".join((dictionary, entry["language"], *words_of(entry)))
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
