"""Synonyms: matches, ranking and highlights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.core.tokenization.tokenizer import TokenizerSettings
from svc_notebook.service.engine import Index, SearchResult
from svc_notebook.service.engine.text.lexicon import LanguageResources
from svc_notebook.service.engine.text.synonyms import Replacement, Thesaurus
from tests.service.engine import cases
from tests.service.engine.oracle import split

Synonym = Mapping[str, Any]
RULES = TokenizerSettings()


def equal(*synonyms: str) -> Synonym:
    return {"objectID": "e", "type": "synonym", "synonyms": synonyms}


def one_way(word: str, *synonyms: str) -> Synonym:
    return {"objectID": "o", "type": "onewaysynonym", "input": word, "synonyms": synonyms}


def correction(typos: int, word: str, *corrections: str) -> Synonym:
    kind = f"altcorrection{typos}"
    return {"objectID": "c", "type": kind, "word": word, "corrections": corrections}


def placeholder(token: str, *replacements: str) -> Synonym:
    return {
        "objectID": "p",
        "type": "placeholder",
        "placeholder": token,
        "replacements": replacements,
    }


def search(
    texts: Sequence[str],
    synonyms: Sequence[Synonym],
    query: str,
    settings: Mapping[str, Any] | None = None,
    **params: Any,
) -> SearchResult:
    records = {str(n): {"objectID": str(n), "t": text} for n, text in enumerate(texts)}
    index = Index({"searchableAttributes": ["t"], **(settings or {})})
    index.put(list(records.values()))
    params = {"query": query, "getRankingInfo": True, **params}
    return index.search(
        params,
        lambda ids: [records[name] for name in ids],
        LanguageResources(Thesaurus(lambda: synonyms)),
    )


def texts_found(*given: Any, **params: Any) -> list[str]:
    return [hit["t"] for hit in search(*given, **params).hits]


# ------------------------------------------------------------------------------------- finding


@pytest.mark.parametrize(
    ("synonym", "query", "found"),
    [
        (equal("tv", "television"), "tv", True),
        (equal("telly", "tv", "television"), "telly", True),
        (equal("TÉLÉ", "Television!"), "tele", True),
        (equal("ny", "television"), "tv", False),
        (one_way("tv", "television"), "tv", True),
        (one_way("television", "tv"), "tv", False),
        (one_way("set", "television"), "red set", True),
        (equal("goggle box", "television"), "goggle box", True),
        (equal("goggle box", "television"), "red goggle box", True),
        (equal("goggle box", "television"), "goggle red box", False),
        (equal("goggle box", "television"), "box goggle", False),
        (equal("goggle box", "television"), "goggle", False),
        (equal("goggle box", "a big red television"), "goggle box", True),
        (equal("crimson", "big red"), "crimson television", True),
        (equal("crimson", "red big"), "crimson television", False),
        (equal("crimson", "red", "television"), "crimson", True),
        (equal("---", "television"), "television", True),
        (correction(1, "tele", "television"), "tele", True),
        (correction(2, "smart box", "television"), "smart box", True),
        (correction(1, "television", "tele"), "tele", False),
    ],
)
def test_a_record_is_found_by_synonyms_of_its_words(
    synonym: Synonym, query: str, found: bool
) -> None:
    texts = ["A big red television"]

    assert texts_found(texts, [synonym], query, queryType="prefixNone") == texts * found


def test_synonyms_are_not_chained() -> None:
    synonyms = [one_way("a1", "b1"), {**one_way("b1", "c1"), "objectID": "2"}]

    assert texts_found(["a1", "b1", "c1"], synonyms, "a1") == ["a1", "b1"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("tele", ["tele", "telescope", "tv"]),
        ("tel", ["tele", "telescope", "tv"]),
        ("tel ", ["tele", "telescope", "tv"]),
        ("teel", ["tele", "telescope"]),
        ("telee", ["tele", "telescope"]),
        ('"tele"', ["tele"]),
        ("-tele", ["telescope", "tvs", "tv"]),
    ],
)
def test_a_synonym_applies_to_words_and_their_beginnings(query: str, found: list[str]) -> None:
    texts = ["tele", "telescope", "tvs", "tv"]

    assert set(texts_found(texts, [equal("tele", "tv")], query, advancedSyntax=True)) == {*found}


SLACKS = equal("slacks", "pants")
NEW_YORK = equal("new york", "ny")


@pytest.mark.parametrize(
    ("synonym", "query", "params", "found"),
    [
        (SLACKS, "slack", {}, ["slacks", "pants"]),
        (SLACKS, "s", {}, ["slacks", "pants"]),
        (SLACKS, "slack red", {}, []),
        (SLACKS, "slack", {"queryType": "prefixNone"}, ["slacks"]),
        (SLACKS, "slacl", {}, ["slacks"]),
        (NEW_YORK, "new yo", {}, ["new york", "ny"]),
        (NEW_YORK, "ne yo", {}, []),
        (NEW_YORK, "new", {}, ["new york"]),
        (NEW_YORK, "n", {}, ["new york", "ny"]),
        (NEW_YORK, "ne yo", {"queryType": "prefixAll"}, ["new york"]),
        (one_way("ny", "new york"), "n", {}, ["new york", "ny"]),
        (one_way("pants", "slacks"), "slack", {}, ["slacks"]),
        (correction(1, "slacks", "pants"), "slack", {}, ["slacks"]),
        (correction(1, "slacks", "pants"), "slacks", {}, ["slacks", "pants"]),
    ],
)
def test_synonyms_apply_while_one_types(
    synonym: Synonym, query: str, params: dict[str, Any], found: list[str]
) -> None:
    texts = ["slacks", "pants", "new york", "ny"]

    assert sorted(texts_found(texts, [synonym], query, **params)) == sorted(found)


def test_a_synonym_of_a_beginning_is_not_exact() -> None:
    given = ["pants"], [SLACKS]

    def count_exact(query: str) -> list[int]:
        hits = search(*given, query, getRankingInfo=True).hits
        return [hit["_rankingInfo"]["nbExactWords"] for hit in hits]

    assert count_exact("slacks") == [1]
    assert count_exact("slack") == [0]


def test_overlapping_runs_all_count() -> None:
    synonyms = [equal("new york", "ny"), {**equal("york city", "yc"), "objectID": "2"}]
    texts = ["ny city", "new yc", "new york city", "ny yc", "yc", "ny"]

    assert {*texts_found(texts, synonyms, "new york city")} == {*texts[:4]}


@pytest.mark.parametrize(
    "off",
    [
        {"synonyms": False},
        {"typoTolerance": False},
        {"disableTypoToleranceOnWords": ["phone"]},
        {"disableTypoToleranceOnAttributes": ["t"]},
    ],
)
def test_corrections_are_off_with_synonyms_and_where_typos_are(off: dict[str, Any]) -> None:
    synonyms = [correction(1, "phone", "mobile")]

    assert texts_found(["mobile"], synonyms, "phone") == ["mobile"]
    assert texts_found(["mobile"], synonyms, "phone", off) == []


def test_words_made_optional_keep_their_synonyms() -> None:
    synonyms = [equal("new york", "ny"), {**equal("pizza", "pie"), "objectID": "2"}]
    texts = ["ny", "pie", "ny pie"]

    every = texts_found(texts, synonyms, "new york pizza", optionalWords=["new york pizza"])
    fewer = texts_found(texts[:2], synonyms, "new york pizza", removeWordsIfNoResults="lastWords")

    assert every == ["ny pie", "ny", "pie"]
    assert fewer == ["ny"]


@pytest.mark.parametrize(
    ("synonym", "typos"),
    [
        (equal("lord of the rings", "lotr"), 0),
        (one_way("the rings", "lotr"), 0),
        (correction(1, "the lord of the rings", "lotr"), 1),
    ],
)
def test_synonyms_may_contain_removed_stop_words(synonym: Synonym, typos: int) -> None:
    settings = {"removeStopWords": ["en"], "optionalWords": "lord of"}
    texts = ["lotr film", "lord a rings film"]

    hits = search(texts, [synonym], "the lord of the rings film", settings).hits

    found = {hit["t"]: hit["_rankingInfo"]["nbTypos"] for hit in hits}
    assert found == {texts[0]: typos, texts[1]: 0}


def test_words_are_those_of_the_index() -> None:
    settings = {"separatorsToIndex": "+#", "keepDiacriticsOnCharacters": "é"}

    assert texts_found(["C++", "C"], [equal("cpp", "c++")], "cpp", settings) == ["C++"]
    assert texts_found(["thé", "the"], [equal("cha", "thé")], "cha", settings) == ["thé"]


def test_a_facet_is_searched_without_synonyms() -> None:
    index = Index({"attributesForFaceting": ["searchable(t)"]})
    index.put([{"objectID": "1", "t": "television"}])
    knowledge = LanguageResources(Thesaurus(lambda: [equal("tv", "television")]))

    assert index.facet_values("t", "tv", {}, 10, knowledge).hits == []
    assert index.facet_values("t", "tele", {"query": "tv"}, 10, knowledge).hits[0]["count"] == 1


# -------------------------------------------------------------------------------- placeholders

STREETS = ["<number> Main street", "the number of Main street", "12 Main street"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("12 main", [STREETS[2], STREETS[0]]),
        ("13 main street", [STREETS[0]]),
        ("14 main", []),
        ("one hundred main", [STREETS[0]]),
        ("one main hundred", []),
        ("number main", STREETS[:2]),
    ],
)
def test_a_placeholder_matches_its_replacements_only(query: str, found: list[str]) -> None:
    synonyms = [placeholder("<number>", "12", "13", "one hundred")]

    assert {*texts_found(STREETS, synonyms, query, typoTolerance=False)} == {*found}


@pytest.mark.parametrize("token", ["<street no>", "street no", "< Street, No! >"])
@pytest.mark.parametrize("text", ["at <street no> of it", "at <Street: NO> of it"])
def test_a_placeholder_of_several_words_is_compared_word_by_word(token: str, text: str) -> None:
    texts = [text, "at street no of it", "<at street no> of it", "at <street> <no>"]

    assert texts_found(texts, [placeholder(token, "7")], "at 7 of") == [text]


def test_a_placeholder_is_found_where_words_are_split_at_capitals() -> None:
    settings = {"camelCaseAttributes": ["t"]}

    assert texts_found(["the <streetNo>"], [placeholder("<streetNo>", "7")], "7", settings)


def test_brackets_that_are_kept_as_letters_are_not_placeholders() -> None:
    settings = {"customNormalization": {"default": {"<": "x"}}}

    assert texts_found(["a<no>"], [placeholder("<no>", "7")], "7", settings) == []
    assert texts_found(["a<no>"], [], "axno", settings) == ["a<no>"]


def test_placeholders_survive_merging_and_saving(tmp_path: Any) -> None:
    index = Index({})
    for number in range(40):
        index.put([{"objectID": f"{number:02}", "t": f"{number} <-> <no>" if number % 7 else "no"}])
    index.save(tmp_path, 1)
    loaded = Index.load(tmp_path, {})
    knowledge = LanguageResources(Thesaurus(lambda: [placeholder("<no>", "many")]))

    assert loaded
    for one in (index, loaded[0]):
        assert (
            one.search({"query": "many"}, lambda ids: [None for _ in ids], knowledge).nbHits == 34
        )


# ------------------------------------------------------------------------------------- ranking


@pytest.mark.parametrize(
    ("synonym", "query", "text", "info"),
    [
        (equal("tv", "telly"), "red tv", "red telly", (0, 1, 2)),
        (equal("goggle box", "telly"), "red goggle box", "red telly", (0, 2, 1)),
        (equal("goggle box", "telly"), "goggle box red", "telly red", (0, 2, 1)),
        (equal("goggle box", "telly"), "red goggle box", "telly a red", (0, 4, 1)),
        (equal("goggle box", "idiot lamp"), "red goggle box", "red idiot lamp", (0, 2, 1)),
        (equal("telly", "idiot lamp"), "telly red", "idiot lamp red", (0, 1, 1)),
        (correction(1, "tv", "telly"), "red tv", "red telly", (1, 1, 1)),
        (correction(2, "goggle box", "telly"), "red goggle box", "red telly", (2, 2, 1)),
        (placeholder("<no>", "42"), "42 red", "<no> red", (0, 1, 2)),
        (placeholder("<a no>", "4 2"), "4 2 red", "<a no> red", (0, 2, 1)),
        (equal("lamp shade", "hat"), "lamp shade", "lampshade", (1, 1, 0)),
    ],
)
def test_a_synonym_ranks_as_the_words_it_replaces(
    synonym: Synonym, query: str, text: str, info: tuple[int, int, int]
) -> None:
    [hit] = search([text], [synonym], query).hits

    found = hit["_rankingInfo"]
    counts = found["nbTypos"], found["proximityDistance"], found["nbExactWords"]
    assert counts == info
    assert found["words"] == len(query.split())


def test_a_long_synonym_reaches_into_no_other_record() -> None:
    synonyms = [equal("box", "a device that shows moving pictures")]
    texts = ["red box", "0 1 red 2 3 4 5 6 7 8 9 box", "red a device that shows moving pictures"]

    hits = search(texts, synonyms, "box red").hits

    first = {hit["t"]: hit["_rankingInfo"]["firstMatchedWord"] for hit in hits}
    assert first[texts[1]] == 2


def test_a_synonym_before_an_excluded_word_does_not_apply_after_it() -> None:
    query = "big apple -x big apple"

    [hit] = search(["ny"], [equal("big apple", "ny")], query, advancedSyntax=True).hits

    assert hit["_rankingInfo"]["proximityDistance"] == 1 + 8 + 1


@pytest.mark.parametrize(
    ("kinds", "single", "multi"),
    [
        (None, 2, 1),
        ([], 1, 1),
        (["singleWordSynonym"], 2, 1),
        (["multiWordsSynonym"], 1, 3),
        (["singleWordSynonym", "multiWordsSynonym"], 2, 3),
    ],
)
def test_alternatives_are_exact_according_to_the_settings(
    kinds: list[str] | None, single: int, multi: int
) -> None:
    settings = {} if kinds is None else {"alternativesAsExact": kinds}

    one = search(["red telly"], [equal("tv", "telly")], "red tv", settings)
    many = search(["red ny"], [equal("new york", "ny")], "red new york", settings)

    assert one.hits[0]["_rankingInfo"]["nbExactWords"] == single
    assert many.hits[0]["_rankingInfo"]["nbExactWords"] == multi


def test_corrections_with_fewer_typos_rank_first() -> None:
    texts = ["two", "one", "zero", "word"]
    synonyms = [
        correction(2, "word", "two"),
        {**correction(1, "word", "one"), "objectID": "1"},
        equal("word", "zero"),
    ]

    assert texts_found(texts, synonyms, "word") == ["zero", "word", "one", "two"]
    assert texts_found(texts, synonyms, "word", typoTolerance="min") == ["zero", "word"]
    assert texts_found(texts, synonyms, "word", typoTolerance="strict") == ["zero", "word", "one"]


# ------------------------------------------------------------------------------------- marking

MARKS = {"highlightPreTag": "[", "highlightPostTag": "]"}


@pytest.mark.parametrize(
    ("synonym", "query", "text", "marked", "replaced"),
    [
        (equal("tv", "telly"), "tv", "A Telly.", "A [Telly].", "A [tv]."),
        (equal("tv", "telly"), "tv", "TV, telly", "[TV], [telly]", "[TV], [tv]"),
        (equal("ny", "new york"), "ny", "In New York!", "In [New] [York]!", "In [ny]!"),
        (equal("ny", "new york"), "new york", "In NY!", "In [NY]!", "In [new york]!"),
        (equal("ny", "new york"), "ny", "York, new", "York, new", "York, new"),
        (equal("ny", "new york"), "ny york", "new york", "[new] [york]", "[ny]"),
        (equal("tele", "television"), "tele", "television", "[television]", "[television]"),
        (correction(1, "tv", "telly"), "tv", "telly", "[telly]", "[tv]"),
        (placeholder("<no>", "42"), "42 main", "<no> Main", "[<no>] [Main]", "[42] [Main]"),
        (placeholder("<no>", "42"), "42", "no <No>", "no [<No>]", "no [42]"),
        (placeholder("<a no>", "4 2"), "4 2", "at < A, no >", "at [< A, no >]", "at [4 2]"),
        (placeholder("<no>", "42"), "42 no", "<no>", "[<no>]", "[42]"),
    ],
)
def test_a_synonym_is_marked_and_replaced_on_request(
    synonym: Synonym, query: str, text: str, marked: str, replaced: str
) -> None:
    index = Index({"searchableAttributes": ["t", "other"], "attributesToSnippet": ["t"]})
    record = {"objectID": "1", "t": text, "other": query}
    index.put([record])
    knowledge = LanguageResources(Thesaurus(lambda: [synonym]))

    for replacing, value in ((False, marked), (True, replaced)):
        params = {"query": query, "replaceSynonymsInHighlight": replacing, **MARKS}
        [hit] = index.search(params, lambda _: [record], knowledge).hits
        assert hit["_highlightResult"]["t"]["value"] == value
        assert hit["_snippetResult"]["t"]["value"] == value


def test_a_mark_names_the_words_of_the_query() -> None:
    [hit] = search(["NY pizza"], [equal("ny", "new york")], "new york pizza").hits

    assert hit["_highlightResult"]["t"] == {
        "value": "<em>NY</em> <em>pizza</em>",
        "matchLevel": "full",
        "fullyHighlighted": True,
        "matchedWords": ["new", "york", "pizza"],
    }


@pytest.mark.parametrize(
    ("size", "value"),
    [
        (1, "…[ny]…"),
        (2, "…[ny]…"),
        (3, "In [ny]…"),
        (4, "In [ny] of…"),
        (9, "In [ny] of Mr <no>"),
    ],
)
def test_a_snippet_counts_the_words_that_are_replaced(size: int, value: str) -> None:
    settings = {"attributesToSnippet": [f"t:{size}"], "replaceSynonymsInHighlight": True, **MARKS}

    [hit] = search(["In New York of Mr <no>"], [equal("ny", "new york")], "ny", settings).hits

    assert hit["_snippetResult"]["t"]["value"] == value


@pytest.mark.parametrize(
    ("size", "value"), [(1, "…[<no>]…"), (2, "…[<no>] Main…"), (3, "At [<no>] Main…")]
)
def test_a_snippet_keeps_a_placeholder_whole(size: int, value: str) -> None:
    settings = {"attributesToSnippet": [f"t:{size}"], **MARKS}

    [hit] = search(["At <no> Main street"], [placeholder("<no>", "42")], "42", settings).hits

    assert hit["_snippetResult"]["t"]["value"] == value


# -------------------------------------------------------------------------------- many synonyms

words = st.sampled_from(["a", "b", "c", "d e", "e d", "d", "<f>"])
phrases = st.lists(words, min_size=1, max_size=3)
bodies = st.one_of(
    phrases.map(lambda some: equal(*some)),
    st.builds(lambda one, some: one_way(one, *some), words, phrases),
    st.builds(lambda one, some: correction(1, one, *some), words, phrases),
    st.builds(lambda one, some: placeholder(one, *some), words, phrases),
)
named = st.builds(lambda body, name: {**body, "objectID": name}, bodies, st.sampled_from("123456"))
changes = st.tuples(st.lists(named, max_size=4), st.sets(st.sampled_from("123456")), st.booleans())


@given(st.lists(changes, max_size=6), st.lists(words, max_size=4))
def test_a_changed_thesaurus_equals_a_new_one(
    run: list[tuple[list[Synonym], set[str], bool]], asked: list[str]
) -> None:
    query = " ".join(asked).replace("<f>", "f").split()
    kept: dict[str, Synonym] = {}
    changed = Thesaurus()
    before: list[Replacement] = [*changed.find(query, RULES)]

    for new, gone, emptied in run:
        changed = changed.revised(gone, new, emptied=emptied)
        kept = {} if emptied else kept
        kept |= {one["objectID"]: one for one in new}
        kept = {name: one for name, one in kept.items() if name not in gone}

    fresh = Thesaurus(lambda: kept.values())
    assert sorted(changed.find(query, RULES)) == sorted(fresh.find(query, RULES))
    assert before == []


@pytest.mark.parametrize("seed", range(12))
def test_more_synonyms_never_lose_a_hit(seed: int) -> None:
    random = Random(seed)
    index, _ = make_index(random)
    synonyms = [one for _ in range(4) for one in cases.make_synonyms(random)]
    some = synonyms[: len(synonyms) // 2]

    for _ in range(10):
        query = cases.make_synonymous(random, synonyms) if synonyms else cases.make_query(random)
        fewer, more = (found_ids(index, query, given) for given in (some, synonyms))
        assert found_ids(index, query, []) <= fewer <= more


@pytest.mark.parametrize("seed", range(12))
def test_a_synonym_one_way_finds_what_either_word_finds(seed: int) -> None:
    random = Random(seed)
    index, _ = make_index(random)

    for _ in range(10):
        one, other = random.sample([word for word in cases.WORDS if len(split(word)) == 1], 2)
        both = found_ids(index, one, [one_way(one, other)])
        own = found_ids(index, one, [])
        plain = found_ids(index, other, [], typoTolerance=False, queryType="prefixNone")
        assert both == own | plain


@pytest.mark.sampled(quick=3)
@pytest.mark.parametrize("seed", range(12))
def test_the_order_of_records_and_synonyms_changes_nothing(seed: int) -> None:
    random = Random(seed)
    index, records = make_index(random)
    shuffled = Index(index.settings)
    for record in random.sample(records, len(records)):
        shuffled.put([record])
    synonyms = [*cases.make_synonyms(random), equal("red lamp", "desk"), one_way("a", "b")]
    numbered = [{**one, "objectID": str(n)} for n, one in enumerate(synonyms)]
    mixed = random.sample(numbered, len(numbered))

    for _ in range(10):
        params = {"query": cases.make_synonymous(random, synonyms), "getRankingInfo": True}
        one, other = (
            where.search(
                params, lambda ids: [{"objectID": i} for i in ids], LanguageResources(known)
            )
            for where, known in (
                (index, Thesaurus(lambda: numbered)),
                (shuffled, Thesaurus(lambda: mixed)),
            )
        )
        assert one.hits == other.hits


def make_index(random: Random) -> tuple[Index, list[dict[str, Any]]]:
    records = {str(n): cases.make_record(random, n) for n in range(30)}
    latest = {record["objectID"]: record for record in records.values()}
    index = Index(cases.make_settings(random))
    index.put(list(latest.values()))
    return index, list(latest.values())


def found_ids(index: Index, query: str, synonyms: Sequence[Synonym], **params: Any) -> set[str]:
    numbered = [{**one, "objectID": str(n)} for n, one in enumerate(synonyms)]
    params = {"query": query, "hitsPerPage": 1000, "distinct": 0, **params}
    found = index.search(
        params,
        lambda ids: [{"objectID": name} for name in ids],
        LanguageResources(Thesaurus(lambda: numbered)),
    )
    return {hit["objectID"] for hit in found.hits}
