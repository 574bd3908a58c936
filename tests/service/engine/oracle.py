"""The ranking once more, record by record in plain Python, as slow as it is simple.

Written from the rules, not from the engine; the engine must agree with it on every case.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

CAP = 8
EARTH = 6_371_008.8
STOP_WORDS = {"stop"}
"""The words of the cases that are stop words in some language."""
DEFAULT_RANKING = ["typo", "geo", "words", "filters", "proximity", "attribute", "exact", "custom"]
Record = Mapping[str, Any]


class Word(NamedTuple):
    """One word of a record: where it stands."""

    text: str
    rank: int
    path: str
    item: int
    place: int
    alone: bool
    bracketed: str = ""


class Way(NamedTuple):
    """One way to write a query word."""

    words: tuple[str, ...]
    typos: int = 0
    forgiven: int = 0
    prefix: bool = False
    exact: bool = True
    run: int = -1
    """Where the run of query words begins for all of which it stands at once."""


class Hit(NamedTuple):
    """An occurrence of a query word in a record."""

    typos: int
    exact: bool
    first: Word
    length: int
    run: int = -1
    marked: bool = False
    """Whether it is the end of a placeholder."""


@dataclass
class Wanted:
    """One word of the query."""

    text: str
    ways: list[Way]
    optional: bool = False
    weight: int = 1


@dataclass
class Row:
    """A record that matches, and the value of every criterion."""

    record: Record
    nbTypos: int = 0
    words: int = 0
    filters: int = 0
    proximityDistance: int = 0
    firstMatchedWord: int = 0
    nbExactWords: int = 0
    textScore: float = 0
    geoDistance: int = 0
    geoPrecision: int = 1
    matchedGeoLocation: Mapping[str, float] | None = None
    stretch: float = 0


# ------------------------------------------------------------------------------ reading records


def leaves(value: object, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner, path)
    elif value is not None:
        yield path, value


def values_at(record: Record, path: str) -> list[Any]:
    return [value for name in record for at, value in leaves(record[name], name) if at == path]


def written(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    return str(value)


class Placed(NamedTuple):
    """A word of a text: its place, its ends, and whether it is only a part of a joined word."""

    text: str
    place: int
    start: int
    end: int
    part: bool


def parts_of(text: str) -> list[list[re.Match[str]]]:
    """Return the words of a text, each as what periods and apostrophes join."""
    words: list[list[re.Match[str]]] = []
    lower = text.lower()
    for part in re.finditer("[a-z0-9]+", lower):
        before = words[-1][-1] if words else None
        between = lower[before.end() : part.start()] if before else ""
        joined = between == "'" or (between == "." and before and not before[0].isdigit())
        if joined:
            words[-1].append(part)
        else:
            words.append([part])
    return words


def split(text: str) -> list[str]:
    return ["".join(part[0] for part in parts) for parts in parts_of(text)]


def long_parts(parts: list[re.Match[str]]) -> list[re.Match[str]]:
    return [part for part in parts if len(parts) > 1 and len(part[0]) > 2]


def split_indexed(text: str) -> list[str]:
    """Return the words by which a text takes up its places."""
    words = []
    for parts in parts_of(text):
        long = [part[0] for part in long_parts(parts)]
        words += long if len(long) > 1 else ["".join(part[0] for part in parts)]
    return words


def typed(text: str) -> list[list[str]]:
    return [[part[0] for part in parts] for parts in parts_of(text)]


def place_words(text: str) -> Iterator[Placed]:
    place = 0
    for parts in parts_of(text):
        whole = "".join(part[0] for part in parts)
        long = long_parts(parts)
        width = max(1, len(long))
        for at in {place, place + width - 1}:
            yield Placed(whole, at, parts[0].start(), parts[-1].end(), part=False)
        for at, part in enumerate(long, place):
            yield Placed(part[0], at, part.start(), part.end(), part=True)
        place += width


def senses(synonym: Mapping[str, Any]) -> Iterator[tuple[list[str], list[str], int]]:
    """Return what one synonym makes of what, and for how many typos."""
    match synonym["type"]:
        case "synonym":
            words = list(map(split, synonym["synonyms"]))
            yield from ((one, other, 0) for one in words for other in words if one != other)
        case "onewaysynonym":
            one = split(synonym["input"])
            words = list(map(split, synonym["synonyms"]))
            yield from ((one, other, 0) for other in words if one != other)
        case "placeholder":
            token = bracketed(split(synonym["placeholder"]))
            yield from ((split(one), token, 0) for one in synonym["replacements"])
        case kind:
            one = split(synonym["word"])
            words = list(map(split, synonym["corrections"]))
            yield from ((one, other, int(kind[-1])) for other in words if one != other)


def bracketed(words: list[str]) -> list[str]:
    """Return the words of a placeholder, told from plain ones by their brackets."""
    text = "<" + " ".join(words) + ">"
    return text.split(" ")


def split_bracketed(text: str) -> Iterator[tuple[Placed, str]]:
    """Return each word, and as it is with the ends of brackets it touches."""
    around = list(re.finditer("<([^<>]{1,100})>", text))
    for word in place_words(text):
        told = word.text
        for one in around if not word.part else ():
            if one.start() < word.start < one.end():
                told = "<" * (not split(text[one.start() : word.start])) + told
                told += ">" * (not split(text[word.end : one.end()]))
        yield word, told


class Oracle:
    """An index that keeps its records as they are."""

    def __init__(
        self, settings: Mapping[str, Any], records: Mapping[str, Record] | None = None
    ) -> None:
        self.settings = settings
        self.records: dict[str, Record] = dict(records or {})
        self.entries = [
            (rank, re.sub(r".*\((.*)\)", r"\1", part), "," in entry or "unordered" in part)
            for rank, entry in enumerate(settings.get("searchableAttributes", []))
            for part in entry.split(",")
        ]

    def words_of(self, record: Record) -> list[Word]:
        texts: list[tuple[int, str, int, bool, str]] = []
        for name in record:
            for path, value in leaves(record[name], name):
                slot = self.slot_of(path)
                if slot is None or isinstance(value, bool):
                    continue
                if not self.entries and not isinstance(value, str):
                    continue
                rank, unordered = (0, True) if not self.entries else self.entries[slot][::2]
                texts.append((slot, path, rank, bool(unordered), written(value)))
        found = []
        position: Counter[str] = Counter()
        paths = sorted({path for _, path, *_ in texts})
        texts.sort(key=lambda text: (text[0] if self.entries else paths.index(text[1]), text[1]))
        for item, (_, path, rank, unordered, text) in enumerate(texts):
            words = list(split_bracketed(text))
            for word, told in words:
                spot = 0 if unordered else min(position[path] + word.place, 999)
                alone = len(split(text)) == 1 and not word.part
                found.append(
                    Word(word.text, rank * 1000 + spot, path, item, word.place, alone, told)
                )
            position[path] += max((word.place + 1 for word, _ in words), default=0)
        return found

    def score_texts(self, asked: Asked, rows: list[Row]) -> None:
        """Give each row its BM25F: rarities and mean lengths are those of all records."""
        words = {name: self.words_of(record) for name, record in self.records.items()}
        lengths = {name: Counter(map(self.field_of, found)) for name, found in words.items()}
        found = {
            name: [asked.find(wanted, asked.searched_of(some)) for wanted in asked.wanted]
            for name, some in words.items()
        }
        for number in range(len(asked.wanted)):
            typos = [hits[number][0].typos for hits in found.values() if hits[number]]
            having = typos.count(min(typos, default=0))
            rarity = math.log(1 + (len(words) - having + 0.5) / (having + 0.5))
            for row in rows:
                name = row.record["objectID"]
                often = 0.0
                for exact, word in distinct_hits(found[name][number]):
                    field = self.field_of(word)
                    some = [each[field] for each in lengths.values() if each[field]]
                    rank = self.entries[field][0] if self.entries else 0
                    weight = self.weight_of(field, rank, asked) * (1 if exact else 0.1)
                    mean = sum(some) / len(some)
                    part = weight / (0.25 + 0.75 * lengths[name][field] / mean)
                    often += round(part * 2**20) / 2**20
                row.textScore += rarity * often / (often + 1.2)
        for row in rows:
            row.textScore = round(row.textScore, 4)

    def weight_of(self, field: int, rank: int, asked: Asked) -> float:
        given = asked["attributeWeights"]
        if given == "halving" or not self.entries:
            return max(0.1, 0.5**rank)
        numbers = {} if given == "flat" else dict(given)
        return float(numbers.get(self.entries[field][1], 1))

    def field_of(self, word: Word) -> int:
        return self.slot_of(word.path) or 0

    def slot_of(self, path: str) -> int | None:
        if not self.entries:
            return None if path in ("objectID", "_tags", "_geoloc") else 0
        return next((n for n, entry in enumerate(self.entries) if inside(path, entry[1])), None)

    def search(self, params: Mapping[str, Any]) -> list[Row]:
        asked = Asked(self.settings, params)
        rows = self.rows_for(asked)
        for fewer in asked.looser():
            if rows:
                break
            asked = fewer
            rows = self.rows_for(asked)
        self.score_texts(asked, rows)
        return sorted(rows, key=lambda row: (*asked.sort_key(row), row.record["objectID"]))

    def matching(self, params: Mapping[str, Any]) -> list[str]:
        asked = Asked(self.settings, {**params, "query": ""})
        return [name for name, record in self.records.items() if asked.passes(record)]

    def told(self, params: Mapping[str, Any]) -> dict[str, str]:
        """Return what the answer tells of the centre."""
        asked = Asked(self.settings, params)
        centre = asked.centre
        if centre is None:
            return {}
        told = {"aroundLatLng": asked["aroundLatLng"]}
        if not asked["aroundRadius"]:
            far = [
                min(metres(centre, place) for place in places)
                for record in self.records.values()
                if (places := places_of(record))
            ]
            least = asked["minimumAroundRadius"] or 1
            told["automaticRadius"] = str(max(least, math.ceil(max(far, default=0))))
        return told

    def grouped(self, rows: list[Row], params: Mapping[str, Any]) -> list[list[Row]]:
        """Put rows into groups of what `distinct` keeps; without it each is its own."""
        asked = Asked(self.settings, params)
        path, most = asked["attributeForDistinct"], int(asked["distinct"] or 0)
        if not path or not most:
            return [[row] for row in rows]
        groups: dict[object, list[Row]] = {}
        for row in rows:
            groups.setdefault(group_of(row.record, path), []).append(row)
        return [group[:most] for group in groups.values()]

    def rows_for(self, asked: Asked) -> list[Row]:
        rows = [
            row
            for record in self.records.values()
            if asked.passes(record) and (row := asked.match(record, self.words_of(record)))
        ]
        kept = {"min": 1, "strict": 2}.get(asked["typoTolerance"])
        if kept and rows and asked.wanted:
            most = sorted({row.nbTypos for row in rows})[:kept][-1]
            rows = [row for row in rows if row.nbTypos <= most]
        return rows


def inside(path: str, entry: str) -> bool:
    return path == entry or path.startswith(entry + ".")


DEFAULTS: dict[str, Any] = {
    "attributeWeights": "halving",
    "query": "",
    "ranking": DEFAULT_RANKING,
    "customRanking": [],
    "typoTolerance": True,
    "minWordSizefor1Typo": 4,
    "minWordSizefor2Typos": 8,
    "allowTyposOnNumericTokens": True,
    "queryType": "prefixLast",
    "minProximity": 1,
    "exactOnSingleWordQuery": "attribute",
    "alternativesAsExact": ["ignorePlurals", "singleWordSynonym"],
    "removeWordsIfNoResults": "none",
    "sortFacetValuesBy": "count",
    "maxValuesPerFacet": 100,
}


class Asked:
    """A query with its parameters."""

    def __init__(self, settings: Mapping[str, Any], params: Mapping[str, Any]) -> None:
        self.given = {**settings, **params}
        self.searched = bool(settings.get("searchableAttributes"))
        self.wanted: list[Wanted] = []
        self.excluded: list[tuple[str, ...]] = []
        self.read_query()
        self.read_optional()

    def __getitem__(self, name: str) -> Any:
        return self.given.get(name, DEFAULTS.get(name, []))

    # -------------------------------------------------------------------------- reading queries

    def read_query(self) -> None:
        parts = re.findall(r'-?"[^"]*"|\S+', self["query"]) if self["advancedSyntax"] else []
        run: list[list[str]] = []
        for part in parts:
            if part.startswith('"'):
                self.add_run(run, ends=False)
                run = []
                words, other = tuple(split(part)), tuple(split_indexed(part))
                ways = [Way(words), Way(other)]
                self.wanted += [Wanted(" ".join(words), ways, weight=len(words))]
            elif part.startswith("-"):
                self.add_run(run, ends=False)
                run = []
                self.excluded += [tuple(split(part)), tuple(split_indexed(part))]
            else:
                run += typed(part)
        self.add_run(run if parts else typed(self["query"]), ends=True)

    def add_run(self, run: list[list[str]], *, ends: bool) -> None:
        words = list(map("".join, run))
        kind = self["queryType"]
        start = len(self.wanted)
        for place, word in enumerate(words):
            last = ends and place == len(words) - 1
            prefix = kind == "prefixAll" or (kind == "prefixLast" and last)
            forgiven = self.forgiven(word)
            ways = [Way((word,), 0, forgiven, prefix)]
            if forgiven:
                cuts = range(1, min(13, len(word)))
                ways += [Way((word[:cut], word[cut:]), 1, exact=False) for cut in cuts]
            if len(run[place]) > 1 and self.joinable(word):
                ways.append(Way(tuple(run[place]), 1, exact=False))
            self.wanted.append(Wanted(word, ways))
        for place in range(len(words) - 1):
            self.add_joined(words[place : place + 2], start + place)
        self.add_joined(words, start)
        if self.given.get("synonyms", True):
            self.add_synonyms(words, start)

    def add_joined(self, words: list[str], start: int) -> None:
        if len(words) > 1 and all(map(self.joinable, words)):
            for number, wanted in enumerate(self.wanted[start : start + len(words)]):
                cost = 0 if number else 1
                wanted.ways.append(Way(("".join(words),), cost, exact=False, run=start))

    def add_synonyms(self, words: list[str], start: int) -> None:
        for entry in self["_synonyms"]:
            for source, target, typos in senses(entry):
                for place in range(len(words) - len(source) + 1):
                    run = words[place : place + len(source)]
                    if run == source and not (typos and not all(map(self.joinable, run))):
                        self.add_sense(start + place, len(run), target, typos)
                    elif (
                        entry["type"] in ("synonym", "onewaysynonym")
                        and run[:-1] == source[:-1]
                        and source[-1].startswith(run[-1])
                        and self.wanted[start + place + len(run) - 1].ways[0].prefix
                    ):
                        self.add_sense(start + place, len(run), target, 0, typing=True)

    def add_sense(
        self, start: int, count: int, target: list[str], typos: int, *, typing: bool = False
    ) -> None:
        single = count == len(target) == 1
        kind = "singleWordSynonym" if single else "multiWordsSynonym"
        exact = not typos and not typing and kind in self["alternativesAsExact"]
        for place in range(start, start + count):
            cost = typos if place == start else 0
            run = start if count > 1 else -1
            self.wanted[place].ways.append(Way(tuple(target), cost, 0, False, exact, run))

    def joinable(self, word: str) -> bool:
        return self["typoTolerance"] is not False and word not in self.unforgiven

    @property
    def unforgiven(self) -> set[str]:
        return {word for text in self["disableTypoToleranceOnWords"] for word in split(text)}

    def forgiven(self, word: str) -> int:
        if not self.joinable(word):
            return 0
        if not self["allowTyposOnNumericTokens"] and re.search("[0-9]", word):
            return 0
        if len(word) >= self["minWordSizefor2Typos"]:
            return 2
        return 1 if len(word) >= self["minWordSizefor1Typo"] else 0

    def read_optional(self) -> None:
        texts = [wanted.text for wanted in self.wanted]
        for entry in self["optionalWords"]:
            words = split(entry)
            for start in range(len(texts)):
                if words and texts[start : start + len(words)] == words:
                    for wanted in self.wanted[start : start + len(words)]:
                        wanted.optional = True

    def looser(self) -> Iterator[Asked]:
        how, count = self["removeWordsIfNoResults"], len(self.wanted)
        if how == "allOptional" and count > 1:
            yield self.with_optional(range(count))
        for some in range(1, min(count, 6)) if how in ("lastWords", "firstWords") else ():
            yield self.with_optional(
                range(count - some, count) if how == "lastWords" else range(some)
            )

    def with_optional(self, places: Sequence[int]) -> Asked:
        asked = object.__new__(Asked)
        asked.given, asked.searched, asked.excluded = self.given, self.searched, self.excluded
        asked.wanted = [
            Wanted(one.text, one.ways, one.optional or place in places, one.weight)
            for place, one in enumerate(self.wanted)
        ]
        return asked

    # ------------------------------------------------------------------------------- one record

    def searched_of(self, words: list[Word]) -> list[Word]:
        if restricted := self["restrictSearchableAttributes"]:
            return [word for word in words if any(inside(word.path, r) for r in restricted)]
        return words

    def match(self, record: Record, words: list[Word]) -> Row | None:
        words_in = self.searched_of(words)
        if any(occurrences_of_phrase(words, phrase) for phrase in self.excluded):
            return None
        found = [self.find(wanted, words_in) for wanted in self.wanted]
        if any(not hits and not one.optional for hits, one in zip(found, self.wanted, strict=True)):
            return None
        if self.wanted and not any(found):
            return None
        row = Row(record)
        row.filters = self.score(record)
        self.measure(row)
        for hits, one in zip(found, self.wanted, strict=True):
            if hits:
                row.nbTypos += hits[0].typos
                row.words += one.weight
                row.nbExactWords += one.weight * self.is_exact(one, hits)
        self.place(row, found)
        return row

    def find(self, wanted: Wanted, words: list[Word]) -> list[Hit]:
        hits = [hit for way in wanted.ways for hit in self.find_way(way, words)]
        fewest = min((hit.typos for hit in hits), default=0)
        return [hit for hit in hits if hit.typos == fewest]

    def find_way(self, way: Way, words: list[Word]) -> Iterator[Hit]:
        rigid, whole = self["disableTypoToleranceOnAttributes"], self["disablePrefixOnAttributes"]
        if len(way.words) > 1:
            for word in occurrences_of_phrase(words, way.words):
                if not (way.typos and any(inside(word.path, entry) for entry in rigid)):
                    marked = way.words[0] != word.text
                    yield Hit(way.typos, way.exact, word, len(way.words), way.run, marked)
            return
        for word in words:
            strict = any(inside(word.path, entry) for entry in rigid)
            prefix = way.prefix and not any(inside(word.path, entry) for entry in whole)
            typos = typos_between(way.words[0], word.text, prefix)
            if way.words[0] == word.bracketed != word.text:
                yield Hit(0, way.exact, word, 1, way.run, marked=True)
            if typos and (strict or word.text in self.unforgiven or typos > way.forgiven):
                continue
            if not (way.typos and strict):
                exact = way.exact and word.text == way.words[0]
                yield Hit(way.typos + typos, exact, word, 1, way.run)

    def is_exact(self, wanted: Wanted, hits: list[Hit]) -> bool:
        mode = self["exactOnSingleWordQuery"]
        single = len(self.wanted) == 1 and wanted.weight == 1
        silent = len(wanted.text) < 3 or wanted.text in STOP_WORDS
        if single and (mode == "none" or (mode == "word" and silent)):
            return False
        off = self["disableExactOnAttributes"]
        return any(
            hit.exact
            and not any(inside(hit.first.path, entry) for entry in off)
            and (hit.first.alone or not (single and mode == "attribute"))
            for hit in hits
        )

    def place(self, row: Row, found: list[list[Hit]]) -> None:
        """Find the nearest choice of occurrences, and the best rank among the nearest."""
        present = [hits for hits in found if hits]
        least, several = self["minProximity"], len(self.wanted) > 1
        choices: dict[tuple[int, int], set[tuple[int, int]]] = {}
        best: list[tuple[int, int]] = []
        for number, hits in enumerate(present):
            after = {}
            for at, hit in enumerate(hits):
                ways = (
                    {(0, hit.first.rank)}
                    if number == 0
                    else {
                        (cost + distance(before, hit, least), min(rank, hit.first.rank))
                        for at2, before in enumerate(present[number - 1])
                        for cost, rank in choices[number - 1, at2]
                    }
                )
                after[number, at] = {min(ways)}
            choices = after
            best = [min(ways) for ways in after.values()]
        ranking = self["ranking"]
        by_distance = self["attributeCriteriaComputedByMinProximity"] or (
            {"proximity", "attribute"} <= set(ranking)
            and ranking.index("proximity") < ranking.index("attribute")
        )
        if not present:
            return
        if several and least < CAP:
            row.proximityDistance = min(best)[0]
        nearest = by_distance and several and least < CAP
        ranks = [hit.first.rank for hits in present for hit in hits]
        if self.searched:
            row.firstMatchedWord = min(best)[1] if nearest else min(ranks)

    # -------------------------------------------------------------------------------- filtering

    def passes(self, record: Record) -> bool:
        if not self.passes_place(record):
            return False
        return all(
            any(holds(term, record, self.facets) for term in group) for group in self["_filter"]
        )

    def passes_place(self, record: Record) -> bool:
        places = places_of(record)
        if boxes := self["insideBoundingBox"]:
            return any(in_box(place, box) for place in places for box in boxes)
        if polygons := self["insidePolygon"]:
            return any(in_polygon(place, polygon) for place in places for polygon in polygons)
        if centre := self.centre:
            # So few records are all within the radius that nobody gave.
            given = self["aroundRadius"]
            radius = given if isinstance(given, int) else math.inf
            return any(metres(centre, place) <= radius for place in places)
        return True

    @property
    def centre(self) -> tuple[float, float] | None:
        if self["insideBoundingBox"] or self["insidePolygon"] or not self["aroundLatLng"]:
            return None
        lat, lng = self["aroundLatLng"].split(",")
        return float(lat), float(lng)

    def measure(self, row: Row) -> None:
        centre = self.centre
        if centre is None:
            return
        nearest = min(places_of(row.record), key=lambda place: metres(centre, place))
        far = metres(centre, nearest)
        given = self["aroundPrecision"] or 10
        steps: list[dict[str, int]] = (
            [{"from": 0, "value": given}] if isinstance(given, int) else given
        )
        step = {"from": 0, "value": 10}
        for one in sorted(steps, key=lambda one: one["from"]):
            step = one if one["from"] <= far else step
        row.geoPrecision = max(step["value"], 10)
        row.geoDistance = int(far // row.geoPrecision)
        row.stretch = max(row.geoDistance * row.geoPrecision, step["from"])
        lat, lng = nearest
        row.matchedGeoLocation = {"lat": lat, "lng": lng, "distance": int(far)}

    def score(self, record: Record) -> int:
        combine = sum if self["sumOrFiltersScores"] else max
        return sum(
            combine(term["score"] if holds(term, record, self.facets) else 0 for term in group)
            for group in [*self["_filter"], *self["_optional"]]
        )

    @property
    def facets(self) -> set[str]:
        texts = self["attributesForFaceting"]
        return {re.sub(r".*\(([^()]*)\)+", r"\1", text) for text in texts}

    # ---------------------------------------------------------------------------------- sorting

    def sort_key(self, row: Row) -> list[Any]:
        values: dict[str, float] = {
            "typo": row.nbTypos,
            "geo": row.stretch,
            "words": -row.words,
            "filters": -row.filters,
            "proximity": row.proximityDistance,
            "attribute": row.firstMatchedWord,
            "exact": -row.nbExactWords,
            "text": -row.textScore,
        }
        ranking = list(self["ranking"])
        near = [entry for entry in ranking if entry in ("proximity", "attribute", "exact")]
        if self["enableReRanking"] and near:
            ranking[ranking.index(near[0])] = "text"
            ranking = [entry for entry in ranking if entry not in near]
        if self["typoTolerance"] in ("min", "strict"):
            ranking.insert(0, "typo")
        key: list[Any] = []
        for entry in ranking:
            if entry == "custom":
                key += [sort_value(row.record, one) for one in self["customRanking"]]
            else:
                key.append(values[entry] if entry in values else sort_value(row.record, entry))
        return key if self["_browse"] else [*key, values["text"]]


def distinct_hits(hits: list[Hit]) -> Iterator[tuple[bool, Word]]:
    """Return each indexed word once, exact if it is so in any way."""
    for found in {(hit.first, hit.marked) for hit in hits}:
        here = [hit for hit in hits if (hit.first, hit.marked) == found]
        yield any(hit.exact for hit in here), found[0]


def places_of(record: Record) -> list[tuple[float, float]]:
    found = record.get("_geoloc")
    pairs: list[tuple[Any, Any]] = [
        (one.get("lat"), one.get("lng"))
        for one in (found if isinstance(found, list) else [found])
        if isinstance(one, dict)
    ]
    return [
        (round(lat, 4), round(lng, 4))
        for lat, lng in pairs
        if type(lat) in (int, float) and type(lng) in (int, float)
        if abs(lat) <= 90 and abs(lng) <= 180
    ]


def metres(one: tuple[float, float], other: tuple[float, float]) -> float:
    (lat1, lng1), (lat2, lng2) = (map(math.radians, place) for place in (one, other))
    flat = math.cos(lat1) * math.cos(lat2) * math.sin((lng2 - lng1) / 2) ** 2
    return 2 * EARTH * math.asin(math.sqrt(min(1, math.sin((lat2 - lat1) / 2) ** 2 + flat)))


def in_box(place: tuple[float, float], box: Sequence[float]) -> bool:
    lat, lng = place
    south, north = sorted(box[::2])
    west, east = box[1::2]
    if abs(west - east) <= 180:
        west, east = min(west, east), max(west, east)
    along = west <= lng <= east if west <= east else lng >= west or lng <= east
    return south <= lat <= north and along


def in_polygon(place: tuple[float, float], polygon: Sequence[float]) -> bool:
    lat, lng = place
    corners = list(zip(polygon[::2], polygon[1::2], strict=True))
    edges = list(zip(corners, corners[1:] + corners[:1], strict=True))
    crossed = [
        lng < lng1 + (lat - lat1) / (lat2 - lat1) * (lng2 - lng1)
        for (lat1, lng1), (lat2, lng2) in edges
        if min(lat1, lat2) <= lat < max(lat1, lat2)
    ]
    # An edge belongs to its polygon, as the one along the antimeridian.
    on_edge = any(
        (lat - lat1) * (lng2 - lng1) == (lng - lng1) * (lat2 - lat1)
        and min(lat1, lat2) <= lat <= max(lat1, lat2)
        and min(lng1, lng2) <= lng <= max(lng1, lng2)
        for (lat1, lng1), (lat2, lng2) in edges
    )
    return on_edge or sum(crossed) % 2 == 1


def group_of(record: Record, path: str) -> object:
    values = values_at(record, path)
    if not values or isinstance(values[0], bool):
        return record["objectID"], "alone"
    return values[0] if isinstance(values[0], str) else str(round(values[0]))


def occurrences_of_phrase(words: list[Word], phrase: tuple[str, ...]) -> list[Word]:
    at: dict[tuple[int, int], set[str]] = {}
    for word in words:
        at.setdefault((word.item, word.place), set()).update({word.text, word.bracketed})
    return [
        word
        for word in words
        if phrase[0] in (word.text, word.bracketed)
        if all(
            text in at.get((word.item, word.place + step), ()) for step, text in enumerate(phrase)
        )
    ]


def distance(before: Hit, after: Hit, least: int) -> int:
    found = CAP
    same = before.first.item == after.first.item and before.first.place == after.first.place
    if before.run == after.run >= 0 and same:
        return max(1, least)
    if before.first.item == after.first.item:
        forth = after.first.place - (before.first.place + before.length - 1)
        back = before.first.place - (after.first.place + after.length - 1)
        if forth > 0:
            found = forth
        elif back > 0:
            found = back + 1
    return max(found, least) if found < CAP else CAP


def holds(term: Mapping[str, Any], record: Record, facets: set[str]) -> bool:
    values = values_at(record, term["path"])
    numbers = [
        value for value in values if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    match term["kind"]:
        case "facet":
            known = term["path"] in facets
            found = known and term["value"].lower() in [written(v).lower() for v in values]
        case "tag":
            found = term["value"] in values
        case "between":
            found = any(term["low"] <= number <= term["high"] for number in numbers)
        case _:
            tests = {
                "<": lambda n: n < term["number"],
                "<=": lambda n: n <= term["number"],
                "=": lambda n: n == term["number"],
                "!=": lambda n: n == term["number"],
                ">=": lambda n: n >= term["number"],
                ">": lambda n: n > term["number"],
            }
            found = any(map(tests[term["operator"]], numbers))
            found = not found if term["operator"] == "!=" else found
    return bool(found) is not term["negated"]


class Reversed:
    """A text that sorts the other way round."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __lt__(self, other: Reversed) -> bool:
        return self.text > other.text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reversed) and self.text == other.text


def sort_value(record: Record, entry: str) -> tuple[Any, ...]:
    way, path = entry.rstrip(")").split("(")
    values = values_at(record, path)
    numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    texts = sorted(written(value) for value in values if isinstance(value, str | bool))
    if not values:
        return (1, 0)
    if numbers:
        return (0, 0, numbers[0]) if way == "asc" else (0, 1, -numbers[0])
    return (0, 1, texts[0]) if way == "asc" else (0, 0, Reversed(texts[0]))


# ------------------------------------------------------------------------------- spelling


@cache
def typos_between(word: str, other: str, prefix: bool) -> int:
    """Return how far `other`, or its nearest beginning, is away."""
    if other == word or (prefix and other.startswith(word)):
        return 0
    beginnings = [other[:end] for end in range(1, len(other) + 1)] if prefix else [other]
    return min(cost(word, one) for one in beginnings)


def cost(word: str, other: str) -> int:
    if word[0] == other[0]:
        return edits(word, other)
    swapped = word[1:2] + word[:1] + word[2:]
    once = [other[0] + word[1:], other[0] + word, word[1:], swapped]
    return 2 if other in once and len(word) > 1 else 99


def edits(word: str, other: str) -> int:
    table = {(row, 0): row for row in range(len(word) + 1)}
    table |= {(0, column): column for column in range(len(other) + 1)}
    for row in range(1, len(word) + 1):
        for column in range(1, len(other) + 1):
            costs = [
                table[row - 1, column] + 1,
                table[row, column - 1] + 1,
                table[row - 1, column - 1] + (word[row - 1] != other[column - 1]),
            ]
            swapped = word[row - 2 : row] == other[column - 2 : column][::-1]
            if row > 1 and column > 1 and swapped:
                costs.append(table[row - 2, column - 2] + 1)
            table[row, column] = min(costs)
    return table[len(word), len(other)]
