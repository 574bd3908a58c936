"""Secured keys are verified over their raw text, and each restriction is enforced."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from svc_notebook.core.api.secured_keys import make_secured_key, sign
from tests.conftest import Inside
from tests.service.service_process import Outside, outside


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    with outside(tmp_path_factory.mktemp("secured")) as caller:
        yield caller


@pytest.fixture
def shop(inside: Inside) -> Inside:
    records = [{"objectID": str(n), "owner": "ab"[n % 2], "n": n} for n in range(6)]
    inside.fill("shop", *records, attributesForFaceting=["owner"])
    inside.fill("other", {"objectID": "o"})
    return inside


def parent_of(inside: Inside, **fields: Any) -> str:
    return str(inside.call("POST", "/1/keys", {"acl": ["search"], **fields}).json()["key"])


def spelled(parent: str, text: str) -> str:
    return base64.b64encode((sign(parent, text) + text).encode()).decode()


def search(inside: Inside, key: str, index: str = "shop", **more: Any) -> Any:
    return inside.call("POST", f"/1/indexes/{index}/query", more.pop("body", {}), key=key, **more)


@pytest.mark.parametrize(
    "text",
    [
        "filters=owner%3Aa&hitsPerPage=2",
        "hitsPerPage=2&filters=owner%3Aa",
        "filters=owner:a&hitsPerPage=2",
        "hitsPerPage=2&filters=%22owner%22%3Aa",
        "filters=+owner%3Aa+&hitsPerPage=2",
        "facetFilters=owner%3Aa&hitsPerPage=2",
        "facetFilters=%5B%5B%22owner%3Aa%22%5D%5D&hitsPerPage=2",
    ],
)
def test_the_text_is_verified_as_it_is_spelled(shop: Inside, text: str) -> None:
    key = spelled(shop.facts["searchKey"], text)

    answer = search(shop, key, body={"hitsPerPage": 6}).json()

    assert answer["nbHits"] == 3
    assert {hit["owner"] for hit in answer["hits"]} == {"a"}
    assert len(answer["hits"]) == 2


@pytest.mark.parametrize(
    "filters",
    ["n > 0", "n < 0 OR n > 0", "owner:b OR owner:a", 'n > 0 AND owner:"a"', "(owner:a OR n > 0)"],
)
def test_a_query_cannot_bypass_the_embedded_filters(shop: Inside, filters: str) -> None:
    key = make_secured_key(shop.facts["searchKey"], filters="owner:a OR owner:c")

    for body in ({"filters": filters}, {"params": f"filters={quote(filters)}"}):
        answer = search(shop, key, body=body)
        hits = answer.json().get("hits", [])
        assert answer.status_code == 400 or {hit["owner"] for hit in hits} == {"a"}


@pytest.mark.parametrize(
    "elsewhere",
    [
        {"insideBoundingBox": [[90, -180, -90, 180]]},
        {"insidePolygon": [[0, -170, 80, 0, 0, 170]]},
        {"aroundLatLng": "0,0", "aroundRadius": "all"},
    ],
    ids=lambda params: next(iter(params)),
)
def test_a_query_cannot_override_embedded_geo_parameters(
    shop: Inside, elsewhere: dict[str, object]
) -> None:
    places = {"near": (48.85, 2.35), "far": (40.71, -74.0)}
    shop.fill(
        "shops", *({"objectID": n, "_geoloc": {"lat": a, "lng": b}} for n, (a, b) in places.items())
    )
    key = make_secured_key(shop.facts["searchKey"], aroundLatLng="48.8,2.3", aroundRadius=50_000)

    answer = search(shop, key, "shops", body=elsewhere).json()

    assert [hit["objectID"] for hit in answer["hits"]] == ["near"]


@pytest.mark.parametrize("filters", [") OR (owner:b", 'x" OR owner:b', "owner:b) OR (n>0", " OR "])
def test_broken_filters_do_not_break_out(shop: Inside, filters: str) -> None:
    key = make_secured_key(shop.facts["searchKey"], filters="owner:a")

    assert search(shop, key, body={"filters": filters}).status_code == 400


def test_embedded_filters_apply_to_every_kind_of_search(shop: Inside) -> None:
    parent = parent_of(shop, acl=["search", "browse"])
    key = make_secured_key(parent, filters="owner:a")
    many = {"requests": [{"indexName": "shop"}]}

    found = [
        search(shop, key).json(),
        shop.call("GET", "/1/indexes/shop", key=key).json(),
        shop.call("POST", "/1/indexes/*/queries", many, key=key).json()["results"][0],
        shop.call("POST", "/1/indexes/shop/browse", {}, key=key).json(),
    ]

    assert [answer["nbHits"] for answer in found] == [3, 3, 3, 3]


def test_the_text_score_does_not_tell_of_other_records(inside: Inside) -> None:
    own = [{"objectID": n, "owner": "a", "text": text} for n, text in ("1y", "2z")]
    inside.fill("texts", *own, attributesForFaceting=["owner"], searchableAttributes=["text"])
    key = make_secured_key(inside.facts["searchKey"], filters="owner:a")
    asked = {"query": "y", "getRankingInfo": True}
    alone = search(inside, key, "texts", body=asked).json()["hits"]

    others = [{"objectID": f"b{n}", "owner": "b", "text": "y " * n} for n in range(9)]
    inside.fill("texts", *own, *others)

    assert search(inside, key, "texts", body=asked).json()["hits"] == alone
    assert search(inside, inside.facts["searchKey"], "texts", body=asked).json()["nbHits"] == 9


@pytest.mark.parametrize("ranking", [[], ["desc(n)"]])
def test_a_browse_cursor_of_another_key_does_not_lift_the_filters(
    shop: Inside, ranking: list[str]
) -> None:
    shop.done("PUT", "/1/indexes/shop/settings", {"customRanking": ranking})
    parent = parent_of(shop, acl=["browse"])
    path, key = "/1/indexes/shop/browse", make_secured_key(parent, filters="owner:a")
    cursor = shop.call("POST", path, {"hitsPerPage": 1}, key=parent).json()["cursor"]

    answer = shop.call("POST", path, {"cursor": cursor, "hitsPerPage": 9}, key=key).json()

    assert {hit["owner"] for hit in answer["hits"]} <= {"a"}


@pytest.mark.parametrize(
    ("restrictions", "body", "status"),
    [
        ({"validUntil": int(time.time()) + 100_000}, {}, 200),
        ({"validUntil": int(time.time()) - 1}, {}, 403),
        ({"restrictIndices": "shop"}, {}, 200),
        ({"restrictIndices": "sh*,x"}, {}, 200),
        ({"restrictIndices": ["other", "third"]}, {}, 403),
        ({"restrictSources": "127.0.0.0/8"}, {}, 200),
        ({"restrictSources": "10.0.0.0/8"}, {}, 403),
        ({"restrictSources": "10.0.0.0/8,127.0.0.1"}, {}, 200),
        ({"referers": ["https://shop.example/*"]}, {}, 403),
        ({"userToken": "me"}, {}, 200),
    ],
)
def test_each_restriction_is_enforced(
    shop: Inside, restrictions: dict[str, Any], body: dict[str, Any], status: int
) -> None:
    key = make_secured_key(shop.facts["searchKey"], **restrictions)

    assert search(shop, key, body=body).status_code == status


def test_a_secured_key_accepts_its_referers(shop: Inside) -> None:
    key = make_secured_key(shop.facts["searchKey"], referers=["https://shop.example/*"])

    answer = search(shop, key, headers={"referer": "https://shop.example/a"})

    assert answer.status_code == 200


def test_restricted_indices_apply_to_indices_named_in_the_body(shop: Inside) -> None:
    key = make_secured_key(shop.facts["searchKey"], restrictIndices="shop")
    many = {"requests": [{"indexName": "shop"}, {"indexName": "other"}]}

    assert shop.call("POST", "/1/indexes/*/queries", many, key=key).status_code == 403


def test_the_embedded_user_token_is_who_is_counted(shop: Inside) -> None:
    parent = parent_of(shop, maxQueriesPerIPPerHour=1)
    ann, bob = (make_secured_key(parent, userToken=name) for name in ("ann", "bob"))

    codes = [
        search(shop, ann).status_code,
        search(shop, ann, body={"userToken": "carl"}).status_code,
        search(shop, bob).status_code,
    ]

    assert codes == [200, 429, 200]


def test_a_secured_key_has_the_rights_and_the_end_of_its_parent(shop: Inside) -> None:
    parent = parent_of(shop)
    key = make_secured_key(parent, hitsPerPage=3)

    assert shop.call("GET", "/1/indexes", key=key).status_code == 403
    assert search(shop, key).status_code == 200
    shop.call("DELETE", f"/1/keys/{parent}")

    assert search(shop, key).status_code == 403


def test_secured_keys_of_the_admin_key_or_a_secured_key_are_refused(shop: Inside) -> None:
    secured = make_secured_key(shop.facts["searchKey"], hitsPerPage=3)

    for parent in (shop.facts["adminKey"], secured, "unknown"):
        assert search(shop, make_secured_key(parent, hitsPerPage=3)).status_code == 403


@pytest.mark.parametrize("text", ["hitsPerPage=many", "nonsense=1", "filters=%ff"])
def test_a_key_that_embeds_nonsense_is_refused_with_the_reason(shop: Inside, text: str) -> None:
    answer = search(shop, spelled(shop.facts["searchKey"], text))

    assert answer.status_code == 403
    assert "embeds" in answer.json()["message"]


@pytest.mark.slow
def test_changing_one_letter_of_the_text_breaks_the_key(shop: Inside) -> None:
    key = spelled(shop.facts["searchKey"], "filters=owner%3Aa")
    forged = base64.b64encode(base64.b64decode(key).replace(b"%3Aa", b"%3Ab")).decode()

    assert search(shop, forged).status_code == 403
