"""The application id and admin key of a service: their sources and checks."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from svc_notebook.data.session import local
from svc_notebook.errors import LocalServiceFailed
from svc_notebook.service.server import ADMIN_KEY_VARIABLE, read_credentials, serve
from tests.conftest import ROOT, start_service, stop_service


def key_of(argument: str | None = None, file: str | Path | None = None) -> str | None:
    return read_credentials("APP", argument, None if file is None else str(file))["adminKey"]


def test_without_a_key_one_is_made() -> None:
    assert read_credentials(None, None, None) == {"appId": None, "adminKey": None}


def test_the_key_of_the_environment_is_read_and_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ADMIN_KEY_VARIABLE, "from-environment")

    assert key_of() == "from-environment"
    assert ADMIN_KEY_VARIABLE not in os.environ


def test_an_argument_and_a_file_win_over_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "key").write_text("from-file\n\nwhat else there is\n")

    for given, key in (({"argument": "mine"}, "mine"), ({"file": tmp_path / "key"}, "from-file")):
        monkeypatch.setenv(ADMIN_KEY_VARIABLE, "from-environment")
        assert key_of(**given) == key
        assert ADMIN_KEY_VARIABLE not in os.environ


def test_an_empty_variable_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ADMIN_KEY_VARIABLE, "")

    assert key_of() is None


def test_standard_input_and_a_descriptor_are_files_too(standard_input: Callable[..., None]) -> None:
    standard_input(b"typed-in\n")
    reading, writing = os.pipe()
    os.write(writing, b"through-a-pipe\n")
    os.close(writing)

    assert key_of(file="-") == "typed-in"
    assert key_of(file=f"/dev/fd/{reading}") == "through-a-pipe"
    os.close(reading)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"two words", "clé".encode(), b"\xff\xfe"])
def test_a_file_without_a_key_is_refused_and_not_shown(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "key").write_bytes(content)

    with pytest.raises(LocalServiceFailed, match="admin key") as refused:
        key_of(file=tmp_path / "key")

    assert "words" not in str(refused.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(LocalServiceFailed, match=r"nowhere of the admin key .* No such file"):
        key_of(file=tmp_path / "nowhere")


def test_a_key_given_twice_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = serve(data=tmp_path / "new", admin_key="a", admin_key_file="b")

    assert status == 1
    assert "given twice" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


@pytest.mark.slow
def test_a_service_answers_to_the_key_of_its_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ADMIN_KEY_VARIABLE, "my-own-key")
    process, running = start_service(tmp_path)

    with running.client("my-own-key") as client:
        status = client.get("/1/keys").status_code
    stop_service(process)

    assert (running.adminKey, status) == ("my-own-key", 200)


@pytest.mark.slow
def test_the_command_reads_the_key_from_a_pipe(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "svc_notebook", "serve", "--json", "--data", str(tmp_path)]
    process = subprocess.Popen(
        [*command, "--admin-key-file", "-"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip
    assert process.stdin
    assert process.stdout
    process.stdin.write("piped-key\n")
    process.stdin.close()

    told = process.stdout.readline()
    stop_service(process)

    assert '"adminKey": "piped-key"' in told


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="there is no /proc")
def test_a_service_started_by_a_session_has_no_key_in_its_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ADMIN_KEY_VARIABLE, "my-own-key")
    monkeypatch.setenv("SVC_API_KEY", "another-key")
    running = local(tmp_path)
    arguments = Path(f"/proc/{running.pid}/cmdline").read_text()
    running.stop()

    assert running.admin_key.reveal() == "my-own-key"
    assert "serve" in arguments
    assert "-key" not in arguments
