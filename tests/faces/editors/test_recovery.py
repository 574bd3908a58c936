"""Editors work again after a service restarts."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import svc_notebook as svc
from svc_notebook.errors import Unreachable
from svc_notebook.faces.editors import event_loop
from tests.conftest import start_service, stop_service
from tests.faces.editors.conftest import PRODUCTS, SETTINGS, connect


def ids(sheet: dict[str, Any]) -> list[str]:
    return [hit["id"] for hit in sheet["hits"]]


@pytest.mark.slow
def test_the_next_thing_done_in_an_editor_works_again(tmp_path: Path) -> None:
    process, running = start_service(tmp_path)
    with connect(running) as client:
        client.replace_all("shop", PRODUCTS)
        client.wait(client.set_settings("shop", SETTINGS), index="shop")
        queries = svc.edit.query("shop", "lamp", client=client)
        settings = svc.edit.settings("shop", ["lamp"], client=client)
        judgments = svc.edit.judgments("shop", ["lamp", "table"], client=client)
        stop_service(process)
        queries.value = {"query": "oak"}
        settings.value = {"customRanking": ["asc(rating)"]}
        with pytest.raises(Unreachable):
            settings.apply()
        with pytest.raises(Unreachable):
            event_loop.run(judgments.turn(1))
        failed = [editor.state["error"]["type"] for editor in (queries, settings)]
        process, _ = start_service(tmp_path, "--port", str(urlsplit(running.url).port))

        queries.value = {"query": "red"}
        settings.value = {"customRanking": ["asc(price)"]}
        event_loop.run(judgments.turn(1))

        told = [editor.state["error"] for editor in (queries, settings, judgments)]
        before, after = settings.previews["queries"][0]["comparison"]["sides"]
        settings.apply()
        saved: Any = client.get_settings("shop")["customRanking"]
        stop_service(process)
    assert (failed, told) == (["Unreachable"] * 2, [None] * 3)
    assert [hit["objectID"] for hit in queries.hits] == ["1"]
    assert (ids(before), ids(after)) == (["2", "1"], ["1", "2"])
    assert ids(judgments.sheet) == ["3"]
    assert saved == ["asc(price)"]
