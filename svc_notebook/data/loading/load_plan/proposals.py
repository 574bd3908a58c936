"""Proposals of a plan: options and index settings that the values of columns suggest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import Any

import msgspec

from svc_notebook.core.api.values import is_number
from svc_notebook.core.display import list_names
from svc_notebook.data.loading.encoding.json_sql import MAX_LAT, MAX_LNG
from svc_notebook.data.loading.load_plan.plan import LoadPlan, Proposal
from svc_notebook.data.loading.load_plan.preparation import Prepared, record_of
from svc_notebook.data.loading.load_plan.suggested_settings import (
    MIN_LEVEL_SHARE,
    WRITTEN_DATE,
    Values,
    collect_values,
    flatten_record,
    keep_long,
    suggest_settings,
)
from svc_notebook.data.loading.options import LoadSettings

# The rows by which options are proposed.
MAX_PROPOSAL_ROWS = 2_000
# Shares of the values of a column.
MIN_JSON_SHARE, MIN_LIST_SHARE, MIN_DATE_SHARE = 0.95, 0.3, 0.95
# Parts of lists repeat, and are short; commas also occur in sentences.
MAX_DISTINCT_PARTS, MAX_PART_CHARACTERS, MAX_PART_WORDS = 0.7, 30, 3
LAT_NAMES, LNG_NAMES = {"lat", "latitude"}, {"lng", "lon", "long", "longitude"}
DATE = re.compile(r"(\d{1,2})[./-](\d{1,2})[./-]\d{4}")
MAX_MONTH = 12
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


def add_proposals(prepared: Prepared) -> LoadPlan:
    """Return the plan of a load with what some of its rows suggest."""
    records = _read_records(prepared)
    proposals = [*_propose_options(collect_values(records), prepared.options)]
    split = {
        p.value_name for p in proposals if p.option == "dtype" and "json" not in p.value.values()
    }
    flat = keep_long(collect_values(map(flatten_record, records)))
    settings = suggest_settings(flat, len(records), split)
    return replace(prepared.plan, proposals=tuple(proposals), suggested_settings=settings)


def _propose_options(columns: Mapping[str, Values], options: LoadSettings) -> Iterator[Proposal]:
    long = keep_long(columns)
    for name, values in long.items():
        if name not in options.dtype and all(isinstance(value, str) for value in values):
            yield from _propose_for_texts(name, values)
    if options.dates is None:
        yield from _propose_dates(long)
    if options.geo is None and "_geoloc" not in columns:
        yield from _propose_place(columns)


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
    """Return records of rows at equal distances: a sorted table begins with similar ones."""
    operations = prepared.operations
    step = max(ceil(prepared.plan.rows / MAX_PROPOSAL_ROWS), 1)
    if operations is None:
        table = prepared.table
        spread = f"(SELECT * FROM {table.numbered} WHERE pos % {step} = 0)"
        rows = table.db.rows(f"SELECT pos, {prepared.operation} FROM {spread} ORDER BY pos")
        operations = [text for pos, text in rows if pos not in prepared.dropped and text]
    else:
        operations = operations[::step]
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
        values = columns[names[0]]
        yield Proposal(
            "dates", order, f"{list_names(names)}: {len(values):,} dates such as {values[0]}"
        )


def _propose_list(name: str, texts: Sequence[str]) -> Iterator[Proposal]:
    if texts[0][:1] in ("{", "[") or any(map(WRITTEN_DATE.search, texts[:MIN_LISTS])):
        return
    for mark in ("|", ";", ", "):
        share = _share(texts, mark)
        if share < MIN_LIST_SHARE:
            continue
        parts = [part for text in texts for part in _split(text, mark)]
        are_lists = LISTS.search(name) is not None or _share_parts(texts, mark)
        if are_lists and _may_be_parts(parts, mark):
            distinct = len(set(parts))
            evidence = f"`{name}`: {share:.0%} contain `{mark}`, {distinct:,} distinct parts"
            yield Proposal("dtype", {name: "list"}, evidence)
            return


def _split(text: str, mark: str) -> list[str]:
    return [part.strip() for part in text.split(mark)]


def _may_be_parts(parts: Sequence[str], mark: str) -> bool:
    """Return whether texts between separators are short, repeat and are no dates or addresses."""
    if len(set(parts)) > MAX_DISTINCT_PARTS * len(parts):
        return False
    words = MAX_PART_CHARACTERS
    if mark == ", ":
        if sum(any(map(str.isdigit, part)) for part in parts) > MAX_DIGIT_SHARE * len(parts):
            return False
        words = MAX_PART_WORDS
    return all(len(p) <= MAX_PART_CHARACTERS and p.count(" ") < words for p in parts)


def _share_parts(texts: Sequence[str], mark: str) -> bool:
    """Return whether lists have parts in common, and are not texts with parts at fixed places."""
    lists = [_split(text, mark) for text in {*texts}]
    places: dict[str, list[int]] = {}
    for parts in lists:
        for position, part in enumerate(dict.fromkeys(parts)):
            places.setdefault(part, []).append(position)
    shared = [positions for positions in places.values() if len(positions) > 1]
    varied = len({*map(len, lists)}) > 1 or any(len({*positions}) > 1 for positions in shared)
    return len(lists) >= MIN_LISTS and len(shared) >= MIN_SHARED_PARTS and varied


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
    return bool(values) and all(is_number(v) and abs(v) <= maximum for v in values)
