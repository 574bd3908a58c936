"""Completion of a filter expression: the facet's values after `attribute:`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from svc_notebook.commands.tokenizer import quote_word

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


def complete_value(
    kind: str, typed: str, values: Values, *, bare: bool
) -> tuple[str, list[str]] | None:
    """Suggest facet values, and the text they replace; None if no value is expected.

    `bare` is a word of a line, which ends at a space unless it is quoted.
    """
    found = _TYPED[kind].search(typed)
    if not found:
        return None
    outer = '"' if typed[:1] in "[{" else typed[:1] if typed[:1] in ("'", '"') else ""
    inner, begun = found[2] or "", found[3] or found[4] or ""
    wanted = begun.casefold()
    near = [value for value in values(found[1]) if value.casefold().startswith(wanted)][:MAX_VALUES]
    texts = list(_write(near, kind, outer, inner))
    if bare and not outer and not inner and texts != [quote_word(text) for text in texts]:
        before = typed[: len(typed) - len(begun)]
        return typed, [quote_word(f"{before}{text}") for text in texts]
    return begun, texts


def _write(values: list[str], kind: str, outer: str, inner: str) -> Iterator[str]:
    """Write values in filter syntax; values that cannot be quoted are left out."""
    own = inner or ("'" if outer == '"' else '"')
    for value in values:
        plain = kind in LISTS or (_PLAIN.fullmatch(value) and value not in _WORDS)
        if (outer and outer in value) or "\\" in value or (not plain and own in value):
            continue
        yield value if plain or inner else f"{own}{value}{own}"
