"""A browse returns every record once, also during writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from svc_notebook.service.app import App
from svc_notebook.service.indices.cursors import Cursor, write_cursor
from svc_notebook.service.service import Service
from tests.conftest import Inside

T = TypeVar("T")
RECORDS: list[dict[str, Any]] = [
    {"objectID": f"{n:03}", "n": n % 7, "kind": "ab"[n % 2]} for n in range(50)
]
# Browsed as stored, sorted by the engine, filtered by it, searched by it.
WAYS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    ({"customRanking": ["desc(n)"]}, {}),
    ({"attributesForFaceting": ["kind"]}, {"filters": "kind:a"}),
    ({}, {"query": "a"}),
]
WAY_NAMES = ["stored", "sorted", "filtered", "searched"]


@pytest.fixture(params=WAYS, ids=WAY_NAMES)
def way(request: pytest.FixtureRequest, inside: Inside) -> dict[str, Any]:
    settings, params = request.param
    inside.fill("films", *RECORDS, **settings)
    return dict(params)


def pages(inside: Inside, params: dict[str, Any], **later: Any) -> Iterator[dict[str, Any]]:
    answer = inside.call("POST", "/1/indexes/films/browse", params).json()
    yield answer
    while "cursor" in answer:
        body = {"cursor": answer["cursor"], **later}
        answer = inside.call("POST", "/1/indexes/films/browse", body).json()
        yield answer


def ids(answers: Iterator[dict[str, Any]]) -> list[str]:
    return [hit["objectID"] for answer in answers for hit in answer["hits"]]


def expected(params: dict[str, Any]) -> set[str]:
    return {r["objectID"] for r in RECORDS if not params or r["kind"] == "a"}


@pytest.mark.parametrize("size", [1, 7, 25, 50, 1000])
def test_every_record_is_returned_once(inside: Inside, way: dict[str, Any], size: int) -> None:
    found = ids(pages(inside, {**way, "hitsPerPage": size}))

    assert len(found) == len(set(found))
    assert set(found) == expected(way)


def test_parameters_may_be_sent_again_with_the_cursor(inside: Inside, way: dict[str, Any]) -> None:
    first = {**way, "hitsPerPage": 9}

    found = ids(pages(inside, first, **first))

    assert sorted(found) == sorted(expected(way))


def test_the_last_page_has_no_cursor(inside: Inside, way: dict[str, Any]) -> None:
    answers = list(pages(inside, {**way, "hitsPerPage": 25}))

    assert len(answers) == len(expected(way)) // 25
    assert {answer["nbHits"] for answer in answers} == {len(expected(way))}


def test_pages_are_an_alternative_to_the_cursor(inside: Inside, way: dict[str, Any]) -> None:
    whole = ids(pages(inside, way))

    found = [
        hit["objectID"]
        for page in range(7)
        for hit in inside.call(
            "POST", "/1/indexes/films/browse", {**way, "hitsPerPage": 8, "page": page}
        ).json()["hits"]
    ]

    assert found == whole


def test_writing_meanwhile_neither_skips_nor_doubles_others(
    inside: Inside, way: dict[str, Any]
) -> None:
    answers = pages(inside, {**way, "hitsPerPage": 5})
    found = ids(iter([next(answers)]))
    gone = sorted(expected(way))[::6]

    for number, answer in enumerate(answers):
        found += [hit["objectID"] for hit in answer["hits"]]
        if number < len(gone):
            inside.done("DELETE", f"/1/indexes/films/{gone[number]}")
            inside.done("PUT", f"/1/indexes/films/new{number}", {"kind": "a", "n": 3})

    old = [one for one in found if not one.startswith("new")]
    assert len(old) == len(set(old))
    assert expected(way) - set(gone) <= set(old)


def test_the_custom_ranking_is_the_order(inside: Inside) -> None:
    inside.fill("films", *RECORDS, customRanking=["desc(n)"])

    found = [h["n"] for a in pages(inside, {"hitsPerPage": 20}) for h in a["hits"]]

    assert found == sorted(found, reverse=True)


@pytest.mark.parametrize(("settings", "params"), WAYS, ids=WAY_NAMES)
def test_a_cursor_survives_a_restart(
    tmp_path: Path, settings: dict[str, Any], params: dict[str, Any]
) -> None:
    with_restart: list[str] = []

    def visit(body: dict[str, Any]) -> dict[str, Any]:
        return in_new_service(tmp_path, lambda i: _browse(i, body, with_restart))

    in_new_service(tmp_path, lambda inside: inside.fill("films", *RECORDS, **settings))
    answer = visit({**params, "hitsPerPage": 20})
    while "cursor" in answer:
        answer = visit({"cursor": answer["cursor"]})

    assert sorted(with_restart) == sorted(expected(params))


def _browse(inside: Inside, body: dict[str, Any], found: list[str]) -> dict[str, Any]:
    answer: dict[str, Any] = inside.call("POST", "/1/indexes/films/browse", body).json()
    found += [hit["objectID"] for hit in answer["hits"]]
    return answer


def in_new_service(folder: Path, visit: Callable[[Inside], T]) -> T:
    service = Service(folder)
    service.start()
    app = App(service)
    try:
        return visit(Inside(app))
    finally:
        app.close()
        service.stop()


@pytest.mark.parametrize("cursor", ["x", "AAAA", "!!", "é", "k4BAQA"])
def test_a_cursor_that_no_browse_returned_is_refused(inside: Inside, cursor: str) -> None:
    inside.fill("films", *RECORDS)

    answer = inside.call("POST", "/1/indexes/films/browse", {"cursor": cursor})

    assert answer.status_code == 400
    assert "cursor" in answer.json()["message"]


@pytest.mark.parametrize(
    "params", [{"hitsPerPage": "x"}, {"_seeUnretrievable": True}, {"filters": 3}, {"query": []}]
)
def test_parameters_of_a_forged_cursor_are_validated(
    inside: Inside, params: dict[str, Any]
) -> None:
    inside.fill("films", *RECORDS)
    cursor = write_cursor(Cursor(inside.app.service.catalog.find("films").id, params, 0))

    answer = inside.call("POST", "/1/indexes/films/browse", {"cursor": cursor})

    assert answer.status_code == 400


def test_a_cursor_of_another_index_is_refused(inside: Inside) -> None:
    inside.fill("films", *RECORDS)
    inside.fill("books", *RECORDS)
    cursor = next(pages(inside, {"hitsPerPage": 5}))["cursor"]

    answer = inside.call("POST", "/1/indexes/books/browse", {"cursor": cursor})

    assert (answer.status_code, "another index" in answer.text) == (400, True)


def test_browsing_by_url_and_in_part(inside: Inside) -> None:
    inside.fill("films", *RECORDS)

    answer = inside.call("GET", "/1/indexes/films/browse?hitsPerPage=3&attributesToRetrieve=n")

    assert answer.json()["hits"] == [
        {"n": 0, "objectID": "000"}, {"n": 1, "objectID": "001"}, {"n": 2, "objectID": "002"},
    ]  # fmt: skip


@pytest.mark.parametrize("size", [0, 1001])
def test_a_page_has_one_to_a_thousand_records(inside: Inside, size: int) -> None:
    inside.fill("films", *RECORDS)

    answer = inside.call("POST", "/1/indexes/films/browse", {"hitsPerPage": size})

    assert answer.status_code == 400


def test_unretrievable_attributes_are_not_browsed(inside: Inside) -> None:
    inside.fill("films", {"objectID": "1", "cost": 9}, unretrievableAttributes=["cost"])

    assert inside.call("GET", "/1/indexes/films/browse").json()["hits"] == [
        {"objectID": "1", "cost": 9}
    ]
