"""The Python client, release 1: every request as its users send it, to another host."""

from __future__ import annotations

import warnings
from typing import Any
from urllib.parse import urlsplit

from algoliasearch.client import Client, RequestOptions
from requests.adapters import HTTPAdapter
from steps import FACTS, ids, refused, report, step

warnings.simplefilter("ignore")
HOST = urlsplit(FACTS["url"]).netloc


class WithoutTLS(HTTPAdapter):
    """Sends over http what the client, which knows https only, sends over https."""

    def send(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        request.url = request.url.replace("https://", "http://", 1)
        return super().send(request, *args, **kwargs)


def connect(key: str) -> Any:
    client = Client(FACTS["appId"], key, hosts=[HOST])
    client._transport.session.mount("https://", WithoutTLS())
    return client


client = connect(FACTS["adminKey"])
index = client.init_index("python 1/ü")
other = client.init_index("python 1 copy")


def done(accepted: Any, where: Any = index) -> None:
    where.wait_task(accepted["taskID"], time_before_retry=10)


with step("records"):
    done(index.add_object({"name": "lamp", "n": 1}, "1"))
    done(index.save_object({"objectID": "2", "name": "lamp two", "n": 2}))
    done(index.partial_update_object({"objectID": "2", "n": 3}))
    done(index.partial_update_object({"objectID": "nobody", "n": 3}, no_create=True))
    added = index.add_object({"name": "table"})
    done(added)
    assert index.get_object("2") == {"objectID": "2", "name": "lamp two", "n": 3}
    assert index.get_object("2", ["n"]) == {"objectID": "2", "n": 3}
    done(index.delete_object(added["objectID"]))
    assert refused(lambda: index.get_object(added["objectID"])) == "ObjectID does not exist"

with step("batches"):
    done(index.add_objects([{"objectID": "3", "name": "chair", "n": 3, "_tags": ["x"]}]))
    done(index.save_objects([{"objectID": 4, "name": "bench"}, {"objectID": "5", "name": "b"}]))
    done(index.partial_update_objects([{"objectID": "5", "n": 5}]))
    done(index.delete_objects(["5"]))
    done(index.delete_by({"tagFilters": "x"}))
    operations = [
        {"action": "addObject", "indexName": "python 1/ü", "body": {"objectID": "6", "n": 6}},
        {"action": "deleteObject", "indexName": "python 1/ü", "body": {"objectID": "6"}},
    ]
    for name, task in client.batch(operations)["taskID"].items():
        client.wait_task(name, task)
    assert sorted(hit["objectID"] for hit in index.browse_all()) == ["1", "2", "4"]

with step("reads"):
    assert index.get_objects(["2", "1"])["results"][1]["name"] == "lamp"
    assert index.get_objects(["2"], ["n", "name"])["results"] == [
        {"objectID": "2", "n": 3, "name": "lamp two"}
    ]
    requests = [{"indexName": "python 1/ü", "objectID": "1", "attributesToRetrieve": "n"}]
    assert client.multiple_get_objects(requests)["results"] == [{"objectID": "1", "n": 1}]

with step("settings"):
    done(index.set_settings({"attributesToIndex": ["name"], "attributesForFaceting": ["name"]}))
    assert index.get_settings()["searchableAttributes"] == ["name"]
    done(index.set_settings({**index.get_settings(), "slaves": ["python 1 slave"]}))
    assert index.get_settings()["replicas"] == ["python 1 slave"]
    done(index.set_settings({"replicas": []}))

with step("searches"):
    assert ids(index.search("lamp", {"attributesToRetrieve": "n", "facets": "name"})) == ["1", "2"]
    assert index.search("lamp", {"hitsPerPage": 1, "advancedSyntax": True})["nbPages"] == 2
    answers = client.multiple_queries(
        [{"indexName": "python 1/ü", "query": "lamp", "numericFilters": ["n>1"]}]
    )
    assert ids(answers["results"][0]) == ["2"]
    refined = {"name": ["lamp"]}
    found = index.search_disjunctive_faceting("", ["name"], {"facets": ["name"]}, refined)
    assert set(found["disjunctiveFacets"]["name"]) == {"lamp", "lamp two", "bench"}
    nothing = client.init_index("nothing")
    assert refused(lambda: nothing.search("")) == "Index nothing does not exist"

with step("facet values"):
    done(index.set_settings({"attributesForFaceting": ["searchable(name)"]}))
    values = index.search_for_facet_values("name", "lam", {"query": "two"})["facetHits"]
    assert [value["value"] for value in values] == ["lamp two"]

with step("browse"):
    assert index.browse(hits_per_page=2)["nbPages"] == 2
    assert ids(index.browse_from({"query": "lamp"})) == ["1", "2"]

with step("synonyms"):
    words = {"objectID": "s", "type": "synonym", "synonyms": ["lamp", "light"]}
    done(index.save_synonym(words, "s"))
    done(
        index.batch_synonyms(
            [{"objectID": "o", "type": "oneWaySynonym", "input": "a", "synonyms": ["b"]}]
        )
    )
    assert index.get_synonym("s") == words
    assert index.search_synonyms("", ["oneWaySynonym"])["nbHits"] == 1
    assert [entry["objectID"] for entry in index.iter_synonyms(1)] == ["o", "s"]
    done(index.delete_synonym("o"))
    done(index.replace_all_synonyms([words]))
    done(index.clear_synonyms())
    assert refused(lambda: index.get_synonym("s")) == "Synonym set does not exist"

with step("rules"):
    rule = {"objectID": "r", "condition": {"pattern": "x", "anchoring": "is"},
            "consequence": {"params": {"query": {"remove": ["x"]}}}}  # fmt: skip
    done(index.save_rule(rule))
    done(index.batch_rules([{**rule, "objectID": "q"}]))
    assert index.read_rule("r")["consequence"] == rule["consequence"]
    assert [entry["objectID"] for entry in index.iter_rules(1)] == ["q", "r"]
    done(index.delete_rule("q"))
    done(index.replace_all_rules([rule]))
    done(index.clear_rules())
    assert refused(lambda: index.read_rule("r")) == "ObjectID does not exist"

with step("indices"):
    done(client.copy_index("python 1/ü", "python 1 copy"))
    done(client.copy_settings("python 1/ü", "python 1 copy"))
    done(client.move_index("python 1 copy", "python 1 moved"))
    assert "python 1 moved" in [item["name"] for item in client.list_indexes()["items"]]
    moved = client.init_index("python 1 moved")
    moved.replace_all_objects([{"objectID": "9"}], RequestOptions({"safe": True}))
    done(moved.clear_index(), moved)
    client.delete_index("python 1 moved")

with step("keys"):
    key = client.add_api_key(["search"], indexes=["python 1*"])["key"]
    client.update_api_key(key, {"acl": ["search"], "description": "d"})
    assert client.get_api_key(key)["description"] == "d"
    assert key in [entry["value"] for entry in client.list_api_keys()["keys"]]
    client.delete_api_key(key)
    client.restore_api_key(key)
    assert index.add_api_key(["search"])["key"]

with step("secured keys"):
    secured = client.generate_secured_api_key(FACTS["searchKey"], {"filters": "n = 1"}, "me")
    assert ids(connect(secured).init_index("python 1/ü").search("lamp")) == ["1"]
    long = " OR ".join(f"n = {number}" for number in [1, *range(100, 200)])
    secured = client.generate_secured_api_key(FACTS["searchKey"], {"filters": long})
    assert len(secured) > 500  # this client sends it in the body then
    assert ids(connect(secured).init_index("python 1/ü").search("lamp")) == ["1"]

with step("users"):
    client.assign_user_id("anna", "local-1")
    assert client.get_user_id("anna")["clusterName"] == "local-1"
    assert [user["userID"] for user in client.list_user_ids()["userIDs"]] == ["anna"]
    assert client.search_user_ids("ann", "local-1", 0, 5)["nbHits"] == 1
    assert client.get_top_user_id()["topUsers"]
    assert client.list_clusters()["clusters"]
    client.remove_user_id("anna")
    assert refused(lambda: client.get_user_id("anna"))

with step("logs"):
    assert client.get_logs(0, 5, "query")["logs"]

with step("events"):
    insights = client.init_insights_client()
    insights._InsightsClient__transport.write_hosts = [HOST]
    insights._InsightsClient__transport.session.mount("https://", WithoutTLS())
    user = insights.user("me")
    assert user.clicked_object_ids("seen", "python 1/ü", ["1"])["status"] == 200
    query_id = index.search("lamp", {"clickAnalytics": True})["queryID"]
    user.clicked_object_ids_after_search("seen", "python 1/ü", ["1"], [1], query_id)
    user.converted_filters("bought", "python 1/ü", ["name:lamp"])

report()
