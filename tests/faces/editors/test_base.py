"""The base class of the editors, on the settings of an index."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import svc_notebook as svc
from svc_notebook.data.client import Client, Secret
from svc_notebook.data.client.tasks import Tasks
from svc_notebook.errors import BadInput, BadOption, CallFailed
from svc_notebook.faces.editors import event_loop
from svc_notebook.faces.editors.base import Editor, find_missing_right
from tests.conftest import Running, set_current, start_service, stop_service
from tests.faces.editors.conftest import connect


class PageSize(Editor):
    """Edits one setting."""

    title = "Page size"
    needs = "editSettings"
    _esm = "export default { render() {} }"

    async def load(self) -> Any:
        return (await self.client.get_settings(self.index))["hitsPerPage"]

    def check(self, value: Any) -> Any:
        if not isinstance(value, int):
            raise BadInput("a page size is a number")
        return value

    async def save(self, saved: Any, value: Any) -> Tasks:
        return await self.client.set_settings(self.index, {"hitsPerPage": value})


@pytest.fixture
def editor(client: Client, shop: str) -> PageSize:
    return PageSize(shop, client=client)


def test_it_begins_with_what_is_saved(editor: PageSize) -> None:
    assert editor.value == editor.saved == 20
    assert not editor.dirty
    assert editor.state["readOnly"] == ""


@pytest.mark.parametrize("height", [None, 240, 1200])
def test_a_height_is_kept(client: Client, shop: str, height: int | None) -> None:
    editor = PageSize(shop, client=client, height=height)

    assert editor.height == editor.get_state()["height"] == height


@pytest.mark.parametrize("height", [0, 239, 400.5, "400", True])
def test_a_wrong_height_is_refused(editor: PageSize, height: Any) -> None:
    with pytest.raises(BadOption, match="at least 240 pixels, or None"):
        editor.height = height

    assert editor.height == 560


def test_nothing_is_written_before_it_is_applied(
    editor: PageSize, client: Client, shop: str
) -> None:
    editor.value = 7

    assert editor.dirty
    assert client.get_settings(shop)["hitsPerPage"] == 20

    editor.apply()

    assert client.get_settings(shop)["hitsPerPage"] == 7
    assert editor.saved == 7


def test_what_was_applied_can_be_undone_and_applied_again(
    editor: PageSize, client: Client, shop: str
) -> None:
    editor.value = 7
    editor.apply()

    editor.undo()
    editor.apply()

    assert client.get_settings(shop)["hitsPerPage"] == 20
    editor.redo()
    assert editor.value == 7


def test_a_wrong_value_changes_nothing(editor: PageSize) -> None:
    with pytest.raises(BadInput, match="is a number"):
        editor.value = "seven"

    assert editor.value == 20
    assert not editor.state["undo"]


def test_a_view_that_proposes_a_wrong_value_is_refused(editor: PageSize) -> None:
    with pytest.raises(BadInput, match="is a number"):
        editor.edit("seven")

    assert editor.value == 20


def test_values_are_observed_and_observers_may_call_the_service(
    editor: PageSize, client: Client, shop: str
) -> None:
    seen: list[Any] = []
    editor.observe(lambda change: seen.append((change.new, client.search(shop)["nbHits"])), "value")

    async def propose() -> None:
        editor.edit(5)

    event_loop.run(propose())

    assert seen == [(5, 3)]


def test_a_draft_survives_a_reload(editor: PageSize, client: Client, shop: str) -> None:
    client.wait(client.set_settings(shop, {"hitsPerPage": 9}), index=shop)
    editor.reload()
    assert editor.value == 9

    editor.value = 4
    client.wait(client.set_settings(shop, {"hitsPerPage": 8}), index=shop)
    editor.reload()

    assert (editor.value, editor.saved) == (4, 8)
    editor.revert()
    assert editor.value == 8


def test_a_key_without_the_right_makes_it_read_only(
    searcher: Callable[..., Client], shop: str
) -> None:
    editor = PageSize(shop, client=searcher("search", "settings"))

    assert "lacks the right `editSettings`" in editor.state["readOnly"]
    with pytest.raises(BadOption, match="read-only"):
        editor.edit(5)
    editor.value = 5
    with pytest.raises(BadOption, match="read-only"):
        editor.apply()


def test_a_key_of_another_index_makes_it_read_only(client: Client, shop: str) -> None:
    key = client.add_key(acl=["search", "editSettings"], indexes=["other-*"])["key"]
    narrow = Client(replace(client.connection, api_key=Secret(key)))

    assert "not for the index" in event_loop.run(
        find_missing_right(narrow.aio, "editSettings", shop)
    )
    assert event_loop.run(find_missing_right(narrow.aio, "editSettings", "other-1")) == ""


@pytest.mark.slow
def test_a_failed_call_leaves_the_draft_and_reports_the_reason(tmp_path: Path) -> None:
    process, running = start_service(tmp_path / "data")
    try:
        client = connect(running)
        client.wait(client.set_settings("shop", {"hitsPerPage": 3}), index="shop")
        editor = PageSize("shop", client=client)
        editor.value = 6
    finally:
        stop_service(process)

    with pytest.raises(CallFailed):
        editor.apply()

    assert editor.value == 6
    assert editor.dirty
    assert editor.state["error"]["advice"]
    assert editor.state["busy"] == ""


def test_no_key_is_in_the_widget_s_state(editor: PageSize, client: Client) -> None:
    state = json.dumps(editor.get_state(), default=str)

    assert client.connection.api_key.reveal() not in state
    assert client.connection.api_key.reveal() not in repr(editor)


def test_the_snapshot_is_escaped_html(editor: PageSize) -> None:
    editor.index = "<b>"

    assert "&lt;b&gt;" in editor.snapshot()
    assert "<script" not in editor.snapshot()._repr_html_()


def test_an_editor_works_in_its_own_thread(client: Client, shop: str) -> None:
    made: list[PageSize] = []
    thread = threading.Thread(target=lambda: made.append(PageSize(shop, client=client)))

    thread.start()
    thread.join(20)

    assert made[0].value == 20


def test_without_a_client_it_says_how_to_get_one() -> None:
    set_current(None)

    with pytest.raises(svc.errors.NotConnected, match="connect"):
        svc.edit.query("shop")


class Hesitant(PageSize):
    """Checks one value for as long as a test wants."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self.checking, self.going_on = threading.Event(), threading.Event()
        super().__init__(*args, **options)

    def check(self, value: Any) -> Any:
        if value == 7:
            self.checking.set()
            self.going_on.wait(20)
        return super().check(value)


def test_what_a_cell_sets_while_a_view_edits_loses_no_step(client: Client, shop: str) -> None:
    editor = Hesitant(shop, client=client)

    async def propose() -> None:
        editor.edit(7)

    view = event_loop.begin(propose())
    assert editor.checking.wait(20)
    cell = threading.Thread(target=setattr, args=(editor, "value", 9))
    cell.start()
    cell.join(0.1)  # what is not in its turn is done by now
    editor.going_on.set()
    view.result(20)
    cell.join(20)

    assert editor.value == 9
    editor.undo()
    assert editor.value == 7
    editor.undo()
    assert editor.value == 20


def test_an_observer_may_set_the_value_that_a_view_or_a_cell_changed(editor: PageSize) -> None:
    editor.observe(lambda change: setattr(editor, "value", min(change.new, 50)), "value")

    async def propose() -> None:
        editor.edit(70)

    event_loop.run(propose())
    assert editor.value == 50

    editor.value = 80

    assert editor.value == 50


class SlowToRead(PageSize):
    """Reads what is saved after something else has happened."""

    async def load(self) -> Any:
        saved = await super().load()
        if self._ready:
            self.edit(4)
        return saved


def test_what_is_edited_while_it_reloads_stays(client: Client, shop: str) -> None:
    editor = SlowToRead(shop, client=client)

    editor.reload()

    assert (editor.value, editor.dirty) == (4, True)


def test_an_editor_follows_the_new_connection_of_the_session(
    client: Client, shop: str, service: Running
) -> None:
    set_current(client)
    following, fixed = PageSize(shop), PageSize(shop, client=client)
    following.value = 7
    address = service.url.replace("127.0.0.1", "localhost")  # where the service is now

    svc.connect(url=address, app_id=service.appId, api_key=service.adminKey)

    assert following.state["address"] == following.client.connection.address == address
    assert fixed.state["address"] == service.url
    assert following.value == 7
    following.apply()
    assert svc.current().get_settings(shop)["hitsPerPage"] == 7


def test_an_editor_reads_again_for_a_view_only(client: Client, shop: str, service: Running) -> None:
    set_current(client)
    key = client.add_key(acl=["search", "settings"])["key"]
    editor, other = PageSize(shop), PageSize(shop)
    client.wait(client.set_settings(shop, {"hitsPerPage": 9}), index=shop)
    saved = editor.saved

    svc.connect(url=service.url, app_id=service.appId, api_key=key)

    assert editor.saved == other.saved == saved != 9
    event_loop.run(editor.read_again())
    event_loop.run(editor.read_again())
    assert editor.saved == 9
    assert "editSettings" in editor.state["readOnly"]
    assert (editor.state["outdated"], other.state["outdated"]) == (False, True)
    svc.connect(url=service.url, app_id=service.appId, api_key=service.adminKey)
    event_loop.run(editor.read_again())
    assert editor.state["readOnly"] == ""


def test_an_editor_stays_where_its_draft_belongs(
    client: Client, shop: str, service: Running
) -> None:
    set_current(client)
    editor = PageSize(shop)

    svc.connect(url="http://127.0.0.1:9", app_id="OTHER", api_key="k")

    assert editor.state["address"] == service.url
    assert editor.state["sessionApplication"] == "OTHER"
    svc.connect(url=service.url, app_id=service.appId, api_key=service.adminKey)
    assert editor.state["sessionApplication"] == ""
