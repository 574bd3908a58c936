"""Standard inflections: singular and plural, and other forms of nouns and adjectives.

English forms come from a lexicon that distinguishes nouns from verbs; the other languages use form
tables. Words in neither are inflected by the regular endings of their language.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from svc_notebook.service.engine.execution import stop_clock
from svc_notebook.service.engine.text.word_forms import standard_table

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
