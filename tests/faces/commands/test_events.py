"""Events are sent, read and deleted."""

from __future__ import annotations

import json
import secrets
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.data.frames.schemas import EVENTS, SEARCHES, Schema
from svc_notebook.errors import BadInput
from svc_notebook.faces.functions.events import read_moment
from tests.data.client.stub import Stub, answer
from tests.faces.commands.conftest import sent, type_line

EVENT = {
    "eventType": "click",
    "eventName": "Clicked",
    "index": "films",
    "userToken": "u1",
    "objectIDs": ["1", "2"],
}
TAKEN = {"status": 200, "message": "OK"}


@pytest.fixture
def own(admin: svc.Client) -> str:
    """An index name of this test's own, on the real service."""
    return f"events-{secrets.token_hex(4)}"


@pytest.mark.parametrize("way", ["body", "frame", "ndjson", "json", "csv"])
def test_events_are_sent_and_read_back(own: str, tmp_path: Path, way: str) -> None:
    then = int(time.time() * 1000) - 1000
    events = [{**EVENT, "index": own}, {**EVENT, "index": own, "timestamp": then}]
    frame = pd.DataFrame(events).astype({"timestamp": "Int64"})
    texts = {
        "ndjson": "\n".join(map(json.dumps, events)),
        "json": json.dumps(events),
        "csv": frame.assign(objectIDs='["1","2"]').to_csv(index=False),
    }
    path = tmp_path / f"events.{way}"
    path.write_text(texts.get(way, ""))
    lines: dict[str, Any] = {
        "body": ("events send", json.dumps(events)),
        "frame": ("events send --from frame",),
    }

    done = type_line(*lines.get(way, (f"events send {path}",)), frame=frame)
    back = type_line(f"events {own} --type click --user u1 --since 1h")

    assert done == {"sent": 2}
    assert back.dtypes.to_dict() == dtypes(EVENTS)
    assert back["objectIDs"].tolist() == [["1", "2"]] * 2
    assert back["timestamp"][1] == pd.Timestamp(then, unit="ms", tz="UTC")
    assert back["positions"].isna().all()


def test_no_events_have_the_columns_of_events(own: str) -> None:
    events, searches = svc.read_events(own), svc.read_searches(own)

    assert events.dtypes.to_dict() == dtypes(EVENTS)
    assert searches.dtypes.to_dict() == dtypes(SEARCHES)
    assert len(events) == len(searches) == 0


def dtypes(schema: Schema) -> dict[str, Any]:
    """What a schema's words mean to this pandas."""
    return {name: pd.Series(dtype=word).dtype for name, word in schema.items()}


def test_a_clicked_hit_leads_back_to_its_search(own: str) -> None:
    svc.push(pd.DataFrame({"id": ["1", "2"], "title": ["a fox", "a fox"]}), own, id="id")
    hits: Any = svc.search(own, "fox", clickAnalytics=True, userToken="u1")

    hits.iloc[[1]].svc.events(eventType="click", eventName="Opened", userToken="u1")

    [event] = svc.read_events(own).to_dict("records")
    [search] = svc.read_searches(own, user="u1").to_dict("records")
    assert event["queryID"] == search["queryID"]
    assert (search["query"], search["nbHits"], search["first"]) == ("fox", 2, 1)
    assert search["objectIDs"][event["positions"][0] - search["first"]] == event["objectIDs"][0]


def test_hits_of_many_searches_know_theirs_and_keep_their_attributes(own: str) -> None:
    films = pd.DataFrame(
        {"id": ["1", "2"], "title": ["fox", "owl"], "currency": "EUR", "value": 3, "filters": "x"}
    )
    svc.push(films, own, id="id")
    queries: Any = pd.Series(["fox", "owl"])

    hits: Any = queries.svc.search(own, clickAnalytics=True)
    hits.svc.events(eventType="click", eventName="Opened", userToken="u1")

    events, searches = svc.read_events(own), svc.read_searches(own)
    assert events["queryID"].tolist() == searches["queryID"].tolist() == hits["queryID"].tolist()
    assert events["objectIDs"].tolist() == [["1"], ["2"]]
    assert events["positions"].tolist() == [[1], [1]]
    assert (events["currency"] == "").all()


def test_a_click_is_reported_in_one_line(own: str) -> None:
    svc.push(pd.DataFrame({"id": ["1", "2"], "title": ["a fox", "a fox"]}), own, id="id")
    found: Any = svc.search(own, "fox", clickAnalytics=True, userToken="ada")

    found[found["objectID"] == "2"].svc.events(eventType="click", eventName="Opened")

    [event] = svc.read_events(own).to_dict("records")
    assert (event["userToken"], event["positions"]) == ("ada", [2])
    assert event["queryID"] == found["queryID"][0] == found.attrs["svc"]["queryID"]


def test_hits_that_were_joined_keep_their_search_and_want_an_index(own: str) -> None:
    svc.push(pd.DataFrame({"id": ["1"], "title": ["a fox"]}), own, id="id")
    found = svc.search(own, "fox", clickAnalytics=True)
    joined: Any = found.merge(pd.DataFrame({"objectID": ["1"], "userToken": ["ada"]}))
    joined.attrs.clear()  # as pandas 2 does, and later ones where the frames differ

    with pytest.raises(svc.errors.BadInput, match="pass index='products'"):
        joined.svc.events(eventType="click", eventName="Opened")
    joined.svc.events(eventType="click", eventName="Opened", index=own)

    [event] = svc.read_events(own).to_dict("records")
    assert (event["queryID"], event["positions"]) == (found["queryID"][0], [1])


def test_warns_of_clicks_without_a_search(own: str) -> None:
    svc.push(pd.DataFrame({"id": ["1"], "title": ["a fox"]}), own, id="id")
    found: Any = svc.search(own, "fox")

    with pytest.warns(UserWarning, match="search with clickAnalytics=True"):
        found.svc.events(eventType="click", eventName="Opened", userToken="ada")

    assert "queryID" not in found
    assert svc.read_events(own)["queryID"].tolist() == [""]


def test_hits_are_not_accepted_as_events(own: str) -> None:
    svc.push(pd.DataFrame({"id": ["1"], "title": ["a fox"]}), own, id="id")

    with pytest.raises(svc.errors.BadInput, match=r"hits, not events; .*hits\.svc\.events\("):
        svc.send_events(svc.search(own, "fox"))


def test_events_of_a_user_are_deleted_after_confirmation(own: str) -> None:
    user = f"user-{secrets.token_hex(4)}"
    svc.send_events({**EVENT, "index": own, "userToken": user})

    done = type_line(f"events delete {user} --yes")
    while len(svc.read_events(user=user)):
        time.sleep(0.02)

    assert done == {"user": user, "asked": True}


def test_pages_are_read_to_the_last(stub: Stub) -> None:
    stub.acts[:] = [answer({"searches": [], "cursor": 7}), answer({"searches": []})]

    svc.read_searches("films")

    assert [target.partition("after=")[2].partition("&")[0] for _, target, _ in sent(stub)] == [
        "0",
        "7",
    ]


def test_service_without_stored_events_is_an_error(stub: Stub) -> None:
    stub.acts[:] = [answer({"message": "no such path"}, 404)]

    with pytest.raises(svc.errors.NotFound, match=r"does not list events.*svc.connect\('local'\)"):
        svc.read_events("films")


def test_events_without_an_index_get_one(stub: Stub) -> None:
    stub.acts[:] = [answer(TAKEN)]
    bare = {name: value for name, value in EVENT.items() if name != "index"}

    type_line("events send --from bare --index films", bare=bare)

    assert sent(stub)[0][2]["events"] == [{"index": "films", **bare}]


def test_a_thousand_events_travel_together(stub: Stub) -> None:
    stub.acts[:] = [answer(TAKEN), answer({"status": 422, "message": "bad"}, 422)]

    with pytest.raises(svc.errors.Refused, match="bad") as caught:
        type_line("events send --from events", events=[EVENT] * 1500)

    assert caught.value.__notes__ == ["the first 1000 of 1500 events were accepted"]
    assert [len(body["events"]) for _, _, body in sent(stub)] == [1000, 500]


@pytest.mark.parametrize(
    ("line", "body", "message"),
    [
        ("events send --from none", None, "no events to send"),
        ("events send", "eventType: clik", "`eventType`"),
        ("events send", '{"eventType": "click"}', "is missing"),
        ("events send --from late", None, r"`events\[1500\].objectIDs` must be a list of at"),
        ("events send --from unfit", None, r"`events\[1\].positions` needs a queryID"),
        ("events delete a@b --yes", None, "`user` must be 1 to 129 letters"),
        ("events films --type klick", None, "click"),
        ("events films --since yesterday-ish", None, "`since` must be a time such as"),
    ],
)
def test_mistake_is_an_error_before_anything_is_sent(
    stub: Stub, line: str, body: str | None, message: str
) -> None:
    late = [*[EVENT] * 1500, {**EVENT, "objectIDs": []}]
    unfit = [EVENT, {**EVENT, "positions": [1, 2]}]

    with pytest.raises(svc.errors.BadInput, match=message):
        type_line(line, body, none=[], late=late, unfit=unfit)

    assert stub.requests == []


def test_a_file_may_hold_lists_with_commas_and_single_values(stub: Stub, tmp_path: Path) -> None:
    stub.acts[:] = [answer(TAKEN)]
    path = tmp_path / "clicks.csv"
    path.write_text(
        "eventType,eventName,userToken,queryID,objectIDs,positions\n"
        f"click,Opened,u1,{'a' * 32},17,3\n"
        f'click,Opened,u1,{"b" * 32},"17,18","3,4"\n'
    )

    type_line(f"events send {path} --index films")

    events = sent(stub)[0][2]["events"]
    assert [(event["objectIDs"], event["positions"]) for event in events] == [
        (["17"], [3]),
        (["17", "18"], [3, 4]),
    ]


@pytest.mark.parametrize(
    ("given", "iso"),
    [
        ("2026-01-31", "2026-01-31T00:00:00Z"),
        ("2026-01-31T08:00+01:00", "2026-01-31T07:00:00Z"),
        (pd.Timestamp("2026-01-31", tz="Europe/Paris"), "2026-01-30T23:00:00Z"),
    ],
)
def test_times_without_a_zone_are_utc(given: Any, iso: str) -> None:
    assert read_moment(given, "since") == pd.Timestamp(iso).timestamp() * 1000


@pytest.mark.parametrize(
    "given", ["1M", "-1", "5 pm", 5, 1_700_000_000, 1.5, True, pd.NaT, "٣d", "12024-01-01"]
)
def test_what_is_neither_a_time_nor_an_age_is_refused(given: Any) -> None:
    with pytest.raises(BadInput, match="`since` must be a time such as 2026-01-31"):
        read_moment(given, "since")


def test_a_day_is_named_by_its_midnight() -> None:
    today, yesterday = read_moment("today", "since") or 0, read_moment("yesterday", "since") or 0

    assert today == pd.Timestamp.now(tz="UTC").normalize().timestamp() * 1000
    assert today - yesterday == 24 * 60 * 60 * 1000


def test_an_age_lies_behind_now() -> None:
    ages = [
        time.time() * 1000 - (read_moment(age, "since") or 0) for age in ("2h", "7d", "30min", "1w")
    ]

    assert [round(age / 60_000) for age in ages] == [120, 7 * 24 * 60, 30, 7 * 24 * 60]
