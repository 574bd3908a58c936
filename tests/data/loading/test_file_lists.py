"""Lists of paths, patterns and URLs, which are loaded as one table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import svc_notebook as svc
from svc_notebook.data import loading
from svc_notebook.data.client import Client, background_loop
from svc_notebook.errors import BadInput
from tests.data.loading.encoded_records import pack
from tests.data.loading.test_pipes_and_addresses import RECORDS, site

__all__ = ["site"]

MONTHS = {"jan.csv": "id,n\n1,a\n2,b\n", "feb.csv": "id,n\n3,c\n", "mar.csv": "id,n\n4,d\n"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in MONTHS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def ids(source: Any, **options: Any) -> list[str]:
    """Return the ids that would be sent, in their order."""
    return [str(record["objectID"]) for record in pack(source, id="id", **options).records]


def test_files_are_one_table_in_their_order(folder: Path) -> None:
    paths = [folder / name for name in MONTHS]

    assert ids(paths) == ["1", "2", "3", "4"]
    assert ids([str(path) for path in reversed(paths)]) == ["4", "3", "1", "2"]
    assert ids(tuple(paths)) == ["1", "2", "3", "4"]
    assert ids([folder / "m*.csv", folder / "jan.csv"]) == ["4", "1", "2"]
    assert ids(paths, limit=3) == ["1", "2", "3"]


def test_a_list_of_one_is_the_file(folder: Path) -> None:
    path = folder / "jan.csv"

    assert pack([path], id="id").batches == pack(path, id="id").batches
    assert pack([path], id="id").plan.source == "jan.csv"
    assert pack([path, path], id="id").plan.source == "jan.csv and 1 more"


@pytest.mark.slow
def test_addresses_and_paths_are_mixed(site: str, tmp_path: Path) -> None:
    copy = tmp_path / "a.csv"
    copy.write_text("id,n\n9,7\n", encoding="utf-8")

    plan = svc.plan([f"{site}/a.csv", copy, f"{site}/a.csv.gz"], "films", duplicates="last")

    assert plan.rows == 2 * len(RECORDS) + 1


def test_a_list_is_loaded_resumed_and_named(client: Client, folder: Path) -> None:
    paths = [folder / name for name in MONTHS]

    result = background_loop.run(loading.load(client.aio, paths, "months", id="id"))
    again = background_loop.run(loading.load(client.aio, paths, "months", id="id", resume=True))
    replaced = background_loop.run(
        loading.load(client.aio, paths[:2], "months", id="id", if_exists="replace")
    )

    assert (result.published, again.published, replaced.published) == (4, 4, 3)
    entry = svc.loads("months", client=client).iloc[0]
    assert entry["source"] == "jan.csv and 1 more"


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["jan.csv", "apr.csv"], "there is no file .*apr.csv"),
        (["jan.csv", "rows.ndjson"], "several formats: delimited, lines"),
        (["jan.csv", "."], "is a folder; pass a pattern"),
    ],
)
def test_what_cannot_be_loaded_is_named(folder: Path, names: list[str], message: str) -> None:
    (folder / "rows.ndjson").write_text('{"id": 1}\n', encoding="utf-8")

    with pytest.raises(BadInput, match=message):
        pack([folder / name for name in names])


def test_what_needs_one_path_or_rows_refuses_a_list(client: Client, folder: Path) -> None:
    paths = [folder / "jan.csv"]

    with pytest.raises(BadInput, match=r"pass a pattern such as 'exports/\*.csv', no list"):
        background_loop.run(
            loading.load(client.aio, paths, "months", cursor="id", if_exists="merge")
        )
    with pytest.raises(BadInput, match=r"a path is not a DataFrame; svc\.load"):
        background_loop.run(loading.push(client.aio, paths, "months"))  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="are a pattern or a list"):
        pack(["lamp", "sofa"])
