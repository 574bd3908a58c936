"""Stored entries: synonyms and rules of an index, and words of the dictionaries.

The owner of an entry is the number of its index, or 0 for the application.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from svc_notebook.core.tokenization.tokenizer import TokenizerSettings, split, tokens
from svc_notebook.service.store import Store

APPLICATION_ID = 0
Entry = dict[str, Any]

_TOKENIZER = TokenizerSettings()


class EntriesChange(msgspec.Struct, frozen=True):
    """A change of entries of one kind: optionally clear all, then save and delete some.

    With `forward`, the change also applies to the replicas of the index.
    """

    kind: str
    clear: bool = False
    save: Sequence[Entry] = ()
    delete: Sequence[str] = ()
    forward: bool = False


def apply_change(connection: sqlite3.Connection, owner: int, change: EntriesChange) -> None:
    """Apply a change in a transaction."""
    if change.clear:
        connection.execute("DELETE FROM entries WHERE owner = ? AND kind = ?", (owner, change.kind))
    connection.executemany(
        "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)",
        [(owner, change.kind, e["objectID"], msgspec.json.encode(e)) for e in change.save],
    )
    connection.executemany(
        "DELETE FROM entries WHERE owner = ? AND kind = ? AND id = ?",
        [(owner, change.kind, name) for name in change.delete],
    )


def copy_entries(
    connection: sqlite3.Connection, source: int, target: int, kinds: Iterable[str]
) -> None:
    """Replace one owner's entries by those of another."""
    for kind in kinds:
        connection.execute("DELETE FROM entries WHERE owner = ? AND kind = ?", (target, kind))
        connection.execute(
            "INSERT INTO entries SELECT ?, kind, id, body FROM entries "
            "WHERE owner = ? AND kind = ?",
            (target, source, kind),
        )


def drop_entries(connection: sqlite3.Connection, owner: int) -> None:
    """Delete all entries of an owner."""
    connection.execute("DELETE FROM entries WHERE owner = ?", [owner])


def read_entry(store: Store, owner: int, kind: str, name: str) -> Entry | None:
    """Return one entry, or None."""
    rows = store.read(
        "SELECT body FROM entries WHERE owner = ? AND kind = ? AND id = ?", owner, kind, name
    )
    return dict(msgspec.json.decode(rows[0][0])) if rows else None


def read_entries(store: Store, owner: int, kind: str) -> list[Entry]:
    """Return all entries of a kind, sorted by objectID."""
    rows = store.read(
        "SELECT body FROM entries WHERE owner = ? AND kind = ? ORDER BY id", owner, kind
    )
    return [msgspec.json.decode(body) for [body] in rows]


def take_page(hits: Sequence[Entry], page: int, size: int) -> Mapping[str, Any]:
    """Return one page of hits with the counts of the API."""
    return {
        "hits": list(hits[page * size : (page + 1) * size]),
        "nbHits": len(hits),
        "page": page,
        "nbPages": -(-len(hits) // size) if size else 0,
    }


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
