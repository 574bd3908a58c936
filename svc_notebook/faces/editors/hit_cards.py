"""Hit cards: hits as a view draws them, and in words why each ranks below the one above.

A card has a headline, and matched attributes first.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Never, NotRequired, TypedDict

from svc_notebook.tuning.evaluation import (
    PROMOTED,
    TEXT,
    TIE,
    Criterion,
    compares,
    criteria_in_order,
    describe_order,
    describe_reason,
    describe_value,
    difference,
    name_criterion,
    value_at,
)

PRE, POST = "\ue000", "\ue001"  # mark the start and end of a match for a view
MAX_SHOWN_ATTRIBUTES = 5  # of one hit
MAX_VALUE_CHARACTERS = 240  # of one attribute
MAX_JSON_CHARACTERS = 4000  # of one record as JSON
MAX_LISTED_ATTRIBUTES = 200  # that can be chosen
CONTEXT_CHARACTERS = 40  # before the first match, so that a narrow view shows the match
TITLES = ("title", "name", "label", "headline", "heading", "subject")
IMAGES = ("image", "img", "picture", "photo", "thumbnail", "thumb", "poster", "cover", "icon")
DENSITIES = ("cards", "rows", "json")
_NAME_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_ATTRIBUTE_MODIFIER = re.compile(r"(?:un)?ordered\((.+)\)")
_IMAGE_URL = re.compile(r"(https?://\S+|data:image/(?:png|jpeg|gif|webp|avif);base64,\S+)")
_IMAGE_FILE = re.compile(r"\.(?:png|jpe?g|gif|webp|avif)(?:\?|#|$)", re.I)


@dataclass(frozen=True)
class HitDisplay:
    """How hits are shown: the density, the chosen attributes, and what the index searches.

    Without chosen attributes each hit shows those that matched, then the first others.
    """

    density: str = "cards"
    attributes: Sequence[str] | None = None
    searchable: Sequence[str] = ()


class HitCard(TypedDict):
    """One hit as a view draws it.

    `title` is the headline: the first searchable attribute that has a value, else an attribute
    that is named like a title, else the objectID. `json` is the record in the density "json".
    `place` counts from 1 over all pages, `lines` are pairs of an attribute and its text, `more`
    counts the other attributes, and `why` explains why the hit ranks below the previous one. While
    a draft is searched, `previous` is the place without it, 0 if that is not known.
    """

    id: str
    place: int
    title: str
    lines: list[list[str]]
    more: int
    image: str
    why: str
    promoted: bool
    json: NotRequired[str]
    previous: NotRequired[int]


def draw_hits(
    hits: Sequence[Mapping[str, Any]],
    ranking: Ranking | Sequence[Never] = (),
    before: int = 0,
    display: HitDisplay = HitDisplay(),
) -> list[HitCard]:
    """Return the cards of one page of hits; `before` is the number of hits on earlier pages.

    Without a ranking, cards do not explain their rank.
    """
    cards = [_card(hit, before + rank, display) for rank, hit in enumerate(hits, 1)]
    if isinstance(ranking, Ranking):
        for card, (above, hit) in zip(cards[1:], pairwise(hits), strict=True):
            card["why"] = explain_lower(above, hit, ranking)
    return cards


def list_searchable(settings: Mapping[str, Any]) -> list[str]:
    """Return the attributes that an index searches, in the order of their importance."""
    entries = settings.get("searchableAttributes") or []
    names = [name.strip() for entry in entries for name in str(entry).split(",")]
    return [match[1] if (match := _ATTRIBUTE_MODIFIER.fullmatch(name)) else name for name in names]


def list_attributes(hits: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the attributes of hits, those that most hits have first."""
    counts = Counter(name for hit in hits for name in hit if _is_shown(name))
    return [name for name, _ in counts.most_common(MAX_LISTED_ATTRIBUTES)]


def _is_shown(name: str) -> bool:
    return name != "objectID" and name[:1] != "_"


def _card(hit: Mapping[str, Any], position: int, display: HitDisplay) -> HitCard:
    texts = _texts(hit)
    head, headline = _find_headline(hit, texts, display.searchable)
    shown = _choose_attributes(texts, head, display.attributes)
    card: HitCard = {
        "id": str(hit["objectID"]),
        "place": position,
        "title": _shorten_around_match(headline) or str(hit["objectID"]),
        "lines": [[name, _shorten_around_match(texts[name], CONTEXT_CHARACTERS)] for name in shown],
        "more": len(texts.keys() - {*shown, head}),
        "image": _find_image(hit),
        "why": "",
        "promoted": bool(hit.get("_rankingInfo", {}).get("promoted")),
    }
    if display.density == "json":
        card["json"] = _write_record(hit, display.attributes)
    return card


def _find_headline(
    hit: Mapping[str, Any], texts: Mapping[str, str], searchable: Iterable[str]
) -> tuple[str, str]:
    """Return the attribute of a hit's headline and its text; both empty if there is none."""
    for name in searchable:
        if text := texts.get(name) or _nested_text(hit, name):
            return name, text
    title = _find_title(texts)
    return title, texts.get(title, "")


def _find_title(names: Collection[str]) -> str:
    """Return the name that is, or else that ends with, the first of `TITLES`; empty without one."""
    by_name = {name.lower(): name for name in reversed([*names])}
    exact = (by_name[title] for title in TITLES if title in by_name)
    ending = (name for title in TITLES for name in names if _last_word(name) == title)
    return next(exact, "") or next(ending, "")


def _last_word(name: str) -> str:
    """Return the last word of an attribute's name: `name` for `product_name` and `productName`."""
    words = _NAME_WORDS.findall(name)
    return words[-1].lower() if words else ""


def _nested_text(hit: Mapping[str, Any], path: str) -> str:
    """Return the text of a member inside an attribute, with its matches marked."""
    if "." not in path:
        return ""
    for members in (hit.get("_snippetResult"), hit.get("_highlightResult")):
        if text := _highlighted_text(_find_member(members, path)):
            return text
    return _join(_find_member(hit, path))


def _choose_attributes(
    texts: Mapping[str, str], head: str, chosen: Sequence[str] | None
) -> list[str]:
    if chosen is not None:
        return [name for name in chosen if name in texts]
    matched = [name for name, text in texts.items() if PRE in text and name != head]
    others = [name for name in texts if name not in (head, *matched)]
    return [*matched, *others][:MAX_SHOWN_ATTRIBUTES]


def _write_record(hit: Mapping[str, Any], chosen: Sequence[str] | None) -> str:
    """Write a record, or its chosen attributes, as JSON."""
    names = [name for name in hit if _is_shown(name)] if chosen is None else chosen
    record = {"objectID": hit["objectID"], **{name: hit[name] for name in names if name in hit}}
    text = json.dumps(record, indent=2, ensure_ascii=False, default=str)
    return text if len(text) <= MAX_JSON_CHARACTERS else f"{text[:MAX_JSON_CHARACTERS]}…"


def _texts(hit: Mapping[str, Any]) -> dict[str, str]:
    """Return each attribute as text: its snippet, else its highlighted text, else its value."""
    plain = {name: value for name, value in hit.items() if _is_shown(name)}
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


def _find_start(text: str, position: int) -> int:
    """Return where a shortened text begins: at the next word, if one is near."""
    if position <= 0:
        return 0
    return text.find(" ", position, position + CONTEXT_CHARACTERS // 2) + 1 or position


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


def _find_member(record: Any, path: str) -> Any:
    """Return the value at a dotted path of a record; None if there is none."""
    if isinstance(record, Mapping) and path in record:
        return record[path]
    first, dot, rest = path.partition(".")
    if dot and isinstance(record, Mapping):
        return _find_member(record.get(first), rest)
    return None


Hit = Mapping[str, Any]
FILTERS = "filters"
OPTIONAL_CRITERIA = (PROMOTED, "geo", FILTERS, TEXT)  # listed only for searches that use them


class Ranking(NamedTuple):
    """The criteria of a search in order, the searchable attributes and the chosen filters."""

    criteria: Sequence[Criterion] = ()
    searchable: Sequence[str] = ()
    filters: Sequence[str] = ()

    def name(self, criterion: str) -> str:
        """Name a criterion; that of filters by the filters that the user has chosen."""
        if criterion == FILTERS and self.filters:
            return f"filters {', '.join(self.filters)}"
        return name_criterion(criterion)


class Neighbour(TypedDict):
    """The hit above or below, and what decides between the two hits; `place` counts from 1."""

    id: str
    title: str
    place: int
    decisive: str
    reason: str


class CriterionRow(TypedDict):
    """One criterion: its name, its order in words, and the values of the hit and its neighbours."""

    criterion: str
    name: str
    order: str
    values: list[str]


class RankExplanation(TypedDict):
    """The explanation of one hit's rank; `values` of a row are of above, this hit and below."""

    above: Neighbour | None
    below: Neighbour | None
    rows: list[CriterionRow]


def ranking_of(
    settings: Mapping[str, Any], params: Mapping[str, Any], filters: Sequence[str] = ()
) -> Ranking:
    """Return the ranking of a search: parameters override settings.

    `filters` are the filters that the user has chosen, as a view names them.
    """
    searchable = settings.get("searchableAttributes") or ()
    return Ranking(criteria_in_order(settings, params), searchable, filters)


def explain_lower(above: Hit, hit: Hit, ranking: Ranking) -> str:
    """Explain in one line why a hit ranks below the hit above."""
    criterion, _, upper, lower = difference(above, hit, ranking.criteria)
    if criterion == PROMOTED:
        return "Pinned by a rule" if lower else "Ranked lower: a rule pins the hit above"
    if criterion == TIE:
        return "Ranked lower by objectID: all criteria are equal"
    return (
        f"Ranked lower by {ranking.name(criterion)}: "
        f"{describe_value(criterion, lower, hit, ranking.searchable)} vs "
        f"{describe_value(criterion, upper, above, ranking.searchable)}"
    )


def explain_rank(
    hits: Sequence[Hit], titles: Sequence[str], position: int, ranking: Ranking, before: int = 0
) -> RankExplanation:
    """Explain the rank of the hit at `position` of a page; `before` counts earlier hits."""
    near = [
        hits[at] if 0 <= at < len(hits) else None for at in (position - 1, position, position + 1)
    ]  # fmt: skip
    above, hit, below = near

    def neighbour(upper: Hit | None, lower: Hit | None, at: int) -> Neighbour | None:
        if upper is None or lower is None:
            return None
        decisive = difference(upper, lower, ranking.criteria).criterion
        return {
            "id": str(hits[at]["objectID"]), "title": titles[at], "place": before + at + 1,
            "decisive": decisive, "reason": _compare(upper, lower, decisive, ranking),
        }  # fmt: skip

    rows: list[CriterionRow] = [
        {
            "criterion": step.name, "name": ranking.name(step.name),
            "order": describe_order(step.name),
            "values": [_describe(near_hit, step, ranking) for near_hit in near],
        }
        for step in ranking.criteria
        if compares(step, hits[position])
        if step.name not in OPTIONAL_CRITERIA
        or any(value_at(near_hit, step) for near_hit in near if near_hit)
    ]  # fmt: skip
    return {
        "above": neighbour(above, hit, position - 1), "below": neighbour(hit, below, position + 1),
        "rows": rows,
    }  # fmt: skip


def _compare(upper: Hit, lower: Hit, criterion: str, ranking: Ranking) -> str:
    """Describe the values that decide between two hits, that of the upper first."""
    values = ["", ""]
    if criterion != TIE:
        step = next(step for step in ranking.criteria if step.name == criterion)
        values = [_describe(hit, step, ranking) for hit in (upper, lower)]
    reason = describe_reason(criterion, *values)
    return f"{reason[:1].upper()}{reason[1:]}"


def _describe(hit: Hit | None, step: Criterion, ranking: Ranking) -> str:
    if hit is None:
        return ""
    return describe_value(step.name, value_at(hit, step), hit, ranking.searchable)
