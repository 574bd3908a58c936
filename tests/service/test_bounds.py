"""Time and memory of a request have bounds, whatever records and parameters it combines."""

from __future__ import annotations

from typing import Any

import pytest

from svc_notebook.errors import BadInput, Refused
from svc_notebook.service import limits
from svc_notebook.service.engine.execution import MAX_ANSWER_BYTES, Deadline, limit_time
from svc_notebook.service.engine.query import searched_attributes
from svc_notebook.service.engine.search_index import Index
from tests.conftest import Inside

WIDE_ATTRIBUTES = 3_000


class CountingDeadline(Deadline):
    """A deadline that counts how often a search looks at it."""

    def __init__(self) -> None:
        super().__init__(60)
        self.checks = 0

    def check(self) -> None:
        self.checks += 1
        super().check()


def write_records(records: list[dict[str, Any]]) -> dict[str, Any]:
    return {"requests": [{"action": "addObject", "body": record} for record in records]}


def make_wide(number: int, *, shared: bool = True) -> dict[str, Any]:
    first = 0 if shared else number * WIDE_ATTRIBUTES
    names = range(first, first + WIDE_ATTRIBUTES)
    return {"objectID": str(number), "title": "lamp", **{f"a{n}": f"v{n % 50}" for n in names}}


def search(index: Index, records: list[dict[str, Any]], **params: Any) -> CountingDeadline:
    """Search and return the deadline, which knows how often it was looked at."""
    deadline = CountingDeadline()
    with limit_time(deadline):
        index.search(params, lambda ids: [records[int(name)] for name in ids])
    return deadline


@pytest.mark.slow
def test_every_facet_and_every_highlighted_value_looks_at_the_deadline() -> None:
    records = [make_wide(number) for number in range(3)]
    index = Index({"attributesForFaceting": [f"a{n}" for n in range(WIDE_ATTRIBUTES)]})
    index.put(records)

    counted = search(index, records, facets=["*"], attributesToHighlight=[])
    highlighted = search(index, records, query="lamp")

    assert counted.checks >= 2 * WIDE_ATTRIBUTES
    assert highlighted.checks >= 3 * WIDE_ATTRIBUTES


def test_a_search_ends_within_one_value_after_its_deadline() -> None:
    records = [make_wide(number) for number in range(3)]
    index = Index()
    index.put(records)
    written: list[str] = []

    class Late(Deadline):
        """A deadline that passes after the tenth look at a value."""

        def count(self, size: int) -> None:
            written.append("")
            if len(written) == 10:
                self._end = 0

    with limit_time(Late(60)), pytest.raises(Refused, match="took longer"):
        index.search({"query": "lamp"}, lambda ids: [records[int(name)] for name in ids])

    assert len(written) < 15


@pytest.mark.sampled(quick=2)
@pytest.mark.parametrize("ways", ["one by one", "batch", "one batch", "put", "partial", "many"])
def test_attributes_of_an_index_are_limited(inside: Inside, ways: str) -> None:
    path, records = "/1/indexes/x", [make_wide(n, shared=False) for n in range(4)]
    # Four times as many attributes as a third of the maximum.
    if ways == "one batch":
        answer = inside.call("POST", f"{path}/batch", write_records(records))
    else:
        inside.done("POST", f"{path}/batch", write_records(records[:3]))
        calls: dict[str, tuple[str, str, Any]] = {
            "one by one": ("POST", path, records[3]),
            "batch": ("POST", f"{path}/batch", write_records(records[3:])),
            "put": ("PUT", f"{path}/9", records[3]),
            "partial": ("POST", f"{path}/1/partial", records[3]),
            "many": ("POST", "/1/indexes/*/batch", {
                "requests": [{"action": "addObject", "indexName": "x", "body": records[3]}]}),
        }  # fmt: skip
        answer = inside.call(*calls[ways])

    assert answer.status_code == 400
    message = answer.json()["message"]
    assert f"the maximum is {limits.MAX_INDEX_ATTRIBUTES:,}" in message
    assert "send a list of objects instead" in message
    # What the index has already can still be written.
    assert inside.call("POST", f"{path}/batch", write_records(records[:1])).status_code == 200


def test_attributes_inside_objects_and_lists_count(inside: Inside) -> None:
    inner = {f"key{n}": n for n in range(limits.MAX_INDEX_ATTRIBUTES + 1)}
    spread = [
        {"in": [[{f"k{n}": 1} for n in range(part, part + 2500)]]} for part in range(0, 12500, 2500)
    ]

    for records in ([{"inner": dict(list(inner.items())[:4000])},
                     {"inner": dict(list(inner.items())[4000:8000])},
                     {"inner": dict(list(inner.items())[8000:])}], spread):  # fmt: skip
        answer = inside.call("POST", "/1/indexes/x/batch", write_records(records))

        assert answer.status_code == 400
        assert "attributes, the maximum is" in answer.json()["message"]


def test_an_emptied_index_takes_other_attributes(inside: Inside) -> None:
    for start in (0, 3):
        records = [make_wide(n, shared=False) for n in range(start, start + 3)]
        inside.done("POST", "/1/indexes/x/batch", write_records(records))
        inside.done("POST", "/1/indexes/x/clear")


def test_few_results_are_cached_of_segments_with_many_attributes() -> None:
    records = [make_wide(number) for number in range(2)]
    for _ in range(12):
        index = Index()
        index.put(records)
        search(index, records, query="lamp", attributesToHighlight=[])

    assert searched_attributes._make_for_many.cache_info().currsize <= 8


LONG_TEXT = " ".join(["lamp"] * 300)


@pytest.mark.parametrize(
    "params",
    [
        {"highlightPreTag": "<" + "x" * 100_000 + ">"},
        {"highlightPostTag": "x" * 100_000, "attributesToHighlight": [],
         "attributesToSnippet": ["text:100000"]},
        {"snippetEllipsisText": "x" * 4_000_000, "attributesToSnippet": ["text:3"],
         "attributesToHighlight": []},
    ],
    ids=["pre tag", "post tag of snippets", "ellipsis"],
)  # fmt: skip
def test_answers_that_tags_make_huge_are_refused(inside: Inside, params: Any) -> None:
    inside.fill("x", *({"objectID": str(n), "text": LONG_TEXT} for n in range(20)))

    answer = inside.call("POST", "/1/indexes/x/query", {"query": "lamp", **params})

    assert answer.status_code == 400
    message = answer.json()["message"]
    assert f"more than {MAX_ANSWER_BYTES // 2**20} MB" in message
    assert "hitsPerPage" in message


@pytest.mark.slow
def test_answers_of_many_large_records_are_refused_and_parts_of_them_are_not(
    inside: Inside,
) -> None:
    body = "x" * 95_000
    for start in range(0, 800, 80):
        records = [{"objectID": str(n), "body": body} for n in range(start, start + 80)]
        inside.done("POST", "/1/indexes/x/batch", write_records(records))
    plain = {"hitsPerPage": 1000, "attributesToHighlight": []}

    whole = inside.call("POST", "/1/indexes/x/query", plain)
    ids = inside.call("POST", "/1/indexes/x/query", {**plain, "attributesToRetrieve": ["objectID"]})

    assert whole.status_code == 400
    assert "attributesToRetrieve" in whole.json()["message"]
    assert len(ids.json()["hits"]) == 800


@pytest.mark.slow
def test_answers_of_long_facet_values_are_refused(inside: Inside) -> None:
    inside.done("PUT", "/1/indexes/x/settings", {"attributesForFaceting": ["a", "b"]})
    for start in range(0, 800, 80):
        records = [
            {"objectID": str(n), "a": f"{n}" + "x" * 45_000, "b": f"{n}" + "y" * 45_000}
            for n in range(start, start + 80)
        ]
        inside.done("POST", "/1/indexes/x/batch", write_records(records))

    answer = inside.call(
        "POST", "/1/indexes/x/query",
        {"facets": ["a", "b"], "maxValuesPerFacet": 1000, "hitsPerPage": 0},
    )  # fmt: skip

    assert answer.status_code == 400
    assert "maxValuesPerFacet" in answer.json()["message"]


def test_the_count_of_bytes_starts_again_with_each_search_of_a_call() -> None:
    deadline = Deadline(60)

    deadline.count(MAX_ANSWER_BYTES)
    with pytest.raises(BadInput):
        deadline.count(1)
    deadline.restart()
    deadline.count(MAX_ANSWER_BYTES)
