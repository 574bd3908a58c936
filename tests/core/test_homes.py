"""Home directories: paths with `~`, and users without one, as containers have."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from svc_notebook.core.files import expand_path
from svc_notebook.errors import BadInput
from tests.conftest import ROOT

# A user id that has no account.
UNKNOWN_USER = 48_213
FIRST_LINES = """
import svc_notebook as svc

client = svc.connect("local")
svc.push([{"objectID": "1", "name": "lamp"}], "lamps", progress=False)
svc.tuning.apply("lamps", {"hitsPerPage": 5})
svc.tuning.undo("lamps")
print(svc.loads()["index"].tolist(), svc.search("lamps", "lamp").shape)
svc.stop()
"""


def test_a_path_begins_in_the_home_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")

    assert expand_path("~/films.csv") == Path("/home/someone/films.csv")
    assert expand_path("films~/~.csv") == Path("films~/~.csv")


def test_a_file_whose_name_begins_with_a_tilde(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("~films.csv").touch()

    assert expand_path("~films.csv") == Path("~films.csv")


def test_an_unknown_home_directory_is_named() -> None:
    with pytest.raises(BadInput, match=r"^~nobody-here/a\.csv: the home directory ~nobody-here is"):
        expand_path("~nobody-here/a.csv")


@pytest.mark.slow
def test_a_user_without_a_home_directory_has_a_private_folder(tmp_path: Path) -> None:
    done = _run_without_home(tmp_path)

    assert done.returncode == 0, done.stderr
    assert done.stdout == "['lamps'] (1, 3)\n"
    folder = tmp_path / f"svc-notebook-{UNKNOWN_USER}"
    warning = f"the home directory is unknown: journals and local services are kept in {folder}"
    assert done.stderr.count(warning) == 1
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.slow
def test_a_folder_that_others_can_open_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / f"svc-notebook-{UNKNOWN_USER}"
    folder.mkdir()
    folder.chmod(0o755)

    done = _run_without_home(tmp_path)

    assert f"and {folder} is not a private folder of this user; set HOME" in done.stderr


def _run_without_home(temporary: Path) -> subprocess.CompletedProcess[str]:
    """Run the first lines as a user without an account, in the namespace of a user."""
    words = ["unshare", "--user", f"--map-user={UNKNOWN_USER}"]
    if not shutil.which("unshare") or subprocess.run([*words, "true"], check=False).returncode:
        pytest.skip("needs a Linux with namespaces of users")
    homes = ("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")
    environment = {name: value for name, value in os.environ.items() if name not in homes}
    return subprocess.run(
        [*words, sys.executable, "-c", FIRST_LINES], cwd=ROOT, timeout=120, capture_output=True,
        text=True, check=False, env={**environment, "TMPDIR": str(temporary)},
    )  # fmt: skip
