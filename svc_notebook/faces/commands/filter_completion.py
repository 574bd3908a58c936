"""Completion of a filter expression: the facet's values after `attribute:`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from svc_notebook.faces.commands.tokenizer import quote_word

Values = Callable[[str], Iterable[str]]
LISTS = (
    "facetFilters",
    "optionalFilters",
)  # each text is one filter, without quotes inside
KINDS = ("filters", *LISTS)
_TYPED = {
    "filters": re.compile(r"""([\w.]+)\s*:\s*-?(?:(["'])([^"']*)|([^\s"'():,<>=!]*))$"""),
    **dict.fromkeys(LISTS, re.compile(r"""([\w.]+):-?()()([^"'\[\],]*)$""")),
}
_PLAIN = re.compile(r"\w[\w.-]*")
_WORDS = ("AND", "OR", "NOT", "TO")
MAX_VALUES = 100
# The quote around a text by the first character of what is typed; JSON has double quotes.
OUTER_QUOTES = {"": '"', "[": '"', "{": '"', '"': '"', "'": "'"}


def complete_value(
    kind: str, typed: str, values: Values, *, bare: bool
) -> tuple[str, list[str]] | None:
    """Suggest facet values, and the text they replace; None if no value is expected.

    `bare` is a word of a line, which ends at a space unless it is quoted.
    """
    match = _TYPED[kind].search(typed)
    if not match:
        return None
    outer = OUTER_QUOTES.get(typed[:1], "")
    inner, begun = match[2] or "", match[3] or match[4] or ""
    beginning = begun.casefold()
    near = [value for value in values(match[1]) if value.casefold().startswith(beginning)]
    texts = list(_write(near[:MAX_VALUES], kind, outer, inner))
    if bare and not outer and not inner and texts != [quote_word(text) for text in texts]:
        before = typed[: len(typed) - len(begun)]
        return typed, [quote_word(f"{before}{text}") for text in texts]
    return begun, texts


def _write(values: list[str], kind: str, outer: str, inner: str) -> Iterator[str]:
    """Write values in filter syntax; values that cannot be quoted are left out."""
    quote = inner or ("'" if outer == '"' else '"')
    for value in values:
        plain = kind in LISTS or (_PLAIN.fullmatch(value) and value not in _WORDS)
        refused = {outer, "\\", *("" if plain else quote)} - {""}
        if not any(mark in value for mark in refused):
            yield value if plain or inner else f"{quote}{value}{quote}"
