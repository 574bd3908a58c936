"""Keys, logs, users and clusters as DataFrames, from a service with two clusters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest

from svc_notebook.data import frames
from svc_notebook.data.client import Client, ClientConfig, Secret, background_loop
from svc_notebook.data.frames import schemas
from svc_notebook.data.frames.provenance import READERS as READERS_BY_NAME
from svc_notebook.errors import BadInput, KeyRefused, NotFound
from tests.conftest import Running, start_service, stop_service

INDEX = "lamps"
SYNONYMS = [
    {"objectID": "pair", "type": "synonym", "synonyms": ["lamp", "light"]},
    {"objectID": "way", "type": "onewaysynonym", "input": "tv", "synonyms": ["screen"]},
    {"objectID": "typo", "type": "altcorrection1", "word": "oak", "corrections": ["oke"]},
    {"objectID": "room", "type": "placeholder", "placeholder": "<no>", "replacements": ["1"]},
]
RULES = [
    {
        "objectID": "sale",
        "description": "winter sale",
        "conditions": [{"pattern": "sale", "anchoring": "is", "context": "winter"}],
        "consequence": {"params": {"filters": "price < 20"}},
        "validity": [{"from": 1, "until": 2}],
        "tags": ["visual"],
    },
    {
        "objectID": "off",
        "enabled": False,
        "condition": {"pattern": "old", "anchoring": "contains"},
        "consequence": {"hide": [{"objectID": "1"}]},
    },
]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service whose keys, users and sources no other test touches."""
    process, running = start_service(tmp_path_factory.mktemp("listing"), "--clusters", "2")
    yield running
    stop_service(process)


@pytest.fixture(scope="module")
def client(running: Running) -> Iterator[Client]:
    """A client of the service, once everything is there."""
    with client_with(running, running.adminKey) as client:
        fill(client)
        yield client


def client_with(running: Running, key: str) -> Client:
    return Client(ClientConfig(url=running.url, app_id=running.appId, api_key=Secret(key)))


def fill(client: Any) -> None:
    """Save some of everything there is to list."""
    client.wait(client.put_object(INDEX, "1", {"name": "oak lamp"}), index=INDEX)
    client.wait(client.put_object("bare", "1", {"name": "desk"}), index="bare")
    client.wait(client.save_synonyms(INDEX, SYNONYMS), index=INDEX)
    client.wait(client.save_rules(INDEX, RULES), index=INDEX)
    client.add_key(acl=["search"], indexes=["lamps*"], validity=300, description="shop")
    client.add_index_key(INDEX, acl=["browse"], description="export")
    for number, user in enumerate(["ann", "bob", "cy"]):
        client.assign_user(user, f"local-{number % 2 + 1}")
    entries = {
        "stopwords": {"objectID": "zz", "language": "en", "word": "zz"},
        "plurals": {"objectID": "horse", "language": "fr", "words": ["cheval", "chevaux"]},
        "compounds": {
            "objectID": "ache", "language": "de", "word": "kopfweh",
            "decomposition": ["kopf", "weh"],
        },
    }  # fmt: skip
    for name, entry in entries.items():
        client.wait(client.batch_dictionary(name, [{"action": "addEntry", "body": entry}]))


def read(function: Any, client: Client, *args: Any, **options: Any) -> Any:
    return background_loop.run(function(client.aio, *args, **options))


def test_every_kind_of_synonym_is_a_row(client: Client) -> None:
    frame = read(frames.read_synonyms, client, INDEX).set_index("objectID")

    assert frame.loc["pair", "synonyms"] == ["lamp", "light"]
    assert frame.loc["way", "input"] == "tv"
    assert (frame.loc["typo", "word"], frame.loc["typo", "corrections"]) == ("oak", ["oke"])
    assert (frame.loc["room", "placeholder"], frame.loc["room", "synonyms"]) == ("<no>", None)


def test_synonyms_are_chosen_by_words_and_by_type(client: Client) -> None:
    by_word = read(frames.read_synonyms, client, INDEX, "screen")
    by_type = read(frames.read_synonyms, client, INDEX, type="synonym,placeholder")

    assert list(by_word["objectID"]) == ["way"]
    assert sorted(by_type["objectID"]) == ["pair", "room"]
    assert {"index": INDEX, "type": "synonym,placeholder"}.items() <= by_type.attrs["svc"].items()


def test_more_synonyms_than_a_page_holds_are_all_read(
    client: Client, request: pytest.FixtureRequest
) -> None:
    whole = read(frames.read_synonyms, client, INDEX)
    request.getfixturevalue("pages_of_two")

    paged = read(frames.read_synonyms, client, INDEX)

    pd.testing.assert_frame_equal(paged, whole)
    assert len(paged) == 4


def test_a_rule_is_enabled_by_default(client: Client) -> None:
    frame = read(frames.read_rules, client, INDEX).set_index("objectID")

    assert frame["enabled"].to_dict() == {"sale": True, "off": False}
    assert frame.loc["sale", "validity"] == [{"from": 1, "until": 2}]
    assert frame.loc["sale", "tags"] == ["visual"]


def test_the_single_condition_of_an_old_rule_is_its_list_of_conditions(client: Client) -> None:
    frame = read(frames.read_rules, client, INDEX).set_index("objectID")

    assert [c["pattern"] for c in frame.loc["off", "conditions"]] == ["old"]


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"query": "winter"}, ["sale"]),
        ({"context": "winter"}, ["sale"]),
        ({"enabled": False}, ["off"]),
        ({"context": "summer"}, []),
    ],
)
def test_rules_are_chosen(client: Client, options: dict[str, Any], found: list[str]) -> None:
    frame = read(frames.read_rules, client, INDEX, **options)

    assert list(frame["objectID"]) == found


def test_keys_show_their_beginning_only(client: Client) -> None:
    shown = read(frames.read_keys, client).set_index("description").loc["shop"]
    revealed = read(frames.read_keys, client, reveal=True).set_index("description").loc["shop"]

    assert shown["value"] == f"{revealed['value'][:4]}..."
    assert client.get_key(revealed["value"])["description"] == "shop"
    assert (shown["acl"], shown["indexes"]) == (["search"], ["lamps*"])
    assert abs(pd.Timestamp.now("UTC") - shown["createdAt"]) < pd.Timedelta(minutes=5)


@pytest.mark.parametrize("index", [INDEX, "*"])
def test_the_keys_of_an_index_name_it(client: Client, index: str) -> None:
    frame = read(frames.read_keys, client, index)

    assert frame[["index", "description"]].to_numpy().tolist() == [[INDEX, "export"]]


def test_clusters_have_counts_of_records_and_users(client: Client) -> None:
    frame = read(frames.read_clusters, client)

    assert dict(zip(frame["clusterName"], frame["nbUserIDs"], strict=True)) == {
        "local-1": 2,
        "local-2": 1,
    }


@pytest.mark.parametrize("pages", ["whole", "of two"])
def test_all_users_are_read_however_small_the_pages(
    client: Client, request: pytest.FixtureRequest, pages: str
) -> None:
    if pages == "of two":
        request.getfixturevalue("pages_of_two")

    frame = read(frames.read_users, client)

    assert sorted(frame["userID"]) == ["ann", "bob", "cy"]


@pytest.mark.parametrize(
    ("options", "found"),
    [({"query": "an"}, ["ann"]), ({"cluster": "local-1"}, ["ann", "cy"]), ({"query": "x"}, [])],
)
def test_users_are_chosen(client: Client, options: dict[str, Any], found: list[str]) -> None:
    frame = read(frames.read_users, client, **options)

    assert sorted(frame["userID"]) == found


def test_top_users_are_ranked_in_each_cluster(client: Client) -> None:
    frame = read(frames.read_top_users, client)

    assert frame.groupby("clusterName")["rank"].apply(list).to_dict() == {
        "local-1": [1, 2],
        "local-2": [1],
    }


def test_sources_are_read_once_there_are_some(client: Client) -> None:
    before = read(frames.read_sources, client)
    client.append_source({"source": "127.0.0.1/32", "description": "here"})

    after = read(frames.read_sources, client)
    client.delete_source("127.0.0.1/32")

    assert len(before) == 0
    assert after.to_numpy().tolist() == [["127.0.0.1/32", "here"]]


def test_entries_of_each_dictionary_are_read(client: Client) -> None:
    stopwords = read(frames.read_dictionary, client, "stopwords", language="en")
    plurals = read(frames.read_dictionary, client, "plurals", "cheval")
    compounds = read(frames.read_dictionary, client, "compounds")

    assert stopwords.set_index("objectID").loc["zz", ["word", "state"]].tolist() == [
        "zz",
        "enabled",
    ]
    assert plurals["words"].tolist() == [["cheval", "chevaux"]]
    assert compounds["decomposition"].tolist() == [["kopf", "weh"]]


def test_a_misspelt_dictionary_is_refused_with_advice(client: Client) -> None:
    with pytest.raises(BadInput, match="did you mean `plurals`"):
        read(frames.read_dictionary, client, "plural")


def test_languages_have_their_number_of_custom_entries(client: Client) -> None:
    frame = read(frames.read_languages, client).set_index("language")

    assert frame.loc[["de", "en"], "compounds"].tolist() == [1, pd.NA]
    assert frame.loc["en", "stopwords"] == 1


def test_every_reader_of_a_fixed_schema_is_listed_with_it() -> None:
    of_records = {"read_browse", "read_records", "search", "search_many"}

    assert set(READERS_BY_NAME) - of_records == set(schemas.SCHEMAS)


READERS: dict[str, tuple[Any, tuple[str, ...], schemas.Schema]] = {
    "synonyms": (frames.read_synonyms, ("bare",), schemas.SYNONYMS),
    "rules": (frames.read_rules, ("bare",), schemas.RULES),
    "index keys": (frames.read_keys, ("bare",), schemas.KEYS),
    "users": (frames.read_users, ("nobody",), schemas.USERS),
    "sources": (frames.read_sources, (), schemas.SOURCES),
    "dictionary": (frames.read_dictionary, ("compounds", "xxxx"), schemas.DICTIONARY),
}


@pytest.mark.parametrize("name", READERS)
def test_what_is_empty_has_its_columns_and_dtypes(client: Client, name: str) -> None:
    function, args, schema = READERS[name]

    frame = read(function, client, *args)

    expected = pd.DataFrame({n: pd.Series([], dtype=dtype) for n, dtype in schema.items()})
    assert len(frame) == 0
    assert frame.dtypes.to_dict() == expected.dtypes.to_dict()


@pytest.mark.parametrize(
    "function",
    [
        frames.read_clusters, frames.read_keys, frames.read_languages, frames.read_sources,
        frames.read_top_users, frames.read_users,
    ],
)  # fmt: skip
def test_a_dtype_backend_is_kept_to(client: Client, function: Any) -> None:
    frame = read(function, client, dtype_backend="numpy_nullable")

    assert not {"int64", "bool", "float64"} & {str(dtype) for dtype in frame.dtypes}


def test_an_index_that_is_not_there_has_no_synonyms_to_read(client: Client) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        read(frames.read_synonyms, client, "nowhere")


@pytest.mark.slow
def test_only_the_admin_reads_keys(client: Client, running: Running) -> None:
    with client_with(running, running.searchKey) as searcher, pytest.raises(KeyRefused):
        read(frames.read_keys, searcher)
