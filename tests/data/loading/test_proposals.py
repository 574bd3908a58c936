"""Options and settings that a plan proposes."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pandas as pd
import pytest

from svc_notebook.data import loading
from svc_notebook.data.client import Client, background_loop
from svc_notebook.errors import BadInput

GENRES, CATEGORIES = ["Drama|War", "War", "Drama|Comedy"], ["A > B", "A > C", "A"]
ROWS = pd.DataFrame(
    {
        "id": [f"k{n}" for n in range(30)],
        "title": [f"The film {n}" for n in range(30)],
        "plot": [f"A story, of {n} people, who {n * n} times left" for n in range(30)],
        "genres": GENRES * 10,
        "cat": CATEGORIES * 10,
        "tags": ['["a"]', '{"b": 1}', "[]"] * 10,
        "seen": ["13/04/2024", "01/02/2023", "05/06/2022"] * 10,
        "lat": [52.5] * 30,
        "lon": [13.4] * 30,
        "rating": [n / 10 for n in range(30)],
    }
)


def test_a_plan_proposes_what_its_values_are(client: Client, tmp_path: Path) -> None:
    path, index = tmp_path / "a.csv", f"proposed-{uuid4().hex[:8]}"
    ROWS.to_csv(path, index=False)

    for source in (ROWS, path):
        plan = loading.plan(source, index)

        assert [(p.option, p.value) for p in plan.proposals] == [
            ("dtype", {"genres": "list"}),
            ("dtype", {"cat": "levels"}),
            ("dtype", {"tags": "json"}),
            ("dates", "dmy"),
            ("geo", ["lat", "lon"]),
        ]
        assert "67% contain `|`, 3 distinct parts" in repr(plan)
        assert plan.suggested_settings["customRanking"] == ["desc(rating)"]
        assert plan.suggested_settings["searchableAttributes"][:2] == ["title", "plot"]
        assert {"genres", "cat"} <= {*plan.suggested_settings["attributesForFaceting"]}

    background_loop.run(
        loading.load(client.aio, path, index, accept="plan", dtype={"tags": "string"})
    )
    record = client.get_object(index, "k0")
    assert (record["genres"], record["cat"]["lvl1"]) == (["Drama", "War"], "A > B")
    assert (record["tags"], record["seen"]) == ('["a"]', "2024-04-13")
    assert record["_geoloc"] == {"lat": 52.5, "lng": 13.4}


def test_ordinary_columns_have_no_proposal() -> None:
    frame = pd.DataFrame(
        {
            "name": ["Lamp, oak", "Desk, pine", "Chair, ash", "Sofa, teak"],
            "date": ["01/02/2024", "03/04/2024", "05/06/2024", "07/08/2024"],
            "lat": [1, 2, 3, 400],
            "lng": [1, 2, 3, 4],
        }
    )

    assert loading.plan(frame, "i").proposals == ()


def test_texts_with_separators_are_no_lists_and_two_orders_of_dates_no_option() -> None:
    rows = [
        {"id": n, "added": added, "town": f"{n} Main St, Rome", "credit": "Gift of Ann, 1983",
         "steps": f"['mix {n}', 'bake {n}']", "name": name, "eu": f"{n + 12}/04/2023",
         "us": f"04/{n + 12}/2023", "Record Number of Sales": n}
        for n, (added, name) in enumerate(
            [("Sep 26, 2016", "Oak; Table"), ("Sep 27, 2016", "Oak; Chair"), ("May 1, 2017", "Bed")]
            * 3, 1
        )
    ]  # fmt: skip

    plan = loading.plan(rows, "x")

    assert plan.proposals == ()
    assert [*plan.suggested_settings] == ["searchableAttributes"]


def test_flags_are_facets_and_not_searched() -> None:
    rows = [{"title": f"A book of {n}", "stocked": "YN"[n % 2], "color": ["red", "blue"][n % 2]}
            for n in range(12)]  # fmt: skip

    suggested = loading.plan(rows, "x").suggested_settings

    assert suggested["searchableAttributes"] == ["title", "color"]
    assert {*suggested["attributesForFaceting"]} == {"stocked", "color"}
    assert "`svc.set_settings('x', {'searchableAttributes'" in repr(loading.plan(rows, "x"))


def test_only_a_plan_is_accepted(client: Client) -> None:
    with pytest.raises(BadInput, match="must be 'plan'"):
        background_loop.run(loading.load(client.aio, ROWS, "i", accept="all"))  # type: ignore[arg-type]
