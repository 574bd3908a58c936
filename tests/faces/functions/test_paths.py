"""What is kept on a machine, with sizes and the command that removes it."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

import svc_notebook as svc
from svc_notebook.data.session.local_service import LocalService
from svc_notebook.faces import cli
from tests.conftest import set_current


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that has nothing of this package."""
    use_home(tmp_path / "first", monkeypatch)
    return tmp_path / "first"


def use_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_current(None)
    for name in ("data", "state"):
        (home / name).mkdir(parents=True)
        monkeypatch.setenv(f"XDG_{name.upper()}_HOME", str(home / name))
    monkeypatch.setenv("SVC_CONFIG", str(home / "config.toml"))


def begin() -> LocalService:
    service = svc.local()
    svc.connect("local")
    return service


@pytest.mark.slow
def test_each_path_has_its_size_and_the_command_that_removes_it(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    service = begin()
    svc.push([{"objectID": "1", "name": "lamp"}], "products", progress=False)
    svc.settings("products", searchableAttributes=["name"])
    service.stop()

    assert cli.main(["paths"]) == 0

    shown, table = capsys.readouterr().out, svc.paths().set_index("kind")
    data, journal = table.loc["data"], table.loc[["journal"]].iloc[0]
    files = [path for path in Path(data["path"]).rglob("*") if path.is_file()]
    assert data["bytes"] == sum(path.stat().st_size for path in files) > 0
    assert journal["bytes"] > 0
    # Temporary files of other processes can change between the two calls.
    stored = table[table["path"].str.startswith(str(home))]
    assert all(text in shown for text in (*stored["path"], *stored["remove"]))
    subprocess.run(shlex.split(data["remove"]), check=True)
    assert "data" not in set(svc.paths()["kind"])


def test_a_running_service_is_stopped_before_its_data_is_removed(home: Path) -> None:
    service = begin()
    try:
        removal = str(svc.paths().set_index("kind").loc["data", "remove"])
        assert removal.startswith("svc stop --data ")
    finally:
        service.stop()


@pytest.mark.slow
def test_a_change_is_undone_on_another_machine(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = begin()
    svc.push([{"objectID": "1", "name": "lamp"}], "products", progress=False)
    svc.settings("products", searchableAttributes=["name"])
    service.stop()
    moved = [Path(path) for path in svc.paths().query("kind in ('data', 'journal')")["path"]]
    second = home.with_name("second")
    use_home(second, monkeypatch)
    for path in moved:
        shutil.copytree(path, second / path.relative_to(home))

    service = begin()

    try:
        assert len(svc.tuning.history("products")) == 1
        svc.tuning.undo("products")
        assert not svc.current().get_settings("products").get("searchableAttributes")
    finally:
        service.stop()
