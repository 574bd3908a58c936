"""Exports of an index to files."""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc_notebook.core.api import Endpoint, RequestSpec
from svc_notebook.data import loading
from svc_notebook.data.client import AsyncClient, Client, ClientConfig, Secret, background_loop
from svc_notebook.data.loading.exports.record_files import (
    AttributeTypes,
    Spool,
    format_of,
    open_spool,
)
from svc_notebook.errors import BadInput, NotFound, Stopped, Unreachable
from tests.conftest import ROOT, Running, examples
from tests.data.loading.encoded_records import pack

FORMATS = ["parquet", "ndjson", "jsonl", "csv", "tsv", "ndjson.gz", "csv.zst", "tsv.gz"]
ROWS = 3500
FILMS = [
    {
        "objectID": f"{n:05d}",
        "title": f'film "{n}"\n, é',
        "year": 1900 + n,
        "score": n / 4,
        "seen": n % 2 == 0,
        "tags": ["a", str(n)] if n % 3 else [],
        "cast": {"lead": {"name": str(n)}},
        "mixed": n if n % 2 else str(n),
        "late": "0123" if n > 3000 else None,
    }
    for n in range(ROWS)
]


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture(scope="module")
def connection(service: Running) -> ClientConfig:
    return ClientConfig(url=service.url, app_id=service.appId, api_key=Secret(service.adminKey))


@pytest.fixture
def client(connection: ClientConfig) -> Iterator[Client]:
    with Client(connection) as client:
        yield client


@pytest.fixture(scope="module")
def films(connection: ClientConfig) -> str:
    index = f"films-{uuid4().hex[:8]}"
    frame = pd.DataFrame(
        {name: pd.Series([f[name] for f in FILMS], dtype=object) for name in FILMS[0]}
    )
    with Client(connection) as client:
        background_loop.run(loading.push(client.aio, frame, index))
        changes: Any = {"attributesForFaceting": ["year"], "hitsPerPage": 7}
        client.wait(dict(client.set_settings(index, changes)), index=index)
        synonym: Any = {"objectID": "s", "type": "synonym", "synonyms": ["film", "movie"]}
        client.wait(dict(client.save_synonym(index, "s", synonym)), index=index)
    return index


def export(client: Client | AsyncClient, *args: Any, **options: Any) -> loading.Export:
    own = client.aio if isinstance(client, Client) else client
    return background_loop.run(loading.export(own, *args, **options))


def stored(client: Client, index: str) -> list[dict[str, Any]]:
    records = [dict(hit) for page in client.browse_pages(index) for hit in page["hits"]]
    return sorted(records, key=lambda record: str(record["objectID"]))


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("ending", FORMATS)
def test_an_index_that_is_exported_and_loaded_again_is_the_same(
    client: Client, films: str, tmp_path: Path, ending: str
) -> None:
    path = tmp_path / f"films.{ending}"
    copy = f"copy-{uuid4().hex[:8]}"

    done = export(client, films, path)
    dtype = done.dtype if ending[:3] in ("csv", "tsv") else None
    background_loop.run(loading.load(client.aio, path, copy, dtype=dtype))

    assert stored(client, copy) == stored(client, films)
    assert done.rows == ROWS
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == [path.name]


def test_parquet_has_the_types_of_the_attributes(
    client: Client, films: str, tmp_path: Path
) -> None:
    export(client, films, tmp_path / "films.parquet")

    frame = pd.read_parquet(tmp_path / "films.parquet").sort_values("objectID")

    assert {name: str(frame[name].dtype) for name in ("year", "score", "seen")} == {
        "year": "int64", "score": "float64", "seen": "bool",
    }  # fmt: skip
    assert list(frame["tags"].iloc[1]) == ["a", "1"]
    assert json.loads(frame["cast"].iloc[1]) == {"lead": {"name": "1"}}


def test_only_what_passes_the_filters_is_written_and_only_the_columns_named(
    client: Client, films: str, tmp_path: Path
) -> None:
    path = tmp_path / "some.csv"

    done = export(client, films, path, filters="year < 1910", columns=["year", "sequel", "title"])

    assert done.rows == 10
    assert path.read_text().splitlines()[0] == '"objectID","year","sequel","title"'


def test_settings_synonyms_and_rules_are_written_next_to_the_file(
    client: Client, films: str, tmp_path: Path
) -> None:
    done = export(client, films, tmp_path / "a.b.csv.gz", include=["settings", "synonyms", "rules"])

    names = [path.name for path in done.included]
    kept, synonyms, rules = (json.loads(path.read_text()) for path in done.included)
    assert names == ["a.b.settings.json", "a.b.synonyms.json", "a.b.rules.json"]
    assert (kept["hitsPerPage"], rules) == (7, [])
    assert synonyms == [{"objectID": "s", "type": "synonym", "synonyms": ["film", "movie"]}]


def test_an_index_without_records_is_a_file_without_rows(client: Client, tmp_path: Path) -> None:
    index = f"empty-{uuid4().hex[:8]}"
    client.wait(dict(client.set_settings(index, {"hitsPerPage": 7})), index=index)

    export(client, index, tmp_path / "a.csv")

    assert (tmp_path / "a.csv").read_text() == '"objectID"\n'


class Breaking(AsyncClient):
    """Loses the service after some pages."""

    pages = 2

    async def perform(self, endpoint: Endpoint, parcel: RequestSpec) -> Any:
        if endpoint.name == "browse":
            if self.pages == 0:
                raise Unreachable("the service is away")
            self.pages -= 1
        return await super().perform(endpoint, parcel)


def test_an_interrupted_export_leaves_the_old_file_and_can_be_resumed(
    client: Client, connection: ClientConfig, films: str, tmp_path: Path
) -> None:
    path = tmp_path / "films.ndjson"
    path.write_text("as it was")

    with pytest.raises(Unreachable) as caught:
        export(Breaking(connection), films, path)

    assert path.read_text() == "as it was"
    assert "2,000 of 3,500 records" in caught.value.__notes__[0]

    done = export(client, films, path, resume=True)

    assert (done.rows, done.resumed) == (ROWS, 2000)
    ids = [json.loads(line)["objectID"] for line in path.read_text().splitlines()]
    assert sorted(ids) == [film["objectID"] for film in FILMS]


def test_an_export_of_a_changed_index_is_not_resumed(
    client: Client, connection: ClientConfig, films: str, tmp_path: Path
) -> None:
    index = f"{films}-copy"
    client.wait(dict(client.operate_index(films, "copy", index)), index=films)
    with pytest.raises(Unreachable):
        export(Breaking(connection), index, tmp_path / "films.csv")
    client.wait(dict(client.clear_objects(index)), index=index)

    with pytest.raises(BadInput, match=r"2,000 of [\d,]+ records were found: .* changed"):
        export(client, index, tmp_path / "films.csv", resume=True)

    assert not (tmp_path / "films.csv").exists()
    assert export(client, index, tmp_path / "films.csv", resume=True).rows == 0


def test_files_of_another_interrupted_export_are_not_resumed(
    client: Client, connection: ClientConfig, films: str, tmp_path: Path
) -> None:
    with pytest.raises(Unreachable):
        export(Breaking(connection), films, tmp_path / "films.csv")

    done = export(client, films, tmp_path / "films.csv", filters="year < 1910", resume=True)

    assert (done.rows, done.resumed) == (10, 0)


def test_a_stopped_export_reports_its_progress(
    connection: ClientConfig, films: str, tmp_path: Path
) -> None:
    async def stopped() -> None:
        pages = asyncio.Event()
        client = AsyncClient(connection)
        work = asyncio.create_task(
            loading.export(
                client, films, tmp_path / "a.csv", on_progress=lambda done, total: pages.set()
            )
        )
        await pages.wait()
        work.cancel()
        await work

    with pytest.raises(Stopped, match=r"of 3,500 records .*resume=True"):
        background_loop.run(stopped())


def test_progress_is_reported_for_each_page(client: Client, films: str, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []

    export(client, films, tmp_path / "a.csv", on_progress=lambda *each: told.append(each))

    assert told == [(1000, ROWS), (2000, ROWS), (3000, ROWS), (ROWS, ROWS)]


@pytest.mark.parametrize(
    ("path", "options", "match"),
    [
        ("films.xlsx", {}, r"\.parquet, \.ndjson"),
        ("films.parqet", {}, "did you mean `.parquet`"),
        ("films", {}, "unsupported format `films`"),
        ("films.parquet.gz", {}, "change the name to films.parquet"),
        ("nowhere/films.csv", {}, "there is no folder"),
        ("films.csv", {"columns": "title"}, r"columns=\['title'\]"),
        ("films.csv", {"include": ["synonym"]}, "did you mean `synonyms`"),
        (7, {}, "must be the path of a file, not 7"),
    ],
)
def test_invalid_arguments_are_refused_with_advice(
    client: Client, tmp_path: Path, path: Any, options: dict[str, Any], match: str
) -> None:
    with pytest.raises(BadInput, match=match):
        export(client, "films", tmp_path / path if isinstance(path, str) else path, **options)


def test_an_index_that_is_not_there_makes_no_file(client: Client, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        export(client, "no-such-index", tmp_path / "a.csv")

    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == []


def test_a_full_disk_reports_the_progress_and_the_export_can_be_resumed(
    client: Client, films: str, tmp_path: Path
) -> None:
    path = tmp_path / "films.ndjson"
    _, hard = before = resource.getrlimit(resource.RLIMIT_FSIZE)

    resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, hard))
    try:
        with pytest.raises(BadInput, match=r"cannot be written.*of 3,500 records.*resume=True"):
            export(client, films, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    done = export(client, films, path, resume=True)

    assert (done.rows, done.resumed > 0) == (ROWS, True)
    assert len(set(path.read_text().splitlines())) == ROWS


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
NAMES = TEXT.map(str.lower).filter(lambda name: name != "objectid" and name.strip())
SCALARS = st.booleans() | st.integers(-(2**63) + 1, 2**63 - 1) | TEXT | st.floats(-1e300, 1e300)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(st.none() | inner, max_size=3)
        | st.dictionaries(TEXT, st.none() | inner, max_size=2)
    ),
    max_leaves=5,
)
COLUMNS = st.dictionaries(
    NAMES,
    st.sampled_from([st.booleans(), st.integers(-9, 9), TEXT, ANYTHING, st.lists(TEXT)]),
    max_size=4,
)


@st.composite
def record_lists(draw: st.DrawFn) -> list[dict[str, Any]]:
    columns = draw(COLUMNS)
    rows = draw(st.integers(1, 5))
    return [
        {"objectID": str(n), **{name: v for name, of in columns.items() if (v := draw(of)) or n}}
        for n in range(rows)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["parquet", "ndjson.gz"])
@settings(max_examples=examples(40), deadline=None)
@given(records=record_lists())
def test_whatever_is_written_is_read_back_equal(ending: str, records: list[dict[str, Any]]) -> None:
    with TemporaryDirectory() as folder:
        path = write(Path(folder) / f"a.{ending}", records)

        again = pack(path, record_bytes=10_000_000)

        assert sorted(again.records, key=lambda each: str(each["objectID"])) == records


@pytest.mark.parametrize("ending", ["parquet", "ndjson"])
def test_a_load_with_the_dtypes_of_an_export_reads_equal_records(
    ending: str, tmp_path: Path
) -> None:
    records = [
        {"objectID": "1", "mixed": 1, "tags": ["a", "b"], "size": {"w": 2.5}, "yes": True},
        {"objectID": "2", "mixed": "2", "tags": [], "size": {"w": None}, "large": 2**60},
        {"objectID": "3", "mixed": "x", "counts": [1, 2], "large": 7, "share": 1e250},
    ]
    kinds = AttributeTypes()
    kinds.add(records)

    again = pack(write(tmp_path / f"a.{ending}", records), dtype=kinds.dtypes())

    assert again.records == records


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    spool = open_spool(path, "", resume=False)
    spool.add(records, None, len(records))
    form = format_of(path)
    form.write(
        spool,
        path,
        AttributeTypes(spool.position.types).decide(),
        form.compression,
        lambda rows: None,
    )
    return path


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2**60], "integer"),
        ([1, 2.5], "number"),
        ([2**60, 2.5], "json"),
        ([1, "a"], "json"),
        ([True, 1], "json"),
        ([None], "string"),
        ([[], ["a"]], "list of string"),
        ([[1, 2], [2**60]], "list of integer"),
        ([[]], "json"),
        ([["a", None]], "json"),
        ([["a"], "a"], "json"),
        ([[], "a"], "json"),
        ([{}], "json"),
        ([2**63], "json"),
    ],
    ids=str,
)
def test_an_attribute_has_the_type_that_loses_nothing(values: list[Any], kind: str) -> None:
    kinds = AttributeTypes()

    kinds.add({"x": value} for value in values)

    assert kinds.decide()["x"] == kind


def test_an_incomplete_page_is_removed_when_an_export_is_resumed(tmp_path: Path) -> None:
    spool = open_spool(tmp_path / "a.csv", "facts", resume=False)
    spool.add([{"objectID": "1"}], "next", 2)
    with spool.path.open("ab") as file:
        file.write(b'{"objectID":"2","ti')

    again = open_spool(tmp_path / "a.csv", "facts", resume=True)

    assert isinstance(again, Spool)
    assert list(again.pieces()) == [[{"objectID": "1"}]]
    assert (again.position.cursor, again.resumed) == ("next", 1)


WRITER = """
import resource, sys
from pathlib import Path
from svc_notebook.data.loading.exports.record_files import AttributeTypes
from svc_notebook.data.loading.exports.record_files import open_spool
from svc_notebook.data.loading.exports.record_files import format_of
rows, path = int(sys.argv[1]), Path(sys.argv[2])
spool = open_spool(path, "", resume=False)
for start in range(0, rows, 1000):
    records = [{"objectID": str(n), "text": f"{n} " * 30} for n in range(start, start + 1000)]
    spool.add(records, "c", rows)
form = format_of(path)
columns = AttributeTypes(spool.position.types).decide()
form.write(spool, path, columns, form.compression, lambda rows: None)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
def test_memory_stays_flat_while_an_export_grows(tmp_path: Path) -> None:
    peaks = [
        int(
            subprocess.run(
                [sys.executable, "-c", WRITER, str(rows), str(tmp_path / "a.parquet")],
                capture_output=True, text=True, check=True, cwd=ROOT,
            ).stdout
        )
        for rows in (50_000, 250_000)
    ]  # fmt: skip

    assert peaks[1] < peaks[0] * 1.3
