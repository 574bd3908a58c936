"""Proposals of a plan: options and index settings that the values of columns suggest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from svc_notebook.data.loading.encoding.json_sql import MAX_LAT, MAX_LNG
from svc_notebook.data.loading.load_plan.plan import LoadPlan, Proposal
from svc_notebook.data.loading.load_plan.preparation import Prepared, record_of
from svc_notebook.data.loading.text_cells.cell_kinds import MOMENT, cell_kind

# The first rows, by which options are proposed.
MAX_PROPOSAL_ROWS = 2_000
MIN_PROPOSAL_VALUES = 3
# Shares of the values of a column.
MIN_JSON_SHARE, MIN_LIST_SHARE, MIN_LEVEL_SHARE, MIN_DATE_SHARE = 0.95, 0.3, 0.5, 0.95
# Parts of lists repeat, and are short; commas also occur in sentences.
MAX_DISTINCT_PARTS, MAX_PART_CHARACTERS, MAX_PART_WORDS = 0.7, 30, 3
LAT_NAMES, LNG_NAMES = {"lat", "latitude"}, {"lng", "lon", "long", "longitude"}
DATE = re.compile(r"(\d{1,2})[./-](\d{1,2})[./-]\d{4}")
MAX_MONTH = 12
# A facet has at least 2 values, and at most this share of distinct ones.
MAX_FACET_SHARE, MAX_FACET_VALUES, MAX_FACETS = 0.5, 200, 8
# Names of columns that are searched first, and of those by which hits are ranked.
TITLES = re.compile(r"(^|_)(name|title|headline|label)$", re.I)
RANKS = re.compile(
    r"(?<![a-z])(ratings?|popularity|sales|sold|reviews?|views|votes|stars|score|downloads)(?![a-z])",
    re.I,
)
# Names of columns whose values are lists if they have a separator.
LISTS = re.compile(
    r"(?<![a-z])(tags?|genres?|category|categories|keywords?|labels?|amenities|ingredients|features"
    r"|artists?|actors?|cast|authors?|skills?|topics?|languages?|colou?rs?|verifications)(?![a-z])",
    re.I,
)
# A list has parts that other lists have as well: the minimum number of parts, and of lists.
MIN_SHARED_PARTS, MIN_LISTS = 2, 3
# The share of parts with digits in lists between commas, of which dates and addresses have many.
MAX_DIGIT_SHARE = 0.1
# A day and its month, as in `Sep 26, 2016`.
WRITTEN_DATE = re.compile(
    r"(?:^|\b\d{1,2}\.? ?)(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\b", re.I
)
MAX_FACET_CHARACTERS = 60
# Of a flag, such as `Yes` and `No`: the length of its words, and the number of its values.
MAX_FLAG_CHARACTERS, MAX_FLAG_VALUES = 3, 2
NUMBERS = re.compile(r"(?<![a-z])(number|no|id|code|rank)(?![a-z])", re.I)
MAX_RANKS = 3

Values = Sequence[Any]


def add_proposals(prepared: Prepared) -> LoadPlan:
    """Return the plan of a load with what its first rows suggest."""
    records = _read_records(prepared)
    columns = {
        name: [record[name] for record in records if record.get(name) is not None]
        for name in dict.fromkeys(name for record in records for name in record)
        if name != "objectID"
    }
    long = {n: values for n, values in columns.items() if len(values) >= MIN_PROPOSAL_VALUES}
    named = set(prepared.options.dtype)
    proposals = [
        proposal
        for name, values in long.items()
        if name not in named and all(isinstance(value, str) for value in values)
        for proposal in _propose_for_texts(name, values)
    ]
    if prepared.options.dates is None:
        proposals += _propose_dates(long)
    if prepared.options.geo is None and "_geoloc" not in columns:
        proposals += _propose_place(columns)
    split = {
        p.value_name for p in proposals if p.option == "dtype" and "json" not in p.value.values()
    }
    settings = _suggest_settings(long, split)
    return replace(prepared.plan, proposals=tuple(proposals), suggested_settings=settings)


def accept_proposals(plan: LoadPlan, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a load with all proposals of its plan; named options stay."""
    accepted = dict(options)
    for option, value, _ in plan.proposals:
        if isinstance(value, dict):
            accepted[option] = value | dict(accepted.get(option) or {})
        elif accepted.get(option) is None:
            accepted[option] = value
    return accepted


def _read_records(prepared: Prepared) -> list[Mapping[str, Any]]:
    operations = prepared.operations
    if operations is None:
        table = prepared.table
        first = f"(SELECT * FROM {table.numbered} WHERE pos < {MAX_PROPOSAL_ROWS})"
        rows = table.db.rows(f"SELECT pos, {prepared.operation} FROM {first} ORDER BY pos")
        operations = [text for pos, text in rows if pos not in prepared.dropped and text]
    return [record_of(text) for text in operations[:MAX_PROPOSAL_ROWS]]


def _propose_for_texts(name: str, texts: Sequence[str]) -> Iterator[Proposal]:
    if sum(map(_is_json, texts)) >= MIN_JSON_SHARE * len(texts):
        yield Proposal("dtype", {name: "json"}, f"`{name}` holds JSON")
    elif (share := _share(texts, " > ")) >= MIN_LEVEL_SHARE:
        evidence = f"`{name}`: {share:.0%} of {len(texts):,} values contain ` > `"
        yield Proposal("dtype", {name: "levels"}, evidence)
    else:
        yield from _propose_list(name, texts)


def _is_json(text: str) -> bool:
    if text[:1] not in ("{", "["):
        return False
    try:
        msgspec.json.decode(text)
    except msgspec.DecodeError:
        return False
    return True


def _share(texts: Sequence[str], mark: str) -> float:
    return sum(mark in text for text in texts) / len(texts)


def _propose_dates(columns: Mapping[str, Values]) -> Iterator[Proposal]:
    """Propose the order of dates that all columns have which decide one."""
    orders: dict[str, list[str]] = {}
    for name, values in columns.items():
        if isinstance(values[0], str) and (order := _find_order([*map(str, values)])):
            orders.setdefault(order, []).append(name)
    if len(orders) == 1:
        ((order, names),) = orders.items()
        shown = ", ".join(f"`{name}`" for name in names)
        values = columns[names[0]]
        yield Proposal("dates", order, f"{shown}: {len(values):,} dates such as {values[0]}")


def _propose_list(name: str, texts: Sequence[str]) -> Iterator[Proposal]:
    if texts[0][:1] in ("{", "[") or any(map(WRITTEN_DATE.search, texts[:MIN_LISTS])):
        return
    for mark in ("|", ";", ", "):
        share = _share(texts, mark)
        if share < MIN_LIST_SHARE:
            continue
        parts = [part.strip() for text in texts for part in text.split(mark)]
        words = MAX_PART_WORDS if mark == ", " else MAX_PART_CHARACTERS
        short = all(len(p) <= MAX_PART_CHARACTERS and p.count(" ") < words for p in parts)
        distinct = len(set(parts))
        if mark == ", " and sum(map(_has_digit, parts)) > MAX_DIGIT_SHARE * len(parts):
            continue
        lists = [[part.strip() for part in text.split(mark)] for text in {*texts}]
        are_lists = LISTS.search(name) is not None or _share_parts(lists)
        if short and are_lists and distinct <= MAX_DISTINCT_PARTS * len(parts):
            evidence = f"`{name}`: {share:.0%} contain `{mark}`, {distinct:,} distinct parts"
            yield Proposal("dtype", {name: "list"}, evidence)
            return


def _share_parts(lists: Sequence[Sequence[str]]) -> bool:
    """Return whether lists have parts in common, and are not texts with parts at fixed places."""
    places: dict[str, list[int]] = {}
    for parts in lists:
        for position, part in enumerate(dict.fromkeys(parts)):
            places.setdefault(part, []).append(position)
    shared = [positions for positions in places.values() if len(positions) > 1]
    varied = len({*map(len, lists)}) > 1 or any(len({*positions}) > 1 for positions in shared)
    return len(lists) >= MIN_LISTS and len(shared) >= MIN_SHARED_PARTS and varied


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def _find_order(texts: Sequence[str]) -> str:
    """Return the order of dates that some value decides; empty if there are none, or both."""
    dates = [match for text in texts if (match := DATE.fullmatch(text))]
    if len(dates) < MIN_DATE_SHARE * len(texts):
        return ""
    first = any(int(date[1]) > MAX_MONTH for date in dates)
    second = any(int(date[2]) > MAX_MONTH for date in dates)
    return {(True, False): "dmy", (False, True): "mdy"}.get((first, second), "")


def _propose_place(columns: Mapping[str, Values]) -> Iterator[Proposal]:
    lat = next((name for name in columns if name.lower() in LAT_NAMES), None)
    lng = next((name for name in columns if name.lower() in LNG_NAMES), None)
    if lat is None or lng is None:
        return
    if _are_within(columns[lat], MAX_LAT) and _are_within(columns[lng], MAX_LNG):
        yield Proposal("geo", [lat, lng], f"`{lat}` and `{lng}` are coordinates")


def _are_within(values: Values, maximum: int) -> bool:
    return bool(values) and all(_is_number(v) and abs(v) <= maximum for v in values)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _suggest_settings(columns: Mapping[str, Values], split: set[str]) -> dict[str, list[str]]:
    """Return the facets, searchable attributes and custom ranking that columns suggest."""
    texts = {name: values for name, values in columns.items() if _are_searched_texts(values)}
    facets = [
        name
        for name, values in columns.items()
        if name in split or (_is_facet(values) and not TITLES.search(name))
    ]
    ranks = [name for name, values in columns.items() if _is_rank(name, values)]
    suggested = {
        "searchableAttributes": _order_searched(texts, facets),
        "attributesForFaceting": facets[:MAX_FACETS],
        "customRanking": [f"desc({name})" for name in ranks[:MAX_RANKS]],
    }
    return {name: values for name, values in suggested.items() if values}


def _order_searched(texts: Mapping[str, Values], facets: Sequence[str]) -> list[str]:
    """Return columns of texts in the order of a search: titles, texts of several words, facets."""
    titles = [name for name in texts if TITLES.search(name)]
    worded = [name for name, values in texts.items() if _are_worded(values)]
    described = [name for name in worded if name not in facets]
    ordered = dict.fromkeys([*titles, *described, *worded, *facets])
    return [name for name in ordered if name in texts]


def _is_rank(name: str, values: Values) -> bool:
    return bool(RANKS.search(name)) and not NUMBERS.search(name) and all(map(_is_number, values))


def _are_searched_texts(values: Values) -> bool:
    texts = all(isinstance(value, str) for value in values)
    return texts and not (_are_dates_or_json(values) or _is_flag(values))


def _are_worded(texts: Values) -> bool:
    return sum(map(_is_worded, texts)) >= MIN_LEVEL_SHARE * len(texts)


def _is_flag(texts: Values) -> bool:
    """Return whether texts are two short ones, such as `Y` and `N`, which nobody searches for."""
    short = max(map(len, texts), default=0) <= MAX_FLAG_CHARACTERS
    return short and len(set(texts)) <= MAX_FLAG_VALUES


def _is_worded(text: str) -> bool:
    """Return whether a text has several words; times and phone numbers have more digits."""
    return " " in text and sum(map(str.isalpha, text)) > sum(map(str.isdigit, text))


def _are_dates_or_json(texts: Values) -> bool:
    return _is_json(texts[0]) or all(
        WRITTEN_DATE.search(text) or cell_kind(text.strip()) == MOMENT for text in texts
    )


def _is_facet(values: Values) -> bool:
    items = [item for v in values for item in (v if isinstance(v, list) else [v])]
    if not items or not all(isinstance(item, (str, bool)) for item in items):
        return False
    texts = [item for item in items if isinstance(item, str)]
    if texts and (_are_dates_or_json(texts) or max(map(len, texts)) > MAX_FACET_CHARACTERS):
        return False
    distinct = len(set(items))
    return 2 <= distinct <= min(MAX_FACET_VALUES, MAX_FACET_SHARE * len(items))
