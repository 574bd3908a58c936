"""The vendor's Python client manages indices, their settings and their tasks."""

from __future__ import annotations

from copy import deepcopy

import pytest
from algoliasearch.http.exceptions import RequestException
from algoliasearch.search.client import SearchClientSync
from algoliasearch.search.models.browse_params_object import BrowseParamsObject
from algoliasearch.search.models.index_settings import IndexSettings
from algoliasearch.search.models.search_params_object import SearchParamsObject
from pydantic import BaseModel

from tests.peers.official import fill, finish, ids, own_warnings, stored

pytestmark = own_warnings


def test_a_record_added_and_deleted_leaves_an_empty_index(
    client: SearchClientSync, index: str
) -> None:
    record = {"objectID": "1"}
    requests = [{"action": action, "body": record} for action in ("addObject", "deleteObject")]

    finish(client, index, client.batch(index, {"requests": requests}))

    assert client.index_exists(index)


def test_settings_come_back_as_they_were_set(client: SearchClientSync, index: str) -> None:
    settings = {
        "searchableAttributes": ["title,plot", "unordered(crew)"],
        "attributesForFaceting": ["searchable(genre)", "filterOnly(year)", "afterDistinct(x)"],
        "unretrievableAttributes": ["secret"],
        "customRanking": ["desc(year)", "asc(title)"],
        "ranking": ["desc(year)", "typo", "words", "exact", "custom"],
        "attributesToRetrieve": ["*", "-plot"],
        "attributesToSnippet": ["plot:5"],
        "typoTolerance": "min",
        "ignorePlurals": ["en", "fr"],
        "removeStopWords": True,
        "queryLanguages": ["en"],
        "queryType": "prefixAll",
        "removeWordsIfNoResults": "lastWords",
        "exactOnSingleWordQuery": "word",
        "alternativesAsExact": ["ignorePlurals"],
        "advancedSyntaxFeatures": ["exactPhrase"],
        "optionalWords": ["the", "of course"],
        "distinct": 2,
        "attributeForDistinct": "title",
        "separatorsToIndex": "+#",
        "customNormalization": {"default": {"ä": "ae"}},
        "decompoundedAttributes": {"de": ["title"]},
        "renderingContent": {"facetOrdering": {"facets": {"order": ["genre"]}}},
        "userData": {"any": ["json", 1]},
    }

    model = IndexSettings.from_dict(deepcopy(settings))
    assert model

    finish(client, index, client.set_settings(index, model))

    told = client.get_settings(index).to_dict()
    assert {name: told[name] for name in settings} == settings
    assert told["hitsPerPage"] == 20


@pytest.mark.parametrize(
    ("method", "model"),
    [
        ("search_single_index", SearchParamsObject),
        ("browse", BrowseParamsObject),
        ("set_settings", IndexSettings),
    ],
)
def test_every_name_of_a_model_is_known(
    client: SearchClientSync, index: str, method: str, model: type[BaseModel]
) -> None:
    fill(client, index, {"objectID": "1"})
    unknown: list[str] = []

    for name in (field.alias for field in model.model_fields.values()):
        try:
            getattr(client, method)(index, {name: None})
        except RequestException as refused:
            unknown.append(refused.message)

    assert unknown == []


def test_null_sets_a_setting_back(client: SearchClientSync, index: str) -> None:
    client.set_settings(index, {"hitsPerPage": 7, "queryType": "prefixNone"})

    finish(client, index, client.set_settings(index, {"hitsPerPage": None}, True))

    told = client.get_settings(index)
    assert (told.hits_per_page, told.query_type) == (20, "prefixNone")


def test_indices_are_listed_all_or_in_pages(client: SearchClientSync, index: str) -> None:
    fill(client, index, {"objectID": "1"})
    fill(client, f"{index} 2", {"objectID": "1"}, {"objectID": "2"})

    entries = {item.name: item.entries for item in client.list_indices().items}
    page = client.list_indices(page=1, hits_per_page=1)

    assert (entries[index], entries[f"{index} 2"]) == (1, 2)
    assert (len(page.items), page.nb_pages) == (1, len(entries))


def test_an_index_is_copied_in_part_copied_and_moved(client: SearchClientSync, index: str) -> None:
    part, whole, moved = (f"{index} {word}" for word in ("part", "whole", "moved"))
    finish(client, index, client.set_settings(index, {"hitsPerPage": 7}))
    fill(client, index, {"objectID": "1"})

    client.operation_index(
        index, {"operation": "copy", "destination": part, "scope": ["settings", "rules"]}
    )
    client.operation_index(index, {"operation": "copy", "destination": whole})
    last = client.operation_index(whole, {"operation": "move", "destination": moved})

    finish(client, whole, last)
    assert [client.get_settings(name).hits_per_page for name in (part, moved)] == [7, 7]
    assert [len(stored(client, name)) for name in (part, moved, index)] == [0, 1, 1]
    assert not client.index_exists(whole)


def test_all_records_are_replaced_and_nothing_else(client: SearchClientSync, index: str) -> None:
    finish(client, index, client.set_settings(index, {"hitsPerPage": 7}))
    fill(client, index, {"objectID": "old"})

    client.replace_all_objects(index, ({"objectID": f"{n}"} for n in range(5)), batch_size=2)

    assert sorted(stored(client, index)) == ["0", "1", "2", "3", "4"]
    assert client.get_settings(index).hits_per_page == 7
    names = [item.name for item in client.list_indices().items]
    assert [name for name in names if name.startswith(index)] == [index]


def test_an_index_exists_until_it_is_deleted(client: SearchClientSync, index: str) -> None:
    assert not client.index_exists(index)
    fill(client, index, {"objectID": "1"})
    assert client.index_exists(index)

    deleted = client.delete_index(index)

    finish(client, index, deleted)
    assert deleted.deleted_at
    assert not client.index_exists(index)


def test_a_task_is_known_to_the_application_too(client: SearchClientSync, index: str) -> None:
    saved = client.save_object(index, {"objectID": "1"})

    assert client.wait_for_app_task(saved.task_id).status == "published"
    assert client.get_object(index, "1") == {"objectID": "1"}


def test_replicas_follow_their_primary(client: SearchClientSync, index: str) -> None:
    by_price, relevant = f"{index} price", f"{index} relevant"
    fill(client, index, {"objectID": "1", "title": "lamp", "price": 2})
    replicas = {"replicas": [by_price, f"virtual({relevant})"]}
    finish(client, index, client.set_settings(index, replicas))
    finish(client, by_price, client.set_settings(by_price, {"ranking": ["asc(price)"]}))
    finish(client, relevant, client.set_settings(relevant, {"customRanking": ["desc(price)"]}))

    fill(client, index, {"objectID": "2", "title": "lamp", "price": 1})
    fill(client, index, {"objectID": "3", "title": "lump", "price": 9})

    told = client.search_single_index(relevant, {"query": "lamp"})
    entries = {item.name: item for item in client.list_indices().items}
    assert ids(client.search_single_index(by_price, {"query": "lamp"})) == ["2", "1", "3"]
    assert (ids(told), told.nb_hits, told.nb_sorted_hits) == (["1", "2"], 3, 2)
    assert client.get_settings(by_price).primary == entries[relevant].primary == index
    assert entries[relevant].virtual
    with pytest.raises(RequestException, match="is a replica of"):
        client.save_object(by_price, {"objectID": "4"})
