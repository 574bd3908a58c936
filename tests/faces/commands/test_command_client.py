"""The client of a command without a configured service."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from svc_notebook.data.session.local_service import LocalService, local
from tests.conftest import ROOT

COMMAND = [sys.executable, "-m", "svc_notebook"]
Done = subprocess.CompletedProcess[str]
Svc = Callable[..., Done]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The surroundings of a user who has configured nothing."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
    homes = {name: str(tmp_path / name) for name in ("XDG_DATA_HOME", "XDG_STATE_HOME")}
    return own | homes | {"PYTHONPATH": str(ROOT), "SVC_CONFIG": str(tmp_path / "config.toml")}


@pytest.fixture
def svc(environment: dict[str, str]) -> Svc:
    def run(*words: str, typed: str | None = None) -> Done:
        """Run a command; with `typed`, at a terminal on which this is typed."""
        own, other = pty.openpty() if typed is not None else (None, subprocess.DEVNULL)
        if own is not None:
            os.write(own, f"{typed}\n".encode())
        return subprocess.run(
            [*COMMAND, *words], stdin=other, capture_output=True, text=True, check=False,
            env=environment, timeout=60,
        )  # fmt: skip

    return run


@pytest.fixture
def running(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalService]:
    """The local service of the default data folder."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    service = local()
    yield service
    service.stop()


@pytest.mark.slow
def test_running_local_service_is_used_with_a_warning(svc: Svc, running: LocalService) -> None:
    done = svc("indices")

    assert done.returncode == 0
    assert (
        done.stderr == f"svc: no service is configured; using the local service at {running.url}\n"
    )


@pytest.mark.slow
def test_what_is_configured_wins(svc: Svc, running: LocalService, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(
        'default_profile = "shop"\n[profiles.shop]\nurl = "http://127.0.0.1:9"\napi_key = "k"\n'
    )

    done = svc("indices")

    assert done.returncode == 1
    assert running.url not in done.stderr


@pytest.mark.slow
def test_error_without_service_and_terminal_says_what_to_type(svc: Svc, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[profiles.shop]\nurl = "http://127.0.0.1:9"\n')

    done = svc("indices")

    assert (done.returncode, done.stdout) == (1, "")
    for advice in ("`svc serve`", "--profile local", "`--profile shop`", "SVC_URL"):
        assert advice in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["n", ""])
def test_terminal_starts_nothing_without_confirmation(svc: Svc, answer: str) -> None:
    done = svc("indices", typed=answer)

    assert done.returncode == 1
    assert "start one that runs until `svc stop`? [y/N]" in done.stderr
    assert svc("stop").returncode == 1


@pytest.mark.slow
def test_at_a_terminal_one_is_started_that_stays(svc: Svc, tmp_path: Path) -> None:
    (tmp_path / "products.csv").write_text("sku,name\n1,lamp\n")

    loaded = svc("load", str(tmp_path / "products.csv"), "products", "--id", "sku", typed="y")
    found = svc("search", "products", "lamp")
    stopped = svc("stop")

    assert (loaded.returncode, found.returncode, stopped.returncode) == (0, 0, 0)
    assert "1 published" in loaded.stdout
    assert "lamp" in found.stdout


@pytest.mark.slow
def test_services_of_other_folders_are_named(svc: Svc, running: LocalService) -> None:
    other = local(running.data.with_name("other"))
    running.stop()

    done = svc("indices")
    other.stop()

    assert done.returncode == 1
    assert f"{other.url} on {other.data}" in done.stderr
