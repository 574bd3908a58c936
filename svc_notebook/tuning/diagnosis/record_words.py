"""Judged records, the language of their texts, and how a word is nearly one of a record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from svc_notebook.client import AsyncClient
from svc_notebook.tuning.evaluation.record_texts import fold_words, split_words

MAX_RECORDS_PER_REQUEST = 1000
MIN_TYPO_LETTERS = 4  # shorter words match without typos by default
MIN_PLURAL_LETTERS = 3  # of the singular
# The most frequent function words of languages with plurals, to detect a language by.
MARKERS: dict[str, str] = {
    "en": "the of and to in for is with that on by this from are as",
    "de": "der die das und ist mit den von zu ein eine nicht auf für im",
    "fr": "le la les des et est du un une dans pour que avec sur au",
    "es": "el los las y es del un una en para que con por se su",
    "it": "il lo gli di e del un una per che con della sono al nel",
    "nl": "de het een en van is met voor op niet dat te zijn aan om",
    "pt": "o os as e do da um uma em para que com por não dos",
}
MIN_MARKER_SHARE = 0.03  # share of a language's function words in a text of that language


async def read_records(
    client: AsyncClient, index: str, ids: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Read records by objectID; those that the index lacks are left out."""
    records: dict[str, dict[str, Any]] = {}
    for start in range(0, len(ids), MAX_RECORDS_PER_REQUEST):
        part = ids[start : start + MAX_RECORDS_PER_REQUEST]
        requests: Any = [{"indexName": index, "objectID": object_id} for object_id in part]
        answer = await client.get_objects(requests)
        records |= {record["objectID"]: dict(record) for record in answer["results"] if record}
    return records


def read_function_words(language: str) -> frozenset[str]:
    """Return the words of a language that say nothing alone, as the engine looks them up.

    They are the stop words of `stopwordsiso` if it is installed, and the few in `MARKERS`.
    """
    words = {*MARKERS.get(language, "").split()}
    code = language.partition("-")[0]
    try:
        import stopwordsiso
    except ImportError:
        pass
    else:
        words |= stopwordsiso.stopwords(code) if stopwordsiso.has_lang(code) else set()
    return frozenset(folded for word in words for folded in fold_words(word))


def plural_forms(word: str) -> set[str]:
    """Return a word with and without the regular endings of plurals."""
    forms = {f"{word}s", f"{word}es", word.removesuffix("s"), word.removesuffix("es")}
    forms |= {f"{word[:-1]}ies"} if word.endswith("y") else set()
    forms |= {f"{word[:-3]}y"} if word.endswith("ies") else set()
    return forms - {word, ""}


def is_one_typo(one: str, other: str) -> bool:
    """Return whether one insertion, deletion or substitution leads from a word to another."""
    if one == other or abs(len(one) - len(other)) > 1 or one[:1] != other[:1]:
        return False
    short, long = sorted((one, other), key=len)
    position = next((n for n, letter in enumerate(short) if letter != long[n]), len(short))
    rest = short[position + 1 :] if len(short) == len(long) else short[position:]
    return rest == long[position + 1 :]


def detect_language(texts: Sequence[str], settings: Mapping[str, Any]) -> str:
    """Return the language of the settings, else that of the texts; empty if unknown."""
    for name in ("queryLanguages", "indexLanguages"):
        if settings.get(name):
            return str(settings[name][0])
    words = [word for text in texts for word in split_words(text)]
    if not words:
        return ""
    shares = {
        language: sum(word in marks for word in words) / len(words)
        for language, marks in ((name, {*text.split()}) for name, text in MARKERS.items())
    }
    best = max(shares, key=lambda language: shares[language])
    return best if shares[best] >= MIN_MARKER_SHARE else ""
