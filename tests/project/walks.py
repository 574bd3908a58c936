"""Count the functions and modules of the package that three calls pass and write them as JSON.

`python -m tests.project.walks URL APP_ID KEY` in a process of its own, because all threads of a
call have to be profiled from their start. The service at the URL answers the editor; searches and
refused keys are followed through a service inside this process.
"""

from __future__ import annotations

import itertools
import json
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import svc_notebook as svc
from svc_notebook.core.api.parameters import Settings
from svc_notebook.data.client import Client, ClientConfig, Secret
from svc_notebook.service.app import App
from svc_notebook.service.service import Service
from tests.conftest import Inside

PACKAGE = f"{Path(svc.__file__).parent}/"
# Other threads of the service, such as that of maintenance, run in some of them.
RUNS = 10
KEYSTROKE_SECONDS = 20


class Walk:
    """The functions that run in all threads that were started after `follow`."""

    def __init__(self) -> None:
        self._passed: set[tuple[str, str]] | None = None

    def follow(self) -> None:
        """Profile this thread and the threads that start from now on."""
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def count(self, run: Callable[[], None]) -> dict[str, list[str]]:
        """Return the functions that a repeated call passes, by module."""
        run()
        passed = min((self._record(run) for _ in range(RUNS)), key=len)
        modules: dict[str, list[str]] = {}
        for module, function in sorted(passed):
            modules.setdefault(module, []).append(function)
        return modules

    def _record(self, run: Callable[[], None]) -> set[tuple[str, str]]:
        self._passed = set()
        run()
        passed, self._passed = self._passed, None
        return passed

    def _note(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        # Comprehensions are functions in Python 3.11, and not in later ones.
        if self._passed is None or event != "call" or code.co_name.startswith("<"):
            return
        if code.co_filename.startswith(PACKAGE):
            self._passed.add((code.co_filename.removeprefix(PACKAGE), code.co_qualname))


RECORDS: list[dict[str, Any]] = [
    {"objectID": str(number), "title": f"lamp film number {number}", "year": 1990 + number % 30}
    for number in range(200)
]
SETTINGS: Settings = {"searchableAttributes": ["title"], "customRanking": ["desc(year)"]}


def walk_service(walk: Walk, folder: Path) -> dict[str, dict[str, list[str]]]:
    """Follow a search and a refused key through a service without a socket."""
    service = Service(folder)
    service.start()
    app = App(service)
    inside = Inside(app)
    inside.fill("films", *RECORDS, **SETTINGS)
    search_key = inside.call("POST", "/1/keys", {"acl": ["search"]}).json()["key"]

    def search() -> None:
        answer = inside.call("POST", "/1/indexes/films/query", {"query": "lamp fil"})
        assert answer.json()["nbHits"] == len(RECORDS)

    def clear() -> None:
        assert inside.call("POST", "/1/indexes/films/clear", key=search_key).status_code == 403

    walk.follow()
    walks = {"search": walk.count(search), "refused key": walk.count(clear)}
    app.close()
    service.stop()
    return walks


def walk_keystroke(walk: Walk, client: Client) -> dict[str, list[str]]:
    """Follow one letter in the query editor, from its view's message to the answer."""
    client.replace_all("walk-films", RECORDS)
    client.wait(client.set_settings("walk-films", SETTINGS), index="walk-films")
    editor = svc.edit.query("walk-films", client=client)
    texts = itertools.cycle(["l", "la", "lam", "lamp", "lamp f"])

    def type_letter() -> None:
        answered = threading.Event()
        editor.observe(lambda _: answered.set(), "answer")
        change = {"value": {"query": next(texts)}}
        editor._handle_custom_msg({"id": 1, "call": "edit", "args": change}, [])
        assert answered.wait(KEYSTROKE_SECONDS)
        editor.unobserve_all("answer")

    return walk.count(type_letter)


def main(url: str, app_id: str, key: str) -> None:
    """Write the three walks."""
    walk = Walk()
    with tempfile.TemporaryDirectory() as folder:
        walks = walk_service(walk, Path(folder))
    client = Client(ClientConfig(url=url, app_id=app_id, api_key=Secret(key)))
    walks["keystroke"] = walk_keystroke(walk, client)
    client.close()
    sys.setprofile(None)
    sys.stdout.write(json.dumps(walks))


if __name__ == "__main__":
    main(*sys.argv[1:])
