"""Facets, searchable attributes and custom ranking that the values of columns suggest."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from svc_notebook.core.api.values import is_number
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
