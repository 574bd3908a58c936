"""Quoting of what goes into SQL."""

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


def struct(members: dict[str, str]) -> str:
    """Write a struct of texts."""
    return "{" + ", ".join(f"{text(key)}: {text(value)}" for key, value in members.items()) + "}"
