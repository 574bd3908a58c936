"""SQL fragments: quoted names, texts, lists, structs and conditions."""

from __future__ import annotations

from collections.abc import Iterable


def name(column: str) -> str:
    """Quote an identifier."""
    return '"' + column.replace('"', '""') + '"'


def text(value: str) -> str:
    """Quote a text literal."""
    return "'" + value.replace("'", "''") + "'"


def listing(values: Iterable[str]) -> str:
    """Return the literal of a list of texts."""
    return f"[{', '.join(map(text, values))}]"


def one_of(value: str, words: Iterable[str]) -> str:
    """Return the condition that a value is one of the words; it is false for NULL.

    DuckDB turns `IN` and `list_contains` with more than a few words into a join, which does not
    keep the order of rows and needs memory for each column.
    """
    cases = " ".join(f"WHEN {text(word)} THEN true" for word in words)
    return f"(CASE {value} {cases} ELSE false END)"


def struct(members: dict[str, str]) -> str:
    """Return the literal of a struct of texts."""
    return "{" + ", ".join(f"{text(key)}: {text(value)}" for key, value in members.items()) + "}"
