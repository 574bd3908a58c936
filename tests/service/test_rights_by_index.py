"""A right applies only to the indices of its key: in responses, logs and replicas."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from svc_notebook.core.api import ENDPOINTS
from svc_notebook.core.api.secured_keys import make_secured_key
from tests.service.service_process import Outside, outside

INDICES = ("shop", "archive")
RECORD = {"objectID": "1", "title": "lamp", "cost": "costof1", "deep": {"cost": "deepof1"}}
SETTINGS: dict[str, Any] = {
    "unretrievableAttributes": ["cost", "deep.cost"],
    "attributesForFaceting": ["searchable(cost)", "searchable(deep.cost)"],
    "attributesToSnippet": ["*:9"],
}
SEES = "seeUnretrievableAttributes"


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    with outside(tmp_path_factory.mktemp("reach")) as caller:
        for index in INDICES:
            caller.fill(index, RECORD, **SETTINGS)
        yield caller


def make_key(caller: Outside, *acl: str, **fields: Any) -> str:
    answer = caller.call("POST", "/1/keys", {"acl": list(acl), **fields})
    return str(answer.json()["key"])


def shared_key(caller: Outside, there: list[str], here: list[str]) -> str:
    """A key of one value on two indices, with other rights on `archive` than on `shop`."""
    path = "/1/indexes/archive/keys"
    key = str(caller.call("POST", path, {"acl": there}).json()["key"])
    body = {"operation": "copy", "destination": "shop", "scope": None}
    caller.done("POST", "/1/indexes/archive/operation", body)
    assert caller.call("PUT", f"/1/indexes/shop/keys/{key}", {"acl": here}).is_success
    return key


def readings(caller: Outside, index: str, key: str) -> list[Any]:
    """What each call that reads records answers."""
    loud = {"attributesToHighlight": ["*"], "facets": ["*"], "query": "lamp"}
    path = f"/1/indexes/{index}"
    named = {"indexName": index, "objectID": "1", "attributesToRetrieve": ["*"]}
    calls = [
        ("POST", f"{path}/query", {**loud, "attributesToRetrieve": ["*"]}),
        ("POST", f"{path}/query", {**loud, "query": "costof1"}),
        ("GET", f"{path}?attributesToRetrieve=*&query=lamp", None),
        ("POST", "/1/indexes/*/queries", {"requests": [{"indexName": index, **loud}]}),
        ("POST", f"{path}/facets/cost/query", {}),
        ("POST", f"{path}/facets/deep.cost/query", {}),
        ("POST", f"{path}/browse", {}),
        ("POST", f"{path}/browse", {"attributesToRetrieve": ["cost", "deep"]}),
        ("GET", f"{path}/browse", None),
        ("GET", f"{path}/1", None),
        ("GET", f"{path}/1?attributesToRetrieve=cost,deep", None),
        ("POST", "/1/indexes/*/objects", {"requests": [named]}),
    ]
    return [caller.call(verb, where, body, key=key) for verb, where, body in calls]


@pytest.mark.parametrize("secured", [False, True], ids=["key", "secured"])
def test_the_right_to_all_attributes_counts_on_its_own_index(
    caller: Outside, secured: bool
) -> None:
    key = shared_key(caller, ["search", "browse", SEES], ["search", "browse"])
    used = make_secured_key(key, userToken="me") if secured else key

    there, here = (readings(caller, index, used) for index in ("archive", "shop"))

    assert all("costof1" in answer.text or "deepof1" in answer.text for answer in there)
    assert not [a.text for a in here if shows_cost(a)]


def shows_cost(answer: Any) -> bool:
    said = answer.json()
    many = said.get("results", [said])
    told = [{n: v for n, v in (one or {}).items() if n not in ("query", "params")} for one in many]
    return "costof1" in str(told) or "deepof1" in str(told)


def test_the_list_contains_indices_with_the_right_to_list(caller: Outside) -> None:
    key = shared_key(caller, ["search", "listIndexes"], ["search"])

    items = caller.call("GET", "/1/indexes", key=key).json()["items"]

    assert [item["name"] for item in items] == ["archive"]


def test_logs_are_returned_for_indices_with_the_right_to_logs(caller: Outside) -> None:
    key = shared_key(caller, ["search", "logs"], ["search"])
    for index in INDICES:
        caller.call("GET", f"/1/indexes/{index}?query=told")

    told = caller.call("GET", "/1/logs?length=3", key=key).json()["logs"]

    assert {entry["index"] for entry in told} == {"archive"}


def test_events_are_returned_for_indices_with_the_right_to_them(caller: Outside) -> None:
    key = shared_key(caller, ["search", "analytics"], ["search"])
    event = {"eventType": "view", "eventName": "seen", "userToken": "me", "objectIDs": ["1"]}
    events = [{**event, "index": index} for index in INDICES]
    assert caller.call("POST", "/1/events", {"events": events}).is_success

    told = caller.call("GET", "/local/1/events", key=key).json()["events"]

    assert {one["index"] for one in told} == {"archive"}


# Replicas


FORWARDED: dict[str, tuple[str, str, Any]] = {
    "set_settings": ("PUT", "settings", {"hitsPerPage": 3}),
    "save_synonym": (
        "PUT",
        "synonyms/s",
        {"objectID": "s", "type": "synonym", "synonyms": ["a", "b"]},
    ),
    "save_synonyms": ("POST", "synonyms/batch", []),
    "clear_synonyms": ("POST", "synonyms/clear", None),
    "delete_synonym": ("DELETE", "synonyms/s", None),
    "save_rule": ("PUT", "rules/r", {"objectID": "r", "consequence": {"params": {"page": 1}}}),
    "save_rules": ("POST", "rules/batch", []),
    "delete_rule": ("DELETE", "rules/r", None),
    "clear_rules": ("POST", "rules/clear", None),
}


@pytest.fixture(scope="module")
def family(caller: Outside) -> Outside:
    caller.fill("main", {"objectID": "1"}, replicas=["main_a", "main_b"])
    return caller


def state_of(caller: Outside, index: str) -> list[Any]:
    path = f"/1/indexes/{index}"
    asks = [("GET", "settings"), ("POST", "rules/search"), ("POST", "synonyms/search")]
    return [caller.call(verb, f"{path}/{part}").json() for verb, part in asks]


def test_every_endpoint_that_forwards_is_called() -> None:
    forwarding = {row.name for row in ENDPOINTS if "forwardToReplicas" in row.places}

    assert forwarding == FORWARDED.keys()


@pytest.mark.parametrize("name", FORWARDED)
def test_replicas_out_of_reach_are_not_changed(family: Outside, name: str) -> None:
    verb, part, body = FORWARDED[name]
    path = f"/1/indexes/main/{part}"
    parent = make_key(family, "editSettings")
    keys = [
        make_key(family, "editSettings", indexes=["main", "main_a"]),
        make_secured_key(parent, restrictIndices="main"),
    ]
    before = [state_of(family, index) for index in ("main", "main_a", "main_b")]

    for key in keys:
        for word in ("forwardToReplicas", *(["forwardToSlaves"] if name == "set_settings" else [])):
            refused = family.call(verb, f"{path}?{word}=true", body, key=key)
            assert refused.status_code == 403
            assert "leave out forwardToReplicas" in refused.json()["message"]
            assert "main_b" not in refused.text
    assert [state_of(family, index) for index in ("main", "main_a", "main_b")] == before

    able = make_key(family, "editSettings", indexes=["main*"])
    family.done(verb, f"{path}?forwardToReplicas=true", body, key=able)
    family.done(verb, path, body, key=keys[0])


def test_a_replica_that_the_key_does_not_reach_is_not_unlinked(family: Outside) -> None:
    key = make_key(family, "editSettings", indexes=["main", "main_a"])
    path = "/1/indexes/main/settings"

    for links in (["main_a"], [], None):
        assert family.call("PUT", path, {"replicas": links}, key=key).status_code == 403

    assert family.call("GET", path).json()["replicas"] == ["main_a", "main_b"]


# Logs


def logs_of(caller: Outside, key: str, length: int = 1) -> list[Any]:
    return list(caller.call("GET", f"/1/logs?length={length}", key=key).json()["logs"])


READS: list[Callable[[Outside], Any]] = [
    lambda caller: caller.call("POST", "/1/indexes/shop/query", {}),
    lambda caller: caller.call("GET", "/1/indexes/shop"),
    lambda caller: caller.call("POST", "/1/indexes/shop/browse", {}),
    lambda caller: caller.call("GET", "/1/indexes/shop/1"),
    lambda caller: caller.call("POST", "/1/indexes/shop/facets/cost/query", {}),
    lambda caller: caller.call(
        "POST", "/1/indexes/*/queries", {"requests": [{"indexName": "shop"}]}
    ),
    lambda caller: caller.call(
        "POST", "/1/indexes/*/objects", {"requests": [{"indexName": "shop", "objectID": "1"}]}
    ),
    lambda caller: caller.done("POST", "/1/indexes/shop", RECORD),
    lambda caller: caller.done("PUT", "/1/indexes/shop/1", RECORD),
    lambda caller: caller.done("POST", "/1/indexes/shop/1/partial", {"cost": "costof1"}),
    lambda caller: caller.done(
        "POST", "/1/indexes/shop/batch", {"requests": [{"action": "addObject", "body": RECORD}]}
    ),
    lambda caller: caller.done(
        "POST",
        "/1/indexes/*/batch",
        {"requests": [{"action": "addObject", "indexName": "shop", "body": RECORD}]},
    ),
]


@pytest.mark.parametrize("number", range(len(READS)))
def test_logs_hide_unretrievable_attributes(caller: Outside, number: int) -> None:
    blind, sighted = make_key(caller, "logs"), make_key(caller, "logs", SEES)
    READS[number](caller)
    wanted = "build" if number >= 7 else "query"  # a write was waited for, by reading its task
    path = f"/1/logs?length=1&type={wanted}"

    [hidden] = caller.call("GET", path, key=blind).json()["logs"]
    [shown] = caller.call("GET", path, key=sighted).json()["logs"]

    assert "costof1" not in str(hidden)
    assert "not shown" in str(hidden)
    assert "costof1" in str(shown)
    assert hidden["url"] == shown["url"]


def test_an_answer_that_withheld_as_much_is_shown(caller: Outside) -> None:
    key = make_key(caller, "logs", "search")
    answer = caller.call("POST", "/1/indexes/shop/query", {}, key=key)

    [entry] = logs_of(caller, key)

    assert entry["answer"] == answer.text[:1000]


def test_logs_hide_attributes_that_became_unretrievable_later(caller: Outside) -> None:
    caller.fill("late", RECORD)
    key = make_key(caller, "logs", "search", indexes=["late"])
    caller.call("POST", "/1/indexes/late/query", {}, key=key)
    before = str(logs_of(caller, key, 9))
    caller.done("PUT", "/1/indexes/late/settings", SETTINGS)

    after = str(logs_of(caller, key, 9))
    caller.done("DELETE", "/1/indexes/late")

    assert "costof1" in before
    assert "costof1" not in after


def test_logs_hide_unretrievable_attributes_of_a_deleted_index(caller: Outside) -> None:
    caller.fill("gone", RECORD, **SETTINGS)
    caller.call("POST", "/1/indexes/gone/query", {})
    caller.done("DELETE", "/1/indexes/gone")

    told = str(logs_of(caller, make_key(caller, "logs", indexes=["gone"]), 9))

    assert "/1/indexes/gone/query" in told
    assert "costof1" not in told


@pytest.mark.parametrize(
    "embedded",
    [{"filters": "owner:me"}, {"attributesToRetrieve": ["title"]}, {"tagFilters": ["mine"]}],
    ids=lambda params: next(iter(params)),
)
def test_logs_show_a_restricted_key_no_more_than_its_searches(
    caller: Outside, embedded: dict[str, Any]
) -> None:
    caller.fill("open", RECORD)
    caller.call("POST", "/1/indexes/open/query", {})
    key = make_secured_key(make_key(caller, "logs", "search"), **embedded)

    [entry] = logs_of(caller, key)

    assert "costof1" not in str(entry)


OTHERS: list[Callable[[Outside], Any]] = [
    lambda caller: caller.call(
        "POST", "/1/indexes/shop/operation", {"operation": "copy", "destination": "vault"}
    ),
    lambda caller: caller.call(
        "POST", "/1/indexes/shop/operation", {"operation": "stay", "destination": "vault"}
    ),
    lambda caller: caller.done("PUT", "/1/indexes/shop/settings", {"replicas": ["vault_r"]}),
    lambda caller: caller.call("PUT", "/1/indexes/shop/settings", {"replicas": ["vault", "vault"]}),
    lambda caller: caller.call("GET", "/1/indexes/shop/settings"),
    lambda caller: caller.call(
        "POST",
        "/1/indexes/*/queries",
        {"requests": [{"indexName": "shop"}, {"indexName": "vault_x"}]},
    ),
    lambda caller: caller.call(
        "POST", "/1/indexes/*/objects", {"requests": [{"indexName": "vault_r", "objectID": "1"}]}
    ),
    lambda caller: caller.call(
        "POST",
        "/1/indexes/*/batch",
        {"requests": [{"action": "clear", "indexName": name} for name in ("shop_t", "vault_t")]},
    ),
    lambda caller: caller.call("GET", "/1/indexes"),
]


def test_logs_name_no_index_that_the_key_does_not_reach(caller: Outside) -> None:
    near = make_key(caller, "logs", SEES, indexes=["shop*"])
    narrow = make_secured_key(make_key(caller, "logs", SEES), restrictIndices="shop*")
    every = make_key(caller, "logs", SEES)
    for other in OTHERS:
        other(caller)

    told = [logs_of(caller, key, 1000) for key in (near, narrow)]

    assert "vault" not in str(told)
    assert all(told)
    assert "vault" in str(logs_of(caller, every, 100))
    caller.done("PUT", "/1/indexes/shop/settings", {"replicas": []})


@pytest.mark.slow
def test_logs_hide_hits_of_an_index_that_a_rule_redirected_to(caller: Outside) -> None:
    caller.fill("cellar", {"objectID": "1", "title": "bottle"})
    rule = {"objectID": "lead", "consequence": {"redirect": {"indexName": "cellar"}}}
    caller.fill("front", {"objectID": "1", "title": "lamp"})
    caller.done("PUT", "/1/indexes/front/rules/lead", rule)
    answer = caller.call("POST", "/1/indexes/front/query", {})

    near = logs_of(caller, make_key(caller, "logs", indexes=["front"]), 9)
    both = logs_of(caller, make_key(caller, "logs", indexes=["front", "cellar"]), 1)

    assert "bottle" in answer.text
    assert "bottle" not in str(near)
    assert "bottle" in str(both)
