"""Deleting, copying and moving, on a real service."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.data.client import Client
from svc_notebook.data.client.operations import BATCH_RECORDS
from svc_notebook.errors import BadInput
from tests.conftest import Running
from tests.faces.commands.conftest import type_line

LAMPS = pd.DataFrame(
    {"objectID": ["1", "2", "3"], "name": ["blue lamp", "red lamp", "desk"], "price": [9, 12, 50]}
)
SYNONYM: Any = {"objectID": "pair", "type": "synonym", "synonyms": ["lamp", "light"]}


@pytest.fixture(autouse=True)
def client(service: Running, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Client:
    """The current client of this test."""
    monkeypatch.setenv("SVC_CONFIG", str(tmp_path / "config.toml"))
    return svc.connect(url=service.url, app_id=service.appId, api_key=service.adminKey)


@pytest.fixture
def index(client: Client, tmp_path: Path) -> str:
    """An index of this test's own: three lamps, a setting and a synonym."""
    name = f"removing-{tmp_path.name}"
    svc.push(LAMPS, name)
    svc.settings(name, hitsPerPage=7)
    client.wait(client.save_synonyms(name, [SYNONYM]), index=name)
    return name


def ids_in(index: str) -> list[str]:
    return sorted(svc.read_browse(index)["objectID"])


def names() -> set[str]:
    return set(svc.read_indices()["name"])


@pytest.mark.parametrize(
    "ids",
    [["1", "3"], [1, 3], pd.Series(["1", "3"]), ("1", "3", "none"), LAMPS.iloc[[0, 2]]],
    ids=["texts", "numbers", "column", "unknown", "table"],
)
def test_records_are_deleted_by_their_ids(index: str, ids: Any) -> None:
    done = svc.delete_records(index, ids)

    assert done == {"index": index, "before": 3, "after": 1}
    assert ids_in(index) == ["2"]


def test_one_text_is_one_id(index: str) -> None:
    svc.delete_records(index, "1")

    assert ids_in(index) == ["2", "3"]


def test_ids_of_an_empty_result_delete_nothing(index: str) -> None:
    assert svc.delete_records(index, [])["after"] == 3


def test_more_ids_than_fit_in_one_batch(index: str) -> None:
    missing = [f"missing-{n}" for n in range(BATCH_RECORDS)]

    assert svc.delete_records(index, ["1", *missing, "2"])["after"] == 1


def test_records_are_deleted_by_filters(index: str) -> None:
    done = svc.delete_records(index, filters="price < 20")

    assert done == {"index": index, "before": 3, "after": 1}
    assert ids_in(index) == ["3"]


@pytest.mark.parametrize(
    ("filters", "warning"),
    [
        ("name:desk", "`name` is not among attributesForFaceting"),
        ("prise < 20", "no record of .* has `prise`; did you mean `price`"),
        ("name > 20", "`name` of .* holds text, such as 'blue lamp'"),
    ],
)
def test_filters_that_can_match_no_record_cause_a_warning(
    index: str, filters: str, warning: str
) -> None:
    for dry_run in (True, False):
        with pytest.warns(UserWarning, match=warning):
            done = svc.delete_records(index, filters=filters, dry_run=dry_run)

        assert done["after"] == 3


def test_a_dry_run_counts_the_records_of_filters(index: str) -> None:
    done = svc.delete_records(index, filters="price < 20", dry_run=True)

    assert (done["before"], done["after"]) == (3, 1)
    assert len(ids_in(index)) == 3


@pytest.mark.parametrize("which", [{}, {"ids": ["1"], "filters": "price < 20"}])
def test_records_are_named_in_one_way(index: str, which: Any) -> None:
    with pytest.raises(svc.errors.BadInput, match="pass ids or filters"):
        svc.delete_records(index, **which)

    assert len(ids_in(index)) == 3


def test_variable_contains_the_ids_to_read_or_delete(index: str) -> None:
    cheap: Any = LAMPS[LAMPS["price"] < 20]

    read = type_line(f"get {index} --from cheap --columns price", cheap=cheap)
    done = type_line(f"delete {index} --from ids --yes", ids=cheap["objectID"])

    assert read["price"].tolist() == [9, 12]
    assert (done["after"], ids_in(index)) == (1, ["3"])


def test_a_table_without_ids_deletes_nothing(index: str) -> None:
    with pytest.raises(svc.errors.BadInput, match="no column `objectID`; pass the column"):
        svc.delete_records(index, LAMPS[["name"]])

    assert len(ids_in(index)) == 3


def test_value_that_is_not_an_id_deletes_nothing(index: str) -> None:
    with pytest.raises(svc.errors.BadInput, match="is not an objectID"):
        svc.delete_records(index, ["1", None])

    assert len(ids_in(index)) == 3


def test_a_cleared_index_keeps_what_surrounds_its_records(index: str, client: Client) -> None:
    done = svc.clear_index(index)

    assert done == {"index": index, "before": 3, "after": 0}
    assert client.get_settings(index)["hitsPerPage"] == 7
    assert len(svc.read_synonyms(index)) == 1


def test_a_dropped_index_is_gone(index: str) -> None:
    done = svc.drop_index(index)

    assert done == {"index": index, "before": 3, "after": 0}
    assert index not in names()


def test_a_copy_has_everything(index: str) -> None:
    done = svc.copy_index(index, f"{index}-copy")

    assert done == {"index": index, "destination": f"{index}-copy", "before": 0, "after": 3}
    assert ids_in(f"{index}-copy") == ids_in(index)
    assert len(svc.read_synonyms(f"{index}-copy")) == 1


def test_a_copy_of_settings_leaves_the_rest_of_the_destination(index: str, client: Client) -> None:
    other = f"{index}-other"
    svc.push(LAMPS[:1], other)

    done = svc.copy_index(index, other, scope=["settings"])

    assert (done["before"], done["after"]) == (1, 1)
    assert client.get_settings(other)["hitsPerPage"] == 7
    assert len(svc.read_synonyms(other)) == 0


def test_moved_index_replaces_the_other(index: str) -> None:
    other = f"{index}-other"
    svc.push(LAMPS[:1], other)

    done = svc.move_index(index, other)

    assert (done["before"], done["after"]) == (1, 3)
    assert index not in names()


DEEDS: dict[str, Callable[[str], Any]] = {
    "delete": lambda index: svc.delete_records(index, ["1"]),
    "filter": lambda index: svc.delete_records(index, filters="price < 1"),
    "clear": svc.clear_index,
    "drop": svc.drop_index,
    "copy": lambda index: svc.copy_index(index, "removing-kept"),
    "move": lambda index: svc.move_index(index, "removing-kept"),
}


@pytest.mark.parametrize("deed", DEEDS)
def test_misspelt_index_deletes_nothing(deed: str) -> None:
    svc.push(LAMPS, "removing-kept")

    with pytest.raises(svc.errors.NotFound, match="removing-misspelt does not exist"):
        DEEDS[deed]("removing-misspelt")

    assert len(ids_in("removing-kept")) == 3
    assert "removing-misspelt" not in names()


def test_a_key_that_may_not_search_may_clear_but_counts_nothing(
    index: str, client: Client, service: Running
) -> None:
    key = client.add_key(acl=["deleteIndex", "addObject"])["key"]
    svc.connect(url=service.url, app_id=service.appId, api_key=key)

    done = svc.clear_index(index)

    assert done == {"index": index, "before": None, "after": None}


def test_key_that_may_only_search_deletes_nothing(index: str, service: Running) -> None:
    svc.connect(url=service.url, app_id=service.appId, api_key=service.searchKey)

    with pytest.raises(svc.errors.KeyRefused, match="deleteIndex"):
        svc.drop_index(index)


def test_the_awaited_twins_do_the_same(index: str) -> None:
    async def copy_and_drop() -> list[dict[str, Any]]:
        copied = await svc.aio.copy_index(index, f"{index}-awaited")
        return [copied, await svc.aio.drop_index(f"{index}-awaited")]

    copied, dropped = asyncio.run(copy_and_drop())

    assert (copied["after"], dropped["before"], dropped["after"]) == (3, 3, 0)


@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize("filters", ["", " "])
def test_empty_filters_are_refused_before_anything_is_sent(
    index: str, filters: str, dry_run: bool
) -> None:
    with pytest.raises(BadInput, match=rf"`filters` is empty; svc\.clear_index\('{index}'\)"):
        svc.delete_records(index, filters=filters, dry_run=dry_run)
