"""Destructive verbs require confirmation, or `--yes` if no prompt is available."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.data.client import Client
from svc_notebook.faces.commands.binding import bind_words
from svc_notebook.faces.commands.execution import perform
from svc_notebook.faces.commands.registry import VERBS, find_verb
from svc_notebook.faces.commands.verb import YES
from tests.conftest import Running
from tests.faces.cli.test_cli import COMMAND, environment

INDEX = "confirming"
LAMPS = pd.DataFrame({"objectID": ["1", "2", "3"], "name": ["blue lamp", "red lamp", "desk"]})
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(autouse=True)
def client(service: Running, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Client:
    """The current client, and three lamps."""
    monkeypatch.setenv("SVC_CONFIG", str(tmp_path / "config.toml"))
    client = svc.connect(url=service.url, app_id=service.appId, api_key=service.adminKey)
    svc.push(LAMPS, INDEX)
    return client


@pytest.fixture
def run(service: Running, tmp_path: Path) -> Run:
    """The command with a terminal or a pipe for its input; the answer is typed into it."""
    config = tmp_path / "config.toml"
    config.write_text(
        f'[profiles.shop]\nurl = "{service.url}"\napp_id = "{service.appId}"\n'
        f'api_key = "{service.adminKey}"\n'
    )

    def do(*words: str, answer: str, terminal: bool) -> subprocess.CompletedProcess[str]:
        ours, theirs = pty.openpty() if terminal else os.pipe()[::-1]
        os.write(ours, answer.encode())
        try:
            return subprocess.run(
                [*COMMAND, *words], stdin=theirs, capture_output=True, text=True, check=False,
                timeout=50, env=environment(SVC_CONFIG=str(config)),
            )  # fmt: skip
        finally:
            os.close(ours)
            os.close(theirs)

    return do


def left() -> int:
    return len(svc.read_browse(INDEX))


def type_line(*words: str) -> object:
    call = bind_words(find_verb(words[0], "magic"), words[1:], "magic")
    return perform(call, "magic")


LINES = [
    (
        ["delete", INDEX, "1", "2"],
        f"delete 2 of 3 records of {INDEX} (ids: 1, 2), no profile, application ",
    ),
    (
        ["delete", INDEX, "--filters", "a:b"],
        f"delete 0 of 3 records of {INDEX} (filters: a:b; `a` is not among "
        f"attributesForFaceting of {INDEX}), ",
    ),
    (["clear", INDEX], f"delete all records of {INDEX}, no profile, application "),
    (["drop", INDEX], f"delete the whole index {INDEX}, no profile, application "),
    (["move", INDEX, "b"], f"move {INDEX} onto b, no profile, application "),
    (["copy", INDEX, "b", "--scope", "rules"], f"copy {INDEX} onto b (scope: rules), "),
]


@pytest.mark.parametrize(("words", "told"), LINES, ids=[" ".join(words) for words, _ in LINES])
def test_without_a_prompt_the_refusal_names_the_action(
    words: list[str], told: str, service: Running
) -> None:
    with pytest.raises(svc.errors.BadOption) as refused:
        type_line(*words)

    assert f"to {told}" in f"{refused.value}"
    assert f"{service.appId} at {service.url}" in f"{refused.value}"
    assert "pass `--yes`" in f"{refused.value}"
    assert left() == 3


def test_a_dry_run_needs_no_confirmation() -> None:
    assert type_line("delete", INDEX, "1", "none", "--dry-run") == {
        "index": INDEX, "before": 3, "after": 2, "status": "dry run: nothing was deleted",
    }  # fmt: skip
    assert left() == 3


def test_yes_skips_the_confirmation() -> None:
    assert type_line("delete", INDEX, "1", "--yes") == {"index": INDEX, "before": 3, "after": 2}


def test_only_destructive_verbs_have_yes() -> None:
    known = {verb.name for verb in VERBS if YES in verb.named("command").values()}

    words = {name.split()[-1] for name in known}
    assert {"clear", "copy", "delete", "drop", "move", "rules replace", "settings reset"} <= known
    assert known == {verb.name for verb in VERBS if verb.destructive}
    assert not words & {"get", "list", "export", "search", "show"}


def test_refused_call_needs_no_confirmation() -> None:
    with pytest.raises(svc.errors.BadInput, match="pass ids or filters"):
        type_line("delete", INDEX)


def test_a_profile_in_use_is_named(tmp_path: Path, service: Running) -> None:
    config = f'[profiles.shop]\nurl = "{service.url}"\napp_id = "A"\napi_key = "k"\n'
    (tmp_path / "config.toml").write_text(config)
    svc.connect("shop")

    with pytest.raises(svc.errors.BadOption, match=f"whole index {INDEX}, profile shop, appl"):
        type_line("drop", INDEX)


def test_bound_members_of_a_body_are_checked() -> None:
    call = bind_words(find_verb("call", "magic"), ["delete_key"], "magic", {}, "key: abcdefgh")
    other = bind_words(find_verb("call", "magic"), ["clear_objects"], "magic", {}, "index: films")

    with pytest.raises(svc.errors.BadOption, match=r"call delete_key \(body: key=abcd...\)"):
        perform(call, "magic")
    with pytest.raises(svc.errors.BadOption, match=r"clear_objects \(body: index=films\)"):
        perform(other, "magic")


def test_many_ids_are_shortened() -> None:
    with pytest.raises(svc.errors.BadOption) as refused:
        type_line("delete", INDEX, *(f"id-{n}" for n in range(500)))

    assert len(f"{refused.value}") < 300


def test_a_terminal_asks_and_a_yes_does_it(run: Run, service: Running) -> None:
    done = run("clear", INDEX, "--profile", "shop", answer="y\n", terminal=True)

    assert done.returncode == 0
    assert done.stderr == (
        f"Delete all records of {INDEX}, profile shop, application {service.appId} "
        f"at {service.url}? [y/N] "
    )
    assert left() == 0


def test_a_terminal_asks_and_anything_else_is_a_no(run: Run) -> None:
    done = run("clear", INDEX, "--profile", "shop", answer="\n", terminal=True)

    assert done.returncode == 130
    assert "nothing was done" in done.stderr
    assert left() == 3


@pytest.mark.slow
def test_line_of_a_pipe_is_not_an_answer(run: Run) -> None:
    done = run("clear", INDEX, "--profile", "shop", answer="y\n", terminal=False)

    assert done.returncode == 2
    assert "pass `--yes`" in done.stderr
    assert left() == 3
