"""Parameters embedded in a key apply to every call that reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from svc_notebook.core.api import ENDPOINTS
from svc_notebook.core.api.parameters import PARAMETERS, default_of
from svc_notebook.core.api.secured_keys import Restrictions, make_secured_key, write_restrictions
from tests.service.parameter_examples import SCENES, Scene
from tests.service.service_process import Outside, outside
from tests.service.test_parameters import stage

Params = dict[str, Any]
Ask = Callable[[Outside, str, Params], list[Any]]

# Every text of a record names the record and the attribute, so that an answer shows what it holds.
CITIES = {"north": (60.0, 10.0), "south": (-30.0, 20.0)}
RECORDS: list[Params] = [
    {
        "objectID": f"r{number}",
        "title": f"lamp titleof{number}",
        "secret": f"lamp secretof{number}",
        "deep": {"open": f"lamp openof{number}", "shut": f"lamp shutof{number}"},
        "owner": f"ownerof{'ab'[number % 2]}",
        "size": number,
        "weight": 7000 + number,
        "_tags": ["even" if number % 2 == 0 else "odd"],
        "_geoloc": dict(zip(("lat", "lng"), list(CITIES.values())[number % 2], strict=True)),
    }
    for number in range(8)
]
SETTINGS = {
    "attributesForFaceting": ["searchable(owner)", "searchable(secret)", "searchable(title)"],
    "searchableAttributes": ["title", "secret", "deep.open", "deep.shut", "weight"],
    "customRanking": ["desc(weight)"],
    "attributesToSnippet": ["*:20"],
}
RULES: list[Params] = [
    {
        "objectID": "leak",
        "conditions": [{"context": "leak"}],
        "consequence": {
            "params": {
                "attributesToHighlight": ["*"],
                "attributesToRetrieve": ["*"],
                "hitsPerPage": 100,
                "filters": "size >= 0",
            },
            "promote": [{"objectID": record["objectID"], "position": 0} for record in RECORDS[:3]],
        },
    }
]
ATTEMPTS: list[Params] = [
    {},
    {"query": "lamp"},
    {"query": "secretof1"},
    {"hitsPerPage": 1000},
    {"offset": 0, "length": 1000},
    {"offset": 1, "length": 1000, "hitsPerPage": 1000, "page": 0},
    {"page": 1, "hitsPerPage": 3},
    {"attributesToRetrieve": ["*"], "query": "lamp"},
    {"attributesToRetrieve": ["*", "-title"], "query": "lamp"},
    {"attributesToHighlight": ["*"], "query": "lamp"},
    {"attributesToHighlight": ["secret", "deep", "deep.shut", "owner"], "query": "lamp"},
    {"attributesToSnippet": ["*:50"], "query": "lamp"},
    {"attributesToSnippet": ["secret:9", "deep.shut:9"], "query": "lamp"},
    {"facets": ["*"], "maxValuesPerFacet": 1000},
    {"facets": ["secret", "owner"]},
    {"getRankingInfo": True, "query": "lamp"},
    {"responseFields": ["*"], "query": "lamp"},
    {"filters": "size >= 0 OR size < 0"},
    {"facetFilters": ["owner:ownerofb"]},
    {"numericFilters": ["size >= 0"]},
    {"tagFilters": ["odd"]},
    {"insideBoundingBox": [[90, -180, -90, 180]]},
    {"aroundLatLng": "-30,20", "aroundRadius": "all"},
    {"similarQuery": "lamp secretof1"},
    {"ruleContexts": ["leak"], "query": "lamp"},
    {"optionalFilters": ["owner:ownerofb"], "sumOrFiltersScores": True},
    {"naturalLanguages": ["en"], "query": "the lamp"},
    {"restrictSearchableAttributes": ["secret"], "query": "lamp", "attributesToHighlight": ["*"]},
]


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    with outside(tmp_path_factory.mktemp("embedded")) as caller:
        caller.fill("shop", *RECORDS, **SETTINGS)
        caller.done("POST", "/1/indexes/shop/rules/batch", RULES)
        caller.fill("other", {"objectID": "o", "title": "titleofother"})
        yield caller


def posted(path: str) -> Ask:
    def ask(caller: Outside, key: str, params: Params) -> list[Any]:
        return [caller.call("POST", f"/1/indexes/{path}", params, key=key)]

    return ask


def got(path: str) -> Ask:
    def ask(caller: Outside, key: str, params: Params) -> list[Any]:
        texts = {n: v if isinstance(v, str) else json.dumps(v) for n, v in params.items()}
        return [caller.call("GET", f"/1/indexes/{path}?{urlencode(texts)}", key=key)]

    return ask


def many(caller: Outside, key: str, params: Params) -> list[Any]:
    texts = {n: v if isinstance(v, str) else json.dumps(v) for n, v in params.items()}
    requests = [
        {"indexName": "shop", **params},
        {"indexName": "shop", "params": urlencode(texts)},
        {"indexName": "shop", "type": "facet", "facet": "title", "params": urlencode(texts)},
    ]
    bodies = [{"requests": requests[:2]}, {"requests": requests[2:]}]
    return [caller.call("POST", "/1/indexes/*/queries", body, key=key) for body in bodies]


def facets(caller: Outside, key: str, params: Params) -> list[Any]:
    return [
        caller.call("POST", f"/1/indexes/shop/facets/{facet}/query", params, key=key)
        for facet in ("owner", "secret", "title")
    ]


def browse_on(caller: Outside, key: str, params: Params) -> list[Any]:
    """Browse to the end, with cursors of this key and with one of a key that embeds nothing."""
    free = make_key(caller)
    path = "/1/indexes/shop/browse"
    first = caller.call("POST", path, {**params, "hitsPerPage": 1}, key=free).json()
    cursors = [first["cursor"]] if "cursor" in first else []
    answers = [caller.call("POST", path, {"cursor": one}, key=key) for one in cursors]
    body = params
    for _ in range(20):
        answers.append(caller.call("POST", path, body, key=key))
        if "cursor" not in answers[-1].json():
            break
        body = {"cursor": answers[-1].json()["cursor"], "hitsPerPage": 1000}
    return answers


def by_id(caller: Outside, key: str, params: Params) -> list[Any]:
    """Read records by id; of the parameters these calls have one."""
    if params and "attributesToRetrieve" not in params:
        return []
    wanted = {n: v for n, v in params.items() if n == "attributesToRetrieve"}
    text = (
        f"?attributesToRetrieve={quote(','.join(wanted['attributesToRetrieve']))}" if wanted else ""
    )
    ids = [record["objectID"] for record in RECORDS]
    requests = [{"indexName": "shop", "objectID": one, **wanted} for one in ids]
    return [
        *(caller.call("GET", f"/1/indexes/shop/{one}{text}", key=key) for one in ids),
        *(caller.call("GET", f"/1/indexes/shop/{one}?attributes=*", key=key) for one in ids),
        caller.call("POST", "/1/indexes/*/objects", {"requests": requests}, key=key),
    ]


# By the endpoints they call.
ASKS: dict[str, tuple[Ask, set[str]]] = {
    "search": (posted("shop/query"), {"search"}),
    "get": (got("shop"), {"get_search"}),
    "many": (many, {"search_many"}),
    "facets": (facets, {"search_facet"}),
    "browse": (posted("shop/browse"), {"browse"}),
    "get-browse": (got("shop/browse"), {"get_browse"}),
    "cursors": (browse_on, {"browse"}),
    "by-id": (by_id, {"get_object", "get_objects"}),
}


def make_key(caller: Outside, **fields: Any) -> str:
    own = {"acl": ["search", "browse"], **fields}
    return str(caller.call("POST", "/1/keys", own).json()["key"])


def secured(caller: Outside, embedded: Params) -> str:
    return make_secured_key(make_key(caller), **embedded)


def plain(caller: Outside, embedded: Params) -> str:
    return make_key(caller, queryParameters=write_restrictions(embedded))


def of_restricted_parent(caller: Outside, embedded: Params) -> str:
    """A secured key that tries to embed something wider than its parent."""
    wide: Params = {
        "hitsPerPage": 1000,
        "length": 1000,
        "attributesToRetrieve": ["*"],
        "filters": "size >= 0",
        "aroundLatLng": "-30,20",
        "aroundRadius": "all",
    }
    names = wide.keys() & embedded.keys() or {"hitsPerPage"}
    return make_secured_key(plain(caller, embedded), **{name: wide[name] for name in names})


KEYS = {"secured": secured, "queryParameters": plain, "parent": of_restricted_parent}


def test_every_search_endpoint_that_reads_records_is_called() -> None:
    reading = {r.name for r in ENDPOINTS if r.acl in ("search", "browse") and r.reads}

    assert set().union(*(names for _, names in ASKS.values())) == reading


@pytest.mark.sampled(12)
@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("ask", ASKS)
@pytest.mark.parametrize(
    "embedded",
    [
        {"filters": "owner:ownerofa"},
        {"tagFilters": ["even"], "numericFilters": ["weight>=7000", "size<8"]},
        {"aroundLatLng": "60,10", "aroundRadius": 1000},
        {"insidePolygon": [[61, 9, 61, 11, 59, 11, 59, 9]]},
    ],
    ids=lambda params: next(iter(params)),
)
def test_no_record_outside_the_embedded_filters_is_shown(
    caller: Outside, embedded: Params, ask: str, kind: str
) -> None:
    key = KEYS[kind](caller, embedded)

    answers = [
        answer.text for attempt in ATTEMPTS for answer in ASKS[ask][0](caller, key, dict(attempt))
    ]

    leaks = [text for text in answers if any(of in text for of in marks(RECORDS[1::2]))]
    assert leaks == []
    assert any(of in text for text in answers for of in marks(RECORDS[::2]))


def marks(records: list[Params]) -> list[str]:
    """The texts that give away that one of the records was looked at, beyond what was asked."""
    return [f"{name}of{record['size']}" for record in records for name in ("title", "open", "shut")]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("ask", ASKS)
@pytest.mark.parametrize(
    ("names", "shut"),
    [
        (["title"], ["secretof", "openof", "shutof", "ownerof", "700"]),
        (["title", "deep.open"], ["secretof", "shutof", "ownerof", "700"]),
        (["title", "-secret"], ["secretof", "openof", "shutof", "ownerof", "700"]),
        (["*", "-secret", "-deep.shut"], ["secretof", "shutof"]),
    ],
    ids=["one", "nested", "minus", "all-but"],
)
def test_no_attribute_outside_the_embedded_list_is_shown(
    caller: Outside, names: list[str], shut: list[str], ask: str, kind: str
) -> None:
    key = KEYS[kind](caller, {"attributesToRetrieve": names})

    seen = [
        (attempt, strip(answer.json()))
        for attempt in ATTEMPTS
        for answer in ASKS[ask][0](caller, key, dict(attempt))
    ]

    assert [(a, text) for a, text in seen if any(word in text for word in shut)] == []
    assert any("titleof" in text for _, text in seen)


def strip(answer: Any) -> str:
    """An answer without what merely repeats the question."""
    if isinstance(answer, dict):
        echoes = ("query", "params", "parsedQuery", "queryAfterRemoval", "message", "cursor")
        answer = {name: value for name, value in answer.items() if name not in echoes}
        if "results" in answer:
            return " ".join(strip(one) for one in answer["results"])
    return json.dumps(answer)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("kind", ["secured", "queryParameters"])
@pytest.mark.parametrize("ask", [name for name in ASKS if name not in ("facets", "by-id")])
@pytest.mark.parametrize(
    "embedded", [{"hitsPerPage": 2}, {"length": 2}, {"offset": 0, "length": 2}]
)
def test_no_answer_has_more_hits_than_the_embedded_size(
    caller: Outside, embedded: Params, ask: str, kind: str
) -> None:
    key = KEYS[kind](caller, embedded)

    counts = [count for attempt in ATTEMPTS for count in hits_of(caller, ask, key, attempt)]

    assert max(counts) == 2


def hits_of(caller: Outside, ask: str, key: str, attempt: Params) -> Iterator[int]:
    for answer in ASKS[ask][0](caller, key, dict(attempt)):
        for one in answer.json().get("results", [answer.json()]):
            yield len(one.get("hits", ()))


@pytest.mark.parametrize("ask", [name for name in ASKS if name not in ("facets", "by-id")])
@pytest.mark.parametrize(
    "embedded", [{"page": 1, "hitsPerPage": 3}, {"offset": 3, "length": 3}, {"page": 1}]
)
def test_no_answer_shows_another_page_than_the_embedded_one(
    caller: Outside, embedded: Params, ask: str
) -> None:
    order = [f"r{number}" for number in range(7, -1, -1)]  # the heaviest first
    attempts = [a for a in ATTEMPTS if "ruleContexts" not in a and "query" not in a]
    attempts = [a for a in attempts if not a.keys() & {"optionalFilters", "similarQuery"}]
    key = secured(caller, embedded)
    size = embedded.get("hitsPerPage", embedded.get("length"))
    default = 20 if ask in ("search", "get", "many") else 1000

    for attempt in attempts:
        if attempt.keys() & {"facetFilters", "tagFilters", "aroundLatLng"}:
            continue
        for answer in ASKS[ask][0](caller, key, dict(attempt)):
            for one in answer.json().get("results", [answer.json()]):
                if "hits" not in one:
                    continue
                # The browse of another key asked for one record a page.
                sizes = [size] if size else [attempt.get("hitsPerPage", default), 1]
                pages = [set(order[one : 2 * one]) for one in sizes]
                hits = {hit["objectID"] for hit in one["hits"]}
                assert any(hits <= page for page in pages), attempt


@pytest.mark.parametrize("ask", ASKS)
@pytest.mark.parametrize(
    "embedded",
    [
        {"restrictIndices": "other"},
        {"restrictSources": "127.0.0.2/32"},
        {"referers": ["https://shop.example/*"]},
        {"validUntil": 1},
    ],
    ids=lambda params: next(iter(params)),
)
@pytest.mark.parametrize("kind", ["secured", "queryParameters"])
def test_each_usage_limit_applies_to_every_call(
    caller: Outside, embedded: Params, ask: str, kind: str
) -> None:
    key = KEYS[kind](caller, embedded)
    if ask == "cursors":
        codes = {caller.call("POST", "/1/indexes/shop/browse", {}, key=key).status_code}
    else:
        codes = {answer.status_code for answer in ASKS[ask][0](caller, key, {})}

    assert codes == {403}


def test_an_embedded_user_token_is_who_is_counted_for_either_kind_of_key(caller: Outside) -> None:
    keys = [
        make_secured_key(make_key(caller, maxQueriesPerIPPerHour=1), userToken="ann"),
        make_key(caller, maxQueriesPerIPPerHour=1, queryParameters="userToken=ann"),
    ]

    for key in keys:
        codes = [
            caller.call("POST", "/1/indexes/shop/query", {"userToken": who}, key=key).status_code
            for who in ("bob", "cy")
        ]
        assert codes == [200, 429]


def is_embeddable(name: str) -> bool:
    scope = PARAMETERS[name].scope
    return name in Restrictions.__annotations__ or scope in ("parameter", "both")


EMBEDDABLE = [name for name in SCENES if is_embeddable(name) and PARAMETERS[name].effect == "works"]


@pytest.mark.sampled(40, quick=8)
@pytest.mark.parametrize("kind", ["secured", "queryParameters"])
@pytest.mark.parametrize("name", EMBEDDABLE)
def test_each_parameter_has_its_effect_where_a_key_embeds_it(
    caller: Outside, name: str, kind: str
) -> None:
    scene, index = SCENES[name], f"{name}-{kind}"
    stage(caller, scene, index)
    key = KEYS[kind](caller, {name: scene.value})
    defaults = {name: default_of(name)} if default_of(name) is not None else {}

    seen = [
        scene.see(answer)
        for more in ({}, defaults)
        for answer in scene_answers(caller, scene, index, key, more)
    ]

    assert seen == [scene.after] * len(seen)


def scene_answers(
    caller: Outside, scene: Scene, index: str, key: str, more: Mapping[str, Any]
) -> list[Params]:
    params = {**scene.params, **more}
    if scene.facet:
        path = f"/1/indexes/{index}/facets/{scene.facet}/query"
        return [caller.call("POST", path, params, key=key).json()]
    requests = {"requests": [{"indexName": index, **params}]}
    return [
        caller.call("POST", f"/1/indexes/{index}/query", params, key=key).json(),
        caller.call("POST", "/1/indexes/*/queries", requests, key=key).json()["results"][0],
    ]
