"""A process that is killed at any write leaves whole states, and the same call again finishes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import svc_notebook as svc
from svc_notebook.cli import main
from tests.conftest import Running
from tests.deployment.conftest import fill, write_profile
from tests.kill_points import Moment, run_killed

# The writes that each call sends; it is not killed at the one after them.
DEPLOYMENT_WRITES, CLONE_WRITES, CONFIGURATION_WRITES = 8, 5, 9
BOTH_SIDES = pytest.mark.parametrize("moment", ["before", "after"])


def state(index: str, client: svc.Client) -> tuple[int, str]:
    """Return the number of records and the digest of the configuration."""
    digest = svc.tuning.snapshot(index, client=client).hash
    return len(svc.read_browse(index, client=client)), digest


def temporary(index: str, client: svc.Client) -> list[str]:
    names = svc.read_indices(client=client)["name"]
    return [name for name in names if name.startswith(f"{index}_tmp")]


@pytest.mark.parametrize("write", range(DEPLOYMENT_WRITES + 1))
@BOTH_SIDES
@pytest.mark.sampled(4)
def test_a_deployment_of_records(
    index: str, shop: svc.Client, service: Running, write: int, moment: Moment
) -> None:
    svc.clone(index, from_="shop", progress=False)
    svc.push([{"objectID": "mine", "name": "lamp"}], index, progress=False)
    svc.set_settings(index, {"hitsPerPage": 7})
    svc.save_synonyms(index, {"objectID": "t", "type": "synonym", "synonyms": ["cup", "mug"]})
    before, after = state(index, shop), state(index, svc.current())
    options: dict[str, Any] = {"parts": ["settings", "synonyms", "rules", "records"]}

    call = f"svc.deploy({index!r}, to='shop', progress=False, **{options!r})"
    finished = run_killed(service, call, write, moment)

    assert finished == (write == DEPLOYMENT_WRITES)
    assert state(index, shop) in ([after] if finished else [before, after])
    assert svc.deploy(index, to="shop", progress=False, resume=True, **options).verified
    assert state(index, shop) == after
    assert not temporary(index, shop)
    assert "open" not in set(svc.tuning.history(index, client=shop)["state"])
    svc.tuning.undo(index, client=shop)
    assert state(index, shop) == (after[0], before[1])


@pytest.mark.parametrize("write", range(CLONE_WRITES + 1))
@BOTH_SIDES
@pytest.mark.sampled(4)
def test_a_clone(
    index: str, shop: svc.Client, service: Running, write: int, moment: Moment
) -> None:
    svc.push([{"objectID": "old"}], index, progress=False)
    before, after = state(index, svc.current()), state(index, shop)

    call = f"svc.clone({index!r}, from_='shop', progress=False, if_exists='replace')"
    finished = run_killed(service, call, write, moment)

    assert finished == (write == CLONE_WRITES)
    assert state(index, svc.current()) in ([after] if finished else [before, after])
    svc.clone(index, from_="shop", progress=False, resume=True, if_exists="replace")
    assert state(index, svc.current()) == after
    assert not temporary(index, svc.current())


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


@pytest.mark.filterwarnings("ignore:the `apply-config` of .* was interrupted")
@pytest.mark.parametrize("write", range(CONFIGURATION_WRITES + 1))
@BOTH_SIDES
@pytest.mark.sampled(4)
def test_configurations_in_files(
    index: str, shop: svc.Client, service: Running, profiles: Path, write: int, moment: Moment
) -> None:
    write_profile(profiles, "work", service, service.adminKey)
    names = [index, *(fill(shop, 3) for _ in range(2))]
    folder = str(profiles.parent / "search")
    assert main(["pull-config", folder, *names, "--profile", "shop"]) == 0
    wanted = [svc.tuning.snapshot(name, client=shop).hash for name in names]
    for name in names:
        svc.push([{"objectID": "1"}], name, progress=False)

    call = (
        "from svc_notebook.cli import main; import sys; "
        f"sys.exit(main(['apply-config', {folder!r}, '--profile', 'work', '--yes']))"
    )
    finished = run_killed(service, call, write, moment)

    assert finished == (write == CONFIGURATION_WRITES)
    assert main(["apply-config", folder, "--profile", "work", "--yes"]) == 0
    assert main(["apply-config", folder, "--profile", "work", "--check"]) == 0
    assert [svc.tuning.snapshot(name).hash for name in names] == wanted
    assert [len(svc.read_browse(name)) for name in names] == [1, 1, 1]


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
    call = f"from svc_notebook.cli import main; import sys; sys.exit(main({[*apply, '--yes']!r}))"
    assert not run_killed(service, call, CONFIGURATION_WRITES // 2, "after")

    capsys.readouterr()

    main([*apply, "--check"])

    said = capsys.readouterr().err
    first, second, third = names
    assert f"the `apply-config` of {folder} at " in said
    assert f"{first} written; {second} perhaps written in part; {third} not written" in said
    assert f"`apply-config {folder}` again goes on" in said
    undo = re.findall(r"`undo (\S+) (\S+)`", said.partition("again goes on")[2])
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
