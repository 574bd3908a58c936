"""The vendor's Python client manages keys, synonyms, rules, dictionaries and logs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from algoliasearch.http.exceptions import RequestException
from algoliasearch.search.client import SearchClientSync
from algoliasearch.search.models.rule import Rule
from algoliasearch.search.models.synonym_hit import SynonymHit

from tests.conftest import Running
from tests.peers.official import Often, connect, fill, finish, ids, own_warnings

pytestmark = own_warnings

# What the client calls deprecated the service answers all the same.
deprecated = pytest.mark.filterwarnings("ignore:.* is deprecated:DeprecationWarning")


@pytest.fixture
def operator(second: Running) -> Iterator[SearchClientSync]:
    """The admin of an application whose dictionaries, users and sources are free to change."""
    with connect(second) as client:
        yield client


def test_the_search_key_is_read_by_the_admin_and_by_itself(
    service: Running, client: SearchClientSync, searcher: SearchClientSync
) -> None:
    told = client.get_api_key(service.searchKey)
    own = searcher.get_api_key(service.searchKey)

    assert (told.value, own.value) == (service.searchKey, service.searchKey)
    assert told.to_dict()["acl"] == own.to_dict()["acl"] == ["search"]


def test_the_admin_key_reads_itself(service: Running, client: SearchClientSync) -> None:
    assert client.get_api_key(service.adminKey).value == service.adminKey


def test_a_key_is_added_changed_deleted_and_restored(client: SearchClientSync) -> None:
    first = {"acl": ["search", "browse"], "description": "one", "indexes": ["peers*"]}
    second = {"acl": ["search"], "description": "two", "maxHitsPerQuery": 5}

    key = client.add_api_key(first).key
    client.wait_for_api_key(key, "add", timeout=Often())
    added = client.get_api_key(key).to_dict()
    client.update_api_key(key, second)
    client.wait_for_api_key(key, "update", second, timeout=Often())
    changed = client.get_api_key(key).to_dict()
    client.delete_api_key(key)
    client.wait_for_api_key(key, "delete", timeout=Often())
    client.restore_api_key(key)
    client.wait_for_api_key(key, "add", timeout=Often())

    assert {name: added[name] for name in first} == first
    assert {name: changed[name] for name in second} == second
    assert not changed.get("indexes")
    assert key in [entry.value for entry in client.list_api_keys().keys]


def test_a_secured_key_filters_what_it_finds(
    service: Running, client: SearchClientSync, films: str
) -> None:
    restrictions = {
        "filters": "genre:space AND NOT genre:war",
        "validUntil": int(time.time()) + 60,
        "restrictIndices": [films],
        "userToken": "a b+c/ü",
    }
    key = client.generate_secured_api_key(service.searchKey, restrictions)

    with connect(service, key) as limited:
        assert ids(limited.search_single_index(films, {"filters": "year > 1900"})) == ["3", "1"]
        with pytest.raises(RequestException, match="index") as wrong:
            limited.search_single_index(f"{films} 2")

    assert wrong.value.status_code == 403
    assert 50 < client.get_secured_api_key_remaining_validity(key) <= 60


def test_a_secured_key_that_has_ended_is_refused(
    service: Running, client: SearchClientSync, films: str
) -> None:
    key = client.generate_secured_api_key(service.searchKey, {"validUntil": 1})

    with connect(service, key) as late, pytest.raises(RequestException) as wrong:
        late.search_single_index(films)

    assert wrong.value.status_code == 403


def test_synonyms_are_saved_read_found_and_replaced(client: SearchClientSync, index: str) -> None:
    one: dict[str, Any] = {"objectID": "one", "type": "synonym", "synonyms": ["sofa", "couch"]}
    way: dict[str, Any] = {
        "objectID": "way", "type": "onewaysynonym", "input": "seat", "synonyms": ["sofa"],
    }  # fmt: skip

    saved = client.save_synonym(index, "one", one, forward_to_replicas=True)
    finish(client, index, client.save_synonyms(index, [way]))
    pages: list[Any] = []
    client.browse_synonyms(index, pages.append)

    assert saved.id == "one"
    assert client.get_synonym(index, "one").to_dict() == one
    assert client.search_synonyms(index, {"query": "couch"}).nb_hits == 1
    assert sorted(hit.object_id for page in pages for hit in page.hits) == ["one", "way"]
    finish(client, index, client.save_synonyms(index, [way], replace_existing_synonyms=True))
    assert [hit.object_id for hit in client.search_synonyms(index).hits] == ["way"]


def test_a_synonym_finds_what_its_other_words_find(client: SearchClientSync, index: str) -> None:
    fill(client, index, {"objectID": "1", "title": "sofa"}, {"objectID": "2", "title": "couch"})
    synonym = {"objectID": "one", "type": "synonym", "synonyms": ["sofa", "couch"]}

    finish(client, index, client.save_synonyms(index, [synonym]))

    assert sorted(ids(client.search_single_index(index, {"query": "couch"}))) == ["1", "2"]


@pytest.mark.parametrize(
    "synonym",
    [
        {"type": "synonym", "synonyms": ["a", "b"]},
        {"type": "oneWaySynonym", "input": "a", "synonyms": ["b"]},
        {"type": "altCorrection1", "word": "a", "corrections": ["b"]},
        {"type": "altcorrection2", "word": "a", "corrections": ["b"]},
        {"type": "placeholder", "placeholder": "<a>", "replacements": ["b"]},
    ],
)
def test_every_type_of_synonym_fits_the_model(
    client: SearchClientSync, index: str, synonym: dict[str, Any]
) -> None:
    hit = SynonymHit.from_dict({"objectID": "1", **synonym})
    assert hit

    finish(client, index, client.save_synonym(index, "1", hit))
    told = client.get_synonym(index, "1").to_dict()
    finish(client, index, client.delete_synonym(index, "1"))
    finish(client, index, client.clear_synonyms(index))

    assert told.pop("type").lower() == synonym["type"].lower()
    assert told == {"objectID": "1", **{n: v for n, v in synonym.items() if n != "type"}}
    assert client.search_synonyms(index).nb_hits == 0


RULE: dict[str, Any] = {
    "objectID": "second first",
    "conditions": [{"pattern": "lamp", "anchoring": "is"}],
    "consequence": {
        "promote": [{"objectID": "2", "position": 0}],
        "userData": {"seen": True},
    },
}


def test_rules_are_saved_read_found_and_deleted(client: SearchClientSync, index: str) -> None:
    rule = Rule.from_dict(deepcopy(RULE))
    assert rule

    client.save_rule(index, RULE["objectID"], rule)
    finish(client, index, client.save_rules(index, [rule], clear_existing_rules=True))
    pages: list[Any] = []
    client.browse_rules(index, pages.append)

    assert client.get_rule(index, RULE["objectID"]).to_dict() == RULE
    assert [found.object_id for page in pages for found in page.hits] == [RULE["objectID"]]
    assert client.search_rules(index, {"query": "lamp"}).nb_hits == 1
    client.delete_rule(index, RULE["objectID"])
    finish(client, index, client.clear_rules(index))
    assert client.search_rules(index).nb_hits == 0


def test_a_rule_is_valid_from_or_until_a_moment(client: SearchClientSync, index: str) -> None:
    now = int(time.time())
    spans = {"since": {"from": now - 9}, "still": {"until": now + 99}, "over": {"until": now - 9}}
    rules = [{**RULE, "objectID": name, "validity": [span]} for name, span in spans.items()]
    typed: list[Any] = [Rule.from_dict(deepcopy(rule)) for rule in rules]

    finish(client, index, client.save_rules(index, typed))

    answer = client.search_single_index(index, {"query": "lamp"})
    assert {rule["objectID"] for rule in answer.to_dict()["appliedRules"]} == {"since", "still"}
    assert client.get_rule(index, "still").to_dict() == rules[1]


def test_a_rule_tells_that_it_applied(client: SearchClientSync, index: str) -> None:
    fill(client, index, {"objectID": "1", "title": "lamp"}, {"objectID": "2", "title": "lamps"})

    finish(client, index, client.save_rules(index, [RULE]))

    answer = client.search_single_index(index, {"query": "lamp", "getRankingInfo": True})
    assert ids(answer) == ["2", "1"]
    assert answer.applied_rules == [{"objectID": RULE["objectID"]}]
    assert answer.user_data == [{"seen": True}]


def test_dictionaries_take_words_and_settings(operator: SearchClientSync) -> None:
    word = {"objectID": "peer", "language": "en", "word": "peerword", "state": "enabled"}
    disabled = {"disableStandardEntries": {"stopwords": {"fr": True}}}

    operator.batch_dictionary_entries(
        "stopwords", {"requests": [{"action": "addEntry", "body": word}]}
    )
    operator.wait_for_app_task(operator.set_dictionary_settings(disabled).task_id, Often())

    found = operator.search_dictionary_entries("stopwords", {"query": "peerword"})
    english = operator.get_dictionary_languages()["en"].stopwords
    assert [(hit.object_id, hit.word) for hit in found.hits] == [("peer", "peerword")]
    assert english
    assert english.nb_custom_entries == 1
    settings = operator.get_dictionary_settings().disable_standard_entries
    assert settings.stopwords == {"fr": True}


def test_dictionaries_list_standard_words_too(operator: SearchClientSync) -> None:
    answer = operator.search_dictionary_entries("stopwords", {"query": "about", "language": "en"})

    assert "about" in [hit.word for hit in answer.hits]


def test_the_log_tells_of_a_search(client: SearchClientSync, films: str) -> None:
    client.search_single_index(films, {"query": "a word for the log"})

    logs = client.get_logs(0, 100, films, "query").logs

    assert [log.answer_code for log in logs if "a word for the log" in log.query_body] == ["200"]


@deprecated
def test_users_are_mapped_to_clusters(operator: SearchClientSync) -> None:
    [first, last] = operator.list_clusters().top_users

    operator.assign_user_id("peer 1", {"cluster": first})
    operator.batch_assign_user_ids("peer-2", {"cluster": last, "users": ["peer-2", "peer-3"]})

    user = operator.get_user_id("peer 1")
    assert (user.user_id, user.cluster_name) == ("peer 1", first)
    assert [entry.user_id for entry in operator.list_user_ids().user_ids] == [
        "peer 1",
        "peer-2",
        "peer-3",
    ]
    assert {name for top in operator.get_top_user_ids().top_users for name in top} == {first, last}
    assert operator.has_pending_mappings(True).pending in (True, False)
    assert operator.remove_user_id("peer 1").deleted_at


def test_sources_are_listed_added_replaced_and_deleted(operator: SearchClientSync) -> None:
    here = {"source": "127.0.0.0/8", "description": "this machine"}

    operator.replace_sources([here])
    operator.append_source({"source": "10.0.0.0/8"})
    both = {entry.source for entry in operator.get_sources()}
    operator.delete_source("10.0.0.0/8")

    assert both == {"127.0.0.0/8", "10.0.0.0/8"}
    assert [entry.to_dict() for entry in operator.get_sources()] == [here]
