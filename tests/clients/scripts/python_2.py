"""The Python client, releases 2 and 3: every request as its users send it, to another host."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from algoliasearch.configs import InsightsConfig, SearchConfig
from algoliasearch.http.hosts import Host, HostsCollection
from algoliasearch.http.requester import Requester
from algoliasearch.http.transporter import Transporter
from algoliasearch.insights_client import InsightsClient
from algoliasearch.search_client import SearchClient
from steps import FACTS, ids, refused, report, step

NAME = f"python {FACTS['release']}/ü"


class WithoutTLS(Requester):  # type: ignore[misc]
    """Sends over http what the client, which knows https only, sends over https."""

    def send(self, request: Any) -> Any:
        request.url = request.url.replace("https://", "http://", 1)
        return super().send(request)


def transport(config: Any) -> Any:
    config.hosts = HostsCollection([Host(urlsplit(FACTS["url"]).netloc)])
    config.wait_task_time_before_retry = 10_000
    return Transporter(WithoutTLS(), config)  # type: ignore[call-arg]


def connect(key: str) -> Any:
    config = SearchConfig(FACTS["appId"], key)
    return SearchClient(transport(config), config)


client = connect(FACTS["adminKey"])
index = client.init_index(NAME)

with step("records"):
    index.save_object({"objectID": "1", "name": "lamp", "n": 1}).wait()
    index.save_object({"name": "table"}, {"autoGenerateObjectIDIfNotExist": True}).wait()
    index.partial_update_object({"objectID": "1", "n": 2}).wait()
    index.partial_update_object({"objectID": "2", "n": 2}, {"createIfNotExists": True}).wait()
    assert index.get_object("1", {"attributesToRetrieve": ["n"]}) == {"objectID": "1", "n": 2}
    index.delete_object("2").wait()
    assert refused(lambda: index.get_object("2")) == "ObjectID does not exist"

with step("batches"):
    index.save_objects([{"objectID": "3", "name": "lamp", "_tags": ["x"]}]).wait()
    index.delete_by({"tagFilters": ["x"]}).wait()
    operations = [
        {"action": "addObject", "indexName": NAME, "body": {"objectID": "4", "n": 4}},
        {"action": "deleteObject", "indexName": NAME, "body": {"objectID": "4"}},
    ]
    client.multiple_batch(operations).wait()
    index.replace_all_objects(
        [{"objectID": str(n), "name": f"lamp {n}", "n": n} for n in range(5)], {"safe": True}
    )
    assert sorted(hit["objectID"] for hit in index.browse_objects()) == ["0", "1", "2", "3", "4"]

with step("reads"):
    read = index.get_objects(["2"], {"attributesToRetrieve": ["n"]})["results"]
    assert read == [{"objectID": "2", "n": 2}]
    requests = [{"indexName": NAME, "objectID": "1", "attributesToRetrieve": "n,name"}]
    assert client.multiple_get_objects(requests)["results"][0]["name"] == "lamp 1"
    assert index.find_object(lambda hit: hit["n"] == 3)["position"] == 3

with step("settings"):
    index.set_settings(
        {"searchableAttributes": ["name"], "attributesForFaceting": ["searchable(name)"]},
        {"forwardToReplicas": True},
    ).wait()
    settings = index.get_settings()
    assert settings["searchableAttributes"] == ["name"]
    index.set_settings(settings).wait()
    assert index.exists()
    assert not client.init_index("nothing").exists()

with step("searches"):
    assert ids(index.search("lamp", {"filters": "n > 2", "facets": ["name"]})) == ["3", "4"]
    queries = [{"indexName": NAME, "query": "lamp", "hitsPerPage": 1}]
    assert client.multiple_queries(queries)["results"][0]["nbPages"] == 5
    nothing = client.init_index("nothing")
    assert refused(lambda: nothing.search("")) == "Index nothing does not exist"

with step("facet values"):
    assert len(index.search_for_facet_values("name", "lam")["facetHits"]) == 5

with step("browse"):
    assert len(list(index.browse_objects({"query": "lamp", "filters": "n < 2"}))) == 2

with step("synonyms"):
    words = {"objectID": "s", "type": "altCorrection1", "word": "lamp", "corrections": ["lmp"]}
    index.save_synonym(words).wait()
    assert index.get_synonym("s") == words
    assert list(index.browse_synonyms()) == [words]
    assert index.search_synonyms("lmp", {"type": "altCorrection1"})["nbHits"] == 1
    index.replace_all_synonyms([words]).wait()
    index.delete_synonym("s").wait()
    assert refused(lambda: index.get_synonym("s")) == "Synonym set does not exist"
    index.clear_synonyms().wait()
    assert client.init_index("nothing").search_synonyms("")["nbHits"] == 0

with step("rules"):
    rule = {"objectID": "r", "condition": {"pattern": "x", "anchoring": "is"},
            "consequence": {"promote": [{"objectID": "4", "position": 0}]}}  # fmt: skip
    index.save_rule(rule).wait()
    assert index.get_rule("r")["consequence"] == rule["consequence"]
    assert [entry["objectID"] for entry in index.browse_rules()] == ["r"]
    index.replace_all_rules([rule]).wait()
    index.delete_rule("r").wait()
    assert refused(lambda: index.get_rule("r")) == "ObjectID does not exist"
    index.clear_rules().wait()
    assert client.init_index("nothing").search_rules("")["nbHits"] == 0

with step("indices"):
    copied = f"{NAME} copy"
    client.copy_index(NAME, copied).wait()
    client.copy_rules(NAME, copied).wait()
    client.move_index(copied, f"{NAME} moved").wait()
    assert f"{NAME} moved" in [item["name"] for item in client.list_indices()["items"]]
    moved = client.init_index(f"{NAME} moved")
    moved.clear_objects().wait()
    moved.delete().wait()

with step("keys"):
    key = client.add_api_key(["search"], {"description": "d"}).wait()["key"]
    client.update_api_key(key, {"acl": ["search", "browse"]}).wait()
    assert client.get_api_key(key)["acl"] == ["search", "browse"]
    assert key in [entry["value"] for entry in client.list_api_keys()["keys"]]
    client.delete_api_key(key).wait()
    client.restore_api_key(key).wait()

with step("secured keys"):
    limits = {"filters": "n = 1", "validUntil": 4_000_000_000, "restrictIndices": [NAME]}
    secured = SearchClient.generate_secured_api_key(FACTS["searchKey"], limits)
    assert SearchClient.get_secured_api_key_remaining_validity(secured) > 0
    assert ids(connect(secured).init_index(NAME).search("lamp")) == ["1"]

with step("dictionaries"):
    entry = {"objectID": "d", "language": "en", "word": "down", "state": "enabled"}
    client.save_dictionary_entries("stopwords", [entry]).wait()
    assert client.search_dictionary_entries("stopwords", "down", {"language": "en"})["nbHits"] >= 1
    client.delete_dictionary_entries("stopwords", ["d"]).wait()
    client.replace_dictionary_entries("stopwords", [entry]).wait()
    client.clear_dictionary_entries("stopwords").wait()
    client.set_dictionary_settings({"disableStandardEntries": {"stopwords": {"fr": True}}}).wait()
    assert client.get_dictionary_settings()["disableStandardEntries"]["stopwords"] == {"fr": True}
    client.set_dictionary_settings({"disableStandardEntries": {"stopwords": None}}).wait()

with step("users"):
    client.assign_user_id("berta", "local-1")
    client.assign_user_ids(["carla"], "local-2")
    assert client.get_user_id("berta")["clusterName"] == "local-1"
    names = [user["userID"] for user in client.list_user_ids({"hitsPerPage": 5})["userIDs"]]
    assert {"berta", "carla"} <= set(names)
    assert client.search_user_ids("berta", {"cluster": "local-1"})["nbHits"] == 1
    assert "pending" in client.has_pending_mappings({"retrieveMappings": True})
    assert client.get_top_user_ids()["topUsers"]
    assert client.list_clusters()["clusters"]
    client.remove_user_id("berta")
    client.remove_user_id("carla")
    assert refused(lambda: client.get_user_id("berta"))

with step("logs"):
    assert client.get_logs({"length": 5, "type": "query"})["logs"]

with step("events"):
    config = InsightsConfig(FACTS["appId"], FACTS["adminKey"])
    user = InsightsClient(transport(config), config).user("me")
    assert user.viewed_object_ids("seen", NAME, ["1"])["status"] == 200
    query_id = index.search("lamp", {"clickAnalytics": True})["queryID"]
    user.clicked_object_ids_after_search("seen", NAME, ["1"], [1], query_id)
    user.clicked_filters("chosen", NAME, ["name:lamp"])

report()
