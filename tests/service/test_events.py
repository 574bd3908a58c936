"""Events are accepted as a whole or not at all, stored, returned and deleted."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path
from typing import Any

import pytest

from svc_notebook.core.api.shapes import SearchImpression
from svc_notebook.errors import TooMany
from svc_notebook.service import limits
from svc_notebook.service.events import Events
from svc_notebook.service.http.rate_limit import MinuteCallLimit
from svc_notebook.service.service import Service
from svc_notebook.service.store import Store, current_milliseconds
from tests.conftest import Inside, start_service, stop_service

DAY = 24 * 3600 * 1000
HOUR = 3600 * 1000
QUERY = "0123456789abcdef" * 2


def click(**members: Any) -> dict[str, Any]:
    event = {
        "eventType": "click",
        "eventName": "Product clicked",
        "index": "films",
        "userToken": "user-1",
        "objectIDs": ["1"],
    }
    return {name: value for name, value in {**event, **members}.items() if value is not None}


def send(inside: Inside, *events: Any, **more: Any) -> Any:
    return inside.call("POST", "/1/events", {"events": list(events)}, **more)


def stored(inside: Inside, **choice: Any) -> list[dict[str, Any]]:
    query = "&".join(f"{name}={value}" for name, value in choice.items())
    answer = inside.call("GET", f"/local/1/events?{query}")
    assert answer.status_code == 200, answer.text
    events: list[dict[str, Any]] = answer.json()["events"]
    return events


def wait_forgotten(inside: Inside) -> None:
    while inside.app.service.store.read("SELECT 1 FROM forgotten"):
        time.sleep(0.01)


def test_what_is_sent_can_be_read(inside: Inside) -> None:
    before = current_milliseconds()

    answer = send(inside, click(), click(objectIDs=["2", "3"]))

    assert (answer.status_code, answer.json()) == (200, {"status": 200, "message": "OK"})
    [first, second] = stored(inside)
    assert before <= first.pop("timestamp") == second.pop("timestamp") <= current_milliseconds()
    assert [first, second] == [click(), click(objectIDs=["2", "3"])]


def test_one_invalid_event_refuses_the_whole_batch_and_only_the_first_is_reported(
    inside: Inside,
) -> None:
    late = {"timestamp": current_milliseconds() - 5 * DAY}

    answer = send(inside, click(), click(positions=[1]), click(userToken="é"), click(**late))

    assert answer.status_code == 422
    assert answer.json() == {
        "status": 422,
        "message": "`events[1].positions` needs a queryID: a position is that of a hit in a search",
    }
    assert stored(inside) == []


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b"", 422, "`events` is missing"),
        (b"{}", 422, "`events` is missing"),
        (b'{"events": []}', 422, "`events` must be a list of at least 1 entries"),
        (b'{"events": {}}', 422, "`events` must be a list, not an object"),
        (b'{"events": [3]}', 422, "`events[0]` must be an object, not a number"),
        (b"[]", 422, "the body must be a JSON object"),
        (b'{"events": [', 400, "not valid JSON"),
        (b"\xff", 400, "not valid JSON"),
    ],
)
def test_a_body_without_events_is_refused(
    inside: Inside, body: bytes, status: int, said: str
) -> None:
    answer = inside.call("POST", "/1/events", content=body)

    assert answer.status_code == answer.json()["status"] == status
    assert said in answer.json()["message"]


def test_a_thousand_events_are_taken_and_one_more_is_not(inside: Inside) -> None:
    most = [click(objectIDs=[str(n)]) for n in range(1000)]

    assert send(inside, *most, click()).status_code == 422
    assert send(inside, *most).status_code == 200
    assert len(stored(inside)) == 1000


def test_a_body_of_more_than_two_megabytes_is_refused_packed_or_not(inside: Inside) -> None:
    room = limits.MAX_EVENTS_BODY_BYTES - len(json.dumps({"events": [click()]}))
    whole = json.dumps({"events": [click()]}).encode() + b" " * room
    packed = {"content-encoding": "gzip"}

    within = inside.call("POST", "/1/events", content=whole)
    beyond = inside.call("POST", "/1/events", content=whole + b" ")
    squeezed = inside.call("POST", "/1/events", content=gzip.compress(whole + b" "), headers=packed)

    assert (within.status_code, beyond.status_code, squeezed.status_code) == (200, 413, 413)
    assert beyond.json()["message"] == "the body is larger than 2 MB; send it in parts"


def test_a_packed_body_is_read_and_a_broken_one_refused(inside: Inside) -> None:
    packed = gzip.compress(json.dumps({"events": [click()]}).encode())
    headers = {"content-encoding": "gzip"}

    good = inside.call("POST", "/1/events", content=packed, headers=headers)
    cut = inside.call("POST", "/1/events", content=packed[:-3], headers=headers)

    assert (good.status_code, cut.status_code) == (200, 400)


def test_a_beacon_needs_no_preflight_and_has_its_credentials_in_the_url(inside: Inside) -> None:
    facts = inside.facts
    app, key = facts["appId"], facts["searchKey"]
    url = f"/1/events?X-Service-Application-Id={app}&X-Service-API-Key={key}&x-service-agent=shop"
    headers = {
        "X-Service-Application-Id": "",
        "X-Service-API-Key": "",
        "content-type": "text/plain;charset=UTF-8",
        "origin": "https://shop.example",
    }

    answer = inside.call("POST", url, {"events": [click()]}, headers=headers)

    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == "*"
    assert len(stored(inside)) == 1


def test_wrong_credentials_differ_from_missing_rights(inside: Inside) -> None:
    wrong = send(inside, click(), key="wrong")
    lacking = inside.call("DELETE", "/1/usertokens/me", key=inside.facts["searchKey"])

    assert wrong.json() == {"status": 401, "message": "Invalid credentials"}
    assert lacking.json() == {"status": 401, "message": "this key lacks the right `deleteObject`"}


def test_a_key_reports_and_reads_only_what_happened_on_its_indices(inside: Inside) -> None:
    fields = {"acl": ["search", "analytics"], "indexes": ["films"]}
    key = inside.call("POST", "/1/keys", fields).json()["key"]
    send(inside, click(), click(index="books"))

    refused = send(inside, click(index="books"), key=key)
    read = inside.call("GET", "/local/1/events", key=key)

    assert refused.status_code == 401
    assert [event["index"] for event in read.json()["events"]] == ["films"]


@pytest.mark.parametrize(
    ("age", "status"),
    [
        (0, 200),
        (4 * DAY - 60_000, 200),
        (4 * DAY + 1, 422),
        (-HOUR + 60_000, 200),
        (-2 * HOUR, 422),
    ],
)
def test_an_event_may_be_four_days_old_and_an_hour_early(
    inside: Inside, age: int, status: int
) -> None:
    answer = send(inside, click(timestamp=current_milliseconds() - age))

    assert answer.status_code == status, answer.text


def test_an_event_with_a_timestamp_is_stored_once(inside: Inside) -> None:
    event = click(timestamp=current_milliseconds())

    for _ in range(2):
        assert send(inside, event, event).status_code == 200
        assert send(inside, {**event, "shopSource": ["a library"]}).status_code == 200

    assert stored(inside) == [event]
    assert send(inside, click()).status_code == send(inside, click()).status_code == 200
    assert len(stored(inside)) == 3


def search(inside: Inside, **params: Any) -> dict[str, Any]:
    body = {"clickAnalytics": True, **params}
    answer: dict[str, Any] = inside.call("POST", "/1/indexes/films/query", body).json()
    return answer


def shown(inside: Inside) -> list[Any]:
    answer = inside.call("GET", "/local/1/searches")
    searches: list[Any] = answer.json()["searches"]
    return searches


def test_the_hits_of_a_search_are_stored_by_query_id(inside: Inside) -> None:
    inside.fill("films", *({"objectID": str(n), "title": "a fox"} for n in range(5)))
    inside.call("POST", "/1/indexes/films/query", {"query": "fox"})

    answer = search(inside, query="fox", page=1, hitsPerPage=2, userToken="me")

    [one] = shown(inside)
    assert one.pop("timestamp") <= current_milliseconds()
    assert one.pop("params").startswith("query=fox")
    assert one == {
        "queryID": answer["queryID"],
        "index": "films",
        "query": "fox",
        "userToken": "me",
        "nbHits": 5,
        "first": 3,
        "objectIDs": ["2", "3"],
    }


def test_multiple_queries_and_browses_are_stored_too(inside: Inside) -> None:
    inside.fill("films", *({"objectID": str(n)} for n in range(3)))
    requests = [{"indexName": "films", "clickAnalytics": True, "offset": 1, "length": 1}]
    body = {"clickAnalytics": True, "hitsPerPage": 2}

    many = inside.call("POST", "/1/indexes/*/queries", {"requests": requests}).json()
    browsed = inside.call("POST", "/1/indexes/films/browse", body).json()
    rest = inside.call("POST", "/1/indexes/films/browse", {"cursor": browsed["cursor"]}).json()

    told = [(one["queryID"], one["first"], len(one["objectIDs"])) for one in shown(inside)]
    assert told == [
        (many["results"][0]["queryID"], 2, 1),
        (browsed["queryID"], 1, 2),
        (rest["queryID"], 3, 1),
    ]


@pytest.mark.parametrize("flushed", [False, True])
@pytest.mark.parametrize(("minutes", "status"), [(0, 200), (59, 200), (61, 422), (-61, 422)])
def test_an_event_lies_within_an_hour_of_its_search(
    inside: Inside, minutes: int, status: int, flushed: bool
) -> None:
    inside.fill("films", {"objectID": "1"})
    query = search(inside)["queryID"]
    [one] = shown(inside) if flushed else inside.app.service.impressions._new.values()
    event = click(queryID=query, positions=[1])
    _move_search(inside, one, one["timestamp"] - minutes * 60_000)

    answer = send(inside, event)

    assert answer.status_code == status, answer.text


def _move_search(inside: Inside, one: SearchImpression, moment: int) -> None:
    """Let a search have been made at another time."""
    service = inside.app.service
    if one["queryID"] in service.impressions._new:
        moved: SearchImpression = {**one, "timestamp": moment}
        service.impressions.add(moved)
    else:
        with service.store.writing() as connection:
            connection.execute("UPDATE shown SET time = ?", (moment,))


def test_each_purchased_item_is_within_an_hour_of_its_search(inside: Inside) -> None:
    inside.fill("films", {"objectID": "1"})
    query = search(inside)["queryID"]
    [one] = shown(inside)
    _move_search(inside, one, current_milliseconds() - 2 * HOUR)
    items = [{"queryID": QUERY}, {"queryID": query}]
    bought = click(
        eventType="conversion", eventSubtype="purchase", objectIDs=["1", "2"], objectData=items
    )

    answer = send(inside, bought)

    assert answer.status_code == 422
    assert query in answer.json()["message"]


def test_an_unknown_query_id_is_accepted(inside: Inside) -> None:
    assert send(inside, click(queryID=QUERY, positions=[3])).status_code == 200


@pytest.mark.parametrize(
    ("choice", "names"),
    [
        ({}, "abcd"),
        ({"index": "films"}, "acd"),
        ({"userToken": "you"}, "c"),
        ({"eventType": "view"}, "d"),
        ({"since": 2000}, "bcd"),
        ({"until": 3000}, "ab"),
        ({"since": 2000, "until": 3001, "index": "films"}, "c"),
        ({"length": 2}, "ab"),
    ],
)
def test_events_are_chosen_by_index_user_kind_and_time(
    inside: Inside, choice: dict[str, Any], names: str
) -> None:
    start = current_milliseconds() - HOUR
    events = [
        click(eventName="a", timestamp=start + 1000),
        click(eventName="b", timestamp=start + 2000, index="books"),
        click(eventName="c", timestamp=start + 3000, userToken="you"),
        click(eventName="d", timestamp=start + 4000, eventType="view"),
    ]
    send(inside, *events)
    moved = {n: start + v if n in ("since", "until") else v for n, v in choice.items()}

    assert "".join(event["eventName"] for event in stored(inside, **moved)) == names


@pytest.mark.parametrize(
    "choice", ["since=99999999999999999999", "after=-1", "until=x", "length=0"]
)
@pytest.mark.parametrize("path", ["events", "searches"])
def test_a_choice_that_cannot_be_is_refused(inside: Inside, path: str, choice: str) -> None:
    answer = inside.call("GET", f"/local/1/{path}?{choice}")

    assert answer.status_code == 422
    assert choice.partition("=")[0] in answer.json()["message"]


@pytest.mark.parametrize("index", ["*", "a\x00", "x" * 256])
def test_an_invalid_index_name_is_reported_with_its_position(inside: Inside, index: str) -> None:
    answer = send(inside, click(), click(index=index))

    assert answer.status_code == 422
    assert answer.json()["message"].startswith("`events[1].index`: ")


def test_pages_have_a_cursor_until_the_last(inside: Inside) -> None:
    send(inside, *(click(eventName=str(n)) for n in range(5)))
    names, path = [], "/local/1/events?length=2"
    after: int | None = 0

    while after is not None:
        page = inside.call("GET", f"{path}&after={after}").json()
        names += [event["eventName"] for event in page["events"]]
        after = page.get("cursor")

    assert names == ["0", "1", "2", "3", "4"]


def test_only_the_events_of_the_user_are_deleted(inside: Inside) -> None:
    inside.fill("films", {"objectID": "1"})
    search(inside, userToken="me")
    mine = [click(userToken="me"), click(userToken="x", authenticatedUserToken="me")]
    send(inside, *mine, click(userToken="you"))

    answer = inside.call("DELETE", "/1/usertokens/me")
    wait_forgotten(inside)

    assert (answer.status_code, answer.content) == (204, b"")
    assert [event["userToken"] for event in stored(inside)] == ["you"]
    assert [one["userToken"] for one in shown(inside)] == [""]
    assert not inside.app.service.store.read("SELECT 1 FROM shown WHERE instr(body, '=me')")
    send(inside, click(userToken="me"))
    assert len(stored(inside)) == 2


def test_events_after_a_deletion_request_are_kept(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    events = Events(store)
    events.store([click(userToken="me", eventName="before")], current_milliseconds())  # type: ignore[list-item]
    events.request_deletion("me")
    events.store([click(userToken="me", eventName="after")], current_milliseconds())  # type: ignore[list-item]

    events.delete_due()

    rows = store.read("SELECT body FROM events")
    store.close()
    assert [json.loads(body)["eventName"] for [body] in rows] == ["after"]


@pytest.mark.parametrize("token", ["a%20b", "%C3%A9", "x" * 130, "a%00"])
def test_an_invalid_user_token_is_refused(inside: Inside, token: str) -> None:
    answer = inside.call("DELETE", f"/1/usertokens/{token}")

    assert answer.status_code == 422
    assert "`userToken` must be 1 to 129" in answer.json()["message"]


def test_a_user_token_may_contain_percent_encoded_characters(inside: Inside) -> None:
    send(inside, click(userToken="a/b+c=d"))

    assert inside.call("DELETE", "/1/usertokens/a%2Fb%2Bc%3Dd").status_code == 204
    wait_forgotten(inside)
    assert stored(inside) == []


def test_deletions_are_limited_and_say_when_to_come_back(inside: Inside) -> None:
    inside.app.service.deletion_limit = MinuteCallLimit(2, clock=lambda: 60_030.0)

    answers = [inside.call("DELETE", "/1/usertokens/me") for _ in range(3)]

    assert [answer.status_code for answer in answers] == [204, 204, 429]
    assert [answer.headers["x-ratelimit-remaining"] for answer in answers] == ["1", "0", "0"]
    assert {answer.headers["X-Ratelimit-Limit"] for answer in answers} == {"2"}
    assert {answer.headers["X-Ratelimit-Reset"] for answer in answers} == {"60060"}
    assert answers[2].headers["retry-after"] == "30"
    assert answers[2].json()["status"] == 429


def test_the_call_limit_is_reset_each_minute() -> None:
    moments = [0.0, 60.0, 150.0, 150.0]
    quota = MinuteCallLimit(1, clock=lambda: moments.pop(0))

    for _ in range(3):
        quota.count({})

    with pytest.raises(TooMany, match="try again in 30 s"):
        quota.count({})


def test_old_events_and_too_many_of_them_go(tmp_path: Path) -> None:
    service = Service(tmp_path)
    events = Events(service.store, max_events=2)
    now = current_milliseconds()
    for name, moment in [("a", now), ("old", now - 91 * DAY), ("b", now), ("c", now)]:
        events.store([click(eventName=name)], moment)  # type: ignore[list-item]

    events.delete_due()

    rows = service.store.read("SELECT body FROM events")
    assert [json.loads(body)["eventName"] for [body] in rows] == ["b", "c"]
    service.stop()


@pytest.mark.slow
def test_events_and_deletions_that_were_acknowledged_outlive_a_kill(tmp_path: Path) -> None:
    process, running = start_service(tmp_path)
    with running.client() as client:
        client.post("/1/indexes/films/query", json={"clickAnalytics": True})
        for number in range(20):
            event = click(userToken=f"user-{number % 2}", eventName=str(number))
            assert client.post("/1/events", json={"events": [event]}).status_code == 200
        assert client.delete("/1/usertokens/user-1").status_code == 204
    process.kill()
    process.wait(10)
    assert process.stdout
    process.stdout.close()

    process, running = start_service(tmp_path)
    with running.client() as client:
        names = _names_without(client, "user-1")
    stop_service(process)

    assert names == [str(number) for number in range(0, 20, 2)]


def _names_without(client: Any, token: str) -> list[str]:
    while True:
        events = client.get("/local/1/events").json()["events"]
        if token not in {event["userToken"] for event in events}:
            return [event["eventName"] for event in events]
        time.sleep(0.02)


def test_events_are_not_logged_and_do_not_count_as_queries(inside: Inside) -> None:
    fields = {"acl": ["search"], "maxQueriesPerIPPerHour": 1}
    key = inside.call("POST", "/1/keys", fields).json()["key"]

    statuses = [send(inside, click(), key=key).status_code for _ in range(3)]

    assert statuses == [200, 200, 200]
    logs = inside.call("GET", "/1/logs?length=100").json()["logs"]
    assert not [entry for entry in logs if "/events" in entry["url"]]
