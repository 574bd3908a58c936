"""Values of declared types, read from the words of a line or the cells of a file."""

from __future__ import annotations

import json
import re
from typing import Any

from svc_notebook.core.api.validation import check_value, place, read_text
from svc_notebook.errors import BadInput

# The end of the error message for a word that can only be text.
OF_TEXT, MAX_CHARACTERS = ", not text", 40
NAMES = ("facets",)  # types that include text without commas
_COMMA = re.compile(r"\s*[,\n]\s*")


def read_word(text: str, expected: Any, name: str) -> Any:
    """Parse one word by its declared type; items of a list are separated by commas or line ends.

    If both text and a list are valid, several lines are a list, and commas belong to the text,
    unless the list is of names.
    """
    if not text.startswith(("[", "{")):
        items = _split_items(text, expected, name)
        if items is not None:
            return items
        if not is_valid("a b", expected):
            text = _COMMA.sub(",", text)
    try:
        return read_text(text, expected, name)
    except BadInput as error:
        problem, of_text, _ = f"{error}".rpartition(OF_TEXT)
        raise (
            BadInput(f"{problem}, not `{text[:MAX_CHARACTERS]}`") if of_text else error
        ) from None


def _split_items(text: str, expected: Any, name: str) -> list[str] | None:
    """Return the items of a list that could also be text; None if it is text, or only a list."""
    if name.lstrip("-") in NAMES and "," in text:
        return [part for part in _COMMA.split(text) if part]
    is_either = is_valid("a b", expected) and is_valid(["a b"], expected)
    if "\n" in text and is_either and not is_valid({}, expected):
        return [line.rstrip(" ,") for line in text.split("\n")]
    return None


def is_valid(value: Any, expected: Any) -> bool:
    """Return whether a value has a type."""
    try:
        check_value(value, expected, place("", ""))
    except BadInput:
        return False
    return True


def read_variant(text: str) -> str | dict[str, Any]:
    """Return the parameters of a variant, or the name of its index."""
    if not text.lstrip().startswith("{"):
        return text
    try:
        variant: dict[str, Any] = json.loads(text)
    except ValueError as error:
        raise BadInput(f"the variant {text} is not JSON: {error}") from error
    return variant


def is_json(text: str) -> bool:
    """Return whether a text is JSON."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
