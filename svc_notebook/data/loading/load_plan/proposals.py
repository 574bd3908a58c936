"""Proposals of a plan: options and index settings that the values of columns suggest."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import ceil
from typing import Any

import msgspec

from svc_notebook.core.api.values import is_number
from svc_notebook.core.display import list_names
from svc_notebook.data.loading.encoding.json_sql import MAX_LAT, MAX_LNG
from svc_notebook.data.loading.load_plan.plan import LoadPlan, Proposal
from svc_notebook.data.loading.load_plan.preparation import Prepared, record_of
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.text_cells.cell_kinds import MOMENT, cell_kind

MIN_PROPOSAL_VALUES = 3
# Shares of the values of a column.
MIN_LEVEL_SHARE, MIN_TEXT_SHARE = 0.5, 0.8
# The share of the rows that have a value of an attribute which is searched or a facet.
MIN_FILLED_SHARE = 0.03
# A facet has at least 2 values, and at most this share of distinct ones.
MAX_FACET_SHARE, MAX_FACET_VALUES, MAX_FACETS = 0.5, 300, 8
# The names of titles in other languages; compounds end with them.
OTHER_TITLES = (
    r"(bezeichnung|titel|benennung|nom|titre|intitulé|libellé|nombre|título|titulo|nome|titolo"
    r"|denominazione|naam|nazwa|tytuł|название|наименование|заголовок|τίτλος|όνομα|اسم|عنوان"
    r"|名称|名稱|名前|品名|商品名|标题|標題|タイトル|이름|제목|상품명)"
)
# Names of columns that are searched first, of titles that are no facets, and of those by which hits
# are ranked.
TITLES = re.compile(
    r"(^|[^a-z])(name|title|headline|label)$|^(name|title)[^a-z]|(?-i:[a-z](Name|Title)$)"
    rf"|{OTHER_TITLES}$",
    re.I,
)
RECORD_TITLES = re.compile(
    r"(([a-z]+ly|[a-z]*user|first|last|middle|full|given|display|nick|product|item)?[_ ]?name"
    rf"|title|headline|label|\w*{OTHER_TITLES})$",
    re.I,
)
RANKS = re.compile(
    r"(?<![a-z])(ratings?|popularity|sales|sold|reviews?|views|votes|stars|score|downloads)(?![a-z])"
    r"|^(bewertung(en)?|verkäufe|beliebtheit|aufrufe|ventes|popularité|avis|ventas|valoraci[oó]n(es)?"
    r"|puntuaci[oó]n|vendite|valutazion[ei]|recensioni|avaliaç(ão|ões)|vendas|beoordelingen"
    r"|рейтинг|продажи|отзывы|销量|評分|评分|评论数|浏览量|销售量|評価|レビュー数|판매량|평점)$",
    re.I,
)
SCORES = re.compile(r"(?<![a-z])score(?![a-z])", re.I)
# A day and its month, as in `Sep 26, 2016`.
WRITTEN_DATE = re.compile(
    r"(?:^|\b\d{1,2}[.-]? ?)(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?(?![a-z])",
    re.I,
)
# Several words of a script without blanks.
UNSPACED_WORDS = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]{5}")
ADDRESS = re.compile(r"[a-z]+://|www\.|mailto:", re.I)
# Several words of which the last one ends a sentence.
SENTENCE = re.compile(r"(\S+\s+){3,}\S+[.!?]\s*|\S{9,}[\u3002\uff01\uff1f]\s*", re.S)
MAX_FACET_CHARACTERS = 60
# Texts of digits, such as sizes and periods, are a facet if they are this few, and no codes.
MAX_FACET_CODES = 20
CODE = re.compile(r"\+?0\d+|\+\d+|\d{5,}")
# Of a flag, such as `Yes` and `No`: the length of its words, and the number of its values.
MAX_FLAG_CHARACTERS, MAX_FLAG_VALUES = 3, 2
# A longer text without a blank is a key.
MAX_WORD_CHARACTERS = 40
IDS = re.compile(r"(?<![a-z])([a-z]|uu|gu)?id$|(?-i:[a-z](Id|ID)$)", re.I)
NUMBERS = re.compile(r"(?<![a-z])(number|no|id|code|rank)(?![a-z])", re.I)
MAX_RANKS, MAX_SEARCHED = 3, 20
# Members of objects are attributes with a name such as `name.common`, as far as this; those of
# geometries are not for searches.
MAX_NESTED = 2
GEOMETRIES = {"geometry", "_geoloc"}

Values = Sequence[Any]
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
    if text[:1] in ("{", "["):
        with suppress(msgspec.DecodeError):
            msgspec.json.decode(text)
            return True
    return False


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


def collect_values(records: Iterable[Mapping[str, Any]]) -> dict[str, Values]:
    """Return the values of each column, without missing ones and the objectIDs."""
    columns: dict[str, list[Any]] = {}
    for record in records:
        for name, value in record.items():
            if name != "objectID" and value is not None:
                columns.setdefault(name, []).append(value)
    return {**columns}


def keep_long(columns: Mapping[str, Values]) -> dict[str, Values]:
    """Return the columns with enough values to suggest anything."""
    return {n: values for n, values in columns.items() if len(values) >= MIN_PROPOSAL_VALUES}


def flatten_record(record: Mapping[str, Any], nested: int = 1) -> dict[str, Any]:
    """Return the attributes of a record; members of objects are attributes with joined names."""
    flat: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, dict) and nested < MAX_NESTED and name not in GEOMETRIES:
            members = flatten_record(value, nested + 1)
            flat |= {f"{name}.{member}": inner for member, inner in members.items()}
        else:
            flat[name] = value
    return flat


def suggest_settings(
    columns: Mapping[str, Values], rows: int, split: set[str]
) -> dict[str, list[str]]:
    """Return the facets, searchable attributes and custom ranking that columns suggest."""
    columns = {n: values for n, values in columns.items() if len(values) >= MIN_FILLED_SHARE * rows}
    texts = {name: values for name, values in columns.items() if _are_searched(name, values)}
    facets = [n for n, values in columns.items() if n in split or _is_facet(n, values)]
    suggested = {
        "searchableAttributes": _order_searched(texts, facets)[:MAX_SEARCHED],
        "attributesForFaceting": facets[:MAX_FACETS],
        "customRanking": [*map("desc({})".format, _find_ranks(columns)[:MAX_RANKS])],
    }
    return {name: values for name, values in suggested.items() if values}


def _order_searched(texts: Mapping[str, Values], facets: Sequence[str]) -> list[str]:
    """Return columns of texts in the order of a search: titles, texts of several words, facets."""
    titles = [name for name in texts if TITLES.search(name)]
    worded = [name for name, values in texts.items() if _most(_is_worded, values)]
    described = [name for name in worded if name not in facets]
    others = [name for name in texts if name not in facets]
    return [*dict.fromkeys([*titles, *described, *others, *worded, *texts])]


def _find_ranks(columns: Mapping[str, Values]) -> list[str]:
    """Return the columns by which hits are ranked; scores of two teams are not among them."""
    named = [
        name
        for name, values in columns.items()
        if RANKS.search(name) and not NUMBERS.search(name) and all(map(is_number, values))
    ]
    scores = [name for name in named if SCORES.search(name)]
    return named if len(scores) < 2 else [name for name in named if name not in scores]


def _are_searched(name: str, values: Values) -> bool:
    """Return whether a column has different words; a title can be a number."""
    items = _list_items(values)
    texts = [item for item in items if isinstance(item, str)]
    if len(set(texts)) < 2 or len(texts) < MIN_TEXT_SHARE * len(items):
        return False
    if len(texts) + sum(map(is_number, items)) < len(items):
        return False
    if _are_dates_or_json(texts) or _is_flag(texts):
        return False
    is_key = NUMBERS.search(name) and " " not in "".join(texts)
    return not is_key and _most(_has_words, texts)


def _list_items(values: Values) -> list[Any]:
    """Return values, and the items of those that are lists."""
    return [item for v in values for item in (v if isinstance(v, list) else [v])]


def _most(condition: Callable[[str], bool], values: Values) -> bool:
    return sum(condition(str(value)) for value in values) >= MIN_LEVEL_SHARE * len(values)


def _is_flag(texts: Values) -> bool:
    """Return whether texts are short ones, such as `Y` and `N`, which nobody searches for."""
    longest = max(map(len, texts), default=0)
    return longest <= 1 or (longest <= MAX_FLAG_CHARACTERS and len(set(texts)) <= MAX_FLAG_VALUES)


def _has_words(text: str) -> bool:
    """Return whether a text has words: codes, times and phone numbers have more digits."""
    if ADDRESS.match(text) or (" " not in text and len(text) > MAX_WORD_CHARACTERS):
        return False
    return sum(map(str.isalpha, text)) > sum(map(str.isdigit, text))


def _is_worded(text: str) -> bool:
    """Return whether a text has several words."""
    is_sequence = " " in text or UNSPACED_WORDS.search(text)
    return bool(is_sequence) and _has_words(text)


def _are_dates_or_json(texts: Values) -> bool:
    return texts[0][:1] in ("{", "[") or all(
        WRITTEN_DATE.search(text) or cell_kind(text.strip()) == MOMENT for text in texts
    )


def _is_facet(name: str, values: Values) -> bool:
    """Return whether a column has the names of a few groups, and neither titles nor ids."""
    if RECORD_TITLES.match(name) or IDS.search(name):
        return False
    items = _list_items(values)
    if not items or not all(isinstance(item, (str, bool)) for item in items):
        return False
    texts = [item for item in items if isinstance(item, str)]
    distinct = len(set(items))
    if texts and not _are_facet_texts(texts, distinct):
        return False
    return 2 <= distinct <= min(MAX_FACET_VALUES, MAX_FACET_SHARE * len(items))


def _are_facet_texts(texts: Values, distinct: int) -> bool:
    """Return whether texts are names of groups: no dates, addresses, sentences or many codes."""
    if _are_dates_or_json(texts) or max(map(len, texts)) > MAX_FACET_CHARACTERS:
        return False
    if any(map(ADDRESS.match, texts)) or _most(lambda text: bool(SENTENCE.fullmatch(text)), texts):
        return False
    if _most(_has_words, texts):
        return True
    return distinct <= MAX_FACET_CODES and not any(map(CODE.fullmatch, texts))
