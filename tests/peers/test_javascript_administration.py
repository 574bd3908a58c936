"""The vendor's JavaScript client manages keys, synonyms and rules, and copies an index."""

from __future__ import annotations

import pytest

from tests.conftest import Running
from tests.peers.films import FILMS, SETTINGS
from tests.peers.javascript import Script, ids
from tests.peers.official import connect, stored


@pytest.mark.slow
def test_keys_are_added_read_and_deleted(script: Script, service: Running) -> None:
    own = script.call("getApiKey", {"key": service.searchKey}, key=service.searchKey)
    added = script.call("addApiKey", {"acl": ["search"], "indexes": ["peers*"]})["key"]
    script.call("waitForApiKey", {"operation": "add", "key": added})
    listed = [entry["value"] for entry in script.call("listApiKeys")["keys"]]
    script.call("deleteApiKey", {"key": added})

    assert own["acl"] == ["search"]
    assert {service.searchKey, added} <= set(listed)
    assert script.call("waitForApiKey", {"operation": "delete", "key": added}) is None


@pytest.mark.parametrize("client", ["full", "lite"])
def test_a_secured_key_filters_what_it_finds(
    script: Script, service: Running, films: str, client: str
) -> None:
    restrictions = {
        "filters": "genre:space AND year < 1980",
        "searchParams": {"hitsPerPage": 5, "attributesToRetrieve": ["title", "year"]},
        "restrictIndices": [films],
        "userToken": "a b+c/ü",
    }
    order = {"parentApiKey": service.searchKey, "restrictions": restrictions}
    key = script.call("generateSecuredApiKey", order)

    answer = script.call("search", {"requests": [{"indexName": films}]}, client=client, key=key)

    [result] = answer["results"]
    assert (ids(result), result["hitsPerPage"]) == (["3", "1"], 5)
    assert result["hits"][0].keys() == {"objectID", "title", "year", "_highlightResult"}


SYNONYM = {"objectID": "s", "type": "synonym", "synonyms": ["sofa", "couch"]}
RULE = {
    "objectID": "r",
    "conditions": [{"pattern": "seat", "anchoring": "contains"}],
    "consequence": {"params": {"query": "sofa"}},
}


def test_synonyms_and_rules_are_saved_and_browsed(script: Script, index: str) -> None:
    script.call("saveSynonyms", {"indexName": index, "synonymHit": [SYNONYM]})
    script.finish(index, script.call("saveRules", {"indexName": index, "rules": [RULE]}))

    [synonyms] = script.call("browseSynonyms", {"indexName": index})
    [rules] = script.call("browseRules", {"indexName": index})

    assert [hit["objectID"] for hit in (*synonyms["hits"], *rules["hits"])] == ["s", "r"]
    assert script.call("getSynonym", {"indexName": index, "objectID": "s"}) == SYNONYM
    assert script.call("getRule", {"indexName": index, "objectID": "r"}) == RULE


@pytest.mark.parametrize("word", ["couch", "seat"])
def test_synonyms_and_rules_change_what_is_found(script: Script, index: str, word: str) -> None:
    script.fill(index, {"objectID": "1", "title": "sofa"})

    script.call("saveSynonyms", {"indexName": index, "synonymHit": [SYNONYM]})
    script.finish(index, script.call("saveRules", {"indexName": index, "rules": [RULE]}))

    params = {"indexName": index, "searchParams": {"query": word}}
    assert ids(script.call("searchSingleIndex", params)) == ["1"]


def test_an_index_is_copied_to_another_application(
    script: Script, second: Running, index: str
) -> None:
    script.call("setSettings", {"indexName": index, "indexSettings": SETTINGS})
    script.call("saveSynonyms", {"indexName": index, "synonymHit": [SYNONYM]})
    script.call("saveRules", {"indexName": index, "rules": [RULE]})
    script.fill(index, *FILMS)
    order = {
        "sourceIndexName": index,
        "destinationAppID": second.appId,
        "destinationApiKey": second.adminKey,
        "destinationIndexName": index,
        "batchSize": 3,
    }

    script.call("accountCopyIndex", order, other=second)

    with connect(second) as there:
        assert sorted(stored(there, index)) == ["1", "2", "3", "4"]
        assert there.get_synonym(index, "s").to_dict() == SYNONYM
        assert there.get_rule(index, "r").to_dict() == RULE
        assert there.get_settings(index).custom_ranking == SETTINGS["customRanking"]
