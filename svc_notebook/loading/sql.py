"""Quoting of names and values in SQL."""

from __future__ import annotations

from collections.abc import Iterable


def name(column: str) -> str:
    """Quote an identifier."""
    return '"' + column.replace('"', '""') + '"'


def text(value: str) -> str:
    """Quote a text."""
    return "'" + value.replace("'", "''") + "'"


def listing(values: Iterable[str]) -> str:
    """Write a list of texts."""
    return f"[{', '.join(map(text, values))}]"


def one_of(value: str, words: Iterable[str]) -> str:
    """Write the condition that a value is one of some words; false where there is no value.

    DuckDB turns `IN` and `list_contains` with more than a few words into a join, which keeps no
    order of rows and takes memory for each column.
    """
    cases = " ".join(f"WHEN {text(word)} THEN true" for word in words)
    return f"(CASE {value} {cases} ELSE false END)"


def struct(members: dict[str, str]) -> str:
    """Write a struct of texts."""
    return "{" + ", ".join(f"{text(key)}: {text(value)}" for key, value in members.items()) + "}"
