"""Several kernels, at once and one after another, share one local service."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Running
from tests.faces.magics.kernel import PATIENCE, Kernel, running_kernel
from tests.kernels.conftest import environment

ROWS = 20_000
SETUP = """
%load_ext svc_notebook
import pandas as pd, svc_notebook as svc
def made(n): return pd.DataFrame({"objectID": [str(i) for i in range(n)], "number": range(n)})
def count(index): return svc.current().search(index, hitsPerPage=0)["nbHits"]
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "rows.csv").write_text(
        "objectID,number\n" + "".join(f"{n},{n}\n" for n in range(ROWS))
    )
    return tmp_path


@pytest.fixture
def first(home: Path) -> Iterator[Kernel]:
    with running_kernel(environment(home)) as kernel:
        prepare(kernel, home)
        yield kernel


def prepare(kernel: Kernel, home: Path) -> None:
    kernel.good(f"%cd -q {home}\n{SETUP}")
    kernel.good(f"%svc connect local --data {home / 'shop'}")


@pytest.mark.slow
def test_two_kernels_work_on_one_local_service(first: Kernel, home: Path) -> None:
    with running_kernel(environment(home)) as second:
        prepare(second, home)

        loads = [
            (k, k.start(f"svc.push(made(5000), 'of-{n}').published"))
            for n, k in enumerate((first, second))
        ]
        pushed = [kernel.finish(request).result for kernel, request in loads]
        first.good("svc.push(made(10), 'both')")

        assert pushed == ["5000", "5000"]
        assert second.good("count('of-0'), count('of-1'), count('both')").result == (
            "(5000, 5000, 10)"
        )

    assert first.good("count('of-1')").result == "5000"


@pytest.mark.slow
def test_when_the_kernel_that_started_a_service_ends_the_service_runs_on(home: Path) -> None:
    with running_kernel(environment(home)) as second:
        with running_kernel(environment(home)) as first:
            prepare(first, home)
            first.good("svc.push(made(100), 'kept')")
            prepare(second, home)
            assert second.good("kept = svc.search('kept')\nlen(kept)").result == "20"

        assert second.good("count('kept')").result == "100"
        assert second.good("len(kept.svc.next_page())").result == "20"


@pytest.mark.slow
@pytest.mark.sampled(1)
@pytest.mark.parametrize("place", ["local", "elsewhere"])
def test_a_load_goes_on_after_a_restart_of_its_kernel(
    first: Kernel, home: Path, service: Running, place: str
) -> None:
    if place == "elsewhere":
        first.good(connecting(service))
    load = "svc.load('rows.csv', 'restarted', batch=100, in_flight=2{})"
    first.start(load.format(""))
    wait_for_checkpoint(home)

    restart(first)
    prepare(first, home)
    if place == "elsewhere":
        first.good(connecting(service))
    first.good("result = " + load.format(", resume=True"))

    assert first.good(f"0 < result.resumed < {ROWS}, result.complete").result == "(True, True)"
    assert first.good("count('restarted')").result == str(ROWS)
    assert first.good("len(svc.read_browse('restarted')['number'].unique())").result == str(ROWS)


def connecting(service: Running) -> str:
    return (
        f"client = svc.connect(url={service.url!r}, app_id={service.appId!r}, "
        f"api_key={service.adminKey!r})"
    )


def wait_for_checkpoint(home: Path) -> None:
    """Wait until a load has been acknowledged a few batches."""
    # Shorter names have the versions that undo a load, which are written before anything is sent.
    names = f"{'?' * 32}.jsonl"
    while not any(file.read_bytes().count(b"\n") > 5 for file in home.rglob(names)):
        time.sleep(0.02)


def restart(kernel: Kernel) -> None:
    """Restart a kernel as a front end does, at once."""
    kernel.manager.restart_kernel(now=True)
    kernel.client.wait_for_ready(timeout=PATIENCE)
