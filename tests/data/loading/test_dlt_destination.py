"""Pipelines of dlt into a real service: dispositions, nested tables, failures and repetition."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import svc_notebook as svc
from svc_notebook.data.client import Client
from tests.conftest import Running

dlt = pytest.importorskip("dlt")

Records = dict[str, dict[str, Any]]


@pytest.fixture
def prefix() -> str:
    return f"dlt-{uuid4().hex[:8]}-"


@pytest.fixture
def pipeline(service: Running, prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    from svc_notebook.dlt_destination import svc_notebook

    monkeypatch.setenv("RUNTIME__DLTHUB_TELEMETRY", "false")
    svc.connect(url=service.url, app_id=service.appId, api_key=service.adminKey)
    return dlt.pipeline(
        f"p_{prefix[4:12]}", destination=svc_notebook(index_prefix=prefix), pipelines_dir=tmp_path
    )


def stored(client: Client, index: str) -> Records:
    pages = client.browse_pages(index)
    return {hit.pop("objectID"): hit for page in pages for hit in page["hits"]}


@pytest.mark.slow
def test_dispositions(pipeline: Any, client: Client, prefix: str) -> None:
    index = f"{prefix}Films"
    rows: list[Any] = [{"id": number, "titleText": "é" * number} for number in range(5)]

    def run(rows: Any, disposition: str, key: Any = None) -> Records:
        pipeline.run(
            rows, table_name="Films", write_disposition=disposition, primary_key=key
        ).raise_on_failed_jobs()
        return stored(client, index)

    assert sorted(row["id"] for row in run(rows, "append").values()) == [0, 1, 2, 3, 4]
    assert len(run(rows[:2], "append")) == 7
    client.wait(dict(client.set_settings(index, {"hitsPerPage": 7})), index=index)
    assert run(rows[:3], "replace", "id") == {str(row["id"]): row for row in rows[:3]}
    assert client.get_settings(index)["hitsPerPage"] == 7
    merged = run([{"id": 2, "titleText": "new"}, {"id": 9}], "merge", "id")
    assert {key: row.get("titleText") for key, row in merged.items()} == {
        "0": "", "1": "é", "2": "new", "9": None
    }  # fmt: skip
    assert run([], "replace", "id") == {}
    assert not [name for name in map(str, svc.read_indices()["name"]) if f"{index}_tmp" in name]


@pytest.mark.slow
def test_a_replacement_of_several_files_is_seen_at_once(
    pipeline: Any, client: Client, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from svc_notebook.dlt_destination import SvcDestinationClient

    monkeypatch.setenv("NORMALIZE__DATA_WRITER__FILE_MAX_ITEMS", "40")
    before = [{"id": number, "n": 1} for number in range(100)]
    pipeline.run(before, table_name="t", write_disposition="replace", primary_key="id")
    promote = SvcDestinationClient.complete_load
    seen: list[set[int]] = []

    def complete(self: Any, load_id: str) -> None:
        seen.append({row["n"] for row in stored(client, f"{prefix}t").values()})
        promote(self, load_id)
        promote(self, load_id)  # as after a kill

    monkeypatch.setattr(SvcDestinationClient, "complete_load", complete)
    after = [{"id": number, "n": 2} for number in range(50, 170)]
    pipeline.run(after, table_name="t", write_disposition="replace", primary_key="id")

    assert seen == [{1}]
    assert stored(client, f"{prefix}t") == {str(row["id"]): row for row in after}


def test_values_and_nested_tables_stay_in_the_record(
    pipeline: Any, client: Client, prefix: str
) -> None:
    row = {
        "brand": "A", "sku": 7, "price": Decimal("12.50"), "stock": Decimal("3"), "ok": True,
        "tags": ["x", "y"], "variants": [{"size": {"cm": 4}}, {"size": {"cm": 5}}],
    }  # fmt: skip
    pipeline.run([row], table_name="t", write_disposition="merge", primary_key=["brand", "sku"])

    expected = {**row, "price": 12.5, "stock": 3}
    assert stored(client, f"{prefix}t") == {"A-7": expected}


@pytest.mark.slow
def test_an_incremental_resource_continues(pipeline: Any, client: Client, prefix: str) -> None:
    rows = [{"id": number, "at": number} for number in range(5)]

    def table() -> Any:
        by_at = dlt.sources.incremental("at")
        options = {"name": "t", "primary_key": "id", "write_disposition": "merge"}
        return dlt.resource(lambda at=by_at: iter(rows), **options)

    pipeline.run(table())
    rows[:] = [{"id": 0, "at": 0, "n": 1}, {"id": 5, "at": 9}]
    pipeline.run(table())

    assert not any("n" in row for row in stored(client, f"{prefix}t").values())
    assert stored(client, f"{prefix}t").keys() == {"0", "1", "2", "3", "4", "5"}


def test_what_cannot_be_sent_fails_the_pipeline(pipeline: Any) -> None:
    cases: list[tuple[list[dict[str, Any]], dict[str, Any], str]] = [
        ([{"id": 1}], {"write_disposition": "merge"}, "primary_key"),
        ([{"id": 1, "t": "x" * 200_000}], {"primary_key": "id"}, "1 row of big cannot be sent"),
    ]
    for rows, options, message in cases:
        with pytest.raises(Exception, match=message):
            pipeline.run(rows, table_name="big", **options)
        pipeline = pipeline.drop()
