"""Convert one string, or strings in any common container, to a list of str."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from svc_notebook.core.display import shorten
from svc_notebook.errors import BadInput, did_you_mean

# One string or several; a str is one string.
OneOrMany = str | Iterable[str]
MAX_QUOTED_CHARACTERS = 60  # maximum characters of a wrong value in an error message


def list_texts(given: Any, what: str, *, column: str = "") -> list[str]:
    """Return strings as a list; a str is one string and is never split into letters.

    - `given`: a str, or a list, tuple, Series, Index, array, set or generator of str. Of a
      DataFrame, the column `column` is used.
    - `what`: the name of the strings in error messages, such as `queries`.

    Raises `BadInput` for a value that is not a string, including a missing value.
    """
    if isinstance(given, str):
        return [str(given)]
    if hasattr(given, "columns"):  # a DataFrame: iterating it yields the column names
        given = _pick_column(given, what, column)
    if isinstance(given, (Mapping, bytes, bytearray)) or not isinstance(given, Iterable):
        raise BadInput(f"`{what}` must be a list of texts, not {_quote(given)}")
    try:
        texts = list(given)
    except TypeError:  # a zero-dimensional array
        raise BadInput(f"`{what}` must be a list of texts, not {_quote(given)}") from None
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise BadInput(
                f"`{what}` must be texts; entry {number} is {_quote(text)}: "
                f"drop missing values ({what}.dropna()), and convert others to text"
            )
    return [str(text) for text in texts]


def _pick_column(frame: Any, what: str, column: str) -> Any:
    names = [str(name) for name in frame.columns]
    if column not in names:
        near = did_you_mean(column or what, names)
        raise BadInput(f"name the column of the {what}: df['{column or what}']{near}")
    return frame[column]


def _quote(value: Any) -> str:
    return shorten(repr(value), MAX_QUOTED_CHARACTERS)
