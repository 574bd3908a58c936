"""Breaks between the words of scripts without blanks: Japanese, Thai, Lao, Khmer and Burmese.

Dictionaries of the extra `languages` find the words: Sudachi those of Japanese, in its shortest
units, and ICU the others.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sudachipy import Dictionary, Tokenizer

JAPANESE = "ja"
# The characters of each language as a range of a regular expression.
SCRIPTS = {
    "km": "\u1780-\u17d3\u19e0-\u19ff",
    "lo": "\u0e80-\u0eff",
    "my": "\u1000-\u109f\ua9e0-\ua9fe\uaa60-\uaa7f",
    "th": "\u0e01-\u0e7f",
    JAPANESE: (
        "\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
        "\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
    ),
}
# The package that finds the words of each language.
DICTIONARIES = {**dict.fromkeys(SCRIPTS, "icu4py"), JAPANESE: "sudachidict-small"}
# A longer run without blanks is read in pieces: Sudachi takes 49,149 bytes at once.
MAX_RUN_CHARACTERS = 10_000

_tokenizers = threading.local()

# Languages whose words are found, each with the release of its dictionary.
Languages = tuple[tuple[str, str], ...]


@cache
def choose_languages(declared: tuple[str, ...]) -> Languages:
    """Return the languages whose words are found in an index with these `indexLanguages`.

    Without any, these are all but Japanese, whose characters are those of Chinese too.
    """
    chosen = SCRIPTS.keys() & set(declared) if declared else SCRIPTS.keys() - {JAPANESE}
    releases = ((language, find_release(language)) for language in sorted(chosen))
    return tuple((language, release) for language, release in releases if release)


@cache
def find_missing(declared: tuple[str, ...]) -> tuple[str, ...]:
    """Return the declared languages whose dictionary is not installed."""
    return tuple(sorted(name for name in SCRIPTS.keys() & {*declared} if not find_release(name)))


@cache
def find_release(language: str) -> str:
    """Return the release of a language's dictionary, empty if it is not installed."""
    try:
        return version(DICTIONARIES[language])
    except PackageNotFoundError:
        return ""


def find_breaks(text: str, languages: Languages) -> list[int]:
    """Return the offsets inside a text at which a word of these languages begins or ends."""
    # One class of characters is found many times faster than one of several runs.
    if not _characters_of(languages).search(text):
        return []
    offsets = {
        run.start() + offset
        for run in _runs_of(languages).finditer(text)
        for offset in (0, *_find_ends(run[0], str(run.lastgroup)))
    }
    return sorted(offsets - {0, len(text)})


def find_last_run(text: str, languages: Languages) -> int | None:
    """Return the start of the run of one script of these languages at the end of a text."""
    runs = _runs_of(languages).finditer(text)
    return next((run.start() for run in runs if run.end() == len(text)), None)


def insert_breaks(text: str, languages: Languages, mark: str) -> str:
    """Insert a mark at each break of a text."""
    breaks = find_breaks(text, languages)
    if not breaks:
        return text
    return mark.join(text[start:end] for start, end in pairwise([0, *breaks, len(text)]))


@cache
def _characters_of(languages: Languages) -> re.Pattern[str]:
    return re.compile(f"[{''.join(SCRIPTS[language] for language, _ in languages)}]")


@cache
def _runs_of(languages: Languages) -> re.Pattern[str]:
    """Return the pattern of runs of one script; the name of a group is its language."""
    return re.compile(
        "|".join(
            f"(?P<{language}>[{SCRIPTS[language]}]{{1,{MAX_RUN_CHARACTERS}}})"
            for language, _ in languages
        )
    )


def _find_ends(run: str, language: str) -> Iterable[int]:
    """Return the offsets at which the words of a run end."""
    if language == JAPANESE:
        return [morpheme.end() for morpheme in _japanese_tokenizer().tokenize(run)]
    from icu4py.breakers import WordBreaker

    return [end for _, end in WordBreaker(run, language).segments()]


def _japanese_tokenizer() -> Tokenizer:
    """Return the tokenizer of this thread: it cannot be shared."""
    tokenizer: Tokenizer | None = getattr(_tokenizers, "japanese", None)
    if tokenizer is None:
        tokenizer = _tokenizers.japanese = _japanese_dictionary().tokenizer("A", fields=set())
    return tokenizer


@cache
def _japanese_dictionary() -> Dictionary:
    from sudachipy import Dictionary

    return Dictionary(dict="small")
