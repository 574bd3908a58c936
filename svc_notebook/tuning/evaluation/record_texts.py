"""The texts and words of records, by attribute."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from svc_notebook.core.tokenization.tokenizer import TokenizerSettings, positions, split, tokens
from svc_notebook.data.client import MAX_IDS_PER_REQUEST, AsyncClient

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

# The column of judgments with the digest of the record that was judged.
RECORD_HASH = "record_hash"
MIN_WORD_LETTERS = 3
_RULES = TokenizerSettings()
_URL_START = re.compile(r"\w+://")


def attribute_texts(record: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the attributes of a record that contain text, with their text; URLs are left out."""
    for name, value in record.items():
        if name.startswith("_") or (not prefix and name == "objectID"):
            continue
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, Mapping):
                yield from attribute_texts(item, f"{prefix}{name}.")
            elif isinstance(item, str) and item and not is_url(item):
                yield f"{prefix}{name}", item


def digest_record(record: Mapping[str, Any]) -> str:
    """Return a digest of the texts of a record; numbers, such as a price, do not change it."""
    text = json.dumps(sorted(attribute_texts(record)), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def is_url(text: str) -> bool:
    """Return whether a text begins as a URL does."""
    return _URL_START.match(text) is not None


def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case, as they are written."""
    return [text[token.start : token.end].casefold() for token in tokens(text, _RULES)]


def words_of(value: Any) -> list[str]:
    """Return the words of a text, or of the texts in a list or an object."""
    if isinstance(value, str):
        return split_words(value)
    inner = value.values() if isinstance(value, Mapping) else value
    members = inner if isinstance(value, Mapping | list) else ()
    return [word for item in members for word in words_of(item)]


def long_words(value: Any) -> set[str]:
    """Return the words of a value that are long enough to have a meaning of their own."""
    return {word for word in words_of(value) if len(word) >= MIN_WORD_LETTERS}


def fold_words(query: str) -> list[str]:
    """Return the words of a query as the engine looks them up, each once."""
    return list(dict.fromkeys(split(query, _RULES)))


def index_words(text: str) -> set[str]:
    """Return the words of a text as the engine indexes them, with the parts of joined words."""
    return {token.text for position in positions(text, _RULES) for token in position.tokens}


def words_by_attribute(
    record: Mapping[str, Any], words_of: Callable[[str], Iterable[str]] = split_words
) -> dict[str, set[str]]:
    """Return the words of each attribute with text."""
    words: dict[str, set[str]] = {}
    for path, text in attribute_texts(record):
        words.setdefault(path, set()).update(words_of(text))
    return words


def searchable_names(settings: Mapping[str, Any]) -> list[str]:
    """Return the names in `searchableAttributes`, without `unordered` and groups."""
    return [
        part.strip().removeprefix("unordered(").removesuffix(")")
        for entry in settings.get("searchableAttributes") or []
        for part in entry.split(",")
    ]


async def read_records(
    client: AsyncClient, index: str, ids: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Read records by objectID; those that the index lacks are left out."""
    records = await find_records(client, index, ids)
    return {record["objectID"]: dict(record) for record in records if record}


async def find_records(
    client: AsyncClient, index: str, ids: Sequence[str], attributes: Sequence[str] | None = None
) -> list[Any]:
    """Read records by objectID, or only these attributes; `None` for each missing record."""
    more = {} if attributes is None else {"attributesToRetrieve": list(attributes)}
    records: list[Any] = []
    for start in range(0, len(ids), MAX_IDS_PER_REQUEST):
        part = ids[start : start + MAX_IDS_PER_REQUEST]
        requests: Any = [{"indexName": index, "objectID": name, **more} for name in part]
        records += (await client.get_objects(requests))["results"]
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


def is_one_typo(word: str, other: str) -> bool:
    """Return whether one insertion, deletion or substitution leads from a word to another."""
    if word == other or abs(len(word) - len(other)) > 1 or word[:1] != other[:1]:
        return False
    short, long = sorted((word, other), key=len)
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
