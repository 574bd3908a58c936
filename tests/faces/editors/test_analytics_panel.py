"""The analytics of an index in a panel, alone and in the workbench."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

import svc_notebook as svc
from svc_notebook.data.client import Client
from svc_notebook.errors import BadInput
from svc_notebook.faces.editors import event_loop
from svc_notebook.faces.editors.service_panels import AnalyticsPanel


@pytest.fixture
def searched(client: Client, shop: str) -> str:
    """An index with four searches, one click and two searches without results."""
    for number, query in enumerate(("lamp", "Lamp", "table", "settee", "settee")):
        answer = client.search(
            shop, query, clickAnalytics=True, userToken=f"user-{number}", analyticsTags=["web"]
        )
        if query == "lamp":
            click = {
                "eventType": "click", "eventName": "Opened", "index": shop, "userToken": "user-0",
                "queryID": answer["queryID"], "objectIDs": ["2"], "positions": [1],
            }  # fmt: skip
            client.push_events([click])  # type: ignore[list-item]
    return shop


@pytest.fixture
def panel(client: Client, searched: str) -> Iterator[AnalyticsPanel]:
    made = svc.edit.analytics(searched, client=client)
    yield made
    made.close()


def test_it_reads_top_searches_those_without_results_and_days(panel: AnalyticsPanel) -> None:
    figures = panel.figures

    assert [(row["query"], row["frequency"]) for row in figures["searches"]] == [
        ("lamp", 2), ("settee", 2), ("table", 1),
    ]  # fmt: skip
    assert figures["searches"][0]["clickThroughRate"] == 0.5
    assert figures["noResults"] == [{"query": "settee", "frequency": 2, "withFilterCount": 0}]
    assert figures["total"]["searchCount"] == 5
    assert figures["total"]["clickThroughRate"] == 0.2
    assert len(figures["days"]) == 31
    assert figures["days"][-1]["searchCount"] == 5
    assert figures["days"][0]["clickThroughRate"] is None


def test_a_change_of_the_period_or_tags_reads_again_and_can_be_undone(
    panel: AnalyticsPanel,
) -> None:
    panel.value = {"since": "7d", "tags": "app"}
    assert panel.figures["total"]["searchCount"] == 0
    assert len(panel.figures["days"]) == 8

    panel.undo()

    assert panel.value["since"] == "30d"
    assert panel.figures["total"]["searchCount"] == 5
    with pytest.raises(BadInput, match="`since` must be a time such as"):
        panel.value = {"since": "last week"}


def test_its_static_page_has_the_tables_and_escapes_queries(client: Client, searched: str) -> None:
    client.search(searched, "<img src=x>", userToken="eve")
    panel = svc.edit.analytics(searched, client=client)

    html = str(panel.snapshot())

    panel.close()
    assert "6 searches of 6 users, 50.0% without results" in html
    assert "&lt;img src=x&gt;" in html
    assert "<img" not in html
    assert html.count("<table") == 3


def test_its_code_reads_the_same_figures(panel: AnalyticsPanel) -> None:
    codes = panel.codes()

    assert f"svc.read_top_searches({panel.index!r}, since='30d')" in codes["Python"]
    assert f"%svc analytics no-results {panel.index} --since 30d" in codes["Magic"]


def test_next_steps_of_a_panel_alone_are_code(panel: AnalyticsPanel) -> None:
    def step(*given: object) -> str:
        return event_loop.run(panel.continue_with(*given))  # type: ignore[arg-type]

    assert f"svc.edit.query({panel.index!r}, 'lamp')" in step("search", ["lamp"], [])
    assert "['lamp', 'settee'], file='judgments.csv'" in step("judge", ["lamp", "settee"], [])
    code = step("synonym", ["settee"], ["table"])
    assert "'synonyms': ['settee', 'table']" in code
    compile(code, "<cell>", "exec")


def test_next_steps_of_the_workbench_change_its_editors(client: Client, searched: str) -> None:
    bench = svc.edit(searched, client=client)
    assert bench.analytics.figures == {}  # read when the tab opens
    event_loop.run(bench.analytics.show())
    assert bench.analytics.figures["total"]["searchCount"] == 5

    event_loop.run(bench.analytics.continue_with("search", ["settee"], []))
    event_loop.run(bench.analytics.continue_with("synonym", ["settee"], ["table"]))
    event_loop.run(bench.analytics.continue_with("judge", ["lamp", "table"], []))

    assert bench.query.value["query"] == "settee"
    assert bench.value["synonyms"]["synonym-settee"]["synonyms"] == ["settee", "table"]
    assert [question.query for question in bench.judgments._questions] == ["table", "lamp"]
    assert bench.judgments.sheet["query"] == "lamp"
    bench.close()


def test_a_key_without_the_right_gets_the_reason(
    searcher: Callable[..., Client], searched: str
) -> None:
    panel = svc.edit.analytics(searched, client=searcher("search"))

    assert "`analytics`" in panel.state["error"]["message"]
    assert panel.figures == {}
    panel.close()
