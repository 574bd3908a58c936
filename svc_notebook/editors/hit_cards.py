"""Hit cards: the form of hits that a view draws, matched attributes first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Never, NotRequired, TypedDict

from svc_notebook.editors.ranking_explanation import Ranking, explain_lower

PRE, POST = "\ue000", "\ue001"  # mark the start and end of a match for a view
MAX_SHOWN_ATTRIBUTES = 5  # of one hit
MAX_VALUE_CHARACTERS = 240  # of one attribute
CONTEXT_CHARACTERS = 40  # before the first match, so that a narrow view shows the match
TITLES = ("title", "name", "label", "headline", "heading", "subject")
IMAGES = ("image", "img", "picture", "photo", "thumbnail", "thumb", "poster", "cover", "icon")
_IMAGE_URL = re.compile(r"(https?://\S+|data:image/(?:png|jpeg|gif|webp|avif);base64,\S+)")
_IMAGE_FILE = re.compile(r"\.(?:png|jpe?g|gif|webp|avif)(?:\?|#|$)", re.I)


class HitCard(TypedDict):
    """One hit as a view draws it.

    `place` counts from 1 over all pages, `lines` are pairs of an attribute and its text, `more`
    counts the other attributes, and `why` explains why the hit ranks below the previous one.
    """

    id: str
    place: int
    title: str
    lines: list[list[str]]
    more: int
    image: str
    why: str
    promoted: bool
    marks: NotRequired[Any]


def draw_hits(
    hits: Sequence[Mapping[str, Any]], ranking: Ranking | Sequence[Never] = (), before: int = 0
) -> list[HitCard]:
    """Return the cards of one page of hits; `before` is the number of hits on earlier pages.

    Without a ranking, cards do not explain their rank.
    """
    cards = [_card(hit, before + place) for place, hit in enumerate(hits, 1)]
    if isinstance(ranking, Ranking):
        for card, (above, hit) in zip(cards[1:], pairwise(hits), strict=True):
            card["why"] = explain_lower(above, hit, ranking)
    return cards


def _card(hit: Mapping[str, Any], place: int) -> HitCard:
    texts = _texts(hit)
    names = {name.lower(): name for name in reversed(texts)}
    head = next((names[name] for name in TITLES if name in names), "")
    matched = [name for name, text in texts.items() if PRE in text and name != head]
    others = [name for name in texts if name not in (head, *matched)]
    shown = [*matched, *others][:MAX_SHOWN_ATTRIBUTES]
    return {
        "id": str(hit["objectID"]),
        "place": place,
        "title": _shorten_around_match(texts.get(head, "")),
        "lines": [[name, _shorten_around_match(texts[name], CONTEXT_CHARACTERS)] for name in shown],
        "more": max(0, len(texts) - len(shown) - bool(head)),
        "image": _find_image(hit),
        "why": "",
        "promoted": bool(hit.get("_rankingInfo", {}).get("promoted")),
    }


def _texts(hit: Mapping[str, Any]) -> dict[str, str]:
    """Return each attribute as text: its snippet, else its highlighted text, else its value."""
    plain = {name: value for name, value in hit.items() if name != "objectID" and name[:1] != "_"}
    texts = {name: _join(value) for name, value in plain.items()}
    for marks in (hit.get("_highlightResult", {}), hit.get("_snippetResult", {})):
        texts |= {name: _highlighted_text(mark) for name, mark in marks.items() if name in plain}
    return {name: text for name, text in texts.items() if text and text != hit["objectID"]}


def _highlighted_text(mark: Any) -> str:
    return ", ".join(filter(None, _match_values(mark)))


def _match_values(mark: Any) -> Iterator[str]:
    if isinstance(mark, list):
        for item in mark:
            yield from _match_values(item)
    elif isinstance(mark, dict) and isinstance(mark.get("value"), str) and "matchLevel" in mark:
        yield mark["value"]
    elif isinstance(mark, dict):
        for member in mark.values():
            yield from _match_values(member)


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


def _shorten_around_match(text: str, lead: int = MAX_VALUE_CHARACTERS // 2) -> str:
    """Shorten a long text, or one with a late first match; an open mark is closed."""
    first = text.find(PRE)
    if len(text) <= MAX_VALUE_CHARACTERS and first <= lead * 2:
        return text
    start = _find_start(text, first - lead)
    part = text[start : start + MAX_VALUE_CHARACTERS]
    if part.rfind(PRE) > part.rfind(POST):
        part += POST
    return f"{'…' if start else ''}{part}{'…' if start + MAX_VALUE_CHARACTERS < len(text) else ''}"


def _find_start(text: str, wanted: int) -> int:
    """Return where a shortened text begins: at the next word, if one is near."""
    if wanted <= 0:
        return 0
    return text.find(" ", wanted, wanted + CONTEXT_CHARACTERS // 2) + 1 or wanted


def _find_image(hit: Mapping[str, Any]) -> str:
    """Return the URL of a hit's image; empty if it has none."""
    members = sorted(hit.items(), key=lambda member: member[0].lower() not in IMAGES)
    for name, value in members:
        first = value[0] if isinstance(value, list) and value else value
        if not isinstance(first, str) or not _IMAGE_URL.fullmatch(first):
            continue
        if name.lower() in IMAGES or first.startswith("data:") or _IMAGE_FILE.search(first):
            return first
    return ""
