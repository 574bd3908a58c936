"""Tables of the word forms that belong together in a language, from the `simplemma` package.

A table maps each form to its lemma, for any part of speech. Verbs that are recognizable by their
ending and their number of forms are excluded, because a conjugated verb is not a plural. Inverting
such a table takes 1 to 21 s of the processor and 0.1 to 1.9 GB of memory, so the result is saved in
the user's cache directory. A search does not wait for a table that was never built: a process of
its own builds it, once for each language on a machine: this module, run with the language.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.metadata
import os
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from svc_notebook.core.child_process import python_command, start_process
from svc_notebook.core.files import FileLock, replace_file, user_folder
from svc_notebook.core.tokenization.character_table import BREAK
from svc_notebook.core.tokenization.tokenizer import TokenizerSettings, split_all
from svc_notebook.service.engine.arrays import Array, concatenate_ranges
from svc_notebook.service.engine.execution import _missing, stop_clock
from svc_notebook.service.engine.term_dictionary import TermDictionary, starts_of

# Increased whenever the saved content changes.
TABLE_FORMAT = 1
# Languages that have a different code in `simplemma`.
ALIASES = {"no": "nb"}
ROMANCE_ENDINGS = ("ar", "er", "ir", "re", "or")
# By language, the endings of a verb's lowercase lemma and the minimum number of its forms.
VERBS: dict[str, tuple[tuple[str, ...], int]] = {
    "ca": (ROMANCE_ENDINGS, 8),
    "de": (("en", "eln", "ern"), 1),
    "es": (ROMANCE_ENDINGS, 8),
    "fr": (ROMANCE_ENDINGS, 8),
    "gl": (ROMANCE_ENDINGS, 8),
    "it": (("re", "rsi"), 8),
    "nl": (("en",), 5),
    "pt": (ROMANCE_ENDINGS, 8),
    "sv": (("a",), 14),
}
LOCK_POLL_SECONDS = 0.2
# Added to the niceness of the process: searches come first.
LOW_PRIORITY = 10


class FormTable:
    """The forms of one language in groups; a form may be in several groups."""

    def __init__(self, names: TermDictionary, forms: Array, groups: Array) -> None:
        self._names = names
        self._pairs = forms, groups
        self._by_form = _Lists(forms, groups, len(names))
        self._by_group = _Lists(groups, forms, int(groups.max(initial=-1)) + 1)

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, int]]) -> FormTable:
        """Build a table from forms, each with its group number."""
        forms, groups = [], []
        for form, group in pairs:
            forms.append(form)
            groups.append(group)
        ascending = sorted(set(forms))
        number_of = {form: number for number, form in enumerate(ascending)}
        numbers = np.fromiter(map(number_of.__getitem__, forms), np.int32, len(forms))
        return cls(TermDictionary.of(ascending), numbers, np.array(groups, np.int32))

    @classmethod
    def load(cls, path: Path) -> FormTable | None:
        """Read a saved table, None if there is none or it is unreadable."""
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as kept:
                return cls(TermDictionary.from_arrays(kept), kept["forms"], kept["groups"])
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None

    def save(self, path: Path) -> None:
        """Save the table; errors of the file system are ignored."""
        forms, groups = self._pairs
        columns: dict[str, Any] = {"forms": forms, "groups": groups, **self._names.arrays()}
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with replace_file(path) as draft, draft.open("wb") as file:
                np.savez(file, **columns)

    def __contains__(self, word: str) -> bool:
        return self._names.find(word) >= 0

    def forms(self, word: str) -> list[str]:
        """Return all forms in the groups of a word, including the word itself."""
        number = self._names.find(word)
        if number < 0:
            return []
        forms = self._by_group.of(self._by_form.of(np.array([number])))
        return self._names.take(np.unique(forms))


class _Lists:
    """For each key number, its values."""

    def __init__(self, keys: Array, values: Array, count: int) -> None:
        self._starts = starts_of(np.bincount(keys, minlength=count))
        self._values = values[np.argsort(keys, kind="stable")]

    def of(self, keys: Array) -> Array:
        starts = self._starts[keys]
        return np.asarray(self._values[concatenate_ranges(starts, self._starts[keys + 1] - starts)])


EMPTY_TABLE = FormTable.of(())
_loading = threading.Lock()
_loaded: set[str] = set()


def standard_table(language: str) -> FormTable:
    """Return the form table of a language, empty if there is none; each is read once."""
    name = _table_name(language)
    if name is None:
        return EMPTY_TABLE
    with stop_clock(), _loading:
        table = _load_table(name)
        _loaded.add(name)
        return table


def has_table(language: str) -> bool:
    """Return whether the table of a language is loaded or saved, or the language has none."""
    name = _table_name(language)
    return name is None or name in _loaded or table_path(name).exists()


def table_path(language: str) -> Path:
    """Return the file of the table of a language, which has one."""
    name = _table_name(language)
    edition = f"{_simplemma_version()}-{TABLE_FORMAT}"
    return user_folder("cache") / f"forms-{name}-{edition}.npz"


@cache
def _table_name(language: str) -> str | None:
    """Return the language's code in `simplemma`, None if it has no table there."""
    from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

    name = ALIASES.get(language, language).partition("-")[0]
    return name if name in SUPPORTED_LANGUAGES else None


@cache
def _simplemma_version() -> str:
    return importlib.metadata.version("simplemma")


@cache
def _load_table(language: str) -> FormTable:
    path = table_path(language)
    table = FormTable.load(path)
    if table is None:
        table = FormTable.of(_read_pairs(language))
        table.save(path)
    return table


def _read_pairs(language: str) -> Iterator[tuple[str, int]]:
    """Return each form, normalized, with the number of its lemma."""
    from simplemma.strategies import DefaultDictionaryFactory

    table = DefaultDictionaryFactory(cache_max_size=0).get_dictionary(language)
    forms, lemmas = list(table), list(table.values())
    numbers = {lemma: number for number, lemma in enumerate(dict.fromkeys(lemmas))}
    groups = np.fromiter(map(numbers.__getitem__, lemmas), np.int64, len(lemmas))
    verbs = _find_verbs(list(numbers), np.bincount(groups), language)
    texts, owners = [*forms, *numbers], [*groups.tolist(), *range(len(numbers))]
    for words, group in zip(_normalize_each(texts), owners, strict=True):
        if not verbs[group] and words and " " not in words:
            yield words, group


def _find_verbs(lemmas: Iterable[str], sizes: Array, language: str) -> list[bool]:
    endings, min_forms = VERBS.get(language, ((), 0))
    return [
        size >= min_forms and lemma.endswith(endings) and lemma.islower()
        for lemma, size in zip(lemmas, sizes.tolist(), strict=True)
    ]


def _normalize_each(texts: list[str]) -> list[str]:
    folded = " ".join(split_all(texts, TokenizerSettings())).split(BREAK)
    return [words.strip() for words in folded[: len(texts)]]


_starting = threading.Lock()
_builds: dict[str, threading.Thread] = {}
_processes: set[subprocess.Popen[bytes]] = set()


def is_table_ready(language: str) -> bool:
    """Return whether a search may use the table of a language; if not, its build is started."""
    missing = _missing.get()
    if missing is None or has_table(language):
        return True
    missing.add(language)
    start_build(language)
    return False


def start_build(language: str) -> None:
    """Start to build the table of a language, unless that is under way."""
    with _starting:
        if language not in _builds or not _builds[language].is_alive():
            thread = threading.Thread(target=_build, args=[language], name="svc-table", daemon=True)
            _builds[language] = thread
            thread.start()


def count_finished() -> int:
    """Return the number of builds that have ended in this process."""
    return sum(not thread.is_alive() for thread in _builds.values())


def _build(language: str) -> None:
    with suppress(OSError):  # no process can be started
        process = start_process(
            python_command(__name__, language),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _processes.add(process)
        process.wait()
        _processes.discard(process)
    # Where the table cannot be saved, it is built once in each process.
    standard_table(language)


@atexit.register
def _end_builds() -> None:
    for process in [*_processes]:
        process.kill()


def main() -> None:
    """Build and save the table of a language, unless another process does."""
    [language] = sys.argv[1:]
    if hasattr(os, "nice"):
        os.nice(LOW_PRIORITY)
    path = table_path(language)
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path.with_suffix(".lock"))
    while not lock.acquire():
        time.sleep(LOCK_POLL_SECONDS)
    try:
        standard_table(language)
    finally:
        lock.release()


if __name__ == "__main__":
    main()
