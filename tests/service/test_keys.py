"""Keys allow what their fields say, until they expire."""

from __future__ import annotations

from typing import Any

import pytest

from svc_notebook.errors import Refused
from svc_notebook.service.http.rate_limit import HOUR_SECONDS, MAX_TRACKED_CALLERS, HourlyQueryLimit
from tests.conftest import Inside


@pytest.fixture
def shop(inside: Inside) -> Inside:
    records = [{"objectID": str(n), "owner": "ab"[n % 2], "n": n} for n in range(6)]
    inside.fill("shop", *records, attributesForFaceting=["owner"])
    inside.fill("other", {"objectID": "o"})
    return inside


def make(inside: Inside, path: str = "/1/keys", **fields: Any) -> str:
    answer = inside.call("POST", path, fields)
    assert answer.status_code == 200, answer.text
    assert answer.json().keys() == {"key", "createdAt"}
    return str(answer.json()["key"])


def search(inside: Inside, key: str, index: str = "shop", **more: Any) -> Any:
    return inside.call("POST", f"/1/indexes/{index}/query", more.pop("body", {}), key=key, **more)


def test_a_key_is_returned_with_its_fields(inside: Inside) -> None:
    key = make(inside, acl=["search", "browse"], description="shop", indexes=["dev_*"])

    told = inside.call("GET", f"/1/keys/{key}").json()

    assert isinstance(told.pop("createdAt"), int)
    assert told == {
        "value": key,
        "acl": ["search", "browse"],
        "description": "shop",
        "indexes": ["dev_*"],
        "validity": 0,
    }
    assert key in [one["value"] for one in inside.call("GET", "/1/keys").json()["keys"]]


def test_an_update_resets_the_fields_left_out(inside: Inside) -> None:
    key = make(inside, acl=["search"], description="shop", maxHitsPerQuery=3)

    answer = inside.call("PUT", f"/1/keys/{key}", {"acl": ["browse"]})

    assert answer.json().keys() == {"key", "updatedAt"}
    told = inside.call("GET", f"/1/keys/{key}").json()
    assert told["acl"] == ["browse"]
    assert told.keys() == {"value", "createdAt", "acl", "validity"}


@pytest.mark.parametrize("path", ["/1/keys", "/1/indexes/shop/keys"])
def test_the_returned_validity_is_the_remaining_time(shop: Inside, path: str) -> None:
    key = make(shop, path, acl=["search"], validity=1000)
    age_keys(shop, 400)

    one = shop.call("GET", f"{path}/{key}").json()
    [listed] = [k for k in shop.call("GET", path).json()["keys"] if k["value"] == key]
    shop.call("PUT", f"{path}/{key}", {"acl": ["browse"], "validity": one["validity"]})
    age_keys(shop, 400)

    # A little has passed since, on a slow machine more.
    assert 500 < one["validity"] <= 600
    assert 500 < listed["validity"] <= 600
    assert shop.call("GET", f"{path}/{key}").json()["validity"] in range(100, 201)


def age_keys(inside: Inside, seconds: int) -> None:
    """Let the end of each key come nearer, as time does."""
    with inside.app.service.store.writing() as connection:
        connection.execute("UPDATE keys SET ends = ends - ?", (seconds,))


def test_a_deleted_key_is_refused_until_it_is_restored(shop: Inside) -> None:
    key = make(shop, acl=["search"], validity=1000)

    assert shop.call("DELETE", f"/1/keys/{key}").json().keys() == {"deletedAt"}
    assert search(shop, key).status_code == 403
    assert shop.call("GET", f"/1/keys/{key}").status_code == 404

    assert shop.call("POST", f"/1/keys/{key}/restore").json()["key"] == key
    assert search(shop, key).status_code == 200
    assert shop.call("GET", f"/1/keys/{key}").json()["validity"] == 0


@pytest.mark.parametrize(
    ("verb", "path"),
    [
        ("GET", "/1/keys/nokey"),
        ("PUT", "/1/keys/nokey"),
        ("DELETE", "/1/keys/nokey"),
        ("POST", "/1/keys/nokey/restore"),
        ("GET", "/1/indexes/shop/keys/nokey"),
        ("DELETE", "/1/indexes/shop/keys/nokey"),
        ("GET", "/1/indexes/nowhere/keys"),
    ],
)
def test_a_key_that_is_not_there_is_not_found(shop: Inside, verb: str, path: str) -> None:
    assert shop.call(verb, path).status_code == 404


def test_a_key_that_lives_cannot_be_restored(inside: Inside) -> None:
    key = make(inside, acl=["search"])

    assert inside.call("POST", f"/1/keys/{key}/restore").status_code == 404


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"acl": ["serach"]}, "did you mean `search`?"),
        ({"acl": ["admin"]}, "admin is not a right"),
        ({"acl": "search"}, "`acl`"),
        ({"validity": -1}, "`validity`"),
        ({"maxHitsPerQuery": 1.5}, "`maxHitsPerQuery`"),
        ({"queryParameters": "hitPerPage=1"}, "did you mean `hitsPerPage`?"),
        ({"rights": ["search"]}, "`rights` is not known"),
    ],
)
def test_a_key_with_fields_that_cannot_be_is_refused(
    inside: Inside, fields: dict[str, Any], told: str
) -> None:
    answer = inside.call("POST", "/1/keys", fields)

    assert answer.status_code == 400
    assert told in answer.json()["message"]


def test_a_key_reads_only_itself_and_without_its_description(inside: Inside) -> None:
    key, other = (make(inside, acl=["search"], description="secret plan") for _ in range(2))

    told = inside.call("GET", f"/1/keys/{key}", key=key)

    assert told.json()["value"] == key
    assert "secret plan" not in told.text
    assert inside.call("GET", f"/1/keys/{other}", key=key).status_code == 403


def test_a_key_reaches_the_indices_its_patterns_match(shop: Inside) -> None:
    shop.fill("shop_fr", {"objectID": "1"})
    key = make(shop, acl=["search", "listIndexes", "addObject"], indexes=["shop*"])

    assert search(shop, key, "shop_fr").status_code == 200
    assert search(shop, key, "other").status_code == 403
    both = {"requests": [{"indexName": "shop", "objectID": "1"}]}
    former = {"requests": [{"index_name": "shop", "objectID": "1"}]}
    for body in (both, former):
        assert shop.call("POST", "/1/indexes/*/objects", body, key=key).status_code == 200
    names = [i["name"] for i in shop.call("GET", "/1/indexes", key=key).json()["items"]]
    assert names == ["shop", "shop_fr"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/1/indexes/*/queries", {"requests": [{"indexName": "shop"}, {"indexName": "other"}]}),
        ("/1/indexes/*/objects", {"requests": [{"indexName": "other", "objectID": "o"}]}),
        ("/1/indexes/*/objects", {"requests": [{"index_name": "other", "objectID": "o"}]}),
        ("/1/indexes/*/batch", {"requests": [{"indexName": "other", "action": "addObject",
                                              "body": {}}]}),
        ("/1/indexes/shop/operation", {"operation": "copy", "destination": "other"}),
    ],
)  # fmt: skip
def test_an_index_named_in_the_body_is_guarded_too(
    shop: Inside, path: str, body: dict[str, Any]
) -> None:
    key = make(shop, acl=["search", "addObject"], indexes=["shop"])

    assert shop.call("POST", path, body, key=key).status_code == 403


def test_a_key_ends_after_its_validity(shop: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    key = make(shop, acl=["search"], validity=3600)
    assert search(shop, key).status_code == 200

    with shop.app.service.store.writing() as connection:
        connection.execute("UPDATE keys SET ends = ends - 3600 WHERE value = ?", [key])

    assert search(shop, key).status_code == 403
    assert shop.call("GET", f"/1/keys/{key}").status_code == 404
    assert shop.call("POST", f"/1/keys/{key}/restore").status_code == 200


@pytest.mark.parametrize("path", ["query", "browse"])
def test_a_key_caps_the_hits_of_one_query(shop: Inside, path: str) -> None:
    key = make(shop, acl=["search", "browse"], maxHitsPerQuery=2)

    for body in ({}, {"hitsPerPage": 5}, {"hitsPerPage": 1}):
        hits = shop.call("POST", f"/1/indexes/shop/{path}", body, key=key).json()["hits"]
        assert len(hits) == min(2, body.get("hitsPerPage", 2))


def test_query_parameters_of_a_key_are_forced_and_its_filters_added(shop: Inside) -> None:
    key = make(shop, acl=["search"], queryParameters="filters=owner%3Aa&hitsPerPage=2")

    answer = search(shop, key, body={"filters": "n > 0 OR n < -1", "hitsPerPage": 5}).json()

    assert answer["nbHits"] == 2
    assert [hit["owner"] for hit in answer["hits"]] == ["a", "a"]
    assert search(shop, key, body={}).json()["nbHits"] == 3


@pytest.mark.parametrize(
    ("page", "status"),
    [
        ({"referer": "https://shop.example/cart"}, 200),
        ({"origin": "https://shop.example"}, 200),
        ({"referer": "https://evil.example/https://shop.example"}, 403),
        ({}, 403),
    ],
)
def test_a_key_is_for_the_pages_it_names(shop: Inside, page: dict[str, str], status: int) -> None:
    key = make(shop, acl=["search"], referers=["https://shop.example*"])

    assert search(shop, key, headers=page).status_code == status


def test_a_key_may_ask_so_often_an_hour(shop: Inside) -> None:
    key = make(shop, acl=["search"], maxQueriesPerIPPerHour=3)
    two = {"requests": [{"indexName": "shop"}] * 2}

    codes = [
        search(shop, key).status_code,
        shop.call("POST", "/1/indexes/*/queries", two, key=key).status_code,
        search(shop, key).status_code,
        search(shop, key, body={"userToken": "someone else"}).status_code,
    ]

    assert codes == [200, 200, 429, 200]


def test_each_search_of_a_row_counts_for_the_user_it_names(shop: Inside) -> None:
    key = make(shop, acl=["search"], maxQueriesPerIPPerHour=1)

    def ask(*tokens: str) -> int:
        requests = [{"indexName": "shop", "params": f"userToken={token}"} for token in tokens]
        return shop.call(
            "POST", "/1/indexes/*/queries", {"requests": requests}, key=key
        ).status_code

    assert [ask("ann", "bob"), ask("cy"), ask("bob")] == [200, 200, 429]


def test_queries_are_forgotten_after_an_hour() -> None:
    now = [0.0]
    meter = HourlyQueryLimit(lambda: now[0])
    meter.count("k", "me", 2)
    now[0] = 10
    meter.count("k", "me", 2)

    with pytest.raises(Refused, match=f"in {int(HOUR_SECONDS) - 9} s"):
        meter.count("k", "me", 2)
    now[0] = HOUR_SECONDS + 1
    meter.count("k", "me", 2)
    with pytest.raises(Refused):
        meter.count("k", "me", 2)


@pytest.mark.slow
def test_callers_are_forgotten_so_that_their_number_stays_within_bounds() -> None:
    now = [0.0]
    meter = HourlyQueryLimit(lambda: now[0])
    for number in range(MAX_TRACKED_CALLERS + 100):
        meter.count("k", f"{number}", 9)
    assert len(meter) <= MAX_TRACKED_CALLERS

    now[0] = HOUR_SECONDS + 1
    for _ in range(MAX_TRACKED_CALLERS):
        meter.count("k", "me", MAX_TRACKED_CALLERS)
    assert len(meter) == 1


def test_a_server_with_the_admin_key_may_call_for_its_callers(shop: Inside) -> None:
    key = make(shop, acl=["search"], maxQueriesPerIPPerHour=1)

    def ask(address: str) -> int:
        headers = {"X-Forwarded-For": address, "X-Forwarded-API-Key": key}
        status: int = search(shop, shop.facts["adminKey"], headers=headers).status_code
        return status

    assert [ask("1.1.1.1"), ask("1.1.1.1"), ask("2.2.2.2")] == [200, 429, 200]


def test_a_refusal_says_when_the_hour_is_over(shop: Inside) -> None:
    key = make(shop, acl=["search"], maxQueriesPerIPPerHour=1)
    search(shop, key)

    refused = search(shop, key)

    assert refused.status_code == 429
    seconds = int(refused.headers["retry-after"])
    assert 0 < seconds <= 3601
    assert f"try again in {seconds} s" in refused.json()["message"]


def test_others_cannot_pretend_to_come_from_elsewhere(shop: Inside) -> None:
    key = make(shop, acl=["search"], maxQueriesPerIPPerHour=1)

    codes = [
        search(shop, key, headers={"X-Forwarded-For": f"1.1.1.{n}"}).status_code for n in range(2)
    ]

    assert codes == [200, 429]


def test_an_index_key_is_for_its_index(shop: Inside) -> None:
    key = make(shop, "/1/indexes/shop/keys", acl=["search"], description="d")

    assert search(shop, key).status_code == 200
    assert search(shop, key, "other").status_code == 403
    told = shop.call("GET", f"/1/indexes/shop/keys/{key}").json()
    assert told["description"] == "d"
    assert shop.call("GET", "/1/indexes/shop/keys").json()["keys"] == [told]
    assert shop.call("GET", "/1/indexes/*/keys").json()["keys"] == [{**told, "index": "shop"}]

    shop.call("PUT", f"/1/indexes/shop/keys/{key}", {"acl": ["browse"]})
    assert search(shop, key).status_code == 403
    shop.call("DELETE", f"/1/indexes/shop/keys/{key}")
    assert shop.call("GET", "/1/indexes/shop/keys").json()["keys"] == []


@pytest.mark.parametrize("fields", [{"indexes": ["a"]}, {"acl": ["recommendation"]}])
def test_an_index_key_cannot_have_application_rights(shop: Inside, fields: dict[str, Any]) -> None:
    assert shop.call("POST", "/1/indexes/shop/keys", fields).status_code == 400


def test_updating_an_index_key_that_is_not_there_makes_none(shop: Inside) -> None:
    answer = shop.call("PUT", "/1/indexes/shop/keys/nokey", {"acl": ["search"]})

    assert answer.status_code == 200
    assert search(shop, "nokey").status_code == 403


@pytest.mark.parametrize(
    ("operation", "scope", "reached"),
    [
        ("copy", None, {"shop", "other"}),
        ("copy", ["settings"], {"shop"}),
        ("move", None, {"other"}),
    ],
)
def test_index_keys_go_along_with_their_index(
    shop: Inside, operation: str, scope: list[str] | None, reached: set[str]
) -> None:
    key = make(shop, "/1/indexes/shop/keys", acl=["search"])
    kept = make(shop, "/1/indexes/other/keys", acl=["search"])

    body = {"operation": operation, "destination": "other", "scope": scope}
    shop.done("POST", "/1/indexes/shop/operation", body)

    open_to = {i for i in ("shop", "other") if search(shop, key, i).status_code != 403}
    assert open_to == reached
    assert search(shop, kept, "other").status_code == 200


def test_index_keys_survive_a_clear_and_not_a_deletion(shop: Inside) -> None:
    key = make(shop, "/1/indexes/shop/keys", acl=["search"])

    shop.done("POST", "/1/indexes/shop/clear")
    assert search(shop, key).status_code == 200
    shop.done("DELETE", "/1/indexes/shop")

    assert search(shop, key).status_code == 403
