"""The vendor's Python clients of analytics and query suggestions: their models parse answers."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from algoliasearch.abtesting.client import AbtestingClientSync
from algoliasearch.abtesting.config import AbtestingConfig
from algoliasearch.analytics.client import AnalyticsClientSync
from algoliasearch.analytics.config import AnalyticsConfig
from algoliasearch.analytics.models.top_hits_response_with_revenue_analytics import (
    TopHitsResponseWithRevenueAnalytics,
)
from algoliasearch.analytics.models.top_searches_response_with_revenue_analytics import (
    TopSearchesResponseWithRevenueAnalytics,
)
from algoliasearch.http.hosts import Host, HostsCollection
from algoliasearch.query_suggestions.client import QuerySuggestionsClientSync
from algoliasearch.query_suggestions.config import QuerySuggestionsConfig

from tests.conftest import Running

INDEX, SUGGESTIONS = "analysed", "analysed_suggestions"


@pytest.fixture
def analytics(service: Running, api: httpx.Client) -> AnalyticsClientSync:
    """The client, after a search with a click and a purchase, and one without hits."""
    task = api.post(
        f"/1/indexes/{INDEX}/batch",
        json={"requests": [{"action": "addObject", "body": {"objectID": "1", "brand": "Lumo"}}]},
    ).json()["taskID"]
    while api.get(f"/1/task/{task}").json()["status"] != "published":
        pass
    settings = {"attributesForFaceting": ["brand"]}
    task = api.put(f"/1/indexes/{INDEX}/settings", json=settings).json()["taskID"]
    while api.get(f"/1/task/{task}").json()["status"] != "published":
        pass
    body = {"query": "lumo", "filters": "brand:Lumo", "clickAnalytics": True, "userToken": "anna"}
    tags = {"analyticsTags": ["country:DE"]}
    found = api.post(f"/1/indexes/{INDEX}/query", json=body | tags).json()
    api.post(f"/1/indexes/{INDEX}/query", json={**body, "query": "toaster"})
    event: Any = {
        "eventName": "x", "index": INDEX, "userToken": "anna", "objectIDs": ["1"],
        "queryID": found["queryID"],
    }  # fmt: skip
    bought = {
        "eventType": "conversion", "eventSubtype": "purchase", "currency": "EUR", "value": 12.5,
        "objectData": [{"price": 12.5, "quantity": 1, "queryID": found["queryID"]}],
    }  # fmt: skip
    events = [{**event, "eventType": "click", "positions": [1]}, {**event, **bought}]
    api.post("/1/events", json={"events": events}).raise_for_status()
    config = AnalyticsConfig(service.appId, service.adminKey)
    config.hosts = hosts_of(service)
    return AnalyticsClientSync.create_with_config(config)


def hosts_of(service: Running) -> HostsCollection:
    address = urlsplit(service.url)
    return HostsCollection([Host(f"{address.hostname}", address.scheme, address.port)])


def test_each_answer_is_parsed_by_the_models_of_the_client(analytics: AnalyticsClientSync) -> None:
    # The client takes the first model that an answer fits, which has the fewest members.
    both: Any = {"click_analytics": True, "revenue_analytics": True}
    listed = analytics.get_top_searches_with_http_info(INDEX, **both).raw_data or ""
    top = TopSearchesResponseWithRevenueAnalytics.model_validate_json(listed)
    [lumo, toaster] = sorted(top.searches, key=lambda row: row.search)
    assert (lumo.search, lumo.click_through_rate, lumo.nb_hits) == ("lumo", 1.0, 1)
    assert lumo.currencies["EUR"].revenue == 12.5
    assert (toaster.count, toaster.nb_hits) == (1, 0)
    plain: Any = analytics.get_top_searches(INDEX, order_by="searchCount", direction="asc", limit=1)
    assert len(plain.actual_instance.searches) == 1
    listed = analytics.get_top_hits_with_http_info(INDEX, search="lumo", **both).raw_data or ""
    [hit] = TopHitsResponseWithRevenueAnalytics.model_validate_json(listed).hits
    assert (hit.hit, hit.tracked_hit_count, hit.click_count, hit.purchase_count) == ("1", 1, 1, 1)

    assert analytics.get_searches_count(INDEX).count == 2
    assert len(analytics.get_searches_count(INDEX).dates) == 8
    assert analytics.get_users_count(INDEX).count == 1
    assert analytics.get_no_results_rate(INDEX).rate == 0.5
    assert analytics.get_no_click_rate(INDEX).no_click_count == 1
    assert analytics.get_click_through_rate(INDEX).rate == 0.5
    assert analytics.get_average_click_position(INDEX).average == 1
    assert analytics.get_click_positions(INDEX).positions[0].click_count == 1
    assert analytics.get_conversion_rate(INDEX).conversion_count == 1
    assert analytics.get_add_to_cart_rate(INDEX).rate == 0
    assert analytics.get_purchase_rate(INDEX).purchase_count == 1
    assert analytics.get_revenue(INDEX).currencies["EUR"].revenue == 12.5
    unanswered = analytics.get_searches_no_results(INDEX).searches
    assert [(row.search, row.with_filter_count) for row in unanswered] == [("toaster", 1)]
    assert analytics.get_searches_no_clicks(INDEX).searches == []
    assert analytics.get_top_countries(INDEX).countries[0].country == "DE"
    assert analytics.get_top_filter_attributes(INDEX).attributes[0].count == 2
    assert analytics.get_top_filter_for_attribute("brand", INDEX).values[0].operator == ":"
    [filters] = analytics.get_top_filters_no_results(INDEX).values or []
    assert [part.value for part in filters.values] == ["Lumo"]
    assert str(analytics.get_status(INDEX).updated_at).endswith("Z")


def test_query_suggestions_are_configured_and_built(
    service: Running, analytics: AnalyticsClientSync
) -> None:
    config = QuerySuggestionsConfig(service.appId, service.adminKey)
    config.hosts = hosts_of(service)
    client = QuerySuggestionsClientSync.create_with_config(config)
    source = {"indexName": INDEX, "minHits": 1, "facets": [{"attribute": "brand", "amount": 2}]}
    fields = {"sourceIndices": [source], "languages": ["en"], "exclude": ["toaster"]}
    assert analytics.get_searches_count(INDEX).count

    created = client.create_config({"indexName": SUGGESTIONS, **fields})
    assert created.status == 200
    deadline = time.monotonic() + 20
    while not client.get_config_status(SUGGESTIONS).last_successful_built_at:
        assert time.monotonic() < deadline
        time.sleep(0.1)

    assert client.get_log_file(SUGGESTIONS).message == "1 suggestions were built"
    stored = client.get_config(SUGGESTIONS)
    assert (stored.index_name, stored.exclude) == (SUGGESTIONS, ["toaster"])
    assert stored.source_indices[0].min_letters == 4
    assert SUGGESTIONS in [row.index_name for row in client.get_all_configs()]
    assert client.update_config(SUGGESTIONS, {"sourceIndices": [source]}).status == 200
    assert client.delete_config(SUGGESTIONS).status == 200


# The client names `/3/abtests` as the successor.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*abtests.* is deprecated:DeprecationWarning")
def test_tests_are_run_by_the_client_and_parsed_by_its_models(
    service: Running, analytics: AnalyticsClientSync, api: httpx.Client
) -> None:
    config = AbtestingConfig(service.appId, service.adminKey)
    config.hosts = hosts_of(service)
    client = AbtestingClientSync.create_with_config(config)
    other = {"hitsPerPage": 1}
    variants: Any = [
        {"index": INDEX, "trafficPercentage": 70, "description": "now"},
        {"index": INDEX, "trafficPercentage": 30, "customSearchParameters": other},
    ]
    effect = {"minimumDetectableEffect": {"size": 0.4, "metric": "conversionRate"}}
    assert analytics.get_searches_count(INDEX).count
    estimate = client.estimate_ab_test({"configuration": effect, "variants": variants})
    assert [*(estimate.sample_sizes or [])] == sorted(estimate.sample_sizes or [], reverse=True)
    assert estimate.duration_days

    ends = (datetime.now(UTC) + timedelta(3)).isoformat()
    added = client.add_ab_tests({"name": "one hit", "variants": variants, "endAt": ends})
    assert added.index == INDEX
    for number in range(30):
        user = f"tester-{number}"
        body = {"query": "lumo", "clickAnalytics": True, "userToken": user}
        answer = api.post(f"/1/indexes/{INDEX}/query", json=body).json()
        assert answer["abTestID"] == added.ab_test_id
        if number % 2:
            bought: Any = {
                "eventType": "conversion", "eventSubtype": "purchase", "eventName": "x",
                "index": INDEX, "userToken": user, "objectIDs": ["1"], "value": number,
                "queryID": answer["queryID"], "currency": "EUR",
                "objectData": [{"price": number, "quantity": 1, "queryID": answer["queryID"]}],
            }  # fmt: skip
            api.post("/1/events", json={"events": [bought]}).raise_for_status()

    test = client.get_ab_test(added.ab_test_id)
    assert (test.name, test.status, test.stopped_at) == ("one hit", "active", None)
    assert [row.traffic_percentage for row in test.variants] == [70, 30]
    assert sum(row.tracked_user_count or 0 for row in test.variants) == 30
    assert sum(row.purchase_count for row in test.variants) == 15
    paid = sum((row.currencies or {})["EUR"].revenue or 0 for row in test.variants)
    assert paid == sum(range(1, 30, 2))
    assert 0 <= (test.purchase_significance or 0) < 1
    effects = test.variants[0].filter_effects
    assert effects and effects.outliers and effects.outliers.users_count == 0  # noqa: PT018
    listed = client.list_ab_tests(index_prefix=INDEX)
    assert [row.ab_test_id for row in listed.abtests or []] == [added.ab_test_id]
    assert client.stop_ab_test(added.ab_test_id).ab_test_id == added.ab_test_id
    assert client.get_ab_test(added.ab_test_id).status == "stopped"
    assert client.delete_ab_test(added.ab_test_id).index == INDEX
    assert client.list_ab_tests(index_prefix=INDEX).abtests is None
