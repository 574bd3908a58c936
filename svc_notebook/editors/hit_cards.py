"""Hit cards: hits as a view draws them, matched attributes first, the rest on request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NotRequired, TypedDict

from svc_notebook.editors.ranking_explanation import CriterionRow, climb, separator

PRE, POST = "\ue000", "\ue001"  # what marks a match on the way to a view
MAX_SHOWN_ATTRIBUTES = 5  # attributes of a hit that are shown at once
MAX_VALUE_CHARACTERS = 240  # characters of one of them
CONTEXT_CHARACTERS = 40  # characters before its first mark, so that a narrow view shows it
TITLES = ("title", "name", "label", "headline", "heading", "subject")
IMAGES = ("image", "img", "picture", "photo", "thumbnail", "thumb", "poster", "cover", "icon")
_ADDRESS = re.compile(r"(https?://\S+|data:image/(?:png|jpeg|gif|webp|avif);base64,\S+)")
_FILE = re.compile(r"\.(?:png|jpe?g|gif|webp|avif)(?:\?|#|$)", re.I)


class HitCard(TypedDict):
    """One hit."""

    id: str
    place: int
    title: str
    lines: list[list[str]]
    more: int
    image: str
    ladder: list[CriterionRow]
    why: str
    promoted: bool
    marks: NotRequired[Any]


def draw_hits(
    hits: Sequence[Mapping[str, Any]], criteria: Sequence[str], before: int = 0
) -> list[HitCard]:
    """Draw the hits of one page; each says what separates it from the one above."""
    cards = [_card(hit, criteria, before + place) for place, hit in enumerate(hits, 1)]
    for above, card in pairwise(cards):
        card["why"] = separator(above["ladder"], card["ladder"])
    return cards


def _card(hit: Mapping[str, Any], criteria: Sequence[str], place: int) -> HitCard:
    texts = _texts(hit)
    names = {name.lower(): name for name in reversed(texts)}
    head = next((names[name] for name in TITLES if name in names), "")
    matched = [name for name, text in texts.items() if PRE in text and name != head]
    others = [name for name in texts if name not in (head, *matched)]
    shown = [*matched, *others][:MAX_SHOWN_ATTRIBUTES]
    return {
        "id": str(hit["objectID"]),
        "place": place,
        "title": _cut(texts.get(head, "")),
        "lines": [[name, _cut(texts[name], CONTEXT_CHARACTERS)] for name in shown],
        "more": max(0, len(texts) - len(shown) - bool(head)),
        "image": _image(hit),
        "ladder": climb(hit, criteria),
        "why": "",
        "promoted": bool(hit.get("_rankingInfo", {}).get("promoted")),
    }


def _texts(hit: Mapping[str, Any]) -> dict[str, str]:
    """Each attribute as one text: as its snippet, else highlighted, else as it is."""
    plain = {name: value for name, value in hit.items() if name != "objectID" and name[:1] != "_"}
    texts = {name: _join(value) for name, value in plain.items()}
    for marks in (hit.get("_highlightResult", {}), hit.get("_snippetResult", {})):
        texts |= {name: _marked(mark) for name, mark in marks.items() if name in plain}
    return {name: text for name, text in texts.items() if text and text != hit["objectID"]}


def _marked(mark: Any) -> str:
    return ", ".join(filter(None, _leaves(mark)))


def _leaves(mark: Any) -> Iterator[str]:
    if isinstance(mark, list):
        for item in mark:
            yield from _leaves(item)
    elif isinstance(mark, dict) and isinstance(mark.get("value"), str) and "matchLevel" in mark:
        yield mark["value"]
    elif isinstance(mark, dict):
        for member in mark.values():
            yield from _leaves(member)


def _join(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case list():
            return ", ".join(filter(None, map(_join, value)))
        case dict():
            return ", ".join(f"{key}: {_join(member)}" for key, member in value.items())
        case _:
            return str(value)


def _cut(text: str, lead: int = MAX_VALUE_CHARACTERS // 2) -> str:
    """Shorten a text that is long, or has its first mark far in; an open mark is closed."""
    first = text.find(PRE)
    if len(text) <= MAX_VALUE_CHARACTERS and first <= lead * 2:
        return text
    start = _start(text, first - lead)
    part = text[start : start + MAX_VALUE_CHARACTERS]
    if part.rfind(PRE) > part.rfind(POST):
        part += POST
    return f"{'…' if start else ''}{part}{'…' if start + MAX_VALUE_CHARACTERS < len(text) else ''}"


def _start(text: str, wanted: int) -> int:
    """Where a text may begin: with a word, if one begins soon."""
    if wanted <= 0:
        return 0
    return text.find(" ", wanted, wanted + CONTEXT_CHARACTERS // 2) + 1 or wanted


def _image(hit: Mapping[str, Any]) -> str:
    """The address of a hit's picture, if it has one."""
    members = sorted(hit.items(), key=lambda member: member[0].lower() not in IMAGES)
    for name, value in members:
        first = value[0] if isinstance(value, list) and value else value
        if not isinstance(first, str) or not _ADDRESS.fullmatch(first):
            continue
        if name.lower() in IMAGES or first.startswith("data:") or _FILE.search(first):
            return first
    return ""
