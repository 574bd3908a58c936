"""Search entries by word prefixes and highlight the matches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from svc_notebook.core.tokenization.tokenizer import TokenizerSettings, split, tokens
from svc_notebook.service.resources.entries import Entry

_TOKENIZER = TokenizerSettings()


def find_entries(entries: Iterable[Entry], query: str) -> list[Entry]:
    """Return the entries in which each query word is the prefix of a word, with highlights."""
    words = split(query, _TOKENIZER)
    return [
        {**entry, "_highlightResult": _highlight(entry, words)}
        for entry in entries
        if set(words) <= {word for text in _texts(entry) for word in _matched_words(text, words)}
    ]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def _matched_words(text: str, query_words: Sequence[str]) -> list[str]:
    words = split(text, _TOKENIZER)
    return [
        query_word
        for query_word in query_words
        if any(word.startswith(query_word) for word in words)
    ]


def _highlight(value: Any, query_words: Sequence[str]) -> Any:
    if isinstance(value, dict):
        return {name: _highlight(inner, query_words) for name, inner in value.items()}
    if isinstance(value, list):
        return [_highlight(inner, query_words) for inner in value]
    text = value if isinstance(value, str) else str(value)
    matched = _matched_words(text, query_words)
    level = (
        "full" if matched and len(matched) == len(query_words) else "partial" if matched else "none"
    )
    return {"value": _mark_words(text, matched), "matchLevel": level, "matchedWords": matched}


def _mark_words(text: str, matched: Sequence[str]) -> str:
    marked, end = "", 0
    for token in tokens(text, _TOKENIZER):
        if token.text.startswith(tuple(matched)):
            marked += f"{text[end : token.start]}<em>{text[token.start : token.end]}</em>"
            end = token.end
    return marked + text[end:]
