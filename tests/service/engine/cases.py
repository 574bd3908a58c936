"""Generated records, settings and queries that exercise every rule of the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

WORDS = [
    "red",
    "reed",
    "lamp",
    "lamps",
    "lampshade",
    "shade",
    "blue",
    "table",
    "tables",
    "lantern",
    "lanternes",
    "a",
    "b",
    "42",
    "4",
    "cabinet",
    "cabinets",
    "cabinetry",
    "desk",
    "desktop",
    "top",
    "stop",
    "x1",
    "chair",
    "chairs",
    "hair",
    "armchair",
    "arm",
    "l'arm",
    "o'reed",
    "red.lamp",
    "top.of.table",
    "a.b.",
    "x.42",
    "4.top",
    "arm'n'desk",
]
BETWEEN = [" "] * 12 + [".", ". ", "' ", "..", " '"]
"""What separates or joins the words of a text."""
BRANDS = ["Acme", "acme", "Bolt", "Zed Lamps", "O'Neil", "7", "true"]
TOKENS = ["<a>", "<lamp>", "<red lamp>", "< a, b desk >"]
COLOURS = ["red", "blue", "Green", "dark red"]
ATTRIBUTES = ["title", "body", "tags", "maker", "maker.name", "parts", "parts.name", "size"]
CRITERIA = ["typo", "geo", "words", "filters", "proximity", "attribute", "exact", "custom"]
TOWNS = [(48.85, 2.35), (48.86, 2.3), (41.9, 12.5), (-16.5, 179.99), (-16.5, -179.99), (89.9, 0)]
BAD_PLACES: list[dict[str, Any]] = [{"lat": 91}, {"lng": "2.35"}, {"lat": True}, {"lng": None}]
SORTED = ["price", "size", "kind", "mixed", "maker.age", "flag"]


def make_text(random: Random, most: int) -> str:
    words = [random.choice(WORDS) for _ in range(random.randint(0, most))]
    if words and random.random() < 0.2:
        words[random.randrange(len(words))] = random.choice(TOKENS)
    return "".join(word + random.choice(BETWEEN) for word in words)


def make_synonyms(random: Random) -> list[dict[str, Any]]:
    return [
        {"objectID": str(number), **random.choice(SYNONYMS)(random)}
        for number in range(random.choice([0, 0, 3, 20]))
    ]


def make_phrase(random: Random) -> str:
    return " ".join(random.choice(WORDS) for _ in range(random.choice([1, 1, 1, 2, 2, 3])))


def make_phrases(random: Random) -> list[str]:
    return [make_phrase(random) for _ in range(random.randint(1, 4))]


SYNONYMS: list[Callable[[Random], dict[str, Any]]] = [
    lambda random: {"type": "synonym", "synonyms": make_phrases(random)},
    lambda random: {
        "type": "onewaysynonym",
        "input": make_phrase(random),
        "synonyms": make_phrases(random),
    },
    lambda random: {
        "type": f"altcorrection{random.choice([1, 2])}",
        "word": make_phrase(random),
        "corrections": random.sample(WORDS, 2),
    },
    lambda random: {
        "type": "placeholder",
        "placeholder": random.choice(TOKENS),
        "replacements": make_phrases(random),
    },
]


def make_place(random: Random, spread: float = 0.02) -> dict[str, Any]:
    lat, lng = random.choice(TOWNS)
    place = {
        "lat": round(lat + random.uniform(-spread, spread), 6),
        "lng": round(lng + random.uniform(-spread, spread), 6),
    }
    return place if random.random() < 0.9 else place | random.choice(BAD_PLACES)


def make_places(random: Random) -> Any:
    kind = random.random()
    if kind < 0.6:
        return make_place(random)
    if kind < 0.9:
        return [make_place(random, 1) for _ in range(random.randint(0, 3))]
    return random.choice([None, "48.85,2.35", [1, None], {}, [[make_place(random)]]])


def make_record(random: Random, number: int) -> dict[str, Any]:
    record: dict[str, Any] = {
        "objectID": random.choice(["", "é", "x/"]) + str(number),
        "title": make_text(random, 4).title(),
        "body": make_text(random, 9),
        "tags": [make_text(random, 2) for _ in range(random.randint(0, 3))],
        "maker": {"name": make_text(random, 2), "age": random.randint(1, 3)},
        "parts": [
            {"name": make_text(random, 2), "weight": random.choice([1, 2.5])}
            for _ in range(random.randint(0, 2))
        ],
        "size": random.choice([1, 4, 42, 2.5, None]),
        "price": random.choice([1, 2.5, 1e3, -3, [4, 1], None]),
        "kind": random.choice(["lamp", "Chair", "", None]),
        "mixed": random.choice([1, 2.0, "1", "x", True, None, [], ["y", 2], {"odd": 1}]),
        "flag": random.choice([True, False]),
        "brand": random.choice(BRANDS),
        "colours": random.sample(COLOURS, random.randint(0, 3)),
        "_tags": random.sample(["new", "New", "sale"], random.randint(0, 2)),
        "_geoloc": make_places(random),
        "shelf": [[{"code": "a"}], {"code": ["b", 7]}, None],
    }
    for name in random.sample(sorted(record), random.randint(0, 4)):
        if name != "objectID":
            del record[name]
    return record


def make_settings(random: Random) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "attributesForFaceting": [
            "searchable(brand)",
            "colours",
            "filterOnly(kind)",
            "size",
            "flag",
            "maker.name",
            "shelf.code",
        ],
        "customRanking": make_sorts(random),
    }
    if random.random() < 0.8:
        settings["searchableAttributes"] = make_searched(random)
    if random.random() < 0.7:
        settings["ranking"] = make_ranking(random)
    if random.random() < 0.3:
        settings["attributeForDistinct"] = random.choice(["brand", "size", "flag", "maker.age"])
    if random.random() < 0.2:
        settings["disableTypoToleranceOnWords"] = random.sample(WORDS, 3)
    if random.random() < 0.2:
        settings["disablePrefixOnAttributes"] = random.sample(ATTRIBUTES, 2)
    return settings


def make_sorts(random: Random) -> list[str]:
    chosen = random.sample(SORTED, random.randint(0, 2))
    return [f"{random.choice(['asc', 'desc'])}({path})" for path in chosen]


def make_searched(random: Random) -> list[str]:
    paths = random.sample(ATTRIBUTES, random.randint(1, 5))
    entries = []
    while paths:
        kind = random.random()
        if kind < 0.2 and len(paths) > 1:
            entries.append(f"{paths.pop()},{paths.pop()}")
        else:
            entries.append(f"unordered({paths.pop()})" if kind < 0.4 else paths.pop())
    return entries


def make_weights(random: Random, settings: Mapping[str, Any]) -> str | dict[str, float]:
    """Make weights of attributes in textual relevance: a name, or numbers for some entries."""
    entries = [
        part.removeprefix("unordered(").removesuffix(")")
        for entry in settings.get("searchableAttributes", []) for part in entry.split(",")
    ]  # fmt: skip
    if not entries or random.random() < 0.5:
        return random.choice(["halving", "flat"])
    return {path: random.choice([0, 0.5, 3, 7.25]) for path in entries[:2]}


def make_ranking(random: Random) -> list[str]:
    ranking = random.sample(CRITERIA, random.randint(3, len(CRITERIA)))
    for entry in make_sorts(random):
        ranking.insert(random.randint(0, len(ranking)), entry)
    return ranking


def make_params(
    random: Random, settings: Mapping[str, Any], synonyms: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    params: dict[str, Any] = {"query": make_query(random), "getRankingInfo": True}
    if synonyms and random.random() < 0.7:
        params["query"] = make_synonymous(random, synonyms)
    for name, choices in CHOICES.items():
        if random.random() < 0.15:
            params[name] = random.choice(choices)
    if params.get("advancedSyntax"):
        params["query"] = make_advanced(random)
    if random.random() < 0.3:
        params["optionalWords"] = [make_text(random, 2) or "red" for _ in range(2)]
    if random.random() < 0.15 and "searchableAttributes" in settings:
        entry = random.choice(settings["searchableAttributes"]).split(",")[0]
        path = entry.removeprefix("unordered(").removesuffix(")")
        params["restrictSearchableAttributes"] = [path]
    if random.random() < 0.4:
        params |= make_where(random)
    if random.random() < 0.1:
        params["ranking"] = [*random.sample(CRITERIA, 4), "desc(price)"]
    params["facets"] = random.choice([["*"], ["brand", "colours"], ["size"], []])
    params["hitsPerPage"] = random.choice([1, 2, 5, 100])
    params["page"] = random.choice([0, 0, 1, 2])
    return params


def make_where(random: Random) -> dict[str, Any]:
    """Search at a place, or at several kinds of places of which one counts."""
    where: dict[str, Any] = {}
    if random.random() < 0.2:
        where["insideBoundingBox"] = [make_box(random) for _ in range(random.randint(1, 2))]
    if random.random() < 0.3:
        where["insidePolygon"] = [make_polygon(random) for _ in range(random.randint(1, 2))]
    if not where or random.random() < 0.3:
        lat, lng = random.choice(TOWNS)
        where["aroundLatLng"] = f"{lat}, {lng}"
    for name, choices in AROUND.items():
        if random.random() < 0.5:
            where[name] = random.choice(choices)
    return where


AROUND: dict[str, list[Any]] = {
    "aroundRadius": [1, 900, 5000, 200_000, 30_000_000, "all"],
    "minimumAroundRadius": [1, 10_000_000],
    "aroundPrecision": [
        1,
        1000,
        100_000,
        [],
        [{"from": 0, "value": 25}, {"from": 2000, "value": 1000}],
        [{"from": 90_000, "value": 400_000}, {"from": 500, "value": 3}],
    ],
}


def make_box(random: Random) -> list[float]:
    lat, lng = random.choice(TOWNS)
    lats = [max(-90, min(90, round(lat + random.uniform(-5, 5), 6))) for _ in range(2)]
    lngs = [lng + random.uniform(-5, 5) for _ in range(2)]
    wrapped = [round((one + 180) % 360 - 180, 6) for one in lngs]
    return [lats[0], wrapped[0], lats[1], wrapped[1]]


def make_polygon(random: Random) -> list[float]:
    lat, lng = random.choice(TOWNS)
    return [
        limited
        for _ in range(random.randint(3, 9))
        for at, most in [(lat, 90), (lng, 180)]
        for limited in [max(-most, min(most, round(at + random.uniform(-1, 1), 6)))]
    ]


CHOICES: dict[str, list[Any]] = {
    "typoTolerance": [False, "min", "strict", True],
    "queryType": ["prefixAll", "prefixNone", "prefixLast"],
    "minWordSizefor1Typo": [1, 3, 6],
    "minWordSizefor2Typos": [2, 4, 5],
    "allowTyposOnNumericTokens": [False],
    "disableTypoToleranceOnAttributes": [["title"], ["maker", "body"]],
    "alternativesAsExact": [[], ["multiWordsSynonym"], ["singleWordSynonym", "multiWordsSynonym"]],
    "synonyms": [False],
    "disableExactOnAttributes": [["title"], ["parts"]],
    "exactOnSingleWordQuery": ["none", "word", "attribute"],
    "attributeCriteriaComputedByMinProximity": [True],
    "minProximity": [2, 4, 7, 8],
    "removeWordsIfNoResults": ["lastWords", "firstWords", "allOptional"],
    "advancedSyntax": [True],
    "sumOrFiltersScores": [True],
    "sortFacetValuesBy": ["alpha"],
    "maxValuesPerFacet": [1, 2],
    "distinct": [True, 1, 2, 3, 0],
    "facetingAfterDistinct": [True],
}


def make_query(random: Random) -> str:
    words = [make_word(random) for _ in range(random.choice([0, 1, 1, 2, 2, 2, 3, 4]))]
    return random.choice([" ", "-", "  ", "."]).join(words)


def make_synonymous(random: Random, synonyms: Sequence[Mapping[str, Any]]) -> str:
    """Ask for words that have synonyms, among others."""
    words = [make_query(random)] if random.random() < 0.5 else []
    for synonym in random.choices(synonyms, k=random.choice([1, 1, 2])):
        listed = synonym.get("replacements") or synonym.get("synonyms", [])
        one = synonym.get("input") or synonym.get("word") or random.choice(listed)
        words.insert(random.randint(0, len(words)), one)
    return " ".join(words)


def make_word(random: Random) -> str:
    word = random.choice(WORDS)
    kind = random.random()
    if kind < 0.1:
        return word + random.choice(WORDS)
    if kind < 0.35:
        word = word[: random.randint(1, len(word))]
    if kind > 0.6:
        place, letter = random.randrange(len(word)), random.choice("aelmx1")
        tail = word[place + 1 :]
        word = word[:place] + random.choice(["", letter, letter + word[place]]) + tail
    if kind > 0.85 and len(word) > 2:
        place = random.randrange(len(word) - 1)
        word = word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    return word


def make_advanced(random: Random) -> str:
    words = [
        random.choice(['"{0} {1}"', "-{0}", "{0}", "{0}", '"{0}"']).format(
            random.choice(WORDS), random.choice(WORDS)
        )
        for _ in range(random.randint(1, 3))
    ]
    return " ".join(words)


def make_filter(random: Random) -> list[list[dict[str, Any]]]:
    return [
        [make_term(random, kind) for _ in range(random.choice([1, 1, 2, 2, 12]))]
        for _ in range(random.choice([0, 0, 0, 1, 1, 2, 2, 9]))
        for kind in [random.choice(["facet", "numeric", "tag"])]
    ]


def make_term(random: Random, kind: str) -> dict[str, Any]:
    term: dict[str, Any] = {"kind": kind, "negated": random.random() < 0.3, "score": 1}
    if kind == "facet":
        path = random.choice(["brand", "colours", "size", "flag", "unknown", "shelf.code"])
        values = {"colours": COLOURS, "size": ["4", "42", "2.5"], "flag": ["true", "FALSE"]}
        value = random.choice(values.get(path, [*BRANDS, "b", "7"]))
        return {**term, "path": path, "value": value, "score": random.choice([1, 1, 0, 3])}
    if kind == "tag":
        return {**term, "path": "_tags", "value": random.choice(["new", "sale"])}
    path = random.choice(["price", "size", "parts.weight", "title"])
    if random.random() < 0.3:
        return {**term, "kind": "between", "path": path, "low": 1, "high": 5, "score": 0}
    operator = random.choice(["<", "<=", "=", "!=", ">=", ">"])
    number = random.choice([1, 2.5, 4, -3])
    return {**term, "path": path, "operator": operator, "number": number, "score": 0}


def write_filter(groups: list[list[dict[str, Any]]]) -> str:
    return " AND ".join(
        f"({' OR '.join(map(write_term, group))})" if len(group) > 1 else write_term(group[0])
        for group in groups
    )


def write_term(term: Mapping[str, Any]) -> str:
    minus = "NOT " if term["negated"] else ""
    score = f"<score={term['score']}>" if term["score"] > 1 or term["kind"] == "facet" else ""
    match term["kind"]:
        case "facet" | "tag":
            return f'{minus}{term["path"]}:"{term["value"]}"{score}'
        case "between":
            return f"{minus}{term['path']}:{term['low']} TO {term['high']}"
        case _:
            return f"{minus}{term['path']} {term['operator']} {term['number']}"
