"""The Python part of the query editor."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

import svc_notebook as svc
from svc_notebook.core.api.parameters import PARAMETERS
from svc_notebook.data.client import Client
from svc_notebook.errors import BadInput, BadOption, NotFound
from svc_notebook.faces.commands.tokenizer import split_line
from svc_notebook.faces.editors import event_loop
from svc_notebook.faces.editors.hit_cards import PRE
from svc_notebook.faces.editors.parameter_panel import list_parameters
from svc_notebook.faces.editors.query_editor.editor import QueryEditor
from svc_notebook.faces.editors.query_editor.search import count_missing_bins
from svc_notebook.faces.editors.search_comparison import name_sides
from svc_notebook.faces.editors.snippets import write_search
from svc_notebook.faces.magics.extension import run
from tests.conftest import Running, set_current


@pytest.fixture
def editor(client: Client, shop: str) -> QueryEditor:
    return svc.edit.query(shop, client=client)


def ids(editor: QueryEditor) -> list[str]:
    return [hit["objectID"] for hit in editor.hits]


def test_it_opens_with_every_record_and_its_facets(editor: QueryEditor) -> None:
    assert ids(editor) == ["2", "3", "1"]
    assert [facet["name"] for facet in editor.facets] == ["brand", "price"]
    assert editor.answer["nbHits"] == 3


def test_a_value_set_in_a_cell_has_searched_when_the_next_line_runs(editor: QueryEditor) -> None:
    editor.value = {"query": "lamp", "hitsPerPage": 1}

    assert ids(editor) == ["2"]
    assert editor.hits[0]["_highlightResult"]["name"]["value"] == "blue <em>lamp</em>"
    assert PRE in editor.answer["hits"][0]["title"]


def test_hits_have_the_requested_highlight_tags(editor: QueryEditor) -> None:
    editor.value = {"query": "lamp", "highlightPreTag": "[", "highlightPostTag": "]"}

    assert editor.hits[0]["_highlightResult"]["name"]["value"] == "blue [lamp]"


def test_a_facet_of_which_any_value_will_do_keeps_its_other_counts(editor: QueryEditor) -> None:
    editor.toggle("brand", "Acme", "any")
    event_loop.run(editor.look())

    brand = next(facet for facet in editor.facets if facet["name"] == "brand")
    assert sorted(brand["values"]) == [["Acme", 2, True], ["Umbra", 1, False]]
    assert editor.answer["nbHits"] == 2


def test_a_range_keeps_the_numbers_outside_of_it(editor: QueryEditor) -> None:
    editor.hold("price", 15, None)
    event_loop.run(editor.look())

    price = next(facet for facet in editor.facets if facet["name"] == "price")
    assert (price["stats"]["min"], price["stats"]["max"]) == (10, 90)
    assert sum(price["bins"]) == 3
    assert editor.answer["nbHits"] == 2


def test_a_facet_of_many_numbers_gets_its_bins_from_filters(client: Client, shop: str) -> None:
    rows = [{"objectID": str(n), "name": "lamp", "price": n / 2} for n in range(150)]
    client.replace_all(shop, rows)
    editor = svc.edit.query(shop, "lamp", client=client)
    counted = event_loop.run(count_missing_bins(editor.client, shop, editor.value, editor.facets))

    price = next(facet for facet in counted if facet["name"] == "price")

    assert price["limited"]
    assert len(price["bins"]) == 20
    assert sum(price["bins"]) == 150


def test_an_invalid_filter_is_reported_and_the_last_hits_stay(editor: QueryEditor) -> None:
    editor.value = {"filters": "price >"}

    assert "price" in editor.state["error"]["message"]
    assert len(editor.hits) == 3

    editor.value = {}
    assert editor.state["error"] is None


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"hitPerPage": 1}, "did you mean `hitsPerPage`"),
        ({"page": "x"}, "page"),
        ([], "must be a dict"),
    ],
    ids=["unknown", "type", "list"],
)
def test_only_search_parameters_are_taken(editor: QueryEditor, value: Any, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        editor.value = value

    assert editor.value == {}


def test_a_key_that_only_searches_is_enough(searcher: Callable[..., Client], shop: str) -> None:
    editor = svc.edit.query(shop, client=searcher("search"))

    assert len(editor.hits) == 3
    assert editor.state["error"] is None


def test_a_missing_index_is_reported_at_once(client: Client) -> None:
    with pytest.raises(NotFound):
        svc.edit.query("nowhere", client=client)


def test_what_is_typed_for_a_parameter_is_read_by_its_type(editor: QueryEditor) -> None:
    for name, text in [
        ("hitsPerPage", "2"),
        ("typoTolerance", "false"),
        ("restrictSearchableAttributes", "brand, name"),
    ]:
        editor.put(name, text)
    assert editor.value == {
        "hitsPerPage": 2, "typoTolerance": False, "restrictSearchableAttributes": ["brand", "name"],
    }  # fmt: skip

    editor.put("hitsPerPage", " ")

    assert "hitsPerPage" not in editor.value
    with pytest.raises(BadInput, match="hitsPerPage"):
        editor.put("hitsPerPage", "many")


def test_values_of_a_facet_are_searched(editor: QueryEditor) -> None:
    editor.toggle("brand", "Acme", "any")

    assert event_loop.run(editor.values("brand", "umb")) == [["Umbra", 1, False]]


def test_a_record_is_given_whole_and_chosen(editor: QueryEditor) -> None:
    record = editor.record("3")

    assert record == {
        "objectID": "3",
        "name": "oak table",
        "brand": "Acme",
        "price": 90,
        "rating": 4,
    }
    assert editor.selected == "3"


def test_a_rank_is_explained_by_the_ranking_of_the_search(editor: QueryEditor) -> None:
    editor.value = {"ranking": ["asc(price)"]}

    found = editor.explain("2")

    assert [(row["name"], row["values"]) for row in found["rows"]] == [
        ("`price` (lowest first)", ["10", "20", "90"])
    ]
    assert found["above"]
    assert (found["above"]["id"], found["above"]["title"]) == ("1", "red lamp")
    assert editor.answer["hits"][1]["why"] == ("Ranked lower by `price` (lowest first): 20 vs 10")
    with pytest.raises(BadOption, match="not among the current hits"):
        editor.explain("4")


def test_the_ranking_of_a_replica_explains_its_hits(client: Client, shop: str) -> None:
    replica = f"{shop}-cheap"
    client.wait(client.set_settings(shop, {"replicas": [replica]}), index=shop)
    client.wait(client.set_settings(replica, {"customRanking": ["asc(price)"]}), index=replica)
    editor = svc.edit.query(shop, client=client)

    event_loop.run(editor.sort(replica))

    assert editor.answer["hits"][1]["why"] == "Ranked lower by `price` (lowest first): 20 vs 10"


def test_history_lists_every_search_newest_first(editor: QueryEditor) -> None:
    editor.value = {"query": "lamp"}
    editor.value = {"query": "lamp", "page": 0}
    editor.undo()

    assert [(row["label"], row["hits"]) for row in editor.history] == [
        ("lamp", 2), ("(everything)", 3),
    ]  # fmt: skip


def test_two_searches_are_compared(editor: QueryEditor, shop: str) -> None:
    editor.value = {"query": "lamp"}

    found = event_loop.run(editor.compare("", {"query": "red"}))

    assert (found["moved"], found["gained"], found["lost"]) == (1, 0, 1)
    assert found["shared"] == [[1, 0]]


@pytest.mark.parametrize(
    ("this", "other", "names"),
    [
        (("a", {}), ("a", {"hitsPerPage": 5}), ("hitsPerPage: default", "hitsPerPage: 5")),
        (("a", {"query": "x"}), ("b", {"query": "x"}), ("a", "b")),
        (("a", {"query": "x"}), ("a", {"query": "y"}), ("query: x", "query: y")),
        (("a", {}), ("a", {}), ("This search", "The same search")),
        (("a", {}), ("a", {"customRanking": ["asc(p)"]}),
         ("customRanking: desc(p)", "customRanking: asc(p)")),
        (("a", {}), ("a", {"page": 1, "hitsPerPage": 2, "distinct": 1, "filters": "x"}),
         ("page: default, hitsPerPage: default, 2 more", "page: 1, hitsPerPage: 2, 2 more")),
    ],
    ids=["parameter", "index", "query", "nothing", "setting", "many"],
)  # fmt: skip
def test_compared_searches_are_named_by_what_differs(
    this: Any, other: Any, names: tuple[str, str]
) -> None:
    assert name_sides([this, other], {"customRanking": ["desc(p)"]}) == names


def test_a_setting_is_compared_on_a_copy_that_closing_deletes(
    editor: QueryEditor, client: Client, shop: str
) -> None:
    editor.value = {"query": "lamp"}
    other = {"query": "acme", "searchableAttributes": ["name"]}

    asked = event_loop.run(editor.compare("", other))
    assert (asked["needs"], asked["copy"]) == (["searchableAttributes"], "")

    found = event_loop.run(editor.compare("", other, may_copy=True))
    assert [side["nbHits"] for side in found["sides"]] == [2, 0]
    assert found["sides"][1]["name"] == "query: acme, searchableAttributes: name"
    assert client.get_settings(shop)["searchableAttributes"] == ["name", "brand"]

    again = event_loop.run(editor.compare("", {**other, "searchableAttributes": ["brand"]}))
    assert [side["nbHits"] for side in again["sides"]] == [2, 2]
    editor.close()
    with pytest.raises(NotFound):
        client.get_settings(found["copy"])


def test_a_custom_ranking_is_compared_without_a_copy(editor: QueryEditor) -> None:
    found = event_loop.run(editor.compare("", {"customRanking": ["asc(price)"]}))

    assert (found["needs"], found["copy"], found["moved"]) == ([], "", 3)
    assert [hit["id"] for hit in found["sides"][1]["hits"]] == ["1", "2", "3"]
    with pytest.raises(BadInput, match="customRanking"):
        event_loop.run(editor.compare("", {"customRanking": 5}))


def test_who_listens_hears_of_pins_and_hides(editor: QueryEditor) -> None:
    told: list[Any] = []
    editor.on_pin(told.append)
    editor.on_hide(told.append)

    editor.curate("pin", "3", 1)
    editor.curate("hide", "1", 3)

    assert editor.state["curates"]
    assert [(one["objectID"], one["position"]) for one in told] == [("3", 0), ("1", 2)]


def test_what_is_pinned_or_hidden_is_a_draft_that_is_reviewed_and_applied(
    editor: QueryEditor, client: Client, shop: str
) -> None:
    editor.value = {"query": "red lamp"}
    editor.curate("pin", "1", 1)
    editor.curate("pin", "1", 2)
    editor.curate("hide", "1", 1)
    editor.value = {"query": " Red  LAMP"}
    editor.curate("pin", "1", 1)
    editor.value = {"query": "table"}
    editor.curate("hide", "3", 1)
    editor.revise_draft(0, 4)
    rules = event_loop.run(editor.review_drafts())
    assert client.search_rules(shop)["nbHits"] == 0

    written = event_loop.run(editor.apply_drafts())

    assert [(rule["when"], rule["then"], rule["before"]) for rule in rules] == [
        ("the query is “Red LAMP”", "pin 1 at position 5", None),
        ("the query is “table”", "hide 3", None),
    ]
    saved = {rule["objectID"]: rule for rule in client.search_rules(shop)["hits"]}
    for rule in rules:
        assert saved[rule["id"]]["consequence"] == rule["after"]["consequence"]
    assert ids(editor) == []
    assert editor.drafts == []
    assert all(one["change"] for one in written)


def test_a_draft_changes_the_rule_that_exists_for_the_query(
    editor: QueryEditor, client: Client, shop: str
) -> None:
    svc.pin(shop, "lamp", "3", client=client)
    editor.value = {"query": "lamp"}
    editor.curate("hide", "1", 2)
    editor.curate("pin", "2", 2)

    [rule] = event_loop.run(editor.review_drafts())
    editor.revise_draft(1)
    [left] = event_loop.run(editor.review_drafts())
    editor.discard_drafts()

    assert rule["before"]
    assert rule["then"] == "pin 3 at position 1; pin 2 at position 2; hide 1"
    assert left["then"] == "pin 3 at position 1; hide 1"
    assert event_loop.run(editor.review_drafts()) == []
    with pytest.raises(BadOption, match="no draft 0"):
        editor.revise_draft(0, 1)


def test_a_key_that_may_not_write_rules_has_nothing_to_pin_with(
    shop: str, searcher: Callable[..., Client]
) -> None:
    weak = svc.edit.query(shop, client=searcher("search"))
    assert not weak.state["curates"]

    weak.on_pin(print)

    assert weak.state["curates"]


@pytest.mark.parametrize(
    "value",
    [
        {"query": "lamp"},
        {"query": 'it\'s "quoted" $HOME `x`', "filters": "brand:'Acme' AND price < 50"},
        {"facetFilters": [["brand:Acme", "brand:Umbra"]], "hitsPerPage": 2, "typoTolerance": False},
    ],
    ids=["plain", "quotes", "nested"],
)
def test_code_does_what_the_editor_does(
    editor: QueryEditor,
    client: Client,
    service: Running,
    value: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    set_current(client)
    monkeypatch.setenv("SVC_API_KEY", service.adminKey)
    editor.value = value
    codes = editor.codes()
    python, magic, curl = codes["Python"], codes["Magic"], codes["curl"]

    scope: dict[str, Any] = {}
    exec(python.replace("svc.search(", "found = svc.search("), scope)
    line, _, body = magic.partition("\n")
    by_magic = run(line.removeprefix("%%svc "), body, {})

    assert list(scope["found"].objectID) == list(by_magic.objectID) == ids(editor)
    sent = shlex.split(curl.replace("\\\n", " "))
    assert "X-Service-API-Key: $SVC_API_KEY" in sent
    assert service.adminKey not in "".join(codes.values())
    shown = subprocess.run(
        ["sh", "-c", curl.replace("curl ", "printf '%s\\n' ", 1)],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert f"X-Service-API-Key: {service.adminKey}" in shown


@pytest.mark.parametrize("index", ["a b/'c", "lampé", 'the "best"', 'it\'s "so"'])
def test_an_index_of_any_name_becomes_code(client: Client, index: str) -> None:
    codes = write_search(client.connection, index, {"query": "x"})

    assert f"/1/indexes/{quote(index, safe='')}/query" in codes["curl"].replace("'", "")
    assert split_line(codes["Magic"].splitlines()[0])[-1].text == index
    compile(codes["Python"], "code", "exec")


def test_the_panel_lists_every_parameter_of_a_search() -> None:
    rows = {row["name"]: row for row in list_parameters({"hitsPerPage": 7})}

    assert set(rows) == {p.name for p in PARAMETERS.values() if p.scope != "setting"} - {"query"}
    assert rows["hitsPerPage"]["default"] == 7
    assert rows["typoTolerance"]["choices"] == ["true", "false", "min", "strict"]
    assert rows["filters"]["kind"] == "text"


def test_the_snapshot_shows_the_hits_as_text(editor: QueryEditor, client: Client) -> None:
    client.replace_all(editor.index, [{"objectID": "1", "name": "<script>"}], min_share=0)
    editor.value = {"query": "script"}

    html = editor.snapshot()

    assert "&lt;script&gt;" in html
    assert "<script" not in html
    assert PRE not in html
