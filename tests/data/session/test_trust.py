"""Whom a key is sent to: each source of an address with each source of a key."""

from __future__ import annotations

import asyncio
import os
import pty
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import svc_notebook as svc
from svc_notebook.data.client import Client
from svc_notebook.data.session.config import profiles, resolve
from svc_notebook.data.session.connection import client_of, make_client
from svc_notebook.data.session.profile_files import user_file
from svc_notebook.data.session.trust import trust_folder
from svc_notebook.errors import BadInput, NotConnected, NotTrusted, SvcError
from svc_notebook.faces.lab.kernel import LabCalls
from tests.conftest import ROOT
from tests.data.session.conftest import Ring
from tests.data.session.key_sink import KeySink, open_sink
from tests.faces.magics.kernel import running_kernel

KEY = "canary-key-5f1c"
OTHER = "https://other.example"


@pytest.fixture
def sink() -> Iterator[KeySink]:
    with open_sink() as opened:
        yield opened


class Sources:
    """Writes an address and a key into one of the sources of a connection."""

    def __init__(
        self,
        project: Path,
        monkeypatch: pytest.MonkeyPatch,
        install_keyring: Callable[[Ring], None],
    ) -> None:
        self.project = project
        self.monkeypatch = monkeypatch
        self.install_keyring = install_keyring
        self.call: dict[str, Any] = {}
        self.files: dict[Path, list[str]] = {}
        self.ring: dict[tuple[str, str], str] = {}

    def put(self, source: str, name: str, value: str) -> None:
        if source == "call":
            self.call[name] = value
        elif source == "environment":
            self.monkeypatch.setenv(f"SVC_{name.upper()}", value)
        elif source == "keyring":
            self.ring["svc-notebook", "shop"] = value
        else:
            self.files.setdefault(self.file(source), []).append(f'{name} = "{value}"')

    def file(self, source: str) -> Path:
        return {
            "svc.toml": Path.cwd() / "svc.toml",
            "pyproject.toml": Path.cwd() / "pyproject.toml",
            "parent": self.project / "svc.toml",
            "user": user_file(),
        }[source]

    def write(self) -> None:
        self.install_keyring(Ring(self.ring))
        for path, lines in self.files.items():
            tool = "tool.svc-notebook." if path.name == "pyproject.toml" else ""
            path.write_text("\n".join([f"[{tool}profiles.shop]", *lines]))


@pytest.fixture
def sources(
    project: Path, monkeypatch: pytest.MonkeyPatch, install_keyring: Callable[[Ring], None]
) -> Sources:
    return Sources(project, monkeypatch, install_keyring)


OWN = ("call", "environment", "user")
PROJECT = ("svc.toml", "pyproject.toml", "parent")


def receives(sources: Sources, sink: KeySink) -> tuple[bool, SvcError | None]:
    """Connect by each way that takes a profile and send a request; return what the sink got."""
    error = None
    ways: list[Callable[[], Client]] = [partial(make_client, "shop", **sources.call)]
    if not sources.call:
        ways.append(partial(client_of, "shop"))
    for connect in ways:
        try:
            with connect() as client:
                client.list_indices()
        except SvcError as raised:
            error = raised
    return sink.take(KEY, "APPHERE"), error


@pytest.mark.filterwarnings("ignore:.*contains the key of the profile")
@pytest.mark.parametrize("key", ["call", "environment", "keyring", "user", *PROJECT])
@pytest.mark.parametrize("address", [*OWN, *PROJECT])
def test_a_key_goes_to_the_users_own_addresses_and_to_that_of_its_file(
    address: str, key: str, sources: Sources, sink: KeySink
) -> None:
    if {address, key} <= {*PROJECT} and address != key:
        pytest.skip("only the nearest file of a project is read")
    sources.put(address, "url", sink.url)
    sources.put(address, "app_id", "APPHERE")
    sources.put(key, "api_key", KEY)
    if "user" not in (address, key):
        user_file().write_text("[profiles.shop]")  # so that the profile exists
    sources.write()

    came, error = receives(sources, sink)

    assert came is (address in OWN or address == key), error
    if address in PROJECT and address != key:
        assert isinstance(error, NotTrusted)
        assert f"`svc trust {sources.file(address).parent}`" in str(error)
        assert KEY not in str(error)


@pytest.mark.parametrize("key", ["environment", "user", "keyring"])
@pytest.mark.parametrize("address", ["call", "environment", *PROJECT])
@pytest.mark.parametrize("name", ["url", "app_id"])
def test_a_key_beside_another_address_stays_there(
    name: str, address: str, key: str, sources: Sources, sink: KeySink
) -> None:
    if address == key:
        pytest.skip("one source has one address")
    holder = "user" if key == "keyring" else key
    own = {"url": sink.url, "app_id": "APPHERE", name: OTHER if name == "url" else "OTHER"}
    for field, value in {"url": sink.url, "app_id": "APPHERE"}.items():
        sources.put(address, field, value)
        sources.put(holder, field, own[field])
    sources.put(key, "api_key", KEY)
    if "user" not in (address, holder):
        user_file().write_text("[profiles.shop]")
    sources.write()

    came, error = receives(sources, sink)

    # The environment precedes files: where it names the address, its own key is sent there.
    assert not came
    if holder == "user" and address in PROJECT:
        assert "a project cannot redirect a profile of yours" in str(error)


@pytest.mark.parametrize("source", PROJECT)
@pytest.mark.parametrize(
    "field", ['hosts = { crawler = "URL" }', 'app_id = "ELSEWHERE"', 'domain = "elsewhere.example"']
)
def test_no_part_of_an_address_is_redirected(source: str, field: str, sources: Sources) -> None:
    user_file().write_text('[profiles.shop]\ndomain = "a.example"\napp_id = "A"\napi_key = "k"\n')
    name, _, value = field.partition(" = ")
    sources.files[sources.file(source)] = [f"{name} = {value.replace('URL', OTHER)}"]
    sources.write()

    with pytest.raises(NotConnected, match="cannot redirect a profile of yours"):
        resolve("shop", {})


def test_a_project_names_a_profile_of_the_user(project: Path, sink: KeySink) -> None:
    (project / "svc.toml").write_text('default_profile = "shop"')
    user_file().write_text(f'[profiles.shop]\nurl = "{sink.url}"\napp_id = "A"\napi_key = "{KEY}"')

    with make_client(None) as client:
        client.list_indices()

    assert sink.take(KEY)


def write_project(project: Path, url: str) -> None:
    (project / "svc.toml").write_text(
        f'default_profile = "shop"\n[profiles.shop]\nurl = "{url}"\napp_id = "APP"\n'
    )


def test_trust_holds_for_the_address_that_was_trusted(
    project: Path, sink: KeySink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SVC_API_KEY", KEY)
    write_project(project, sink.url)

    shown = svc.trust(project)
    with make_client(None) as client:
        client.list_indices()

    assert shown == {"shop": f"{sink.url} (application APP)"}
    assert sink.take(KEY)
    write_project(project, OTHER)
    with pytest.raises(NotTrusted, match=OTHER) as caught:
        make_client(None)
    assert (caught.value.folder, caught.value.profile) == (project, "shop")
    write_project(project, sink.url)
    svc.trust(project, revoke=True)
    with pytest.raises(NotTrusted):
        make_client(None)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        (f'url = "https://good.example"\nhosts = ["{OTHER}"]', ["https://good.example", OTHER]),
        (
            f'url = "https://good.example"\nhosts = {{ read = ["{OTHER}"] }}',
            ["https://good.example", OTHER],
        ),
        (
            f'hosts = {{ write = "https://good.example", read = "{OTHER}" }}',
            ["https://good.example", OTHER],
        ),
        (
            'domain = "good.example"\nfallback_domain = "other.example"',
            ["APP.good.example", "other.example"],
        ),
        ('domain = "good.example"', ["APP.good.example"]),
    ],
    ids=["hosts override url", "role overrides url", "roles", "fallbacks", "domain"],
)
def test_every_address_that_would_receive_the_key_is_shown(
    address: str, shown: list[str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SVC_API_KEY", KEY)
    (project / "svc.toml").write_text(f'[profiles.shop]\napp_id = "APP"\n{address}\n')

    with pytest.raises(NotTrusted) as caught:
        make_client("shop")

    assert caught.value.address == ", ".join(shown)
    assert caught.value.address in str(caught.value)
    assert "'" not in svc.trust(project)["shop"]


def test_a_folder_without_addresses_cannot_be_trusted(project: Path) -> None:
    with pytest.raises(BadInput, match=r"no svc.toml and no \[tool.svc-notebook\]"):
        svc.trust(project)
    (project / "svc.toml").write_text("[profiles.shop]")
    with pytest.raises(BadInput, match=r"no profile in .* has an address"):
        svc.trust(project)


def test_the_explorer_connects_after_its_question(
    project: Path, sink: KeySink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SVC_API_KEY", KEY)
    write_project(project, sink.url)
    calls = LabCalls()

    answer = asyncio.run(calls.connect("shop"))

    question = {"folder": str(project), "profile": "shop", "address": sink.url}
    assert answer == {"connected": False, "untrusted": question}
    assert asyncio.run(calls.connect("shop", trust=str(project)))["connected"] is True


# Processes as users start them.


@pytest.fixture
def user(tmp_path: Path) -> dict[str, str]:
    """The environment of a user whose key is in a variable."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
    return own | {
        "HOME": str(tmp_path / "home"),
        "IPYTHONDIR": str(tmp_path / "ipython"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "SVC_CONFIG": str(tmp_path / "none.toml"),
        "SVC_API_KEY": KEY,
        "PYTHONPATH": str(ROOT),
    }


SVC = [sys.executable, "-m", "svc_notebook"]
WAYS = {
    "function": [
        sys.executable,
        "-c",
        "import svc_notebook as svc; svc.connect('shop'); svc.read_indices()",
    ],
    "command": [*SVC, "indices"],
    "command with a profile": [*SVC, "search", "products", "lamp", "--profile", "shop"],
    "clone": [*SVC, "clone", "--from", "shop", "products", "--profile", "local"],
    "pytest": [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."],
}
JUDGMENTS = """
index: products
profile: shop
at_least: {ndcg@10: 0.7}
queries: {lamp: {"1": 3}}
"""


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("way", WAYS)
def test_a_process_that_cannot_ask_sends_no_key_before_the_folder_is_trusted(
    way: str, project: Path, sink: KeySink, user: dict[str, str]
) -> None:
    write_project(project, sink.url)
    (project / "shop.judgments.yaml").write_text(JUDGMENTS)

    def run(words: list[str]) -> str:
        done = subprocess.run(
            words, cwd=project, env=user, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        return done.stdout + done.stderr

    refused = run(WAYS[way])

    assert not sink.take(KEY), refused
    assert f"svc trust {project}" in refused
    assert f"{sink.url} (application APP)" in run([*SVC, "trust"])
    said = run(WAYS[way])
    assert sink.take(KEY), said


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    ("typed", "asked_again", "sent"),
    [("y\n", False, True), ("n\n", False, False), ("\n", True, False)],
)
def test_a_terminal_asks_once(
    typed: str, asked_again: bool, sent: bool, project: Path, sink: KeySink, user: dict[str, str]
) -> None:
    write_project(project, sink.url)

    def run() -> str:
        ours, theirs = pty.openpty()
        os.write(ours, typed.encode())
        try:
            done = subprocess.run(
                WAYS["function"],
                cwd=project,
                env=user,
                stdin=theirs,
                capture_output=True,
                text=True,
            )
        finally:
            os.close(ours)
            os.close(theirs)
        return done.stderr

    first = run()
    assert sink.take(KEY) is sent, first
    question = f"{project / 'svc.toml'}, profile `shop`: send the API key of the environment to"
    assert f"{question} {sink.url}" in first
    second = run()
    assert sink.take(KEY) is sent
    assert (question in second) is asked_again


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_notebook_asks_and_one_without_input_names_the_command(
    project: Path, sink: KeySink, user: dict[str, str]
) -> None:
    write_project(project, sink.url)
    with running_kernel(user) as kernel:
        kernel.good(f"%cd -q {project}\nimport svc_notebook as svc")

        assert f"%svc trust {project}" in kernel.run("svc.connect('shop')").error
        asked = kernel.run("svc.connect('shop'); svc.read_indices()", answer="y")
        assert sink.take(KEY), asked


# Which files are read.


def test_files_outside_of_the_repository_are_not_read(project: Path) -> None:
    (project.parent / "svc.toml").write_text('[profiles.outside]\nurl = "https://a.example"\n')

    assert profiles() == {}


def test_without_a_repository_the_search_ends_at_the_home_folder(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / ".git").rmdir()
    (project / "svc.toml").write_text('[profiles.inside]\nurl = "https://a.example"\n')
    (project.parent / "svc.toml").write_text('[profiles.outside]\nurl = "https://a.example"\n')

    assert profiles() == {}
    monkeypatch.setenv("HOME", str(project))
    assert profiles() == {"inside": project / "svc.toml"}


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("name", ["svc.toml", "pyproject.toml"])
def test_files_of_other_users_are_not_read(name: str, project: Path) -> None:
    table = "tool.svc-notebook.profiles.shop" if name == "pyproject.toml" else "profiles.shop"
    file = project / name
    file.write_text(f'[{table}]\nurl = "https://a.example"\n')
    os.chown(file, 12345, 12345)

    with pytest.warns(UserWarning, match=f"{name} belongs to another user"):
        assert profiles() == {}


@pytest.mark.parametrize("given", [{}, {"allow_http": False}])
def test_a_key_is_not_sent_in_plain_text_over_a_network(given: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match=r"http://shop.example is not encrypted.*allow_http"):
        resolve(None, {"url": "http://shop.example", "app_id": "A", "api_key": "k", **given})


def test_plain_text_over_a_network_is_permitted_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"url": "http://shop.example", "app_id": "A", "api_key": "k"}

    assert resolve(None, {**given, "allow_http": True}).url == "http://shop.example"
    user_file().write_text('[profiles.shop]\nurl = "http://shop.example"\nallow_http = true\n')
    assert resolve("shop", {"app_id": "A", "api_key": "k"}).allow_http
    with pytest.raises(BadInput, match="is not encrypted"):  # permitted for that address alone
        resolve("shop", given | {"url": "http://else.example"})
    monkeypatch.setenv("SVC_ALLOW_HTTP", "1")
    assert resolve(None, given).allow_http


def test_trust_of_an_address_includes_no_other_folder(project: Path, tmp_path: Path) -> None:
    write_project(project, OTHER)
    copy = tmp_path / "copy"
    copy.mkdir()
    write_project(copy, OTHER)
    trust_folder(copy)

    with pytest.raises(NotTrusted):
        resolve("shop", {"api_key": "k"})
