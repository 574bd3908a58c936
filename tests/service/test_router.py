"""A raw path is mapped to its endpoint."""

from __future__ import annotations

import pytest

from svc_notebook.core.api import ENDPOINTS, Endpoint
from svc_notebook.errors import BadInput, NotFound
from svc_notebook.service.http.router import MethodNotAllowed, Router
from tests.looping import loop_over

ROUTER = Router(ENDPOINTS)


@pytest.mark.parametrize(
    ("verb", "path", "name", "parts"),
    [
        ("GET", "/1/indexes", "list_indices", {}),
        ("GET", "/1/indexes/a", "get_search", {"index": "a"}),
        ("GET", "/1/indexes/a/settings", "get_settings", {"index": "a"}),
        ("GET", "/1/indexes/a/7", "get_object", {"index": "a", "object_id": "7"}),
        ("POST", "/1/indexes/*/queries", "search_many", {}),
        ("POST", "/1/indexes/a/batch", "batch", {"index": "a"}),
        ("POST", "/1/indexes/*/batch", "batch_many", {}),
    ],
)
def test_a_path_finds_its_endpoint(verb: str, path: str, name: str, parts: dict[str, str]) -> None:
    row, found = ROUTER.find(verb, path)

    assert (row.name, found) == (name, parts)


def test_an_encoded_slash_does_not_split_a_name() -> None:
    row, parts = ROUTER.find("GET", "/1/indexes/a%2Fb/c%2F%25%20%F0%9F%98%80")

    assert row.name == "get_object"
    assert parts == {"index": "a/b", "object_id": "c/% 😀"}


def test_a_literal_part_leaves_its_other_verbs_to_records_of_that_name() -> None:
    row, parts = ROUTER.find("GET", "/1/indexes/a/batch")

    assert (row.name, parts["object_id"]) == ("get_object", "batch")


@pytest.mark.parametrize("path", ["/", "", "/1", "/2/indexes", "/1/indexes/a/b/c/d/e", "//"])
def test_a_path_that_is_nowhere_is_not_found(path: str) -> None:
    with pytest.raises(NotFound, match="is not an endpoint"):
        ROUTER.find("GET", path)


def test_a_verb_the_path_does_not_have_is_refused_with_those_it_has() -> None:
    with pytest.raises(MethodNotAllowed) as refused:
        ROUTER.find("PATCH", "/1/indexes/a/settings")

    assert refused.value.allowed == ["DELETE", "GET", "PUT"]


def test_a_part_that_is_not_utf8_is_refused() -> None:
    with pytest.raises(BadInput, match="%ff"):
        ROUTER.find("GET", "/1/indexes/%ff")


@loop_over("row", ENDPOINTS)
def test_every_endpoint_is_found_by_its_own_path(row: Endpoint) -> None:
    parts = {name: "x" for name, place in row.places.items() if place == "path"}

    found, _ = ROUTER.find(row.verb, row.path.format_map(parts))

    assert found is row
