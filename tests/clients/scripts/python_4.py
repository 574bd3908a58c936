"""The Python client, release 4: every group of requests as its users send it, to another host."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from algoliasearch.http.hosts import Host, HostsCollection
from algoliasearch.insights.client import InsightsClientSync
from algoliasearch.insights.config import InsightsConfig
from algoliasearch.search.client import SearchClientSync
from algoliasearch.search.config import SearchConfig
from steps import FACTS, refused, report, step

NAME = "python 4/ü"
ADDRESS = urlsplit(FACTS["url"])
HOSTS = HostsCollection([Host(f"{ADDRESS.hostname}", ADDRESS.scheme, ADDRESS.port)])


def connect(key: str) -> SearchClientSync:
    config = SearchConfig(FACTS["appId"], key)
    config.hosts = HOSTS
    return SearchClientSync.create_with_config(config)


def done(accepted: Any, index: str = NAME) -> None:
    client.wait_for_task(index, accepted.task_id)


def ids(answer: Any) -> list[str]:
    return [hit.object_id for hit in answer.hits]


client = connect(FACTS["adminKey"])

with step("records"):
    done(client.add_or_update_object(NAME, "1", {"name": "lamp", "n": 1}))
    done(client.partial_update_object(NAME, "1", {"n": {"_operation": "Increment", "value": 1}}))
    assert client.get_object(NAME, "1", ["n"]) == {"objectID": "1", "n": 2}
    added = client.save_object(NAME, {"name": "table"})
    done(added)
    name = f"{added.object_id}"
    done(client.delete_object(NAME, name))
    assert "ObjectID does not exist" in refused(lambda: client.get_object(NAME, name))

with step("batches"):
    records = [{"objectID": str(n), "name": f"lamp {n}", "n": n} for n in range(5)]
    client.replace_all_objects(NAME, records)
    client.save_objects(NAME, [{"objectID": "9", "_tags": ["x"]}], wait_for_tasks=True)
    client.partial_update_objects(NAME, [{"objectID": "8", "n": 8}], False, wait_for_tasks=True)
    done(client.delete_by(NAME, {"tagFilters": "x"}))
    client.delete_objects(NAME, ["8"], wait_for_tasks=True)
    body = {"action": "updateObject", "body": {"objectID": "0", "name": "lamp 0", "n": 0}}
    tasks = client.multiple_batch({"requests": [{**body, "indexName": NAME}]})
    client.wait_for_task(NAME, tasks.task_id[NAME])
    found: list[str] = []
    client.browse_objects(NAME, lambda page: found.extend(ids(page)))
    assert sorted(found) == ["0", "1", "2", "3", "4"]

with step("reads"):
    requests = [{"indexName": NAME, "objectID": "2", "attributesToRetrieve": ["n"]}]
    assert client.get_objects({"requests": requests}).results == [{"objectID": "2", "n": 2}]

with step("settings"):
    done(client.set_settings(NAME, {"searchableAttributes": ["name"], "sortFacetValuesBy": ""}))
    done(client.set_settings(NAME, {"attributesForFaceting": ["searchable(name)"]}, True))
    assert client.get_settings(NAME).searchable_attributes == ["name"]
    done(client.set_settings(NAME, client.get_settings(NAME).to_dict()))
    assert client.index_exists(NAME)
    assert not client.index_exists("nothing")

with step("searches"):
    answer = client.search_single_index(NAME, {"query": "lamp", "filters": "n > 2"})
    assert ids(answer) == ["3", "4"]
    query = {"indexName": NAME, "query": "lamp", "extensions": {}}
    assert client.search({"requests": [query]}).to_dict()["results"][0]["nbHits"] == 5
    nothing = refused(lambda: client.search_single_index("nothing"))
    assert "Index nothing does not exist" in nothing

with step("facet values"):
    values = client.search_for_facet_values(NAME, "name", {"facetQuery": "lam"})
    assert len(values.facet_hits) == 5

with step("browse"):
    assert client.browse(NAME, {"hitsPerPage": 2}).cursor

with step("synonyms"):
    words = {"objectID": "s", "type": "altCorrection1", "word": "lamp", "corrections": ["lmp"]}
    done(client.save_synonym(NAME, "s", words))
    done(client.save_synonyms(NAME, [words], replace_existing_synonyms=True))
    assert client.get_synonym(NAME, "s").to_dict() == words
    assert client.search_synonyms(NAME, {"type": "altCorrection1"}).nb_hits == 1
    done(client.delete_synonym(NAME, "s"))
    assert "Synonym set does not exist" in refused(lambda: client.get_synonym(NAME, "s"))
    done(client.clear_synonyms(NAME))
    assert client.search_synonyms("nothing").nb_hits == 0

with step("rules"):
    rule = {"objectID": "r", "conditions": [{"pattern": "x", "anchoring": "is"}],
            "consequence": {"promote": [{"objectID": "4", "position": 0}]}}  # fmt: skip
    done(client.save_rule(NAME, "r", rule))
    done(client.save_rules(NAME, [rule], clear_existing_rules=True))
    assert client.get_rule(NAME, "r").to_dict()["consequence"] == rule["consequence"]
    assert client.search_rules(NAME, {"query": "x", "anchoring": "is"}).nb_hits == 1
    done(client.delete_rule(NAME, "r"))
    assert "ObjectID does not exist" in refused(lambda: client.get_rule(NAME, "r"))
    done(client.clear_rules(NAME))
    assert client.search_rules("nothing").nb_hits == 0

with step("indices"):
    done(client.operation_index(NAME, {"operation": "copy", "destination": "python 4 copy"}))
    done(
        client.operation_index(
            "python 4 copy", {"operation": "move", "destination": "python 4 moved"}
        )
    )
    assert "python 4 moved" in [item.name for item in client.list_indices().items]
    done(client.clear_objects("python 4 moved"), "python 4 moved")
    done(client.delete_index("python 4 moved"), "python 4 moved")

with step("keys"):
    key = client.add_api_key({"acl": ["search"]}).key
    client.wait_for_api_key(key, "add")
    client.update_api_key(key, {"acl": ["search", "browse"]})
    client.wait_for_api_key(key, "update", {"acl": ["search", "browse"]})
    assert key in [entry.value for entry in client.list_api_keys().keys]
    client.delete_api_key(key)
    client.wait_for_api_key(key, "delete")
    client.restore_api_key(key)

with step("secured keys"):
    limits = {"searchParams": {"filters": "n = 1"}, "restrictIndices": [NAME]}
    secured = client.generate_secured_api_key(FACTS["searchKey"], limits)
    assert ids(connect(secured).search_single_index(NAME, {"query": "lamp"})) == ["1"]

with step("dictionaries"):
    entry = {"objectID": "d", "language": "en", "word": "down", "state": "enabled"}
    batch = {"requests": [{"action": "addEntry", "body": entry}]}
    client.wait_for_app_task(client.batch_dictionary_entries("stopwords", batch).task_id)
    assert client.search_dictionary_entries("stopwords", {"query": "down"}).nb_hits >= 1
    cleared = {"clearExistingDictionaryEntries": True, "requests": []}
    client.wait_for_app_task(client.batch_dictionary_entries("stopwords", cleared).task_id)
    changed = {"disableStandardEntries": {"stopwords": {"fr": False}}}
    client.wait_for_app_task(client.set_dictionary_settings(changed).task_id)
    assert client.get_dictionary_settings().disable_standard_entries
    assert client.get_dictionary_languages()

with step("users"):
    client.assign_user_id("dora", {"cluster": "local-1"})
    client.batch_assign_user_ids("dora", {"cluster": "local-2", "users": ["emma"]})
    assert client.get_user_id("dora").cluster_name == "local-1"
    assert "emma" in [user.user_id for user in client.list_user_ids(0, 50).user_ids]
    assert client.has_pending_mappings(True)
    assert client.get_top_user_ids().top_users
    assert client.list_clusters().top_users
    client.remove_user_id("dora")
    client.remove_user_id("emma")
    assert refused(lambda: client.get_user_id("dora"))

with step("logs"):
    assert client.get_logs(length=5, type="query").logs

with step("events"):
    config = InsightsConfig(FACTS["appId"], FACTS["adminKey"], "us")
    config.hosts = HOSTS
    insights = InsightsClientSync.create_with_config(config)
    event = {"eventType": "view", "eventName": "seen", "index": NAME, "userToken": "me",
             "objectIDs": ["1"]}  # fmt: skip
    assert insights.push_events({"events": [event]}).status == 200

report()
