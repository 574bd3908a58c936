"""What later processes say of a process that was killed, and how they go on or back."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import svc_notebook as svc
from svc_notebook.faces.cli import main
from tests.conftest import Running
from tests.kill_points import run_killed
from tests.tuning.deployment.conftest import fill, write_profile

# The write of an application of three configurations after which it is killed.
KILLED_AFTER = 4


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_new_process_names_what_an_earlier_one_left_as_it_connects(
    index: str, shop: svc.Client, service: Running, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    svc.push([{"objectID": "1"}], index, progress=False)
    connect = "import svc_notebook as svc, sys; svc.connect(url=sys.argv[1], app_id=sys.argv[2])"
    environment = {**os.environ, "SVC_API_KEY": service.adminKey}

    def connect_anew() -> str:
        command = [sys.executable, "-c", connect, service.url, service.appId]
        return subprocess.run(
            command, env=environment, check=True, capture_output=True, text=True
        ).stderr

    assert connect_anew() == ""
    assert not run_killed(service, f"svc.set_settings({index!r}, {{'hitsPerPage': 7}})", 0, "after")

    assert f"of {index}" in (stderr := connect_anew())
    assert "was interrupted and may be made in part" in stderr
    assert f"`svc undo {index} " in stderr


@pytest.mark.slow
@pytest.mark.filterwarnings("always:.* was interrupted")
@pytest.mark.parametrize("way", ["on", "back"])
@pytest.mark.timeout(180)
def test_the_run_after_a_killed_one_says_so_and_goes_on_or_back(
    way: str, shop: svc.Client, service: Running, profiles: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("XDG_STATE_HOME", str(profiles.parent / "state"))
    write_profile(profiles, "work", service, service.adminKey)
    names = sorted(fill(shop, 3) for _ in range(3))
    folder = str(profiles.parent / "search")
    assert main(["pull-config", folder, *names, "--profile", "shop"]) == 0
    for name in names:
        svc.push([{"objectID": "1"}], name, progress=False)
    before = [svc.tuning.snapshot(name).hash for name in names]
    apply = ["apply-config", folder, "--profile", "work"]
    words = [*apply, "--yes"]
    call = f"from svc_notebook.faces.cli import main; import sys; sys.exit(main({words!r}))"
    assert not run_killed(service, call, KILLED_AFTER, "after")

    capsys.readouterr()

    main([*apply, "--check"])

    said = capsys.readouterr().err
    first, second, third = names
    assert f"the `svc apply-config` of {folder} at " in said
    assert f"{first} written; {second} perhaps written in part; {third} not written" in said
    assert f"`svc apply-config {folder}` again completes it" in said
    undo = re.findall(r"`svc undo (\S+) (\S+)`", said.partition("again completes it")[2])
    assert [name for name, _ in undo] == [first, second]
    if way == "on":
        assert main([*apply, "--yes"]) == 0
        capsys.readouterr()
        assert main([*apply, "--check"]) == 0
    else:
        for name, change in undo:
            assert main(["undo", name, change, "--profile", "work", "--yes"]) == 0
        assert [svc.tuning.snapshot(name).hash for name in names] == before
        capsys.readouterr()
        main([*apply, "--check"])
    assert "was interrupted" not in capsys.readouterr().err
