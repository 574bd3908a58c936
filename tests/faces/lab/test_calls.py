"""The calls of the JupyterLab extension, as a kernel answers them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from svc_notebook.data import session
from svc_notebook.errors import BadInput
from svc_notebook.faces.lab import kernel
from svc_notebook.faces.lab.explorer import describe_value
from svc_notebook.faces.lab.kernel import CellError, LabCalls, find_errors
from tests.browser.shop import fill, products
from tests.conftest import Running, set_current


@pytest.fixture
def calls(service: Running, monkeypatch: pytest.MonkeyPatch) -> LabCalls:
    monkeypatch.setattr(
        "svc_notebook.faces.lab.explorer.shell_of_kernel", lambda: None
    )  # a plain process
    session.connect(url=service.url, app_id=service.appId, api_key=service.adminKey)
    return LabCalls()


@pytest.mark.parametrize(
    ("value", "kind", "example"),
    [
        ("lamp", "text", "lamp"),
        (3, "number", "3"),
        (3.5, "number", "3.5"),
        (True, "boolean", "true"),
        (["a", 1], "list", '["a",1]'),
        ({"a": 1}, "object", '{"a":1}'),
        (None, "null", ""),
        (2**60, "number", '"1152921504606846976"'),
        ("x" * 100, "text", "x" * 79 + "…"),
    ],
    ids=str,
)
def test_a_value_is_described_by_its_kind_and_an_example(
    value: Any, kind: str, example: str
) -> None:
    assert describe_value(value) == {"kind": kind, "example": example}


def test_without_a_connection_the_profiles_are_named() -> None:
    set_current(None)

    found = LabCalls().read_connection()

    assert found == {"connected": False, "profiles": LabCalls().read_profiles()}
    assert "local" in found["profiles"]


def test_the_content_of_an_index_is_read_at_once(calls: LabCalls, service: Running) -> None:
    fill(service, "contained", products())

    found = asyncio.run(calls.read_index("contained"))

    names = [attribute["name"] for attribute in found["attributes"]["value"]]
    assert {"objectID", "name", "price"} <= {*names}
    facets = {facet["name"]: dict(facet["values"]) for facet in found["facets"]["value"]}
    assert facets["brand"] == {"Acme": 24, "Umbra": 23, "Lumen": 23}
    assert len(facets["price"]) == 5
    changed = {
        setting["name"]: json.loads(setting["value"]) for setting in found["settings"]["value"]
    }
    assert changed["customRanking"] == ["desc(rating)"]
    assert "hitsPerPage" not in changed
    assert (found["synonyms"]["value"], found["rules"]["value"]) == (0, 0)


def test_a_part_that_is_refused_is_its_error(calls: LabCalls) -> None:
    found = asyncio.run(calls.read_index("not-there"))

    assert {name for name, part in found.items() if "error" in part} == {
        "attributes", "facets", "settings",
    }  # fmt: skip
    assert found["rules"]["value"] == found["synonyms"]["value"] == 0


def test_no_answer_holds_the_key(calls: LabCalls, service: Running) -> None:
    answers = [calls.read_connection(), asyncio.run(calls.read_rights())]

    assert service.adminKey not in json.dumps(answers)


@pytest.mark.parametrize(
    ("action", "style", "code"),
    [
        ("search", "python", 'import svc_notebook as svc\nsvc.search("a b", "")'),
        ("search", "magic", "%svc search 'a b'"),
        ("edit query", "magic", "%svc edit query 'a b'"),
    ],
)
def test_code_quotes_names(calls: LabCalls, action: str, style: Any, code: str) -> None:
    assert calls.write_code(action, "a b", style) == code


@pytest.mark.parametrize("style", ["python", "magic"])
def test_the_code_of_a_new_crawler_has_its_first_page(calls: LabCalls, style: Any) -> None:
    code = calls.write_code("new crawler", "a b", style, value="https://a.example/?q=1")

    assert code.endswith('\nsvc.edit.crawler("a b", value="https://a.example/?q=1")')


@pytest.mark.parametrize("name", ['a"b', "a\\b", "line\nbreak", "'", "\u202e"])
def test_a_name_in_python_stays_the_name(calls: LabCalls, name: str) -> None:
    code = calls.write_code("browse", name).rpartition("svc.read_browse(")[2].removesuffix(")")

    assert eval(code) == name


def test_a_change_asks_what_the_verb_asks(calls: LabCalls, service: Running) -> None:
    question = calls.describe_change("move", "--yes", "b")

    assert question == (
        f"Move --yes onto b, no profile, application {service.appId} at {service.url}?"
    )


@pytest.mark.parametrize("verb", ["delete", "keys delete", "", "help"])
def test_only_the_four_changes_are_made(calls: LabCalls, verb: str) -> None:
    with pytest.raises(BadInput, match="clear, copy, drop, move"):
        asyncio.run(calls.change_index(verb, "products"))


@pytest.mark.parametrize(
    ("text", "errors"),
    [
        ("%%svc search films\nhitsPerPage: 5", []),
        ("%%svc search films\nquery: a\nhitsPerPages: 5", [2]),
        ("%%svc searches films", [0]),
        ("import os\n%svc search films --hits 3\nfound = %svc search films", [1]),
        ("text = '%svc nothing'", []),
        ("%svc search films 'open", [0]),
        ("", []),
    ],
)
def test_errors_name_their_line(text: str, errors: list[int]) -> None:
    found: list[CellError] = [*find_errors(text, {})]

    assert [error.line for error in found] == errors
    assert all(error.message and not error.message.startswith("line ") for error in found)


def test_a_plan_sends_nothing_and_a_load_reports(
    calls: LabCalls, service: Running, tmp_path: Path
) -> None:
    path = tmp_path / "lamps.csv"
    path.write_text("sku,price\n1,5\n2,6\n1,7\n")

    plan = asyncio.run(calls.plan_file(str(path), "planned", "sku"))
    with service.client() as client:
        missing = client.post("/1/indexes/planned/query", json={}).status_code
    result = asyncio.run(calls.load_file(str(path), "planned", "sku"))

    assert (plan["rows"], plan["sendable"], plan["records"], missing) == (3, 2, None, 404)
    assert [column["column"] for column in plan["columns"]] == ["sku", "price"]
    assert (result["published"], result["rejectedRows"]) == (2, 1)
    assert result["rejected"][0]["reason"] == "duplicate objectID (same as row 1)"
    json.dumps([plan, result])


def test_a_file_is_read_with_the_options_of_the_dialog(calls: LabCalls, tmp_path: Path) -> None:
    path = tmp_path / "lamps.csv"
    path.write_text("made by x\nsku;price;note\n1;5;a;b\n2;6;c\n")
    options = {"separator": ";", "skip": 1, "strict": True, "columns": ["sku", "price"]}

    plan = asyncio.run(calls.plan_file(str(path), "chosen", "sku", options))
    result = asyncio.run(calls.load_file(str(path), "chosen", "sku", options=options))

    assert [column["column"] for column in plan["columns"]] == ["sku", "price"]
    assert (plan["rows"], plan["sendable"], result["published"]) == (2, 1, 1)


@pytest.mark.parametrize("name", ["client", "batch", "min_share"])
def test_a_view_cannot_set_other_options(calls: LabCalls, tmp_path: Path, name: str) -> None:
    path = tmp_path / "lamps.csv"
    path.write_text("sku\n1\n")

    with pytest.raises(BadInput, match=f"`{name}` is not an option"):
        asyncio.run(calls.plan_file(str(path), "chosen", "", {name: 0}))


def test_a_file_of_another_machine_is_told(calls: LabCalls) -> None:
    with pytest.raises(BadInput, match="another machine"):
        asyncio.run(calls.plan_file("/no/such.csv", "planned"))


def test_a_cancelled_load_returns_what_it_sent(calls: LabCalls, tmp_path: Path) -> None:
    path = tmp_path / "many.ndjson"
    path.write_text("".join(f'{{"objectID": "{n}", "n": {n}}}\n' for n in range(50_000)))

    async def stop_early() -> dict[str, Any]:
        task = asyncio.create_task(calls.load_file(str(path), "stopped"))
        await asyncio.sleep(0.2)
        task.cancel()
        return await task

    result = asyncio.run(stop_early())

    assert "stopped" in result["stopped"]
    assert result["sent"] < 50_000


@pytest.mark.slow
def test_crawlers_are_read_with_their_state(calls: LabCalls, service: Running) -> None:
    client = session.connect(
        url=service.url,
        app_id=service.appId,
        api_key=service.adminKey,
        crawler_user_id=service.crawlerUserId,
        crawler_api_key=service.crawlerApiKey,
    )
    action: Any = {
        "indexName": "crawled",
        "pathsToMatch": ["**"],
        "recordExtractor": {"__type": "function", "source": "() => []"},
    }
    client.create_crawler("explored", {"rateLimit": 1, "startUrls": [], "actions": [action]})

    found = asyncio.run(calls.read_crawlers())

    [row] = [row for row in found if row["name"] == "explored"]
    assert (row["state"], row["lastRun"]) == ("not run yet", "")
    assert row["id"]


def test_an_editor_of_a_tab_is_opened_once_and_closed(calls: LabCalls, service: Running) -> None:
    fill(service, "in-a-tab", products())

    async def use() -> tuple[dict[str, Any], dict[str, Any], bool, bool]:
        first = await calls.open_editor("workbench", "in-a-tab")
        again = await calls.open_editor("workbench", "in-a-tab")
        before = calls.has_changes(first["model"])
        bench = kernel.find_editor(first["model"])
        await asyncio.to_thread(setattr, bench, "value", {"settings": {"hitsPerPage": 3}})
        after = calls.has_changes(first["model"])
        await calls.close_editor(first["model"])
        await calls.close_editor(first["model"])
        return first, again, before, after

    first, again, before, after = asyncio.run(use())

    assert first == again
    assert first["title"] == "Workbench"
    assert (before, after) == (False, True)
    assert kernel.find_editor(first["model"]) is None
    assert not calls.has_changes(first["model"])


def test_judgments_without_a_file_are_changes(calls: LabCalls, service: Running) -> None:
    fill(service, "judged-in-a-tab", products())

    async def use() -> tuple[bool, bool]:
        model = (await calls.open_editor("judgments", "judged-in-a-tab"))["model"]
        before = calls.has_changes(model)
        row = {"query": "lamp", "objectID": "sku-007", "rating": 3}
        await asyncio.to_thread(setattr, kernel.find_editor(model), "value", [row])
        after = calls.has_changes(model)
        await calls.close_editor(model)
        return before, after

    assert asyncio.run(use()) == (False, True)


def test_an_unknown_editor_is_refused(calls: LabCalls) -> None:
    with pytest.raises(BadInput, match="no editor `house`"):
        asyncio.run(calls.open_editor("house", "a"))


@pytest.mark.slow
def test_the_overview_opens_in_a_tab_and_is_read_again(calls: LabCalls, service: Running) -> None:
    fill(service, "seen-in-the-overview", products())

    async def use() -> tuple[str, list[bool]]:
        answer = await calls.open_editor("overview", "local")
        panel = kernel.find_editor(answer["model"])
        pages = [panel.page]
        await asyncio.to_thread(fill, service, "made-later", products())
        await asyncio.to_thread(panel.reload)
        pages.append(panel.page)
        assert not calls.has_changes(answer["model"])
        await calls.close_editor(answer["model"])
        return answer["title"], ["made-later" in page for page in pages]

    assert asyncio.run(use()) == ("Overview", [False, True])
