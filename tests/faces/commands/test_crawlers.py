"""Crawlers: the requests sent to a service with given responses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.data.client import Secret
from tests.data.client.stub import Stub, answer
from tests.faces.commands.conftest import Typed, sent, type_line

CRAWLERS = "/api/1/crawlers"
TWO = ["https://a", "https://b"]
TASK = {"taskId": "t1"}
# The list of crawlers, none of which has the name.
UNUSED = answer({"items": [], "total": 0})
C1 = "5a0c7f3e-0000-4000-8000-000000000001"
CONFIG = {"appId": "X", "rateLimit": 8, "startUrls": ["https://example.com"]}


@pytest.fixture
def typed(stub: Stub) -> Typed:
    return type_line


@pytest.mark.parametrize(
    ("line", "request_line", "result"),
    [
        (f"crawlers run {C1}", ("POST", f"{CRAWLERS}/{C1}/run", None), "t1"),
        (f"crawlers pause {C1}", ("POST", f"{CRAWLERS}/{C1}/pause", None), "t1"),
        (f"crawlers reindex {C1}", ("POST", f"{CRAWLERS}/{C1}/reindex", None), "t1"),
        (f"crawlers rename {C1} docs", ("PATCH", f"{CRAWLERS}/{C1}", {"name": "docs"}), "t1"),
        (f"crawlers config {C1} --from held", ("PATCH", f"{CRAWLERS}/{C1}/config", CONFIG), "t1"),
        (
            f"crawlers config {C1} --from held --whole",
            ("PATCH", f"{CRAWLERS}/{C1}", {"config": CONFIG}),
            "t1",
        ),
        (
            f"crawlers crawl {C1} https://a https://b --save false",
            (
                "POST",
                f"{CRAWLERS}/{C1}/urls/crawl",
                {"urls": ["https://a", "https://b"], "save": False},
            ),
            ["t1"],
        ),
        (f"crawlers tasks {C1} t1", ("GET", f"{CRAWLERS}/{C1}/tasks/t1", None), "t1"),
        (f"crawlers cancel {C1} t9", ("POST", f"{CRAWLERS}/{C1}/tasks/t9/cancel", None), "t9"),
    ],
)
def test_a_verb_sends_one_request(
    stub: Stub, typed: Typed, line: str, request_line: Any, result: Any
) -> None:
    stub.acts[:] = [answer({**TASK, "pending": False})]

    done = typed(line, held=CONFIG)

    assert sent(stub) == [request_line]
    assert (done["crawler"], done["taskId"]) == (C1, result)


@pytest.mark.parametrize("way", ["file", "variable", "json", "lines"])
def test_a_crawler_is_made_of_a_configuration(
    stub: Stub, typed: Typed, tmp_path: Path, way: str
) -> None:
    stub.acts[:] = [UNUSED, answer({"id": "c1"})]
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIG))
    lines = 'appId: X\nrateLimit: 8\nstartUrls: ["https://example.com"]'
    ways: dict[str, Any] = {
        "file": (f"crawlers create docs {path}",),
        "variable": ("crawlers create docs --from held",),
        "json": ("crawlers create docs", json.dumps(CONFIG)),
        "lines": ("crawlers create docs", lines),
    }

    done = typed(*ways[way], held=CONFIG)

    assert sent(stub)[1:] == [("POST", CRAWLERS, {"name": "docs", "config": CONFIG})]
    assert done == {"crawler": "c1", "name": "docs"}


def test_a_second_crawler_of_a_name_is_refused(stub: Stub, typed: Typed) -> None:
    names = [{"id": C1, "name": "docs"}, {"id": "x", "name": "docs 2"}]
    listed = answer({"items": names, "total": 2})
    twice = answer({"items": [names[0], {"id": "y", "name": "docs"}], "total": 2})
    stub.acts[:] = [listed, listed, answer(TASK), twice]

    with pytest.raises(svc.errors.BadInput, match=r"-exists replace.*crawlers delete") as refusal:
        typed("crawlers create docs --from held", held=CONFIG)
    done = typed("crawlers create docs --from held --if-exists replace", held=CONFIG)
    with pytest.raises(svc.errors.BadInput, match="2 crawlers are named docs"):
        typed("crawlers create docs --from held --if-exists replace", held=CONFIG)

    assert C1 in str(refusal.value)
    assert done == {"crawler": C1, "name": "docs", **TASK}
    assert [one for one in sent(stub) if one[0] != "GET"] == [
        ("PATCH", f"{CRAWLERS}/{C1}", {"config": CONFIG})
    ]


def test_a_crawler_is_deleted_where_the_service_can(stub: Stub, typed: Typed) -> None:
    stub.acts[:] = [answer({"deletedAt": "2026-01-01"}), answer({"message": "no"}, status=404)]

    done = typed(f"crawlers delete {C1} --yes")
    with pytest.raises(svc.errors.NotFound, match=r"only in its dashboard.*crawlers pause"):
        typed(f"crawlers delete {C1} --yes")

    assert sent(stub)[0] == ("DELETE", f"/local/1/crawlers/{C1}", None)
    assert done == {"crawler": C1, "deletedAt": "2026-01-01"}


def test_a_crawler_is_shown_with_its_configuration(stub: Stub, typed: Typed) -> None:
    stub.acts[:] = [answer({"name": "docs", "config": CONFIG})]

    assert typed(f"crawlers show {C1}")["config"] == CONFIG
    assert stub.requests[0].target == f"{CRAWLERS}/{C1}?withConfig=true"
    assert stub.requests[0].headers["authorization"].startswith("Basic ")


@pytest.mark.parametrize(
    ("line", "body"),
    [
        (f"crawlers test {C1} https://a", {"url": "https://a"}),
        (f"crawlers test {C1} https://a --from held", {"url": "https://a", "config": CONFIG}),
    ],
)
def test_one_url_is_tried(stub: Stub, typed: Typed, line: str, body: Any) -> None:
    stub.acts[:] = [answer({"records": [], "links": ["https://b"]})]

    found = typed(line, held=CONFIG)

    assert sent(stub) == [("POST", f"{CRAWLERS}/{C1}/test", body)]
    assert found["links"] == ["https://b"]


def test_many_urls_go_fifty_at_a_time(stub: Stub, typed: Typed) -> None:
    stub.acts[:] = [answer(TASK)]
    urls = pd.Series([f"https://example.com/{n}" for n in range(120)])

    done = typed(f"crawlers crawl {C1} --from urls", urls=urls)

    assert [len(body["urls"]) for _, _, body in sent(stub)] == [50, 50, 20]
    assert (done["urls"], len(done["taskId"])) == (120, 3)


def test_a_task_is_waited_for(stub: Stub, typed: Typed) -> None:
    going_on = {"pending": True, "running": True, "count": 3, "data": []}
    stub.acts[:] = [*[answer(going_on)] * 6, answer({"pending": False})]

    assert typed(f"crawlers tasks {C1} t1 --wait")["pending"] is False
    assert [r.target for r in stub.requests].count(f"{CRAWLERS}/{C1}/tasks/t1") == 3


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"blockingTaskId": "t1", "blockingError": "records are lost"}, "blocked: records are"),
        ({"reindexing": True, "running": False}, "is paused; `%svc crawlers run docs`"),
    ],
    ids=["blocked", "paused"],
)
def test_what_cannot_be_done_is_not_waited_for(
    stub: Stub, typed: Typed, facts: dict[str, Any], message: str
) -> None:
    stub.acts[:] = [answer({**TASK, "pending": True, "name": "docs", **facts})]

    with pytest.raises(svc.errors.TaskFailed, match=message):
        typed(f"crawlers reindex {C1} --wait")


def test_awaited_crawl_returns_outcomes_of_its_urls(stub: Stub, typed: Typed) -> None:
    data = [{"status": "DONE", "count": 4}, {"status": "FAILED", "count": 1}]
    stub.acts[:] = [answer({**TASK, "pending": False, "data": data})]

    done = typed(f"crawlers reindex {C1} --wait")

    assert done == {"crawler": C1, **TASK, "done": 4, "skipped": 0, "failed": 1}


def test_a_crawler_is_found_by_its_name(stub: Stub, typed: Typed) -> None:
    items = [{"id": "x1", "name": "docs of old"}, {"id": C1, "name": "docs"}]
    stub.acts[:] = [answer({"items": items, "total": 2}), answer(TASK)]

    assert typed("crawlers run docs") == {"crawler": "docs", **TASK}
    assert stub.requests[1].target == f"{CRAWLERS}/{C1}/run"


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([{"id": C1, "name": "docs"}], "no crawler is named docz; did you mean `docs`?"),
        ([{"id": "1", "name": "docz"}, {"id": "2", "name": "docz"}], "pass the id of one: 1, 2"),
        ([], r"no crawler is named docz; `%svc crawlers` lists them"),
    ],
    ids=["near", "twice", "none"],
)
def test_unknown_or_ambiguous_crawler_name_is_an_error(
    stub: Stub, typed: Typed, items: list[Any], message: str
) -> None:
    stub.acts[:] = [answer({"items": items, "total": len(items)})]

    with pytest.raises(svc.errors.BadInput, match=message):
        typed("crawlers run docz")


def test_a_function_may_be_a_plain_text(stub: Stub, typed: Typed) -> None:
    stub.acts[:] = [UNUSED, answer({"id": C1})]
    source, marked = "({$}) => []", {"__type": "function", "source": "({$}) => []"}
    held = {
        "actions": [{"indexName": "a", "recordExtractor": source}, {"recordExtractor": marked}],
        "linkExtractor": source,
    }

    typed("crawlers create docs --from held", held=held)

    assert sent(stub)[1][2]["config"] == {
        "actions": [{"indexName": "a", "recordExtractor": marked}, {"recordExtractor": marked}],
        "linkExtractor": marked,
    }


def test_response_of_add_key_is_accepted_as_key(stub: Stub, typed: Typed) -> None:
    stub.acts[:] = [UNUSED, answer({"id": C1})]
    made = {"key": Secret("k" * 32), "createdAt": "2026-01-01"}

    typed("crawlers create docs --from held", held={"apiKey": made})

    assert sent(stub)[1][2]["config"] == {"apiKey": "k" * 32}


def test_keys_and_logins_of_a_configuration_do_not_show(stub: Stub, typed: Typed) -> None:
    options = {"headers": {"Authorization": "open sesame"}, "timeout": 3}
    config = {**CONFIG, "apiKey": "k" * 32, "requestOptions": options}
    stub.acts[:] = [answer({"id": C1, "name": "docs", "config": config}), answer(TASK)]

    shown = typed(f"crawlers show {C1}")
    typed(f"crawlers config {C1} --from held --whole", held=shown["config"])

    assert "kkk" not in repr(shown)
    assert "sesame" not in repr(shown)
    assert sent(stub)[1][2] == {"config": config}


def test_task_that_exceeds_the_timeout_is_an_error(stub: Stub, typed: Typed) -> None:
    stub.acts[:] = [answer({"pending": True, "count": 0})]

    with pytest.raises(svc.errors.TaskFailed, match="is not done after"):
        typed(f"crawlers tasks {C1} t1 --wait --timeout 0.1")


def test_the_task_that_blocks_is_looked_up(stub: Stub, typed: Typed) -> None:
    stub.acts[:] = [answer({"blocked": True, "blockingTaskId": "t7"}), answer({})]

    assert typed(f"crawlers cancel {C1}")["taskId"] == "t7"


def test_without_a_task_that_blocks_nothing_is_cancelled(stub: Stub, typed: Typed) -> None:
    stub.acts[:] = [answer({"blocked": False})]

    with pytest.raises(svc.errors.BadInput, match="no task blocks"):
        typed(f"crawlers cancel {C1}")


@pytest.mark.parametrize(
    ("line", "body", "message"),
    [
        ("crawlers create docs --from held", None, "a configuration must be one object, not 2"),
        ("crawlers create docs", "[{}, {}]", "must contain one object, not 2"),
        (f"crawlers crawl {C1} --from none", None, "no URLs to crawl"),
        ("crawlers create docs", None, "FILE is missing"),
        ("crawlers crete docs", None, "`crawlers crete` is not a verb; did you mean `create`"),
    ],
)
def test_mistake_is_an_error_before_anything_is_sent(
    stub: Stub, typed: Typed, line: str, body: str | None, message: str
) -> None:
    with pytest.raises(svc.errors.BadInput, match=message):
        typed(line, body, held=[{}, {}], none=[])

    assert stub.requests == []


def test_crawlers_urls_and_domains_are_listed(stub: Stub, typed: Typed) -> None:
    page = {"itemsPerPage": 100, "page": 1, "total": 1}
    stub.acts[:] = [
        answer({"items": [{"appId": "X", "domain": "*.example.com", "verified": True}], **page}),
        answer({"count": 1, "data": [{"reason": "ok", "status": "DONE", "category": "success",
                                      "readable": "fine", "count": 4}]}),
        answer({"items": [{"id": "c1", "name": "docs"}], **page}),
        answer({"name": "docs", "running": True}),
    ]  # fmt: skip

    assert typed("domains")["domain"].tolist() == ["*.example.com"]
    assert typed(f"crawlers stats {C1}")["count"].tolist() == [4]
    assert typed("crawlers")["running"].tolist() == [True]
