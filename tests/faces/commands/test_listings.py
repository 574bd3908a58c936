"""Verbs that list what a service contains, typed in a notebook."""

from __future__ import annotations

import pandas as pd
import pytest

import svc_notebook as svc
from tests.conftest import Running
from tests.faces.commands.conftest import Typed

INDEX = "operating"
SYNONYM = {"objectID": "pair", "type": "synonym", "synonyms": ["lamp", "light"]}
RULE = {"objectID": "sale", "enabled": False, "consequence": {"params": {"filters": "price < 9"}}}
LAMPS = pd.DataFrame(
    {"objectID": ["1", "2", "3"], "name": ["blue lamp", "red lamp", "desk"], "price": [9, 12, 50]}
)


def connect(service: Running, key: str) -> svc.Client:
    return svc.connect(url=service.url, app_id=service.appId, api_key=key)


@pytest.fixture(scope="module", autouse=True)
def lamps(service: Running) -> None:
    """An index of lamps, with a synonym and a rule."""
    client = connect(service, service.adminKey)
    svc.push(LAMPS, INDEX)
    svc.settings(INDEX, attributesForFaceting=["searchable(name)", "price"])
    client.wait(client.save_synonyms(INDEX, [SYNONYM]), index=INDEX)  # type: ignore[list-item]
    client.wait(client.save_rules(INDEX, [RULE]), index=INDEX)  # type: ignore[list-item]


def test_logs_are_of_one_index(typed: Typed) -> None:
    typed(f"search {INDEX} lamp")

    logs = typed(f"logs --index {INDEX} --type query --limit 3")

    assert len(logs) >= 1
    assert set(logs["index"]) == {INDEX}


@pytest.mark.parametrize("line", ["search {} box", "multi-search {} box", "browse {}", "get {} 1"])
def test_members_of_objects_are_columns_on_request(typed: Typed, line: str) -> None:
    svc.push(pd.DataFrame({"objectID": ["1"], "name": ["box"], "size": [{"w": 3}]}), "boxes")

    found = typed(f"{line.format('boxes')} --flatten")

    assert found["size.w"].tolist() == [3]


def test_facets_are_counted_among_what_is_found(typed: Typed) -> None:
    counted = typed(f"facets {INDEX} lamp --facets price --filters 'price < 10'")

    assert counted.to_numpy().tolist() == [["price", "9", 1]]


def test_words_are_looked_for_in_the_values_of_one_facet(typed: Typed) -> None:
    found = typed(f"facets {INDEX} blue --in name")

    assert found["value"].tolist() == ["blue lamp"]


@pytest.mark.parametrize(
    ("line", "ids"),
    [
        ("synonyms {}", ["pair"]),
        ("synonyms {} light", ["pair"]),
        ("synonyms {} --type placeholder", []),
        ("rules {}", ["sale"]),
        ("rules {} --enabled", []),
        ("rules {} --enabled false", ["sale"]),
    ],
)
def test_synonyms_and_rules_are_listed(typed: Typed, line: str, ids: list[str]) -> None:
    assert typed(line.format(INDEX))["objectID"].tolist() == ids


def test_keys_are_listed_without_showing_them(typed: Typed, service: Running) -> None:
    shown, revealed = typed("keys"), typed("keys --reveal")

    assert service.searchKey not in shown.to_string()
    assert service.searchKey in set(revealed["value"])
    assert len(typed(f"keys {INDEX}")) == 0


@pytest.mark.parametrize(
    ("line", "column"),
    [
        ("clusters", "clusterName"),
        ("users", "userID"),
        ("users nobody --cluster local-1", "userID"),
        ("users --top", "rank"),
        ("sources", "source"),
        ("dictionaries stopwords zzz --language en", "word"),
        ("languages", "compounds"),
    ],
)
def test_the_rest_is_listed(typed: Typed, line: str, column: str) -> None:
    assert column in typed(line).columns


def test_top_users_cannot_be_chosen(typed: Typed) -> None:
    with pytest.raises(svc.errors.BadOption, match="omit `query` and `--cluster`"):
        typed("users smith --top")


def test_a_dictionary_has_one_of_three_names(typed: Typed) -> None:
    with pytest.raises(svc.errors.BadOption, match="plurals"):
        typed("dictionaries plural")


@pytest.mark.parametrize(
    "line", ["multi-search {} lamp 'red lamp' desk", "multi-search {} --from words"]
)
def test_several_searches_come_as_one_frame(typed: Typed, line: str) -> None:
    words = pd.Series(["lamp", "red lamp", "desk"])

    found = typed(f"{line.format(INDEX)} --columns name", words=words)

    assert found.groupby("query")["name"].apply(sorted).to_dict() == {
        "lamp": ["blue lamp", "red lamp"],
        "red lamp": ["red lamp"],
        "desk": ["desk"],
    }


def test_a_text_is_one_query(typed: Typed) -> None:
    found = svc.search_many(INDEX, "desk")

    assert found["query"].tolist() == ["desk"]
