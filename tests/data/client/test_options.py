"""Options of single calls, calls of undeclared endpoints, and raw responses."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest

import svc_notebook as svc
from svc_notebook.data.client import AsyncClient, Client, ClientConfig, Secret
from svc_notebook.data.client.config import Response
from svc_notebook.errors import BadInput, NotFound, ServiceBroken, Unreachable
from tests.conftest import Running
from tests.data.client import stub
from tests.data.client.stub import serving


def client_of(*urls: str, **more: Any) -> Client:
    return Client(ClientConfig("APP", Secret("k3y"), hosts=urls, **more))


@pytest.fixture(scope="module")
def local(service: Running) -> Client:
    return Client(ClientConfig(service.appId, Secret(service.adminKey), url=service.url))


def test_options_travel_and_leave_the_client_as_it_was() -> None:
    with serving() as server:
        client = client_of(server.url, vendor="Acme")
        client.with_options(
            headers={"X-Trace": "7", "User-Agent": "mine"}, query={"x": ["a", "b&c"], "y": True},
            user_id="ada", forwarded_for="192.0.2.7", forwarded_api_key="other",
        ).search("i", "lamp")  # fmt: skip
        client.search("i")

    first, second = server.requests
    assert first.target == "/1/indexes/i/query?x=%5B%22a%22%2C%22b%26c%22%5D&y=true"
    expected = {
        "x-trace": "7", "user-agent": "mine", "x-acme-user-id": "ada",
        "x-forwarded-for": "192.0.2.7", "x-forwarded-api-key": "other", "x-acme-api-key": "k3y",
    }  # fmt: skip
    assert {name: first.headers.get(name) for name in expected} == expected
    assert second.target == "/1/indexes/i/query"
    assert not second.headers.keys() & {"x-trace", "x-acme-user-id", "x-forwarded-api-key"}


def test_options_add_up() -> None:
    with serving() as server:
        client = client_of(server.url).with_options(headers={"a": "1"}, extra={"p": 1})
        client.with_options(headers={"b": "2"}, extra={"q": 2}).search("i")

    assert {"a", "b"} <= server.requests[0].headers.keys()
    assert server.requests[0].json == {"p": 1, "q": 2}


@pytest.mark.parametrize(
    "options",
    [
        {"headers": {"a\nb": "1"}}, {"headers": {"a": "1\r\nb: 2"}}, {"headers": {"a": 1}},
        {"headers": {"X-Service-API-Key": "k"}}, {"headers": {"Content-Length": "1"}},
        {"headers": ["a"]}, {"user_id": "a\nb"}, {"forwarded_for": "é"}, {"read_timeout": 0},
        {"forwarded_api_key": "a\nb"}, {"max_answer_bytes": 0}, {"extra": [1]}, {"raed_timeout": 1},
    ],
    ids=repr,
)  # fmt: skip
def test_options_that_cannot_be_sent_are_refused_at_once(options: Any) -> None:
    with pytest.raises(BadInput):
        client_of("http://127.0.0.1:9").with_options(**options)


def test_a_forwarded_key_is_not_shown() -> None:
    client = client_of("http://127.0.0.1:9").with_options(forwarded_api_key="s3cret")

    assert "s3cret" not in repr(client.aio.sender.options)
    assert "s3cret" not in str(vars(client.aio.sender.options))


def test_the_answer_is_shown_as_it_came() -> None:
    seen: list[Response] = []
    with serving(stub.answer({"nbHits": 1}, headers={"X-Told": "yes"})) as server:
        client_of(server.url).with_options(on_response=seen.append).search("i")

    assert (seen[0].status, seen[0].headers["x-told"], seen[0].json()) == (
        200,
        "yes",
        {"nbHits": 1},
    )


@pytest.mark.parametrize("verb", ["GET", "post", "PUT", "PATCH", "DELETE"])
def test_a_custom_call_goes_where_it_is_told(verb: str) -> None:
    with serving(stub.answer({"new": True})) as server:
        client = client_of(server.url)
        body = {"a": 1} if verb in ("post", "PUT", "PATCH") else None
        answer = client.custom(verb, "1/indexes/a b%2Fc/{new}", query={"x": 2}, body=body)

    request = server.requests[0]
    assert answer == {"new": True}
    assert (request.verb, request.target) == (
        verb.upper(), "/1/indexes/a%20b%2Fc/%7Bnew%7D?x=2",
    )  # fmt: skip
    assert (request.json if request.body else None) == body
    assert request.headers["x-service-api-key"] == "k3y"


def test_a_custom_call_may_be_awaited_and_raw() -> None:
    async def ask() -> Response:
        async with AsyncClient(ClientConfig("APP", Secret("k"), url=server.url)) as client:
            return await client.custom("GET", "/1/new", raw=True)

    with serving(stub.raw(b"not JSON", 203, {"X-Told": "yes"})) as server:
        told = asyncio.run(ask())

    assert (told.status, told.body, told.headers["x-told"]) == (203, b"not JSON", "yes")
    with pytest.raises(BadInput, match="not JSON"):
        told.json()


def test_a_custom_call_has_the_hosts_and_retries_of_every_call() -> None:
    with serving(stub.drop) as bad, serving(stub.answer({"a": 1})) as good:
        client = client_of(bad.url, good.url)

        assert client.custom("GET", "/1/new") == {"a": 1}
    with serving(stub.drop) as bad, serving() as good:
        client = client_of(bad.url, good.url)
        with pytest.raises(Unreachable, match="may have been applied"):
            client.custom("POST", "/1/new", body={})
        assert not good.requests
    with serving(stub.drop) as bad, serving(stub.answer({"a": 1})) as good:
        client = client_of(bad.url, good.url)
        assert client.custom("POST", "/1/new", body={}, reads=True) == {"a": 1}


def test_a_custom_call_that_is_refused_says_why(local: Client) -> None:
    with pytest.raises(NotFound) as caught:
        local.custom("GET", "/1/indexes/nowhere-custom/settings")

    assert caught.value.status == 404
    assert caught.value.request_id


@pytest.mark.parametrize(
    "call",
    [
        ("FETCH", "/1/new", {}), ("GET", "", {}), ("GET", "https://a.example/1", {}),
        ("GET", "/1/new?x=1", {}), ("GET", "/1/new", {"body": {}}), ("GET", "/1/\ud800", {}),
        ("GET", "/1/new", {"interface": "serch"}), ("GET", "/1/new", {"query": "x=1"}),
        ("POST", "/1/new", {"body": {"a": float("nan")}}), (7, "/1/new", {}),
    ],
    ids=repr,
)  # fmt: skip
def test_a_custom_call_that_cannot_be_sent_is_refused_unsent(call: Any) -> None:
    verb, path, more = call
    with serving() as server, pytest.raises(BadInput):
        client_of(server.url).custom(verb, path, **more)

    assert not server.requests


def test_a_custom_write_is_known_and_waited_for(local: Client) -> None:
    answer = local.custom("PUT", "/1/indexes/custom/settings", body={"hitsPerPage": 7})

    local.wait(answer, index="custom")

    assert local.custom("GET", "/1/indexes/custom/settings")["hitsPerPage"] == 7
    assert [(write.index, write.task) for write in local.aio.written][-1] == (
        "custom", answer["taskID"],
    )  # fmt: skip


RULE: Any = {"objectID": "1", "consequence": {"params": {"filters": "a:b"}}}
MISSPELT: Any = {**RULE, "consequense": {}}


def test_extra_members_go_where_those_of_the_vocabulary_go() -> None:
    with serving(stub.answer({"taskID": 1, "results": [{"hits": []}, {"hits": []}]})) as server:
        client = client_of(server.url).with_options(extra={"new": {"a": 1}})
        client.search("i", "lamp")
        client.get_search("i", "lamp")
        client.search_many([{"indexName": "i"}, {"indexName": "j"}])
        client.set_settings("i", {"hitsPerPage": 3})
        deep = client_of(server.url).with_options(extra={"consequence": {"params": {"new": 1}}})
        deep.save_rules("i", [RULE, RULE])

    one, get, many, settings, rules = server.requests
    assert one.json == {"query": "lamp", "new": {"a": 1}}
    assert "new=%7B%22a%22%3A1%7D" in get.target
    assert [each["new"] for each in many.json["requests"]] == [{"a": 1}, {"a": 1}]
    assert settings.json == {"hitsPerPage": 3, "new": {"a": 1}}
    assert [rule["consequence"] for rule in rules.json] == [
        {"params": {"filters": "a:b", "new": 1}}
    ] * 2


def test_what_is_given_twice_is_refused() -> None:
    client = client_of("http://127.0.0.1:9").with_options(extra={"hitsPerPage": 1})

    with pytest.raises(BadInput, match="`hitsPerPage` is given twice"):
        client.search("i", hitsPerPage=2)


@pytest.mark.parametrize(
    "call",
    [
        lambda client: client.search("i", hitsPerPge=3),
        lambda client: client.set_settings("i", {"hitsPerPge": 3}),
        lambda client: client.save_rules("i", [MISSPELT]),
        lambda client: svc.search("i", hitsPerPge=3, client=client),  # type: ignore[call-arg]
        lambda client: svc.set_settings("i", {"hitsPerPge": 3}, client=client),  # type: ignore[arg-type]
        lambda client: svc.save_rules("i", [MISSPELT], client=client),
    ],
)
def test_an_unknown_name_is_refused_with_the_way_to_send_it(call: Any) -> None:
    with pytest.raises(BadInput, match=r"did you mean.*extra=\{\.\.\.\}") as caught:
        call(client_of("http://127.0.0.1:9"))

    assert isinstance(caught.value, BadInput)


def test_functions_take_extra_and_a_frame_remembers_it() -> None:
    hits = {"hits": [{"objectID": "1"}], "nbHits": 1}
    with serving(stub.answer(hits)) as server:
        client = client_of(server.url)
        frame = svc.search("i", "lamp", extra={"new": 1}, client=client)
        svc.refresh(frame, client=client)
        svc.read_browse("i", extra={"new": 2}, client=client)

    assert [request.json["new"] for request in server.requests] == [1, 1, 2]


def test_functions_that_write_send_extra_with_the_write_alone(tmp_path: Path) -> None:
    told = {"taskID": 1, "status": "published", "hits": [], "nbHits": 0, **RULE}
    with serving(stub.answer(told)) as server:
        client = client_of(server.url)
        svc.set_settings("i", {"hitsPerPage": 3}, extra={"new": 1}, client=client)
        svc.save_rules("i", [RULE], extra={"new": 1}, client=client)

    marked = [request for request in server.requests if "new" in request.target + str(request.body)]
    assert [request.target.split("?")[0] for request in marked] == [
        "/1/indexes/i/settings", "/1/indexes/i/rules/batch",
    ]  # fmt: skip


def test_every_call_has_a_name_that_its_tries_share() -> None:
    with serving(stub.drop) as bad, serving() as good:
        client = client_of(bad.url, good.url)
        client.search("i")
        client.search("i")

    names = [request.headers["request-id"] for request in (*bad.requests, *good.requests)]
    assert re.fullmatch(r"[0-9A-Za-z]{11}", names[0])
    assert names[0] == names[1] != names[2]


def test_a_caller_may_name_the_call() -> None:
    with serving() as server:
        client_of(server.url).with_options(headers={"request-id": "mine"}).search("i")

    assert server.requests[0].headers["request-id"] == "mine"


@pytest.mark.parametrize(("told", "expected"), [({"Correlation-ID": "its"}, "its"), ({}, "mine")])
def test_an_error_bears_the_name_of_the_request(told: dict[str, str], expected: str) -> None:
    for status, kind in ((404, NotFound), (500, ServiceBroken)):
        with serving(stub.answer({"message": "no"}, status, told)) as server:
            client = client_of(server.url).with_options(headers={"Request-ID": "mine"})
            with pytest.raises(kind) as caught:
                client.search("i")

        assert caught.value.request_id == expected


def test_the_local_service_names_the_request_in_its_answer(local: Client) -> None:
    named = local.with_options(headers={"Request-ID": "mine-7"})
    hostile = local.with_options(headers={"Request-ID": "a b;c"})

    assert named.custom("GET", "/1/indexes", raw=True).headers["correlation-id"] == "mine-7"
    assert re.fullmatch(
        "[0-9a-f]{16}", hostile.custom("GET", "/1/indexes", raw=True).headers["correlation-id"]
    )


def test_rules_and_synonyms_come_one_by_one_over_pages(local: Client) -> None:
    index = "iterated"
    synonyms: Any = [
        {"objectID": f"{n:04}", "type": "synonym", "synonyms": ["a", f"b{n}"]} for n in range(1203)
    ]
    rules: Any = [{**RULE, "objectID": f"{n:04}"} for n in range(1203)]
    local.wait([local.save_synonyms(index, synonyms), local.save_rules(index, rules)], index=index)

    found = list(local.iterate_synonyms(index))
    few = list(itertools.islice(local.iterate_rules(index), 3))

    assert sorted(one["objectID"] for one in found) == [one["objectID"] for one in synonyms]
    assert sorted(found, key=lambda one: one["objectID"])[7] == synonyms[7]
    assert len(list(local.iterate_rules(index))) == 1203
    assert len(few) == 3
    assert {one["objectID"] for one in local.iterate_synonyms(index, "b1077")} == {"1077"}


@pytest.mark.parametrize(
    ("scopes", "hits", "rules"),
    [
        (["settings", "synonyms", "rules"], 7, 1),
        (["settings"], 7, 0),
        (["rules"], 20, 1),
        ([], 20, 0),
    ],
)
def test_replacing_keeps_the_scopes_named(
    local: Client, scopes: Any, hits: int, rules: int
) -> None:
    index = f"scoped-{'-'.join(scopes)}"
    local.wait([local.set_settings(index, {"hitsPerPage": 7})], index=index)
    local.wait([local.save_rules(index, [RULE])], index=index)

    count = local.replace_all(
        index, [{"objectID": f"{n}"} for n in range(7)], scopes=scopes, batch_size=3
    )

    assert count == 7
    assert local.get_settings(index)["hitsPerPage"] == hits
    assert len(list(local.iterate_rules(index))) == rules
    batches = [write for write in local.aio.written if write.call == "batch"]
    assert len(batches[-3:]) == 3
    assert len({write.index for write in batches[-3:]}) == 1


@pytest.mark.parametrize("wrong", [{"scopes": ["setings"]}, {"scopes": "rules"}, {"batch_size": 0}])
def test_wrong_scopes_and_sizes_are_refused_before_anything_is_sent(wrong: Any) -> None:
    with serving() as server, pytest.raises(BadInput):
        client_of(server.url).replace_all("i", [], **wrong)

    assert not server.requests


def test_what_is_left_of_a_secured_key_is_a_number_of_seconds() -> None:
    ending = svc.secured_key("parent", validUntil=4_000_000_000)
    ended = svc.secured_key("parent", validUntil=1)

    first, second = svc.get_remaining_validity(ending), svc.get_remaining_validity(ending)

    assert 4_000_000_000 - 1.7e9 > first >= second > 0
    assert svc.get_remaining_validity(ended) < 0
    assert svc.get_remaining_validity(svc.secured_key("parent", filters="a:b")) == float("inf")
    with pytest.raises(BadInput, match="is not a secured key"):
        svc.get_remaining_validity("plain")


def test_json_is_what_a_response_holds() -> None:
    assert Response(200, {}, json.dumps({"a": 1}).encode()).json() == {"a": 1}
