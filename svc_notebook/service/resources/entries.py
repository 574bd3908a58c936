"""Stored entries and their checks: synonyms and rules of an index, words of the dictionaries.

The owner of an entry is the number of its index, or 0 for the application.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from svc_notebook.core.api.rule_checks import check_parts
from svc_notebook.core.api.validation import place
from svc_notebook.core.tokenization.tokenizer import TokenizerSettings, split, tokens
from svc_notebook.errors import BadInput
from svc_notebook.service.engine import Index
from svc_notebook.service.engine.filters.filters import Facet, Tag, parse_filters, parse_optional
from svc_notebook.service.engine.filters.grammar import MAX_SCORE, parse_text
from svc_notebook.service.limits import MAX_QUERY_BYTES, read_object_id
from svc_notebook.service.rules.consequence import MERGED_PARAMETERS
from svc_notebook.service.rules.filters import AUTOMATIC, AUTOMATIC_OPTIONAL
from svc_notebook.service.store import Store

APPLICATION_ID = 0
Entry = dict[str, Any]
RULE_ENTRIES = "rules"
_RESPONSE_MEMBERS = ("_highlightResult", "_metadata")
SYNONYM_ENTRIES = "synonyms"
# api.md, Synonym; a type is stored as it was spelled, and these are the types in lower case.
SYNONYM_MEMBERS = {
    "synonym": ("synonyms",),
    "onewaysynonym": ("input", "synonyms"),
    "altcorrection1": ("word", "corrections"),
    "altcorrection2": ("word", "corrections"),
    "placeholder": ("placeholder", "replacements"),
}
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
    if len(query.encode(errors="replace")) > MAX_QUERY_BYTES:
        raise BadInput(f"`query` is longer than {MAX_QUERY_BYTES} bytes")
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


def check_rule(rule: Mapping[str, Any], at: str) -> Entry:
    """Return a rule in its stored form; raises `BadInput` if its parts are inconsistent."""
    name = read_object_id(rule["objectID"], place(at, "objectID"))
    members = {key: value for key, value in rule.items() if key not in _RESPONSE_MEMBERS}
    if "condition" in members:
        members["conditions"] = [*members.get("conditions", ()), members.pop("condition")]
    if not members["consequence"]:
        raise BadInput(f"`{place(at, 'consequence')}` is empty; a rule needs a consequence")
    check_parts(members, at)
    _check_conditions(members.get("conditions", ()), place(at, "conditions"))
    _check_params(members["consequence"].get("params") or {}, place(at, "consequence.params"))
    return {**members, "objectID": name}


def _check_conditions(conditions: Iterable[Mapping[str, Any]], at: str) -> None:
    for number, condition in enumerate(conditions):
        for group in parse_text(condition.get("filters", ""), f"{at}[{number}].filters"):
            if len(group) > 1 or not isinstance(group[0], Facet | Tag):
                raise BadInput(
                    f"`{at}[{number}].filters` may contain only `facet:value` and AND: "
                    "neither OR nor numbers"
                )


def _check_params(params: Mapping[str, Any], at: str) -> None:
    try:
        parse_filters(params)
        parse_optional(params)
        _search_empty_index(
            {
                n: value
                for n, value in params.items()
                if n not in MERGED_PARAMETERS and value is not None
            }
        )
    except BadInput as error:
        raise BadInput(f"`{at}`: {error}") from error
    for name in (AUTOMATIC, AUTOMATIC_OPTIONAL):
        for number, filter_entry in enumerate(params.get(name) or ()):
            score = 1 if isinstance(filter_entry, str) else filter_entry.get("score", 1)
            if not 0 <= score <= MAX_SCORE:
                raise BadInput(f"`{at}.{name}[{number}].score` is not from 0 to {MAX_SCORE}")


def _search_empty_index(params: Mapping[str, Any]) -> None:
    """Raise `BadInput` for parameters that fail any search, even of an empty index."""
    if params:
        settings = {name: value for name, value in params.items() if name == "ranking"}
        Index(settings).search(params, lambda ids: [])


def check_synonym(synonym: Mapping[str, Any], at: str) -> Entry:
    """Return a synonym with only the members of its type; raises `BadInput`."""
    kind = str(synonym["type"]).lower()
    name = read_object_id(synonym["objectID"], place(at, "objectID"))
    for field in SYNONYM_MEMBERS[kind]:
        if not synonym.get(field):
            raise BadInput(f"`{place(at, field)}` is missing; it is required in a {kind}")
    for word in synonym["corrections"] if "corrections" in SYNONYM_MEMBERS[kind] else ():
        if len(word.split()) != 1:
            raise BadInput(f"`{place(at, 'corrections')}`: {word!r} is not a single word")
    return {
        "objectID": name,
        "type": synonym["type"],
        **{field: synonym[field] for field in SYNONYM_MEMBERS[kind]},
    }
