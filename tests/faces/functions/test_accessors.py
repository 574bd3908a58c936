"""The accessors `df.svc` and `series.svc`."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.data.client import Client, ClientConfig, Secret
from svc_notebook.errors import BadInput
from svc_notebook.faces import accessors
from svc_notebook.faces.functions.events import events_of_rows
from tests.conftest import Running
from tests.data.client.stub import answer, serving

FILMS: Any = pd.DataFrame({"id": ["1", "2"], "title": ["Jaws", "Alien"]})


@pytest.fixture
def client(service: Running) -> Iterator[Client]:
    key = Secret(service.adminKey)
    with Client(ClientConfig(url=service.url, app_id=service.appId, api_key=key)) as client:
        yield client


@pytest.fixture
def index() -> str:
    return f"accessors-{uuid4().hex[:8]}"


def test_rows_are_pushed_read_back_and_deleted(client: Client, index: str) -> None:
    result = FILMS.svc.push(index, id="id", client=client)
    back = FILMS.svc.records(index, id="id", client=client)
    gone = FILMS.head(1).svc.delete(index, id="id", client=client)
    with pytest.warns(UserWarning, match=rf"^1 of 2 ids is not in {index}: `1`; attrs"):
        left = FILMS["id"].svc.records(index, client=client)

    assert result.published == 2
    assert back["title"].tolist() == ["Jaws", "Alien"]
    assert gone.published == 1
    assert repr(gone).startswith(f"{index}: 1 deleted, 0 rejected in ")
    assert left["title"].tolist() == ["Alien"]
    assert left.attrs["svc"]["missing"] == ["1"]


def test_a_searched_frame_brings_back_its_records_alone(client: Client, index: str) -> None:
    FILMS.svc.push(index, id="id", client=client)
    found: Any = svc.search(index, "jaws", client=client, criteria=True, highlight=True)
    many: Any = svc.search_many(index, ["alien"], client=client)

    before = found.svc.diff(index, client=client, missing="report")
    planned = found.svc.plan(index)
    found.svc.push(index, client=client)
    many.svc.push(index, client=client)

    assert before["state"].tolist() == ["unchanged", "missing"]
    assert planned.columns["column"].tolist() == ["id", "title"]
    assert sorted(svc.read_browse(index, client=client).columns) == ["id", "objectID", "title"]


def test_a_column_of_a_searched_frame_that_is_named_is_sent(client: Client, index: str) -> None:
    FILMS.svc.push(index, id="id", client=client)
    found: Any = svc.search(index, "jaws", client=client)

    found.svc.push(index, columns=["rank", "title"], replace_records=True, client=client)

    back = svc.read_records(index, ["1"], client=client)
    assert sorted(back.columns) == ["objectID", "rank", "title"]


def test_attribute_named_like_a_search_column_is_sent(client: Client, index: str) -> None:
    ranked: Any = pd.DataFrame({"objectID": ["7"], "rank": [42], "title": ["Heat"]})
    ranked.svc.push(index, client=client)

    found: Any = svc.search(index, client=client, highlight=True, criteria=True)
    found.svc.push(index, client=client)

    back = svc.read_records(index, ["7"], client=client)
    assert back.to_dict("records") == [{"objectID": "7", "rank": 42, "title": "Heat"}]


def test_warns_of_search_columns_without_attrs(client: Client, index: str) -> None:
    FILMS.svc.push(index, id="id", client=client)
    found = svc.search(index, "jaws", client=client, highlight=True)
    merged: Any = found.merge(pd.DataFrame({"id": ["1"], "seen": [True]}), on="id")

    with pytest.warns(
        UserWarning, match=r"attributes of the records: rank, highlighted\.id, highlighted\.title;"
    ):
        planned = merged.svc.plan(index)
    chosen = merged.svc.plan(index, columns=["title", "seen"])

    assert "rank" in planned.columns["column"].tolist()
    assert chosen.columns["column"].tolist() == ["title", "seen"]


def test_position_of_a_click_is_the_rank_of_the_hit(client: Client, index: str) -> None:
    ranked: Any = pd.DataFrame({"objectID": ["7"], "rank": [42], "title": ["Heat"]})
    ranked.svc.push(index, client=client)
    found = svc.search(index, client=client, clickAnalytics=True)

    [event] = events_of_rows(found, {"eventType": "click"})

    assert (event["objectIDs"], event["positions"]) == (["7"], [1])


def test_a_column_of_queries_is_searched(client: Client, index: str) -> None:
    FILMS.svc.push(index, id="id", client=client)

    queries: Any = pd.Series(["jaws", "zzz", "alien"])
    found = queries.svc.search(index, client=client)

    assert found["query"].tolist() == ["jaws", "zzz", "alien"]
    assert found["objectID"].fillna("none").tolist() == ["1", "none", "2"]


def test_row_of_a_query_without_hits_is_not_a_record(client: Client, index: str) -> None:
    FILMS.svc.push(index, id="id", client=client)
    found: Any = svc.search_many(index, ["jaws", "zzz"], client=client, clickAnalytics=True)

    planned = found.svc.plan(index)
    pushed = found.svc.push(index, client=client)
    read = found.svc.records(index, client=client)
    again = svc.read_records(index, found, client=client)
    events = events_of_rows(found, {"eventType": "click"})
    gone = found.svc.delete(index, client=client)

    assert (planned.rows, planned.rejected_rows) == (1, 0)
    assert (pushed.published, pushed.rejected_rows) == (1, 0)
    assert read["objectID"].tolist() == again["objectID"].tolist() == ["1"]
    assert [(event["objectIDs"], event["positions"]) for event in events] == [(["1"], [1])]
    assert (gone.published, gone.rejected_rows) == (1, 0)
    assert svc.read_browse(index, client=client)["objectID"].tolist() == ["2"]


def test_many_searches_are_scored_as_a_run_is(client: Client, index: str) -> None:
    FILMS.svc.push(index, id="id", client=client)
    judged = pd.DataFrame({"query": ["jaws", "zzz"], "objectID": ["1", "2"], "rating": [2, 1]})
    queries = ["jaws", "zzz", "alien"]

    found = svc.search_many(index, queries, client=client)
    run = svc.tuning.run(index, queries, client=client)

    scores = [svc.tuning.evaluate(one, judged)["value"].tolist() for one in (found, run)]
    assert scores[0][:2] == scores[1][:2] == [1, 0]
    assert svc.tuning.check_queries(found)["query"].tolist() == queries


def test_a_push_can_be_planned(index: str) -> None:
    plan = FILMS.svc.plan(index, id="id")

    assert (plan.rows, plan.index) == (2, index)


def test_an_accessor_says_what_it_can() -> None:
    titles: Any = FILMS["title"]

    assert repr(FILMS.svc).startswith("df.svc of 2 rows: push, plan, diff, delete, records")
    assert repr(titles.svc) == "series.svc of 2 values: records, search, facet, crawl"


def test_missing_id_column_is_an_error_with_advice(client: Client, index: str) -> None:
    with pytest.raises(BadInput, match=r"no column `objectID`.*`id=`"):
        FILMS.svc.delete(index, client=client)


def test_registering_again_is_silent() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        importlib.reload(accessors)

    assert type(FILMS.svc).__name__ == "FrameAccessor"


def test_a_client_that_is_none_is_refused(index: str) -> None:
    with pytest.raises(BadInput, match=r"what `svc.connect` returns"):
        FILMS.svc.push(index, client="no")


def test_rows_are_compared_with_what_is_stored(client: Client, index: str) -> None:
    FILMS.svc.push(index, id="id", client=client)
    changed: Any = pd.DataFrame(
        {"id": ["2", "3"], "title": ["Aliens", "Heat"], "year": [1986, 1995]}
    )

    found = changed.svc.diff(index, id="id", client=client)
    whole = changed.svc.diff(index, id="id", client=client, missing="report")
    same = FILMS.svc.diff(index, id="id", client=client)
    new = FILMS.svc.diff(f"{index}-none", id="id", client=client)

    own = [["2", "changed", ["title", "year"]], ["3", "new", []]]
    assert found.to_numpy().tolist() == own
    assert whole.to_numpy().tolist() == [*own, ["1", "missing", []]]
    with pytest.raises(BadInput, match="`missing` must be one of ignore, report, not 'yes'"):
        changed.svc.diff(index, id="id", client=client, missing="yes")
    assert same["state"].tolist() == ["unchanged", "unchanged"]
    assert new["state"].tolist() == ["new", "new"]


def test_rows_that_cannot_be_sent_are_counted_beside_the_comparison(
    client: Client, index: str
) -> None:
    frame: Any = pd.DataFrame({"id": ["1", "2"], "price": [1.5, float("inf")]})

    found = frame.svc.diff(index, id="id", client=client)

    assert found["objectID"].tolist() == ["1"]
    assert found.attrs["svc"]["rejected"] == 1


def test_a_search_is_turned_over_refreshed_and_browsed(client: Client, index: str) -> None:
    FILMS.svc.push(index, id="id", client=client)
    hits: Any = svc.search(index, client=client, hitsPerPage=1)

    second = hits.svc.next_page(client=client)
    third = second.svc.next_page(client=client)

    assert [*hits["objectID"], *second["objectID"]] == ["1", "2"]
    assert len(third) == 0
    assert hits.svc.refresh(client=client).equals(hits)
    assert hits.svc.browse(client=client)["title"].tolist() == ["Jaws", "Alien"]
    assert hits.svc.records(index, client=client)["title"].tolist() == ["Jaws"]


def test_the_logs_of_the_index_a_frame_came_from_are_read(client: Client, index: str) -> None:
    FILMS.svc.push(index, id="id", client=client)
    hits: Any = svc.search(index, "alien", client=client)

    logged = hits.svc.logs(limit=100, client=client)

    assert set(logged["index"]) == {index}
    assert len(hits.svc.clusters(client=client)) == 1
    with pytest.raises(BadInput, match="no index attached"):
        FILMS.svc.logs(client=client)


def test_the_values_of_a_facet_are_counted(client: Client, index: str) -> None:
    svc.set_settings(index, client=client, attributesForFaceting=["title"])
    FILMS.svc.push(index, id="id", client=client)

    titles: Any = pd.Series(["Jaws", "Up", None, "Jaws"], name="title")
    counted = titles.svc.facet(index, client=client)

    assert counted.to_numpy().tolist() == [["Jaws", 1], ["Up", 0]]
    with pytest.raises(BadInput, match="no facet as its name"):
        titles.rename(None).svc.facet(index, client=client)


def test_hits_become_events(client: Client, index: str) -> None:
    FILMS.svc.push(index, id="id", client=client)
    hits: Any = svc.search(index, client=client, clickAnalytics=True)
    with serving(answer({"status": 200, "message": "OK"})) as stub:
        other = Client(ClientConfig(url=stub.url, app_id="A", api_key=Secret("k")))
        shared = {"eventType": "click", "eventName": "opened", "userToken": "u"}
        done = hits.svc.events(client=other, **shared)
        sent = stub.requests[-1].json["events"]

    assert done == {"sent": 2}
    assert [(event["objectIDs"], event["positions"]) for event in sent] == [
        (["1"], [1]),
        (["2"], [2]),
    ]
    assert {(event["index"], event["queryID"]) for event in sent} == {
        (index, hits.attrs["svc"]["queryID"])
    }


def test_a_row_alone_is_led_to_the_table() -> None:
    row: Any = FILMS.iloc[0]

    with pytest.raises(AttributeError, match=r"no `events`; .* df\.iloc\[\[0\]\]\.svc\.events"):
        _ = row.svc.events
    assert not hasattr(row.svc, "nothing_of_the_kind")


def test_a_misspelt_method_is_recognised() -> None:
    with pytest.raises(AttributeError, match=r"df.svc has no `pushh`; did you mean `push`"):
        _ = FILMS.svc.pushh
    with pytest.raises(AttributeError, match=r"series.svc has no `serch`; did you mean `search`"):
        _ = FILMS["id"].svc.serch


def test_times_of_events_are_milliseconds_and_have_a_zone() -> None:
    when = pd.to_datetime(pd.Series(["2026-01-01T00:00:01Z", None]), utc=True)
    rows: Any = pd.DataFrame(
        {"eventType": "view", "eventName": "seen", "index": "i", "userToken": "u",
         "filters": [["a:b"], ["a:c"]], "timestamp": when}
    )  # fmt: skip
    with serving(answer({"status": 200, "message": "OK"})) as stub:
        other = Client(ClientConfig(url=stub.url, app_id="A", api_key=Secret("k")))
        rows.svc.events(client=other)
        sent = stub.requests[-1].json["events"]
        with pytest.raises(BadInput, match="has no time zone"):
            rows.assign(timestamp=when.dt.tz_localize(None)).svc.events(client=other)

    assert [event.get("timestamp") for event in sent] == [1767225601000, None]


def test_five_rows_are_compared_with_five_records(client: Client, index: str) -> None:
    everything: Any = pd.DataFrame({"objectID": [f"{n:04}" for n in range(7088)], "n": range(7088)})
    everything.svc.push(index, client=client)

    five = everything.sample(5, random_state=1).sort_index()
    found = five.assign(
        n=lambda frame: frame["n"].where(frame.index != frame.index[0], -1)
    ).svc.diff(index, client=client)
    whole = five.svc.diff(index, client=client, missing="report")

    assert found["objectID"].tolist() == five["objectID"].tolist()
    assert found["state"].tolist() == ["changed", *["unchanged"] * 4]
    assert whole["state"].value_counts().to_dict() == {"missing": 7083, "unchanged": 5}
    assert set(whole["objectID"]) == set(everything["objectID"])


def test_true_is_not_one_in_a_comparison(client: Client, index: str) -> None:
    rows: Any = pd.DataFrame({"objectID": ["1", "2"], "sold": [True, False]})
    rows.svc.push(index, client=client)

    found = rows.assign(sold=[1, 0]).svc.diff(index, client=client)

    assert found["attributes"].tolist() == [["sold"], ["sold"]]


def test_a_frame_knows_its_index(client: Client, index: str) -> None:
    FILMS.svc.push(index, id="id", client=client)
    found: Any = svc.search(index, "jaws", client=client)

    read = found.svc.records(client=client)
    column = found["objectID"].svc.records(client=client)
    compared = found.svc.diff(client=client)
    gone = found.svc.delete(client=client)

    assert read["title"].tolist() == column["title"].tolist() == ["Jaws"]
    assert compared["state"].tolist() == ["unchanged"]
    assert gone.index == index
    assert svc.read_browse(index, client=client)["title"].tolist() == ["Alien"]


@pytest.mark.parametrize("method", ["records", "delete", "diff"])
def test_a_frame_of_no_index_or_of_another_service_is_refused_unsent(
    client: Client, index: str, method: str
) -> None:
    FILMS.svc.push(index, id="id", client=client)
    found: Any = svc.search(index, client=client)
    with serving() as stub:
        other = Client(ClientConfig(url=stub.url, app_id="A", api_key=Secret("k")))

        with pytest.raises(BadInput, match=r"has no index attached; pass `index=`"):
            getattr(FILMS.svc, method)(id="id", client=other)
        with pytest.raises(BadInput, match=r"this DataFrame is from application .* connect to"):
            getattr(found.svc, method)(client=other)

        assert not stub.requests


def test_the_rows_that_a_comparison_misses_can_be_deleted(client: Client, index: str) -> None:
    FILMS.svc.push(index, id="id", client=client)
    compared: Any = FILMS.head(1).svc.diff(index, id="id", client=client, missing="report")

    compared[compared["state"] == "missing"].svc.delete(client=client)

    assert svc.read_browse(index, client=client)["title"].tolist() == ["Jaws"]


@pytest.mark.parametrize(
    "call", [svc.browse_all, svc.refresh, svc.next_page], ids=lambda c: c.__name__
)
@pytest.mark.parametrize("given", ["films", None, 7, pd.Series(["1"], name="id")], ids=type)
def test_value_that_is_not_a_frame_is_refused_with_advice(
    client: Client, call: Any, given: Any
) -> None:
    with pytest.raises(BadInput, match=r"pass the DataFrame that a search .*read_browse\(index\)"):
        call(given, client=client)


def test_a_record_that_has_none_of_the_columns_is_there(client: Client, index: str) -> None:
    svc.push([{"objectID": "1"}, {"objectID": "2", "note": "rare"}], index, client=client)

    with pytest.warns(UserWarning, match=r"^1 of 2 ids is not in .*`nowhere`"):
        found = svc.read_records(index, ["1", "nowhere"], columns=["note"], client=client)

    assert found["objectID"].tolist() == ["1"]
    assert found["note"].isna().all()
    assert found.attrs["svc"]["missing"] == ["nowhere"]


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ("replace", "2 sent, 2 published, "), ("update", "2 updates sent, 2 published, "),
        ("update_existing", "2 updates sent, 2 published, "), ("delete", "2 deleted, "),
    ],
)  # fmt: skip
def test_a_result_says_what_was_done(client: Client, index: str, action: Any, words: str) -> None:
    FILMS.svc.push(index, id="id", client=client)

    done = FILMS.svc.push(index, id="id", action=action, client=client)

    assert repr(done).startswith(f"{index}: {words}0 rejected in ")
    assert words in done._repr_html_()
