"""A valid call is encoded as declared; an invalid one is refused before it is sent."""

from __future__ import annotations

import inspect
import json
from typing import Any
from urllib.parse import unquote

import jedi
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

from svc_notebook.core.api import ENDPOINTS, Endpoint, RequestSpec, SearchApi
from svc_notebook.core.api.declaration import Asynchronous, Blocking
from svc_notebook.errors import BadInput
from tests.conftest import examples
from tests.core.api import value_strategies
from tests.looping import loop_over

BY_NAME = {row.name: row for row in ENDPOINTS}


class Recorder(Blocking, SearchApi):
    """Returns what it would send."""

    def perform(self, endpoint: Endpoint, parcel: RequestSpec) -> RequestSpec:
        return parcel


class AsyncRecorder(Asynchronous, SearchApi):
    """Returns what it would send, once awaited."""

    async def perform(self, endpoint: Endpoint, parcel: RequestSpec) -> RequestSpec:
        return parcel


HEADINGS = st.from_regex(r"[!-~]([ -~]*[!-~])?", fullmatch=True)


def values_of(place: str, kind: Any) -> st.SearchStrategy[Any]:
    if place == "header":
        return HEADINGS
    return (
        value_strategies.TEXT.filter(bool)
        if place == "path" and kind is str
        else value_strategies.of(kind)
    )


def arguments_of(row: Endpoint) -> st.SearchStrategy[dict[str, Any]]:
    parts = {
        name: values_of(place, kind)
        for name, place in row.places.items()
        if place != "spread"
        for kind in [row.types[name]]
    }
    own = st.fixed_dictionaries(parts)
    if not row.shape:
        return own
    spread = value_strategies.of(row.shape)
    return st.tuples(spread, own).map(lambda both: {**both[0], **both[1]})


def arrive(row: Endpoint, parcel: RequestSpec) -> dict[str, Any]:
    """Read a parcel back as the service does, from its texts."""
    fields = [part[1:-1] if part.startswith("{") else None for part in row.path.split("/")]
    path = {
        name: unquote(part)
        for name, part in zip(fields, parcel.path.split("/"), strict=True)
        if name
    }
    body = None if parcel.body is None else json.loads(json.dumps(parcel.body))
    return row.decode(path, parcel.query, body, parcel.headers)


def comes_back(row: Endpoint, given_: dict[str, Any]) -> bool:
    """Whether the arguments can be told apart again once they have travelled."""

    def plain(value: Any) -> bool:
        if isinstance(value, str):
            return value[:1] not in ("[", "{") and value not in ("true", "false")
        return not isinstance(value, (list, dict, float)) or bool(value)

    if any("params" in request for request in given_.get("requests", ())):
        return False  # it is unfolded into the members it holds
    return all(
        plain(value)
        for name, value in given_.items()
        if row.verb == "GET" or row.places.get(name) == "query"
    )


@pytest.mark.parametrize("row", ENDPOINTS, ids=lambda row: row.name)
@settings(max_examples=examples(15), deadline=None)
@given(data=st.data())
def test_a_call_arrives_as_it_was_made(row: Endpoint, data: DataObject) -> None:
    sent = data.draw(arguments_of(row).filter(lambda given_: comes_back(row, given_)))

    arrived = arrive(row, row.encode(**sent))

    assert {name: arrived[name] for name in sent} == sent


@loop_over("row", ENDPOINTS)
def test_an_unknown_argument_is_refused_before_it_is_sent(row: Endpoint) -> None:
    with pytest.raises(BadInput, match="does not take `hitsPerPge`"):
        row.encode(hitsPerPge=3)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        (
            "search",
            {"index": "i", "hitsPerPage": "3"},
            "`hitsPerPage` must be a whole number, not text",
        ),
        (
            "search",
            {"index": "i", "hitsPerPage": 1001},
            "`hitsPerPage` must be a whole number, at most 1000",
        ),
        ("search", {"index": "", "query": "x"}, "`index` is empty"),
        ("search", {"index": "a\ud83d"}, "`index` contains a lone surrogate"),
        ("get_object", {"index": "i", "object_id": "\ud83d"}, "`object_id` contains a lone"),
        ("list_crawlers", {"name": "\ud83d"}, "`name` contains a lone"),
        ("search", {"index": "i", "queryType": "all"}, "not one of prefixLast, prefixAll"),
        (
            "search",
            {"index": "i", "removeStopWords": "en"},
            r"`en` is not one of true, false, nor a list such as \[\"en\"\]",
        ),
        ("search", {}, "missing a required argument: 'index'"),
        ("set_settings", {"index": "i", "settings": {"ranknig": []}}, "did you mean `ranking`"),
        ("batch", {"index": "i", "requests": [{"action": "ad"}]}, r"`requests\[0\].action`"),
        ("batch", {"index": "i", "requests": [{}]}, r"`requests\[0\]`: .* missing .* `action`"),
        ("save_rule", {"index": "i", "object_id": "r", "rule": {"objectID": "r"}}, "consequence"),
        ("assign_user", {"user_id": "é", "cluster": "c"}, "`user_id` is sent as a header"),
        ("assign_user", {"user_id": "日本", "cluster": "c"}, "printable ASCII"),
        ("assign_user", {"user_id": "ann ", "cluster": "c"}, "without spaces at the ends"),
        ("assign_user", {"user_id": "a\r\nX-B: 1", "cluster": "c"}, "printable ASCII"),
        ("assign_user", {"user_id": "", "cluster": "c"}, "1 or more"),
        ("get_task", {"index": "i", "task_id": 2**64}, "`task_id`"),
    ],
)
def test_a_wrong_argument_is_refused_by_name(
    name: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        BY_NAME[name].encode(**arguments)


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("a,b", "attributesToRetrieve", ["a", "b"]),
        ('["a","b,c"]', "attributesToRetrieve", ["a", "b,c"]),
        ('[["a:b","c:d"]]', "facetFilters", [["a:b", "c:d"]]),
        ("price > 3", "numericFilters", "price > 3"),
        ("true", "typoTolerance", True),
        ("strict", "typoTolerance", "strict"),
        ("en,fr", "ignorePlurals", ["en", "fr"]),
        ("all", "aroundRadius", "all"),
        ("200", "aroundRadius", 200),
        ("[not json", "filters", "[not json"),
    ],
)
def test_text_in_a_url_is_read_by_its_declared_type(text: str, name: str, value: object) -> None:
    given_ = BY_NAME["get_search"].decode({"index": "i"}, {name: text}, None)

    assert given_[name] == value


@pytest.mark.parametrize(
    "body",
    [
        {"params": "query=red+lamp&hitsPerPage=3&facets=%5B%22brand%22%5D"},
        {"query": "red lamp", "hitsPerPage": 3, "facets": ["brand"]},
        {"params": "query=blue&hitsPerPage=3", "query": "red lamp", "facets": ["brand"]},
    ],
    ids=["params", "members", "both"],
)
def test_parameters_may_come_as_one_text_or_as_members(body: dict[str, Any]) -> None:
    given_ = BY_NAME["search"].decode({"index": "i"}, {}, body)

    assert (given_["query"], given_["hitsPerPage"]) == ("red lamp", 3)
    assert given_["facets"] in (["brand"], '["brand"]')


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ([], "the body must be a JSON object"),
        ({"params": 3}, "`params` must be a URL-encoded string"),
        ({"qery": "x"}, "`qery` is not known; did you mean `query`?"),
        ({"hitsPerPage": 1.5}, "`hitsPerPage`"),
        ({"params": "hitsPerPage=many"}, "`hitsPerPage`"),
    ],
)
def test_a_wrong_body_is_refused_by_place(body: object, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        BY_NAME["search"].decode({"index": "i"}, {}, body)


def test_a_former_name_of_a_setting_is_understood() -> None:
    given_ = BY_NAME["set_settings"].decode({"index": "i"}, {}, {"attributesToIndex": ["name"]})

    assert given_["settings"] == {"searchableAttributes": ["name"]}


async def both_faces() -> tuple[object, object]:
    return Recorder().search("i", "lamp"), await AsyncRecorder().search("i", "lamp")


def test_both_faces_send_the_same() -> None:
    import asyncio

    blocking, asynchronous = asyncio.run(both_faces())

    assert blocking == asynchronous


@pytest.mark.slow
def test_a_notebook_can_complete_the_parameters() -> None:
    client = Recorder()

    completions = jedi.Interpreter("client.search('x', hi", [{"client": client}]).complete()

    assert "hitsPerPage=" in {completion.name for completion in completions}
    assert "needs the right `search`" in (inspect.getdoc(client.search) or "")
