"""The standard forms of words: singular and plural, and what else nouns and adjectives are bent to.

English comes from a lexicon that tells nouns from verbs, the other languages from tables of forms.
A word that neither knows is bent by the regular endings of its language.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from svc_notebook.service.engine.text.word_forms import standard_table

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
"""Of nouns, as they are compared: the singular's end, and what the plural has instead."""
MIN_STEM_LETTERS = 2


@lru_cache(maxsize=50_000)
def standard_forms(word: str, language: str) -> tuple[str, ...]:
    """Return the other forms of a word of a language, all as they are compared."""
    forms = known_forms(word, language)
    if forms is None:
        forms = set(_regular_forms(word, language.partition("-")[0]))
    return tuple(sorted(forms - {word}))


def known_forms(word: str, language: str) -> set[str] | None:
    """Return the forms that a language's lexicon has for a word; None if it has none."""
    if language == "en":
        return _english_forms(word)
    found = standard_table(language).forms(word)
    return set(found) if len(found) > 1 else None


def _english_forms(word: str) -> set[str] | None:
    import lemminflect

    kinds = lemminflect.getAllLemmas(word)
    nouns = kinds.get("NOUN", ())
    bent = [lemminflect.getAllInflections(noun, upos="NOUN") for noun in nouns]
    forms = {form for found in bent for same in found.values() for form in same}
    return {form for form in forms if form.isalpha()} if kinds else None


def _regular_forms(word: str, language: str) -> Iterator[str]:
    for one, many in ENDINGS.get(language, ()):
        for end, other in ((one, many), (many, one)):
            stem = word.removesuffix(end)
            if word.endswith(end) and len(stem) >= MIN_STEM_LETTERS and word.isalpha():
                yield stem + other
