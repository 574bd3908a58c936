"""Search entries by word prefixes and highlight the matches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from svc_notebook.service.resources.entries import Entry
from svc_notebook.tokenization.tokenizer import TokenizerSettings, split, tokens

_TOKENIZER = TokenizerSettings()


def find_entries(entries: Iterable[Entry], query: str) -> list[Entry]:
    """Return the entries in which each query word is the prefix of a word, with highlights."""
    wanted = split(query, _TOKENIZER)
    return [
        {**entry, "_highlightResult": _highlight(entry, wanted)}
        for entry in entries
        if set(wanted) <= {word for text in _texts(entry) for word in _matched_words(text, wanted)}
    ]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def _matched_words(text: str, wanted: Sequence[str]) -> list[str]:
    words = split(text, _TOKENIZER)
    return [one for one in wanted if any(word.startswith(one) for word in words)]


def _highlight(value: Any, wanted: Sequence[str]) -> Any:
    if isinstance(value, dict):
        return {name: _highlight(inner, wanted) for name, inner in value.items()}
    if isinstance(value, list):
        return [_highlight(inner, wanted) for inner in value]
    text = value if isinstance(value, str) else str(value)
    found = _matched_words(text, wanted)
    level = "full" if found and len(found) == len(wanted) else "partial" if found else "none"
    return {"value": _mark_words(text, found), "matchLevel": level, "matchedWords": found}


def _mark_words(text: str, found: Sequence[str]) -> str:
    marked, end = "", 0
    for token in tokens(text, _TOKENIZER):
        if token.text.startswith(tuple(found)):
            marked += f"{text[end : token.start]}<em>{text[token.start : token.end]}</em>"
            end = token.end
    return marked + text[end:]
