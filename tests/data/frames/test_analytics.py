"""Readers of analytics return DataFrames of their schemas, whatever was counted."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.data.client import Client
from svc_notebook.data.frames.schemas import SCHEMAS
from svc_notebook.errors import BadInput
from tests.conftest import Running
from tests.data.frames.schemas import with_text_dtype

INDEX = "analytics-readers"
READERS = [
    "read_top_searches", "read_no_results", "read_no_clicks", "read_top_hits", "read_top_filters",
    "read_top_countries", "read_click_positions", "read_search_counts", "read_users_count",
    "read_conversions", "read_revenue",
]  # fmt: skip


@pytest.fixture(scope="module")
def client(service: Running) -> Iterator[Client]:
    """A client of a service in which one user searched, clicked and bought."""
    with svc.connect(url=service.url, app_id=service.appId, api_key=service.adminKey) as client:
        svc.push(pd.DataFrame({"objectID": ["1"], "brand": ["Lumo"]}), INDEX, client=client)
        svc.set_settings(INDEX, {"attributesForFaceting": ["brand"]}, client=client)
        hits = svc.search(
            INDEX, "lumo", clickAnalytics=True, userToken="anna", filters="brand:Lumo",
            analyticsTags=["country:DE"], client=client,
        )  # fmt: skip
        svc.search(INDEX, "toaster", userToken="bob", client=client)
        query_id = hits.attrs["svc"]["queryID"]
        event = {"eventName": "x", "userToken": "anna", "objectIDs": ["1"], "queryID": query_id}
        price = {"price": 12.5, "quantity": 2, "queryID": query_id}
        bought = {
            "eventType": "conversion", "eventSubtype": "purchase", "currency": "EUR",
            "value": 25, "objectData": [price],
        }  # fmt: skip
        events = [{**event, "eventType": "click", "positions": [1]}, {**event, **bought}]
        svc.send_events(events, index=INDEX, client=client)
        yield client


def test_each_reader_has_its_schema_with_and_without_rows(client: Client) -> None:
    for name in READERS:
        for index in (INDEX, "never-searched"):
            frame = getattr(svc, name)(index, client=client)
            columns = frame.reset_index() if frame.index.name else frame
            dtypes = {str(column): str(dtype) for column, dtype in columns.dtypes.items()}
            assert dtypes == with_text_dtype(SCHEMAS[name]), name
            assert frame.attrs["svc"]["index"] == index


def test_queries_and_hits_have_their_figures(client: Client) -> None:
    top = svc.read_top_searches(INDEX, client=client).set_index("query").to_dict("index")
    figures = [top["lumo"][name] for name in ("frequency", "nbHits", "clickThroughRate")]
    assert figures == [1, 1, 1.0]
    assert top["lumo"]["revenue"] == {"EUR": 25.0}
    assert pd.isna(top["toaster"]["clickThroughRate"])
    rising = svc.read_top_searches(
        INDEX, order="clickThroughRate", ascending=True, limit=1, client=client
    )
    assert rising["query"].tolist() == ["lumo"]

    [unanswered] = svc.read_no_results(INDEX, client=client).to_dict("records")
    assert unanswered == {"query": "toaster", "frequency": 1, "nbHits": 0, "withFilterCount": 0}
    zero = svc.tuning.no_results(svc.read_no_results(INDEX, client=client))
    assert zero["query"].tolist() == ["toaster"]
    sample = svc.tuning.sample_queries(svc.read_top_searches(INDEX, client=client), 2)
    assert sorted(sample["query"]) == ["lumo", "toaster"]

    [hit] = svc.read_top_hits(INDEX, search="Lumo", client=client).to_dict("records")
    assert (hit["objectID"], hit["frequency"], hit["purchaseRate"]) == ("1", 1, 1.0)
    assert svc.read_top_filters(INDEX, client=client)["attribute"].tolist() == ["brand"]
    values = svc.read_top_filters(INDEX, "brand", client=client)[["operator", "value"]]
    assert values.to_numpy().tolist() == [[":", "Lumo"]]
    assert svc.read_top_countries(INDEX, client=client)["country"].tolist() == ["DE"]
    tagged = svc.read_top_searches(INDEX, tags="country:DE", client=client)
    assert tagged["query"].tolist() == ["lumo"]


def test_figures_of_days_are_indexed_by_date(client: Client) -> None:
    today = pd.Timestamp(time.time(), unit="s", tz="UTC").normalize()
    counts = svc.read_search_counts(INDEX, since="2d", client=client)
    assert counts.index.tolist() == [today - pd.Timedelta(n, "D") for n in (2, 1, 0)]
    assert counts["searchCount"].tolist() == [0, 0, 2]
    total = {"searchCount": 2, "userCount": 2, "noResultCount": 1, "noResultRate": 0.5}
    assert counts.attrs["svc"]["total"] == total

    days = svc.read_conversions(INDEX, client=client)
    assert len(days) == 8
    assert days["clickThroughRate"].isna().tolist() == [True] * 7 + [False]
    assert svc.read_revenue(INDEX, client=client)["revenue"].tolist() == [25.0]
    clicks = svc.read_click_positions(INDEX, client=client)
    assert clicks["clickCount"].tolist() == [1] + [0] * 11
    assert svc.refresh(counts, client=client).equals(counts)

    searches, unanswered = svc.plot_search_counts(counts)
    assert searches.get_title(loc="left") == "2 searches"
    assert unanswered.get_ylim()[0] == 0
    labels = svc.plot_click_positions(clicks).get_xticklabels()
    assert [label.get_text() for label in labels][9:] == ["10", "11-20", "21+"]
    assert svc.plot_click_positions("never-searched", client=client).texts


def test_a_day_that_is_not_one_is_refused_before_a_call(client: Client) -> None:
    with pytest.raises(BadInput, match="`since` must be a time"):
        svc.read_top_searches(INDEX, since="last week", client=client)
