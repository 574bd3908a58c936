"""Clones of an index of one service in another."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

import svc_notebook as svc
from svc_notebook.data.client import ClientConfig, Secret
from svc_notebook.errors import BadInput, KeyRefused, NotConnected, NotFound
from tests.conftest import Running
from tests.tuning.deployment.conftest import fill, make_key, write_profile


def ids(index: str) -> set[str]:
    return set(svc.read_browse(index)["objectID"])


def test_a_clone_has_the_whole_index(index: str, shop: svc.Client) -> None:
    made = svc.clone(index, from_="shop", progress=False)

    assert (made.records, made.synonyms, made.rules) == (40, 1, 1)
    assert svc.tuning.diff(svc.tuning.snapshot(index, client=shop), index).empty
    here = svc.read_browse(index).sort_values("objectID", ignore_index=True)
    there = svc.read_browse(index, client=shop)
    assert here.equals(there.sort_values("objectID", ignore_index=True)[here.columns])


def test_a_sample_is_repeatable_and_has_what_is_judged(index: str) -> None:
    judgments = [{"query": "lamp", "objectID": one, "rating": 1} for one in ("7", "39", "gone")]
    options: Any = {"from_": "shop", "sample": 10, "seed": 3, "progress": False}

    one = svc.clone(index, judgments=judgments, **options)
    first = ids(index)
    svc.clone(index, name=f"{index}-again", **options)

    assert {"7", "39"} <= first
    assert one.missing == 1
    assert first - {"7", "39"} <= ids(f"{index}-again") <= first | {"7", "39"}
    assert len(ids(f"{index}-again")) == 10


def test_filters_choose_records_and_keep_what_is_judged(index: str) -> None:
    judgments = [{"query": "lamp", "objectID": "1", "rating": 1}]

    svc.clone(index, from_="shop", filters="brand:Acme", judgments=judgments, progress=False)

    assert ids(index) == {f"{n}" for n in range(0, 40, 2)} | {"1"}


def test_parts_are_chosen(index: str) -> None:
    made = svc.clone(index, from_="shop", parts=["settings", "rules"], progress=False)

    assert (made.records, made.synonyms, made.rules) == (0, 0, 1)
    assert svc.current().get_settings(index)["customRanking"] == ["desc(sold)"]


def test_an_existing_index_needs_a_word(index: str) -> None:
    svc.push([{"objectID": "mine"}], index, progress=False)

    with pytest.raises(BadInput, match="if_exists='replace'"):
        svc.clone(index, from_="shop", progress=False)
    assert ids(index) == {"mine"}
    svc.clone(index, from_="shop", if_exists="replace", progress=False)
    assert len(ids(index)) == 40


def test_replicas_get_names_of_the_clone(index: str, shop: svc.Client) -> None:
    names = [f"{index}_cheap", f"virtual({index}_new)"]
    svc.set_settings(index, {"replicas": names}, client=shop)
    svc.set_settings(f"{index}_cheap", {"ranking": ["asc(price)"]}, client=shop)
    svc.set_settings(f"{index}_new", {"customRanking": ["asc(sold)"]}, client=shop)

    made = svc.clone(index, from_="shop", name=f"try-{index}", replicas=True, progress=False)

    client = svc.current()
    assert made.replicas == (f"try-{index}_cheap", f"try-{index}_new")
    assert client.get_settings(f"try-{index}")["replicas"] == [
        f"try-{index}_cheap", f"virtual(try-{index}_new)",
    ]  # fmt: skip
    assert client.get_settings(f"try-{index}_cheap")["ranking"] == ["asc(price)"]
    assert client.get_settings(f"try-{index}_new")["customRanking"] == ["asc(sold)"]
    assert client.search(f"try-{index}_cheap", "")["hits"][0]["objectID"] == "0"


def test_a_replica_never_takes_the_name_of_another_index(index: str, shop: svc.Client) -> None:
    svc.set_settings(index, {"replicas": [f"{index}_cheap"]}, client=shop)
    svc.push([{"objectID": "mine"}], f"{index}_cheap", progress=False)

    with pytest.raises(BadInput, match="would lose its records"):
        svc.clone(index, from_="shop", replicas=True, progress=False)

    assert ids(f"{index}_cheap") == {"mine"}


@pytest.mark.parametrize("lacking", ["browse", "settings", "seeUnretrievableAttributes"])
def test_a_key_of_the_source_that_lacks_a_right(
    index: str, shop: svc.Client, production: Running, profiles: Path, lacking: str
) -> None:
    svc.set_settings(index, {"unretrievableAttributes": ["price"]}, client=shop)
    rights = {"browse", "settings", "seeUnretrievableAttributes"} - {lacking}
    write_profile(profiles, "reader", production, make_key(shop, *rights))

    with pytest.raises(KeyRefused, match=f"`{lacking}` on the profile `reader`"):
        svc.clone(index, from_="reader", progress=False)

    assert not svc.current().index_exists(index)


def test_a_key_of_the_target_that_lacks_a_right(index: str, service: Running) -> None:
    key = make_key(svc.current(), "settings", "editSettings", "addObject")

    with (
        svc.Client(ClientConfig(service.appId, Secret(key), service.url)) as weak,
        pytest.raises(KeyRefused, match="`deleteIndex`"),
    ):
        svc.clone(index, from_="shop", client=weak, progress=False)

    assert not svc.current().index_exists(index)


def test_a_key_for_other_indices_is_refused(
    index: str, shop: svc.Client, production: Running, profiles: Path
) -> None:
    key = make_key(shop, "browse", "settings", indexes=["other*"])
    write_profile(profiles, "other", production, key)

    with pytest.raises(KeyRefused, match=r"restricted to other\*"):
        svc.clone(index, from_="other", progress=False)


def test_what_does_not_exist_is_named(index: str) -> None:
    with pytest.raises(NotConnected, match="no profile `shp`"):
        svc.clone(index, from_="shp", progress=False)
    with pytest.raises(NotFound, match="`shop` has no index nothing"):
        svc.clone("nothing", from_="shop", progress=False)


def test_the_environment_does_not_redirect_a_profile(
    index: str, service: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (
        ("URL", service.url), ("APP_ID", service.appId), ("API_KEY", service.adminKey),
    ):  # fmt: skip
        monkeypatch.setenv(f"SVC_{name}", value)

    assert svc.clone(index, from_="shop", progress=False).records == 40


KILLED = """
import os, sys
import svc_notebook as svc
from svc_notebook.tuning.deployment import record_transfer
svc.connect(url=sys.argv[1], app_id=sys.argv[2], api_key=sys.argv[3])
pages = 0
send = record_transfer.RecordTransfer._send
async def counted(self, *given):
    global pages
    await send(self, *given)
    pages += 1
    if pages == 2:
        os._exit(9)
record_transfer.RecordTransfer._send = counted
svc.clone(sys.argv[4], from_="shop", progress=False, **eval(sys.argv[5]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"sample": 2200}], ids=["all", "sample"])
@pytest.mark.sampled(1)
def test_a_killed_clone_is_resumed(shop: svc.Client, service: Running, options: Any) -> None:
    index = fill(shop, 2500)
    arguments = [service.url, service.appId, service.adminKey, index, repr(options)]
    killed = subprocess.run([sys.executable, "-c", KILLED, *arguments], check=False, timeout=60)
    assert killed.returncode == 9
    assert not svc.current().index_exists(index)

    made = svc.clone(index, from_="shop", resume=True, progress=False, **options)

    assert (made.resumed, made.records) == (2000, options.get("sample", 2500))
    assert len(ids(index)) == made.records
    assert not [one for one in svc.read_indices()["name"] if one.startswith(f"{index}_tmp")]


@pytest.mark.slow
def test_memory_does_not_grow_with_the_index(shop: svc.Client) -> None:
    peaks = []
    for count in (2000, 12000):
        index = fill(shop, count)
        tracemalloc.start()
        svc.clone(index, from_="shop", parts=["settings", "records"], progress=False)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()

    assert peaks[1] < 2 * peaks[0]
