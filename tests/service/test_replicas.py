"""Replicas have the records of their primary, and settings for their searches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from svc_notebook.service.app import App
from svc_notebook.service.service import Service
from svc_notebook.service.tasks.batch_operations import check_operation, encode_operations
from svc_notebook.service.tasks.queue import NewTask
from tests.conftest import Inside, wait_published

LAMPS: list[dict[str, Any]] = [
    {"objectID": "1", "name": "lamp", "price": 30, "pop": 1},
    {"objectID": "2", "name": "lamp", "price": 10, "pop": 3},
    {"objectID": "3", "name": "desk", "price": 20, "pop": 2},
]
KINDS = pytest.mark.parametrize("entry", ["lamps_price", "virtual(lamps_price)"])
REPLICA = "lamps_price"


def put(inside: Inside, index: str, query: str = "", **settings: Any) -> None:
    inside.done("PUT", f"/1/indexes/{index}/settings{query}", settings)


def told(inside: Inside, index: str) -> dict[str, Any]:
    return dict(inside.call("GET", f"/1/indexes/{index}/settings").json())


def listed(inside: Inside) -> dict[str, dict[str, Any]]:
    return {item["name"]: item for item in inside.call("GET", "/1/indexes").json()["items"]}


def refused(inside: Inside, verb: str, path: str, body: Any = None) -> tuple[int, str]:
    answer = inside.call(verb, f"/1/indexes/{path}", body)
    return answer.status_code, answer.json()["message"]


def stocks(inside: Inside) -> int:
    catalog = inside.app.service.catalog
    return len({index.engine.get().segment_store for index in catalog.all()})


@pytest.fixture
def lamps(inside: Inside) -> Inside:
    inside.fill("lamps", *LAMPS, searchableAttributes=["name"], customRanking=["desc(pop)"])
    return inside


@pytest.fixture
def family(lamps: Inside) -> Inside:
    """One primary, a replica by price and a virtual one that lists the cheap ones last."""
    put(lamps, "lamps", replicas=[REPLICA, "virtual(lamps_dear)"])
    put(lamps, REPLICA, ranking=["asc(price)"])
    put(lamps, "lamps_dear", customRanking=["desc(price)"])
    return lamps


@KINDS
def test_a_replica_begins_as_its_primary_is(lamps: Inside, entry: str) -> None:
    put(lamps, "lamps", replicas=[entry])

    assert lamps.ids(REPLICA) == lamps.ids("lamps") == ["2", "3", "1"]
    assert told(lamps, REPLICA)["customRanking"] == ["desc(pop)"]


def test_replicas_rank_as_they_like(family: Inside) -> None:
    assert family.ids("lamps") == ["2", "3", "1"]
    assert family.ids(REPLICA) == ["2", "3", "1"]
    assert family.ids("lamps_dear") == ["1", "3", "2"]
    assert family.ids(REPLICA, "lamp") == ["2", "1"]
    assert family.ids("lamps_dear", "lamp") == ["1", "2"]


def test_a_virtual_replica_returns_the_number_of_sorted_hits(family: Inside) -> None:
    family.done("PUT", "/1/indexes/lamps/4", {"name": "lump", "price": 99})

    strict = family.call("POST", "/1/indexes/lamps_dear/query", {"query": "lamp"}).json()
    loose: dict[str, Any] = {"query": "lamp", "relevancyStrictness": 0}

    assert (strict["nbHits"], strict["nbSortedHits"]) == (3, 2)
    assert strict["appliedRelevancyStrictness"] == 100
    assert family.ids("lamps_dear", **loose) == ["4", "1", "2"]
    assert "nbSortedHits" not in family.call("POST", "/1/indexes/lamps/query", loose).json()


def test_settings_and_the_list_show_primary_and_replicas(family: Inside) -> None:
    entries = listed(family)

    assert told(family, "lamps")["replicas"] == [REPLICA, "virtual(lamps_dear)"]
    assert told(family, REPLICA)["primary"] == "lamps"
    assert "primary" not in told(family, "lamps")
    assert entries["lamps"]["replicas"] == ["lamps_dear", REPLICA]
    assert entries[REPLICA]["primary"] == entries["lamps_dear"]["primary"] == "lamps"
    assert [name for name, entry in entries.items() if entry.get("virtual")] == ["lamps_dear"]
    assert [entry["entries"] for entry in entries.values()] == [3, 3, 3]


@pytest.mark.parametrize(
    ("verb", "path", "body", "left"),
    [
        ("PUT", "/4", {"name": "lamp"}, {"1", "2", "3", "4"}),
        ("DELETE", "/1", None, {"2", "3"}),
        ("POST", "/deleteByQuery", {"filters": "price > 15"}, {"2"}),
        ("POST", "/clear", None, set()),
        ("POST", "/2/partial", {"price": 99}, {"1", "2", "3"}),
    ],
    ids=["put", "delete", "deleteBy", "clear", "partial"],
)
def test_every_write_on_the_primary_reaches_its_replicas(
    family: Inside, verb: str, path: str, body: Any, left: set[str]
) -> None:
    put(family, REPLICA, attributesForFaceting=["name"])  # stored in a way of its own

    family.done(verb, f"/1/indexes/lamps{path}", body)

    for index in ("lamps", REPLICA, "lamps_dear"):
        assert set(family.ids(index)) == left
    if path == "/2/partial":
        assert family.ids(REPLICA)[-1] == family.ids("lamps_dear")[0] == "2"


def test_a_replica_is_read_like_any_index(family: Inside) -> None:
    record = family.call("GET", f"/1/indexes/{REPLICA}/2").json()
    browsed = family.call("POST", f"/1/indexes/{REPLICA}/browse", {}).json()["hits"]

    assert record == LAMPS[1]
    assert sorted(hit["objectID"] for hit in browsed) == ["1", "2", "3"]


def test_indices_that_store_the_same_store_it_once(family: Inside) -> None:
    assert stocks(family) == 1

    put(family, REPLICA, attributesForFaceting=["name"])
    assert stocks(family) == 2

    put(family, "lamps", attributesForFaceting=["name"])
    assert stocks(family) == 1
    assert listed(family)[REPLICA]["fileSize"] == 0


@pytest.mark.parametrize(
    ("verb", "path", "body"),
    [
        ("POST", "", {"name": "x"}),
        ("PUT", "/9", {"name": "x"}),
        ("DELETE", "/1", None),
        ("POST", "/1/partial", {"name": "x"}),
        ("POST", "/batch", {"requests": []}),
        ("POST", "/deleteByQuery", {"filters": "price > 0"}),
        ("POST", "/clear", None),
        ("DELETE", "", None),
        ("POST", "/operation", {"operation": "move", "destination": "elsewhere"}),
    ],
)
@pytest.mark.parametrize("replica", [REPLICA, "lamps_dear"])
def test_a_replica_is_not_written_to(
    family: Inside, replica: str, verb: str, path: str, body: Any
) -> None:
    status, message = refused(family, verb, f"{replica}{path}", body)

    assert status == 403
    assert f"{replica} is a replica of lamps" in message
    assert "unlink" in message


def test_a_batch_over_several_indices_with_a_replica_among_them_writes_nothing(
    family: Inside,
) -> None:
    body = {"action": "addObject", "body": {"objectID": "9"}}
    requests = [{"indexName": name, **body} for name in ("lamps", REPLICA)]

    status, _ = refused(family, "POST", "*/batch", {"requests": requests})

    assert status == 403
    assert family.ids("lamps") == ["2", "3", "1"]


def test_a_write_accepted_before_an_index_became_a_replica_does_nothing(lamps: Inside) -> None:
    service = lamps.app.service
    put(lamps, REPLICA, hitsPerPage=7)
    order = {"settings": {"replicas": [REPLICA]}, "forward": False}
    step = check_operation("addObject", {"objectID": "9", "name": "lamp"}, "")

    tasks = service.tasks.submit(
        NewTask("lamps", "settings", msgspec.json.encode(order)),
        NewTask(REPLICA, "steps", encode_operations([step])),
    )
    wait_published(service, *tasks)

    assert lamps.ids(REPLICA) == ["1", "2", "3"]


@pytest.mark.parametrize("left", [[], [""], ["virtual(lamps_dear)"], None])
def test_an_unlinked_replica_is_an_independent_index(family: Inside, left: Any) -> None:
    put(family, "lamps", replicas=left)

    family.done("PUT", f"/1/indexes/{REPLICA}/9", {"name": "lamp", "price": 1})
    family.done("DELETE", "/1/indexes/lamps/1")

    assert family.ids(REPLICA) == ["9", "2", "3", "1"]
    assert family.ids("lamps") == ["2", "3"]
    assert "primary" not in told(family, REPLICA)
    family.done("DELETE", f"/1/indexes/{REPLICA}")


def test_replicas_outlive_their_primary(family: Inside) -> None:
    family.done("DELETE", "/1/indexes/lamps")

    assert family.call("POST", "/1/indexes/lamps/query", {}).status_code == 404
    assert family.ids(REPLICA) == ["2", "3", "1"]
    assert family.ids("lamps_dear") == ["1", "3", "2"]
    assert family.call("GET", "/1/indexes/lamps_dear/3").json() == LAMPS[2]
    family.done("PUT", f"/1/indexes/{REPLICA}/9", {"name": "lamp", "price": 1})
    assert len(family.ids("lamps_dear")) == 3


def test_an_index_that_becomes_a_replica_keeps_all_but_its_records(lamps: Inside) -> None:
    lamps.fill(REPLICA, {"objectID": "old", "name": "lamp"}, ranking=["asc(price)"])

    put(lamps, "lamps", replicas=[REPLICA])

    assert lamps.ids(REPLICA, "lamp") == ["2", "1"]
    assert told(lamps, REPLICA)["ranking"] == ["asc(price)"]
    assert lamps.call("GET", f"/1/indexes/{REPLICA}/old").status_code == 404


@pytest.mark.parametrize(
    ("index", "replicas", "why"),
    [
        ("lamps", ["lamps"], "cannot be its own replica"),
        ("lamps", ["a", "virtual(a)"], "names a more than once"),
        ("lamps", ["virtual()"], "is not a valid index name"),
        ("lamps", ["x" * 300], "longer than"),
        (REPLICA, ["another"], "lamps_price is a replica of lamps and can have none"),
        ("other", [REPLICA], "is a replica of lamps already"),
        ("other", ["lamps"], "has replicas"),
    ],
)
def test_replicas_that_cannot_be_are_refused(
    family: Inside, index: str, replicas: list[str], why: str
) -> None:
    status, message = refused(family, "PUT", f"{index}/settings", {"replicas": replicas})

    assert status == 400
    assert why in message


def test_a_key_makes_no_replicas_of_indices_it_does_not_reach(lamps: Inside) -> None:
    lamps.fill("secret", {"objectID": "1"})
    fields = {"acl": ["editSettings"], "indexes": ["lamps*"]}
    key = lamps.call("POST", "/1/keys", fields).json()["key"]

    answers = [
        lamps.call("PUT", "/1/indexes/lamps/settings", {"replicas": [name]}, key=key)
        for name in ("secret", "virtual(secret)", REPLICA)
    ]

    assert [answer.status_code for answer in answers] == [403, 403, 200]


@pytest.mark.parametrize("word", ["forwardToReplicas", "forwardToSlaves"])
def test_settings_are_forwarded_on_request(family: Inside, word: str) -> None:
    put(family, "lamps", hitsPerPage=1)
    assert len(family.ids(REPLICA)) == 3

    put(family, "lamps", f"?{word}=true", hitsPerPage=2)

    assert [told(family, name)["hitsPerPage"] for name in ("lamps", REPLICA, "lamps_dear")] == [
        2, 2, 2,
    ]  # fmt: skip
    assert told(family, REPLICA)["ranking"] == ["asc(price)"]
    assert "replicas" not in told(family, REPLICA)


def test_a_replica_forwards_nothing(family: Inside) -> None:
    put(family, REPLICA, "?forwardToReplicas=true", hitsPerPage=1)

    assert told(family, "lamps")["hitsPerPage"] == told(family, "lamps_dear")["hitsPerPage"] == 20


SYNONYM = {"objectID": "s", "type": "synonym", "synonyms": ["lamp", "light"]}
RULE = {
    "objectID": "r",
    "conditions": [{"pattern": "lamp", "anchoring": "is"}],
    "consequence": {"hide": [{"objectID": "1"}]},
}


@pytest.mark.parametrize(("kind", "one"), [("synonyms", SYNONYM), ("rules", RULE)])
@pytest.mark.parametrize("way", ["one", "many"])
@pytest.mark.parametrize("end", ["DELETE", "clear"])
def test_synonyms_and_rules_are_forwarded_on_request(
    family: Inside, kind: str, one: dict[str, Any], way: str, end: str
) -> None:
    path, forward = f"/1/indexes/lamps/{kind}", "?forwardToReplicas=true"
    name = one["objectID"]
    save = ("PUT", f"{path}/{name}", one) if way == "one" else ("POST", f"{path}/batch", [one])
    clear = ("DELETE", f"{path}/{name}") if end == "DELETE" else ("POST", f"{path}/clear")

    def known() -> list[bool]:
        at = (f"/1/indexes/{index}/{kind}/{name}" for index in ("lamps", REPLICA, "lamps_dear"))
        return [family.call("GET", one).is_success for one in at]

    family.done(*save)
    assert known() == [True, False, False]
    family.done(save[0], f"{save[1]}{forward}", save[2])
    assert known() == [True, True, True]
    family.done(*clear)
    assert known() == [False, True, True]
    family.done(clear[0], f"{clear[1]}{forward}")
    assert known() == [False, False, False]


def test_a_new_replica_has_the_synonyms_and_rules_of_its_primary(lamps: Inside) -> None:
    lamps.done("PUT", "/1/indexes/lamps/synonyms/s", SYNONYM)
    lamps.done("PUT", "/1/indexes/lamps/rules/r", RULE)

    put(lamps, "lamps", replicas=[REPLICA])

    assert lamps.call("GET", f"/1/indexes/{REPLICA}/synonyms/s").json() == SYNONYM
    assert lamps.call("GET", f"/1/indexes/{REPLICA}/rules/r").json()["objectID"] == "r"
    assert lamps.ids(REPLICA, "light") == ["2", "1"]


def test_a_copy_leaves_replicas_behind_and_spares_those_that_are_there(family: Inside) -> None:
    family.fill("other", {"objectID": "9", "name": "lamp"}, hitsPerPage=4)
    order = {"operation": "copy", "destination": "copy"}
    family.done("POST", "/1/indexes/lamps/operation", order)
    family.done("POST", f"/1/indexes/{REPLICA}/operation", order | {"destination": "free"})

    status, message = refused(family, "POST", "other/operation", order | {"destination": "lamps"})
    family.done(
        "POST",
        "/1/indexes/other/operation",
        order | {"destination": "lamps", "scope": ["settings"]},
    )

    assert (status, "lamps has replicas" in message) == (400, True)
    assert "replicas" not in told(family, "copy")
    assert "primary" not in told(family, "free")
    assert family.ids("free") == ["2", "3", "1"]
    assert told(family, "lamps")["hitsPerPage"] == 4
    assert told(family, "lamps")["replicas"] == [REPLICA, "virtual(lamps_dear)"]
    assert refused(family, "POST", "other/operation", order | {"destination": REPLICA})[0] == 403


def test_an_index_moved_onto_a_primary_is_followed_by_its_replicas(family: Inside) -> None:
    put(family, REPLICA, attributesForFaceting=["name"])
    family.fill("new", {"objectID": "8", "name": "lamp", "price": 2}, replicas=["new_replica"])
    family.fill("new", {"objectID": "9", "name": "lamp", "price": 1})

    family.done("POST", "/1/indexes/new/operation", {"operation": "move", "destination": "lamps"})
    family.done("PUT", "/1/indexes/lamps/7", {"name": "lamp", "price": 3})

    assert family.ids(REPLICA) == ["9", "8", "7"]
    assert family.ids("lamps_dear") == ["7", "8", "9"]
    assert sorted(family.ids("new_replica")) == ["7", "8", "9"]
    assert told(family, "lamps")["replicas"] == ["new_replica", REPLICA, "virtual(lamps_dear)"]
    assert told(family, "new_replica")["primary"] == "lamps"


def test_a_virtual_replica_matches_as_its_primary_does(family: Inside) -> None:
    status, message = refused(
        family, "PUT", "lamps_dear/settings", {"searchableAttributes": ["price"]}
    )
    put(family, "lamps", searchableAttributes=["nothing"])

    assert (status, "lamps_dear is a virtual replica" in message) == (400, True)
    assert family.ids("lamps_dear", "lamp") == []
    assert family.ids(REPLICA, "lamp") == ["2", "1"]


def test_a_replica_may_change_its_kind(family: Inside) -> None:
    put(family, "lamps", replicas=[f"virtual({REPLICA})", "lamps_dear"])

    assert told(family, REPLICA)["ranking"] == told(family, "lamps")["ranking"]
    put(family, "lamps_dear", searchableAttributes=["nothing"])
    assert family.ids("lamps_dear", "lamp") == []


def test_a_former_name_still_makes_replicas(lamps: Inside) -> None:
    put(lamps, "lamps", slaves=[REPLICA])

    assert told(lamps, REPLICA)["primary"] == "lamps"


def test_families_stay_as_they_are_over_a_restart(tmp_path: Path) -> None:
    service = Service(tmp_path)
    service.start()
    inside = Inside(App(service))
    inside.fill("lamps", *LAMPS, replicas=[REPLICA, "virtual(lamps_dear)"])
    put(inside, REPLICA, ranking=["asc(price)"], attributesForFaceting=["name"])
    put(inside, "lamps_dear", customRanking=["desc(name)"])
    for index in service.catalog.unsaved():
        service.catalog.save(index)
    inside.app.close()
    service.stop()

    again = Service(tmp_path)
    again.start()
    inside = Inside(App(again))

    assert inside.ids(REPLICA) == ["2", "3", "1"]
    assert inside.ids("lamps_dear")[-1] == "3"
    assert stocks(inside) == 2
    assert again.catalog.unsaved() == []
    inside.done("DELETE", "/1/indexes/lamps/1")
    assert inside.ids(REPLICA) == ["2", "3"]
    inside.app.close()
    again.stop()
