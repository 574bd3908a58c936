"""The display of hits: highlighted matches, facets and counts, limited in length."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Unpack

from pandas import DataFrame

from svc_notebook.core.api.parameters import SearchOptions
from svc_notebook.core.display import format_count, shorten
from svc_notebook.data import frames
from svc_notebook.data.declarations import public, verb
from svc_notebook.data.frames import added_to
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput
from svc_notebook.faces.functions import blocking
from svc_notebook.faces.functions.output import with_unique_columns

MAX_OUTPUT_BYTES = 200_000
MAX_VALUE_CHARACTERS = 400
MAX_FACET_VALUES = 10
TITLES = ("title", "name", "label", "headline")  # attributes for the heading of a hit
_MARKED = "highlighted."
# Private-use characters, which do not occur in text: a record cannot imitate a highlight.
HIGHLIGHT_TAGS = ("\ue000", "\ue001")


_Facet = tuple[str, list[tuple[str, int]], int]  # its name, its first values, the number of values


class Piece(NamedTuple):
    """A piece of text, and whether it is marked as a match."""

    text: str
    marked: bool


class ShownHits:
    """The hits of a search as HTML in notebooks and as text elsewhere.

    Attributes
    ----------
    frame : DataFrame
        The hits.

    Examples
    --------
    >>> shown = svc.show_search("products", "desk lamp", hitsPerPage=2)
    >>> shown.frame["objectID"].tolist()
    ['LMP-001', 'LMP-003']
    """

    def __init__(self, frame: DataFrame, tags: tuple[str, str], budget: int) -> None:
        self.frame = with_unique_columns(frame)
        self._tags = tags
        self._budget = budget

    def _repr_html_(self) -> str:
        rows = (_hit_html(hit) for hit in _hits(self.frame, self._tags))
        head = [f"<p>{html.escape(self._headline())}</p>", *map(_facet_html, self._facets())]
        budget_left = self._budget - _size(head)
        return "".join(
            ["<div>", *head, *_within(rows, budget_left, len(self.frame), _MORE_HTML), "</div>"]
        )

    def __repr__(self) -> str:
        rows = (_hit_text(hit) for hit in _hits(self.frame, self._tags))
        head = [f"{_printable(self._headline())}\n", *map(_facet_text, self._facets())]
        budget_left = self._budget - _size(head)
        return "".join([*head, *_within(rows, budget_left, len(self.frame), _MORE_TEXT)]).rstrip(
            "\n"
        )

    def _headline(self) -> str:
        facts = self.frame.attrs["svc"]
        hit_count = facts.get("nbHits", len(self.frame))
        words = f' for "{_short(str(facts["query"]))}"' if facts.get("query") else ""
        took = f", {facts['processingTimeMS']} ms" if "processingTimeMS" in facts else ""
        shown = f"{len(self.frame)} of " if hit_count != len(self.frame) else ""
        return f"{shown}{format_count(hit_count, 'hit')}{words} in {facts.get('index', '')}{took}"

    def _facets(self) -> Iterator[_Facet]:
        facets = self.frame.attrs["svc"].get("facets", {})
        for name, values in facets.items():
            yield name, list(values.items())[:MAX_FACET_VALUES], len(values)


@public(
    verb("show", "show products blue lamp", "show products lamp --facets brand --hitsPerPage 5"),
    endpoints=("search",),
)
async def show_search(
    index: str,
    query: str = "",
    *,
    client: AnyClient | None = None,
    **params: Unpack[SearchOptions],
) -> ShownHits:
    """Search an index and display the hits with highlighted matches, facets and counts.

    Returns
    -------
    ShownHits
        Hits that display as HTML in notebooks and as text elsewhere, up to 200,000 bytes;
        `frame` is the DataFrame of the hits.

    Raises
    ------
    NotFound

    Examples
    --------
    >>> shown = svc.show_search("products", "desk lamp", hitsPerPage=2)
    >>> len(shown.frame)
    2
    """
    search: Any = {
        **params,
        "highlightPreTag": HIGHLIGHT_TAGS[0],
        "highlightPostTag": HIGHLIGHT_TAGS[1],
    }
    frame = await frames.search(asynchronous(client), index, query, highlight=True, **search)
    return ShownHits(frame, HIGHLIGHT_TAGS, MAX_OUTPUT_BYTES)


@public()
def show(
    frame: DataFrame | str,
    query: str | None = None,
    *,
    budget: int = MAX_OUTPUT_BYTES,
    client: AnyClient | None = None,
    **params: Unpack[SearchOptions],
) -> ShownHits:
    """Display the DataFrame of a search as hits, or search an index and display its hits.

    Matches are highlighted if the search had `highlight=True`.

    Parameters
    ----------
    frame : DataFrame or str
        Result of a search, or the name of an index to search, as `show_search` does.
    query : str, default None
        Query, for an index; "" matches every record.
    budget : int, default 200000
        Maximum size of the output in bytes.

    Returns
    -------
    ShownHits
        Hits that display as HTML in notebooks and as text elsewhere; `frame` is the DataFrame
        of the hits.

    Raises
    ------
    BadInput
        If the DataFrame is not the result of a search, or a DataFrame has a query.
    NotFound

    Examples
    --------
    >>> hits = svc.search("products", "desk lamp", highlight=True, hitsPerPage=2)
    >>> svc.show(hits)
    >>> svc.show("products", "desk lamp")
    """
    if isinstance(frame, str) and query is not None:
        shown = blocking.show_search(frame, query, client=client, **params)
        return ShownHits(shown.frame, HIGHLIGHT_TAGS, budget)
    facts = getattr(frame, "attrs", {}).get("svc")
    if isinstance(frame, str) or not isinstance(facts, Mapping) or "objectID" not in frame:
        raise BadInput(
            "this is not the result of a search; pass the result of `search`, or the name of an "
            "index and a query"
        )
    if query is not None or params:
        raise BadInput("a DataFrame was searched already; pass the name of an index with a query")
    params = facts.get("params", {})
    before, after = params.get("highlightPreTag", "<em>"), params.get("highlightPostTag", "</em>")
    tags = (str(before), str(after))
    return ShownHits(frame, tags, budget)


class _Hit(NamedTuple):
    rank: int
    id: str
    title: list[Piece]
    fields: list[tuple[str, list[Piece]]]


def _hits(frame: DataFrame, tags: tuple[str, str]) -> Iterator[_Hit]:
    added = {"rank": "rank", "query": "query"} | added_to(frame)
    hidden = {"objectID", *added.values()}
    plain = [name for name in map(str, frame.columns) if name not in hidden]
    heading = _heading(frame, plain)
    for number, row in enumerate(frame.to_dict("records"), 1):
        marked = {name: row.get(added.get(f"{_MARKED}{name}", "")) for name in plain}
        fields = {name: _pieces(marked[name], row[name], tags) for name in plain}
        title = fields.pop(heading, [])
        held = [(name, pieces) for name, pieces in fields.items() if pieces]
        yield _Hit(int(row.get(added["rank"], number)), str(row["objectID"]), title, held)


def _heading(frame: DataFrame, names: list[str]) -> str:
    """Choose the heading attribute of a hit: one with a heading's name, or the first text."""
    called = [name for title in TITLES for name in names if name.casefold() == title]
    texts = (name for name in names if any(isinstance(value, str) for value in frame[name]))
    return called[0] if called else next(texts, "")


def _pieces(marked: Any, plain: Any, tags: tuple[str, str]) -> list[Piece]:
    """Cut a value into pieces, limited to the displayed length."""
    if _is_missing(marked) and _is_missing(plain):
        return []
    kept: list[Piece] = []
    budget_left = MAX_VALUE_CHARACTERS
    whole = [Piece(_text_of(plain), False)] if _is_missing(marked) else _cut(_text_of(marked), tags)
    for piece in whole:
        kept.append(piece._replace(text=piece.text[:budget_left]))
        budget_left -= len(piece.text)
        if budget_left <= 0:
            return [*kept, Piece("…", False)] if budget_left < 0 else kept
    return kept


def _is_missing(value: Any) -> bool:
    return value is None or (not isinstance(value, (list, dict)) and bool(value != value))


def _text_of(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text_of, value))
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_text_of(inner)}" for name, inner in value.items())
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _cut(text: str, tags: tuple[str, str]) -> Iterator[Piece]:
    marked = False
    for part in re.split("(" + "|".join(map(re.escape, tags)) + ")", text):
        if part in tags:
            marked = part == tags[0]
        elif part:
            yield Piece(part, marked)


def _hit_html(hit: _Hit) -> str:
    title = "".join(map(_piece_html, hit.title))
    head = f"<b>{hit.rank}. {title}</b> <code>{html.escape(_short(hit.id))}</code>"
    fields = [f"{html.escape(n)}: {''.join(map(_piece_html, held))}" for n, held in hit.fields]
    return f"<p>{head}<br>{' · '.join(fields)}</p>" if fields else f"<p>{head}</p>"


def _piece_html(piece: Piece) -> str:
    text = html.escape(piece.text)
    return f"<mark>{text}</mark>" if piece.marked else text


def _hit_text(hit: _Hit) -> str:
    title = "".join(map(_piece_text, hit.title))
    lines = [f"{hit.rank}. {f'{title} ' if title else ''}({_printable(_short(hit.id))})"]
    lines += [f"   {_printable(n)}: {''.join(map(_piece_text, held))}" for n, held in hit.fields]
    return "\n".join(lines) + "\n"


def _piece_text(piece: Piece) -> str:
    text = _printable(piece.text)
    return f"*{text}*" if piece.marked else text


def _printable(text: str) -> str:
    """Remove characters that could control a terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _facet_html(facet: _Facet) -> str:
    return f"<p><b>{html.escape(facet[0])}</b>: {html.escape(_facet_values(facet))}</p>"


def _facet_text(facet: _Facet) -> str:
    return f"{_printable(f'{facet[0]}: {_facet_values(facet)}')}\n"


def _facet_values(facet: _Facet) -> str:
    _, values, total = facet
    more = f", and {total - len(values)} more" if total > len(values) else ""
    return ", ".join(f"{_short(v)} ({count:,})" for v, count in values) + more


def _short(text: str) -> str:
    return shorten(text, MAX_VALUE_CHARACTERS)


_MORE_HTML = "<p>… and {:,} more rows</p>"
_MORE_TEXT = "… and {:,} more rows\n"


def _within(rows: Iterable[str], budget_left: int, total: int, more: str) -> Iterator[str]:
    """Yield rows while they fit the budget, and at the end the number of remaining rows."""
    budget_left -= len(more.format(total).encode())
    for number, row in enumerate(rows):
        budget_left -= len(row.encode())
        if budget_left < 0:
            yield more.format(total - number)
            return
        yield row


def _size(texts: Iterable[str]) -> int:
    return sum(len(text.encode()) for text in texts) + len("<div></div>")
