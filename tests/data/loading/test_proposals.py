"""Options and settings that a plan proposes."""

from __future__ import annotations

from collections.abc import Sequence
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


@pytest.mark.slow
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


def suggested(**columns: Sequence[object]) -> dict[str, list[str]]:
    """Return the settings that a plan suggests for columns, as lists."""
    return {**loading.plan(pd.DataFrame(columns), "x").suggested_settings}


TOWNS = ["Rome", "Oslo", "Lima", "Bern", "Cairo", "Quito", "Delhi", "Paris", "Accra", "Minsk"]


def test_names_of_one_word_are_searched_and_codes_dates_addresses_and_constants_are_not() -> None:
    settings = suggested(
        Town=TOWNS,
        zone=["01", "02", "03"] * 3 + ["04"],
        nsn=[f"1005-00-{n}" for n in range(10)],
        url=[f"https://example.com/{town}" for town in TOWNS],
        item_id=[f"{town[:2]}x{n}" for n, town in enumerate(TOWNS)],
        seen=["Oct18", "Nov09", "19-Dec-03", *["Dec01"] * 7],
        country=["Atlantis"] * 10,
        period=["1977-1989", "1990-1999"] * 5,
        nested=[f"{{'a': '{town}'}}" for town in TOWNS],
    )

    assert settings["searchableAttributes"] == ["Town"]
    assert settings["attributesForFaceting"] == ["period"]


def test_titles_that_are_numbers_are_searched_before_other_names() -> None:
    rows = [
        {"Director": town, "Film Name": 300 if n == 1 else f"The film of {town}"}
        for n, town in enumerate(TOWNS)
    ]

    settings = loading.plan(rows, "x").suggested_settings

    assert settings["searchableAttributes"] == ["Film Name", "Director"]


@pytest.mark.parametrize(
    ("number", "title", "group", "text", "rank"),
    [
        ("Artikelnr", "Bezeichnung", "Marke", "Eine Lampe aus Holz.", "Bewertung"),
        ("Référence", "Nom", "Marque", "Une lampe en bois.", "Avis"),
        ("编号", "商品名称", "品牌", "这款台灯采用实木灯座和亚麻灯罩。", "销量"),
        ("商品コード", "商品名", "ブランド", "木製の台座とリネンのシェードのランプです。", "評価"),
        ("Артикул", "Название", "Марка", "Лампа из дерева и стекла.", "Рейтинг"),
    ],
)
def test_names_of_other_languages_suggest_settings_and_the_id(
    number: str, title: str, group: str, text: str, rank: str
) -> None:
    rows = [
        {rank: n % 5, group: ["Aka", "Bobo"][n % 2], text[:5]: text, title: f"{title}{town}",
         number: 100 + n}
        for n, town in enumerate(TOWNS)
    ]  # fmt: skip
    rows[0][text[:5]] = f"2 {text}"

    plan = loading.plan(rows, "x")

    assert plan.notes == (f"`{number}` is unique; pass id={number!r}",)
    assert plan.suggested_settings == {
        "searchableAttributes": [title, text[:5], group],
        "attributesForFaceting": [group],
        "customRanking": [f"desc({rank})"],
    }


def test_sentences_ids_and_many_codes_of_digits_are_no_facets() -> None:
    settings = suggested(
        credit=["Photo by Ann Lee. Used with permission.", "Photo by Bo Ek, all rights reserved."]
        * 30,
        familyId=["FAM-A", "FAM-B"] * 30,
        part=[f"10{n}-4" for n in range(30)] * 2,
        place=["1779778", "1779784"] * 30,
        dial=["+2", "+5"] * 30,
        batch=[f"A{n}-{n * n}" for n in range(30)] * 2,
        source=["http://a.example", "http://b.example"] * 30,
        name=["Ann", "Bo"] * 30,
        team_name=["Red", "Blue"] * 30,
    )

    assert settings["attributesForFaceting"] == ["team_name"]


def test_scores_of_two_sides_do_not_rank() -> None:
    numbers = [*range(10)]

    assert "customRanking" not in suggested(home_score=numbers, away_score=numbers)
    assert suggested(inspection_score=numbers)["customRanking"] == ["desc(inspection_score)"]


def test_members_of_objects_and_lists_are_suggested() -> None:
    rows = [
        {"properties": {"place": town, "mag": n, "kind": ["quake", "blast"][n % 2]},
         "aliases": [town], "geometry": {"type": f"{town} {n % 2}"}, "rare": {f"m{n}": town}}
        for n, town in enumerate(TOWNS * 20)
    ]  # fmt: skip

    settings = loading.plan(rows, "x").suggested_settings

    assert {*settings["searchableAttributes"]} == {
        "properties.place", "properties.kind", "aliases",
    }  # fmt: skip
    assert settings["attributesForFaceting"] == ["properties.place", "properties.kind", "aliases"]


def test_proposals_look_at_the_whole_of_a_sorted_source(tmp_path: Path) -> None:
    path = tmp_path / "sorted.csv"
    names = "".join(f"{n},{TOWNS[n // 1000]}\n" for n in range(10_000))
    path.write_text("id,town\n" + names)

    for source in (path, pd.read_csv(path)):
        settings = loading.plan(source, "x").suggested_settings

        assert settings["attributesForFaceting"] == ["town"]


def test_only_a_plan_is_accepted(client: Client) -> None:
    with pytest.raises(BadInput, match="must be 'plan'"):
        background_loop.run(loading.load(client.aio, ROWS, "i", accept="all"))  # type: ignore[arg-type]
