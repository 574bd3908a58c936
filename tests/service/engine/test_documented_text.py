# ruff: noqa: RUF001 - letters of other scripts
"""Statements of the hosted service's public documentation on text, each on small records."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from svc_notebook.service.engine import Index


class Statement(NamedTuple):
    """A statement's subject; what a query finds among some texts under some settings."""

    subject: str
    texts: list[str]
    query: str
    found: list[str]
    settings: dict[str, Any] = {}  # noqa: RUF012 - never changed


JETS = [
    "Jenga is a game",
    "The jets are fast",
    "Beef jerky",
    "Jack and Jill",
    "A black jet",
    "Jacqueline",
]
SINGLE = {"queryType": "prefixNone"}
STATEMENTS = [
    Statement("tokenization: separators", ["Hello, World!"], "hello world", ["Hello, World!"]),
    Statement(
        "tokenization: query with separators", ["hello world"], "Hello, World!", ["hello world"]
    ),
    Statement("tokenization: hyphens separate", ["wi-fi router"], "fi router", ["wi-fi router"]),
    Statement("separators: not indexed", ["C#", "C"], "c#", ["C#", "C"]),
    Statement("separators: indexed", ["C#", "C"], "c#", ["C#"], {"separatorsToIndex": "#"}),
    Statement(
        "separators: an indexed one is a word of its own",
        ["C++ code"],
        "c code",
        ["C++ code"],
        {"separatorsToIndex": "+"},
    ),
    Statement(
        "separators: a first indexed one",
        ["#@lgolia!!"],
        "#",
        ["#@lgolia!!"],
        {"separatorsToIndex": "#@"},
    ),
    Statement(
        "separators: a second indexed one",
        ["#@lgolia!!"],
        "@",
        ["#@lgolia!!"],
        {"separatorsToIndex": "#@"},
    ),
    Statement(
        "separators: a word beside indexed ones",
        ["#@lgolia!!"],
        "LGOLIA!!",
        ["#@lgolia!!"],
        {"separatorsToIndex": "#@"},
    ),
    Statement(
        "separators: without blanks, the order counts",
        ["alice@wonderland", "alice @ wonderland", "wonderland @ alice", "alice was @ wonderland"],
        "alice@wonderland",
        ["alice@wonderland", "alice @ wonderland"],
        {"separatorsToIndex": "@"},
    ),
    Statement(
        "separators: with blanks, the order is free",
        ["wonderland @ alice", "alice was @ wonderland"],
        "alice @ wonderland",
        ["wonderland @ alice", "alice was @ wonderland"],
        {"separatorsToIndex": "@"},
    ),
    Statement("normalization: case", ["DaVinci"], "davinci", ["DaVinci"]),
    Statement("normalization: diacritics", ["café"], "cafe", ["café"]),
    Statement("normalization: diacritics of the query", ["cafe"], "CAFÉ", ["cafe"]),
    Statement("normalization: ø", ["smørrebrød"], "smorrebrod", ["smørrebrød"], SINGLE),
    Statement("normalization: voicing marks", ["で"], "て", ["で"]),
    Statement(
        "normalization: kept diacritics",
        ["håb", "hab"],
        "håb",
        ["håb"],
        {"keepDiacriticsOnCharacters": "å", "typoTolerance": False},
    ),
    Statement("normalization: apostrophes", ["don't"], "dont", ["don't"], {"typoTolerance": False}),
    Statement(
        "normalization: custom",
        ["Müller"],
        "mueller",
        ["Müller"],
        {"customNormalization": {"default": {"ü": "ue"}}, "typoTolerance": False},
    ),
    Statement(
        "normalization: custom, of capitals",
        ["ÜBER", "über"],
        "Über",
        ["ÜBER", "über"],
        {"customNormalization": {"default": {"ü": "ue"}}, "typoTolerance": False},
    ),
    Statement(
        "normalization: kept diacritics of capitals",
        ["HÅB", "hab"],
        "håb",
        ["HÅB"],
        {"keepDiacriticsOnCharacters": "å", "typoTolerance": False},
    ),
    Statement("normalization: traditional Chinese", ["電腦"], "电脑", ["電腦"], SINGLE),
    Statement("normalization: simplified Chinese", ["电脑"], "電腦", ["电脑"], SINGLE),
    Statement("normalization: Arabic vowels", ["مُحَمَّد"], "محمد", ["مُحَمَّد"], SINGLE),
    Statement("normalization: Hebrew vowels", ["שָׁלוֹם"], "שלום", ["שָׁלוֹם"], SINGLE),
    Statement("normalization: Greek", ["Σίσυφος"], "σισυφος", ["Σίσυφος"], SINGLE),
    Statement("camel case", ["fastLamp"], "lamp", ["fastLamp"], {"camelCaseAttributes": ["t"]}),
    Statement("camel case: off by default", ["fastLamp"], "lamp", []),
    Statement("splitting", ["Katherine Johnson"], "katherinejohnson", ["Katherine Johnson"]),
    Statement("splitting: two parts only", ["James Earl Jones"], "jamesearljones", []),
    Statement(
        "splitting: first or second", ["James EarlJones"], "jamesearljones", ["James EarlJones"]
    ),
    Statement("splitting: James Brown", ["James Brown"], "jamesbrown", ["James Brown"]),
    Statement("splitting: park bench", ["park bench"], "parkbench", ["park bench"]),
    Statement("splitting: nowhere", ["now here"], "nowhere", ["now here"]),
    Statement("splitting: the parts are in a row", ["bench park", "park x bench"], "parkbench", []),
    Statement(
        "splitting: the most frequent of two",
        ["now here", "now here 2", "no where"],
        "nowhere",
        ["now here", "now here 2"],
        SINGLE,
    ),
    Statement(
        "splitting: the longer first part of equals",
        ["n owhere", "nowh ere"],
        "nowhere",
        ["nowh ere"],
        SINGLE,
    ),
    Statement("splitting: one letter", ["t shirt"], "tshirt", ["t shirt"], SINGLE),
    Statement(
        "splitting: a word with typos is kept",
        ["park bench", "parkbensh"],
        "parkbench",
        ["park bench", "parkbensh"],
        SINGLE,
    ),
    Statement("splitting: short words", ["a bc"], "abc", [], SINGLE),
    Statement("splitting: from the size of one typo", ["a bcd"], "abcd", ["a bcd"], SINGLE),
    Statement(
        "splitting: the size is a setting",
        ["a bcd"],
        "abcd",
        [],
        {"minWordSizefor1Typo": 5, **SINGLE},
    ),
    Statement(
        "splitting: off with typos", ["park bench"], "parkbench", [], {"typoTolerance": False}
    ),
    Statement("concatenation: hyphens", ["iphone"], "i-phone", ["iphone"], SINGLE),
    Statement("concatenation: contractions", ["don't"], "don t", ["don't"], SINGLE),
    Statement("concatenation: copyright", ["a©b"], "ab", ["a©b"], SINGLE),
    Statement("concatenation: two words", ["nanosecond"], "nano second", ["nanosecond"]),
    Statement(
        "concatenation: pairs of a longer query",
        ["a wonderfulday in the neighborhood"],
        "a wonderful day in the neighborhood",
        ["a wonderfulday in the neighborhood"],
    ),
    Statement(
        "concatenation: the whole query",
        ["awonderfuldayintheneighborhood"],
        "a wonderful day in the neighborhood",
        ["awonderfuldayintheneighborhood"],
    ),
    Statement("concatenation: three of four words", ["abcdef"], "ab cd ef gh", []),
    Statement("concatenation: hello", ["hello.world"], "hello", ["hello.world"], SINGLE),
    Statement("concatenation: world", ["hello.world"], "world", ["hello.world"], SINGLE),
    Statement("concatenation: helloworld", ["hello.world"], "helloworld", ["hello.world"], SINGLE),
    Statement("concatenation: acronyms", ["B.C.E."], "bce", ["B.C.E."], SINGLE),
    Statement("concatenation: letters of acronyms", ["B.C.E."], "c", [], SINGLE),
    Statement("concatenation: a number after a letter", ["m.55"], "m55", ["m.55"], SINGLE),
    Statement("concatenation: a letter after a number", ["5.mm"], "mm", ["5.mm"], SINGLE),
    Statement("concatenation: registered", ["Coca®Cola"], "cocacola", ["Coca®Cola"], SINGLE),
    Statement("prefixes: last word", JETS, "j", JETS),
    Statement("prefixes: only the last", JETS, "je b", []),
    Statement("prefixes: last of two", JETS, "jet b", ["A black jet"]),
    Statement(
        "prefixes: all", JETS, "je b", ["A black jet", "Beef jerky"], {"queryType": "prefixAll"}
    ),
    Statement("prefixes: none", JETS, "j", [], SINGLE),
    Statement("prefixes: none but whole words", JETS, "jet black", ["A black jet"], SINGLE),
    Statement("prefixes: not inside a word", ["apricot"], "cot", []),
    Statement(
        "prefixes: off in an attribute",
        ["apricot"],
        "apr",
        [],
        {"disablePrefixOnAttributes": ["t"]},
    ),
    Statement("typos: a missing letter", ["strm", "strom"], "storm", ["strm", "strom"], SINGLE),
    Statement("typos: an added letter", ["storm"], "stoorm", ["storm"], SINGLE),
    Statement("typos: another letter", ["storm"], "starm", ["storm"], SINGLE),
    Statement("typos: swapped letters", ["storm"], "sotrm", ["storm"], SINGLE),
    Statement("typos: none below four letters", ["car"], "cat", [], SINGLE),
    Statement("typos: two from eight letters", ["keyboards"], "keybaords", ["keyboards"], SINGLE),
    Statement("typos: one below eight letters", ["storage"], "stroaeg", [], SINGLE),
    Statement("typos: off", ["storm"], "starm", [], {"typoTolerance": False, **SINGLE}),
    Statement("typos: numbers by default", ["12345"], "12346", ["12345"], SINGLE),
    Statement("typos: in a prefix", ["keyboards"], "keybaor", ["keyboards"]),
    Statement("typos: two in the first letter", ["keyboards"], "ekyboards", ["keyboards"], SINGLE),
    Statement(
        "typos: size for two",
        ["keyboards"],
        "kyebaords",
        [],
        {"minWordSizefor2Typos": 10, **SINGLE},
    ),
    Statement(
        "typos: numbers",
        ["12345"],
        "12346",
        [],
        {"allowTyposOnNumericTokens": False, **SINGLE},
    ),
    Statement(
        "typos: words without",
        ["wirelss"],
        "wireless",
        [],
        {"disableTypoToleranceOnWords": ["wireless"], **SINGLE},
    ),
    Statement(
        "plurals",
        ["feet", "foot"],
        "foot",
        ["feet", "foot"],
        {"ignorePlurals": ["en"], "typoTolerance": False, **SINGLE},
    ),
    Statement("plurals: off by default", ["feet"], "foot", [], {"typoTolerance": False}),
    Statement(
        "stop words",
        ["iPhone manual"],
        "what is an iphone",
        ["iPhone manual"],
        {"removeStopWords": ["en"]},
    ),
    Statement("stop words: off by default", ["iPhone"], "the iphone", []),
    Statement(
        "stop words: French",
        ["manuel iPhone"],
        "le manuel de iphone",
        ["manuel iPhone"],
        {"removeStopWords": ["fr"]},
    ),
    Statement(
        "stop words: kept if nothing else is left",
        ["the who"],
        "the who",
        ["the who"],
        {"removeStopWords": ["en"]},
    ),
    Statement(
        "plurals: German declension",
        ["Stühle", "rotes"],
        "Stuhl",
        ["Stühle"],
        {"ignorePlurals": ["de"], "typoTolerance": False, **SINGLE},
    ),
    Statement(
        "plurals: French",
        ["chevaux"],
        "cheval",
        ["chevaux"],
        {"ignorePlurals": ["fr"], "typoTolerance": False, **SINGLE},
    ),
    Statement(
        "plurals: of the query",
        ["car"],
        "cars",
        ["car"],
        {"ignorePlurals": True, "typoTolerance": False, **SINGLE},
    ),
    Statement(
        "plurals: irregular",
        ["mouse"],
        "mice",
        ["mouse"],
        {"ignorePlurals": ["en"], "typoTolerance": False, **SINGLE},
    ),
    Statement(
        "plurals: not verbs",
        ["run"],
        "running",
        [],
        {"ignorePlurals": ["en"], "typoTolerance": False, **SINGLE},
    ),
    Statement(
        "compounds: a part",
        ["Gartenstühle"],
        "stühle",
        ["Gartenstühle"],
        {"decompoundedAttributes": {"de": ["t"]}, "queryLanguages": ["de"], **SINGLE},
    ),
    Statement("typos: a first letter counts two", ["storm"], "ttorm", [], SINGLE),
    Statement(
        "typos: min", ["storm", "sterm"], "storm", ["storm"], {"typoTolerance": "min", **SINGLE}
    ),
    Statement(
        "typos: strict",
        ["storm", "sterm"],
        "storm",
        ["sterm", "storm"],
        {"typoTolerance": "strict", **SINGLE},
    ),
    Statement("typos: size for one", ["cart"], "cert", [], {"minWordSizefor1Typo": 5, **SINGLE}),
    Statement(
        "typos: off in an attribute",
        ["storm"],
        "starm",
        [],
        {"disableTypoToleranceOnAttributes": ["t"], **SINGLE},
    ),
    Statement("normalization: full width", ["ＡＢＣ１２３"], "abc123", ["ＡＢＣ１２３"], SINGLE),
    Statement("normalization: half-width kana", ["ｶﾒﾗ"], "カメラ", ["ｶﾒﾗ"], SINGLE),
    Statement("normalization: tatweel", ["كتـــاب"], "كتاب", ["كتـــاب"], SINGLE),
    Statement("normalization: teh marbuta", ["مدرسة"], "مدرسه", ["مدرسة"], SINGLE),
    Statement("normalization: sharp s", ["Straße"], "strasse", ["Straße"], SINGLE),
    Statement(
        "CJK: mixed with Latin letters", ["iPhone ケース"], "ケース iphone", ["iPhone ケース"]
    ),
    Statement("CJK: Korean words", ["서울 시청"], "서울", ["서울 시청"], SINGLE),
    Statement("CJK: Chinese", ["北京大学"], "大学", ["北京大学"]),
    Statement(
        "CJK: Japanese words",
        ["京都府", "東京都"],
        "京都",
        ["京都府"],
        {"indexLanguages": ["ja"], "queryLanguages": ["ja"]},
    ),
    Statement(
        "CJK: Japanese typos",
        ["コンピューター"],
        "コンピュータア",
        ["コンピューター"],
        {"indexLanguages": ["ja"], **SINGLE},
    ),
    Statement("CJK: without blanks", ["東京タワー"], "タワー", ["東京タワー"]),
    Statement("CJK: several characters", ["東京タワー"], "東京", ["東京タワー"]),
]


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement.subject)
def test_a_documented_statement_holds(statement: Statement) -> None:
    index = Index({"searchableAttributes": ["t"], **statement.settings})
    index.put([{"objectID": text, "t": text} for text in statement.texts])

    result = index.search(
        {"query": statement.query}, lambda ids: [{"objectID": name} for name in ids]
    )

    assert sorted(hit["objectID"] for hit in result.hits) == sorted(statement.found)
