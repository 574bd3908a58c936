"""No key appears in any output of a session with many keys, errors and editors."""

from __future__ import annotations

import base64
import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Running
from tests.faces.magics.kernel import Kernel, running_kernel
from tests.kernels.conftest import environment
from tests.kernels.saved_notebook import save_notebook

pytestmark = pytest.mark.timeout(180)

# Where keys may be: the user's own profiles, and the data of the local service.
MAY_HOLD_KEYS = {"config.toml", "shop"}

OPENING = """
import logging, os, pickle
import cloudpickle
import pandas as pd
import svc_notebook as svc
logging.basicConfig(level=logging.DEBUG, force=True, handlers=[
    logging.FileHandler("session.log"), logging.StreamHandler()])
%load_ext svc_notebook
%svc connect shop
"""
KEYS = """
made = svc.add_key(acl=["search", "browse"], description="for a test")
display(made, svc.read_keys(), svc.get_key(), svc.get_key(made), svc.whoami())
display(svc.update_key(made, description="for another"))
narrow = svc.secured_key(made, filters="year > 1950", restrictIndices="films")
display(narrow, svc.explain_key(narrow), f"{narrow} {made}")
gone = svc.delete_key(made)
display(gone, svc.restore_key(gone))
"""
CRAWLERS = """
writer = svc.add_key(acl=["addObject", "deleteObject", "deleteIndex", "settings", "editSettings"])
action = {"indexName": "d", "pathsToMatch": ["https://d.test/**"], "recordExtractor": "() => []"}
crawler = svc.create_crawler("docs", {"rateLimit": 1, "apiKey": writer, "actions": [action]})
held = svc.get_crawler("docs")
display(crawler, held, svc.read_crawlers(), svc.read_logs(), f"{held}")
display(svc.configure_crawler("docs", held["config"], whole=True))
"""
EDITOR = """
films = pd.DataFrame({"objectID": ["1", "2"], "title": ["Alien", "Heat"], "year": [1979, 1995]})
result = films.svc.push("films")
editor = svc.edit.query("films", "alien")
display(result, editor)
editor.value = {"query": "heat", "filters": "year > 1990"}
display(editor.codes(), editor.state, editor.get_state(), editor.snapshot(), repr(editor))
others = [getattr(svc.edit, name)("films") for name in ("settings", "synonyms", "rules")]
others.append(svc.edit.judgments("films", ["alien", "heat"]))
for other in others:
    display(other, other.state, other.get_state(), other.codes(), other.snapshot(), repr(other))
display(svc.search("films", "alien"), svc.explain("films"), svc.show_search("films"))
display(svc.read_logs())
"""
# What a curious user looks at when something does not work.
LOOKING = """
client = svc.current()
display(client, client.connection, vars(client), vars(client.aio), vars(client.aio.sender))
display({name: repr(value) for name, value in list(globals().items())})
%whos
%history
"""
PICKLING = """
things = {"client": client, "connection": client.connection, "made": made, "narrow": narrow,
          "result": result, "editor": editor, "films": films, "found": svc.search("films"),
          "rules": others[2]}
for name, thing in things.items():
    for pickler in (pickle, cloudpickle):
        try:
            pickled = pickler.dumps(thing)
        except Exception as error:
            print(name, pickler.__name__, type(error).__name__, error)
        else:
            print(name, pickler.__name__, len(pickled), "bytes")
            open(f"{name}.{pickler.__name__}", "wb").write(pickled)
"""
FAILING = (
    "svc.search('nowhere', client=svc.Client(client.connection))",
    "svc.search(api_key=1)",
    "%svc use shopp",
    "%svc whoami --profile wrong",
    "%svc whoami --profile away",
    "svc.clear_index('films', client=svc.connect('reader', api_key=narrow))",
    "svc.delete_key(made, client=svc.connect('reader'))",
    "svc.get_key(narrow, client=client)",
    "svc.create_crawler('wrong', {'apiKey': made, 'actions': []}, client=client)",
    "svc.configure_crawler('docs', {'apiKey': made, 'rateLimit': 0}, client=client)",
    "pickle.dumps(made)",
    "open('svc.toml', 'w').write('[profiles.broken')\nsvc.profiles()",
    "os.remove('svc.toml')\nsvc.connect('shop', vendor='not a token')",
    "client.connection.api_key + 1",
    "client.search('films', on_progress=1)",
    "svc.load(films, 'films', client=client, on_progress=lambda *_: 1 / 0)",
    "svc.push(films, 'films', client=client, id='nothing')",
    "import asyncio\nawait asyncio.wait_for(svc.aio.get_key(client=svc.connect('deaf')), 0.2)",
    "await asyncio.wait_for(svc.aio.delete_key(made, client=svc.connect('deaf')), 0.2)",
    "editor.value = {'querry': 1}",
    "1 / 0",
)


@dataclass
class Session:
    """What a session left behind."""

    keys: dict[str, str]
    heard: list[Any]
    home: Path
    environments: dict[str, str] = field(default_factory=dict)
    commands: dict[str, str] = field(default_factory=dict)

    def finds(self, text: str) -> set[str]:
        """The keys of which half or more stands in a text, as they are or encoded."""
        return {name for name, key in self.keys.items() if any(f in text for f in forms_of(key))}


def forms_of(key: str) -> Iterator[str]:
    half = len(key) // 2
    yield from (key[:half], key[half:])
    encoded = base64.b64encode(key.encode()).decode().rstrip("=")
    yield encoded[: len(encoded) // 2]


@pytest.fixture(scope="module")
def deaf() -> Iterator[str]:
    """The address of a service that takes calls and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, service: Running, deaf: str) -> Path:
    """The home of a user whose profiles hold keys."""
    home = tmp_path_factory.mktemp("keeper")
    wrong = "5" * 31 + "a"
    profiles = {
        "shop": (service.url, service.adminKey),
        "reader": (service.url, service.searchKey),
        "wrong": (service.url, wrong),
        "away": ("http://127.0.0.1:9", service.adminKey),
        "deaf": (deaf, service.adminKey),
    }
    lines = [
        f'[profiles.{name}]\nurl = "{url}"\napp_id = "{service.appId}"\napi_key = "{key}"\n'
        f'crawler_user_id = "{service.crawlerUserId}"\n'
        f'crawler_api_key = "{service.crawlerApiKey}"\n'
        for name, (url, key) in profiles.items()
    ]
    (home / "config.toml").write_text("".join(lines))
    (home / "config.toml").chmod(0o600)
    return home


@pytest.fixture(scope="module")
def session(service: Running, home: Path) -> Session:
    """Work as people do, and let the kernel end."""
    (home / "work").mkdir()
    with running_kernel(environment(home)) as kernel:
        kernel.good(f"%cd -q {home / 'work'}")
        for cell in (OPENING, KEYS, CRAWLERS, EDITOR, LOOKING, PICKLING):
            kernel.good(cell)
        kernel.good("%xmode Verbose")  # shows the values of every frame
        for cell in FAILING:
            assert kernel.run(cell).status == "error", cell
        kernel.good("os.environ['SVC_API_KEY'] = client.connection.api_key.reveal()")
        kernel.good(f"%svc connect local --data {home / 'shop'}\n%svc whoami")
        kernel.good("!sleep 0.1\ndel os.environ['SVC_API_KEY']")
        kernel.run(
            f"%svc connect --url {service.url} --app-id {service.appId}", answer=service.adminKey
        )
        kernel.good("svc.whoami()\nIn, Out, _ih, _oh, _")
        kernel.run("%svc keys\n%tb")
        kernel.complete("%svc keys delete ")
        session = Session(all_keys(service, home, kernel), kernel.heard, home)
        session.commands = {pid: read_proc(pid, "cmdline") for pid in processes()}
        session.environments = {pid: read_proc(pid, "environ") for pid in children_of(kernel)}
    return session


def all_keys(service: Running, home: Path, kernel: Kernel) -> dict[str, str]:
    """Every key that came up, by a name to tell it by."""
    local = json.loads((home / "shop" / "service.json").read_text())
    with service.client() as client:
        made = client.get("/1/keys").json()["keys"]
    path = home.parent / "narrow"
    kernel.good(f"_ = open({str(path)!r}, 'w').write(narrow.reveal())")
    keys = {
        "admin": service.adminKey,
        "search": service.searchKey,
        "crawler": service.crawlerApiKey,
        "wrong": "5" * 31 + "a",
        "secured": path.read_text(),
        **{f"made {n}": key["value"] for n, key in enumerate(made)},
        **{f"local {name}": key for name, key in local.items() if name.endswith("Key")},
    }
    assert len(set(keys.values())) >= 8
    return keys


def processes() -> list[str]:
    return [path.name for path in Path("/proc").iterdir() if path.name.isdigit()]


def read_proc(pid: str, name: str) -> str:
    try:
        return Path("/proc", pid, name).read_text(errors="replace")
    except OSError:
        return ""


def children_of(kernel: Kernel) -> list[str]:
    """The ids of the processes that a kernel began, and that these began."""
    parents = {pid: read_proc(pid, "stat").rpartition(")")[2].split() for pid in processes()}
    own = {str(kernel.manager.provisioner.pid)}
    while more := {pid for pid, stat in parents.items() if stat and stat[1] in own} - own:
        own |= more
    return sorted(own)


def said(session: Session) -> Iterator[tuple[str, str]]:
    for message in session.heard:
        text = json.dumps(message["content"], default=str)
        buffers = b"".join(bytes(part) for part in message.get("buffers", ()))
        yield message["msg_type"], text + buffers.decode(errors="replace")


@pytest.mark.slow
def test_no_message_to_the_front_end_holds_a_key(session: Session) -> None:
    leaks = [(session.finds(text), text) for _, text in said(session) if session.finds(text)]

    assert leaks == []
    assert len(session.heard) > 100


@pytest.mark.slow
def test_the_saved_notebook_holds_no_key(session: Session, tmp_path: Path) -> None:
    import nbformat

    notebook = save_notebook(session.heard)
    nbformat.write(notebook, tmp_path / "saved.ipynb")

    text = (tmp_path / "saved.ipynb").read_text()

    assert not session.finds(text)
    shown = ("_esm", "KeyRefused", "year > 1990", "Heat", "Rule editor", "Judgment editor")
    assert all(words in text for words in shown)


def test_no_file_left_behind_holds_a_key(session: Session) -> None:
    files = [path for path in session.home.rglob("*") if path.is_file()]
    own = [p for p in files if p.relative_to(session.home).parts[0] not in MAY_HOLD_KEYS]
    own.append(session.home / "shop" / "service.log")

    leaks = {path.name: session.finds(path.read_bytes().decode("latin-1")) for path in own}

    assert {name: found for name, found in leaks.items() if found} == {}
    assert {"history.sqlite", "session.log"} <= leaks.keys()
    assert any(name.endswith(".pickle") for name in leaks)


def test_no_command_line_holds_a_key(session: Session) -> None:
    assert not {text for text in session.commands.values() if session.finds(text)}


@pytest.mark.slow
def test_no_process_is_given_a_key_that_it_does_not_need(session: Session) -> None:
    assert len(session.environments) >= 2
    assert not {pid for pid, text in session.environments.items() if session.finds(text)}
