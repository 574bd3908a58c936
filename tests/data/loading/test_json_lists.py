"""JSON documents with records in a list, and the plan of JSON files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import bokeh_sampledata
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc_notebook.data import loading
from svc_notebook.data.loading.sources.json_lists import MAX_DEPTH, read_document, sample_objects
from svc_notebook.errors import BadInput
from tests.conftest import examples
from tests.data.loading.encoded_records import pack, values

ROWS: list[dict[str, Any]] = [{"name": "lamp", "tags": ["a]", '"}']}, {"name": "desk", "n": 1.5}]
TABLES = Path(bokeh_sampledata.__file__).parent / "_data"
ONE_RECORD = "the document is one record; path='results' loads the list `results`"


def written(path: Path, content: Any, **options: Any) -> Path:
    path.write_text(json.dumps(content, **options), encoding="utf-8")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"indent": 2}], ids=["one line", "lines"])
@pytest.mark.parametrize("name", ["products", 'a."b]é'])
def test_a_single_member_that_is_a_list_of_objects_is_the_rows(
    tmp_path: Path, name: str, options: dict[str, Any]
) -> None:
    path = written(tmp_path / "t.json", {name: ROWS}, **options)

    assert values(path) == ROWS
    note = f"the rows are the list `{name}` of the document; path='' loads the document"
    assert any(text.startswith(note) for text in pack(path).plan.notes)
    assert values(path, path="") == [{name: ROWS}]


def test_lists_that_are_not_loaded_are_named(tmp_path: Path) -> None:
    content = {"nodes": ROWS, "links": [{"source": 0, "target": 1}, {"source": 1, "target": 0}]}
    path = written(tmp_path / "t.json", {"meta": {"n": 2}, **content})

    (note,) = (text for text in pack(path).plan.changes if "the rows are the list" in text)

    assert "`nodes`" in note
    assert note.endswith("; the list `links` left out, path='links' loads one")
    assert len(pack(path, path="links").records) == 2


def test_lists_are_extracted_from_compressed_files_and_files_with_a_bom(tmp_path: Path) -> None:
    text = json.dumps({"products": ROWS})
    (tmp_path / "t.json.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "bom.json").write_bytes(text.encode("utf-8-sig"))
    (tmp_path / "wide.json").write_bytes(text.encode("utf-16"))

    found = [values(tmp_path / name) for name in ("t.json.gz", "bom.json", "wide.json")]

    assert found == [ROWS] * 3


def test_lists_are_extracted_from_several_files(tmp_path: Path) -> None:
    written(tmp_path / "a.json", {"products": ROWS})
    written(tmp_path / "b.json", {"products": ROWS[:1]})

    assert values(tmp_path / "*.json") == [*ROWS, ROWS[0]]


@pytest.mark.sampled(quick=2)
@pytest.mark.parametrize(
    "document",
    [
        {"total": 2, "results": ROWS},
        {"results": ROWS, "others": [{"x": 1}]},
        {"data": {"items": ROWS}, "meta": {"fields": [{"name": "name"}]}},
        {"title": "Feed", "items": ROWS, "errors": [{"code": 1}]},
        {"products": ROWS, "count": 2},
        {"id": 7, "hits": ROWS},
        {"errors": ROWS},
    ],
    ids=["members", "two lists", "nested", "side list", "any name", "id", "only side list"],
)
def test_the_only_list_of_objects_of_one_shape_is_the_rows(
    tmp_path: Path, document: dict[str, Any]
) -> None:
    path = written(tmp_path / "t.json", document)

    packed = pack(path)

    assert values(path) == ROWS
    assert [note for note in packed.plan.notes if "path='' loads the document" in note]
    assert values(path, path="") == [document]


@pytest.mark.parametrize(
    ("document", "note"),
    [
        ({"id": 7, "items": ROWS, "total": 2}, ONE_RECORD.replace("results", "items")),
        ({"sku": "a", "variants": ROWS}, ONE_RECORD.replace("results", "variants")),
        (
            {"name": "a", "mixed": [{"a": 1}, {"b": 2}, {"c": 3}]},
            ONE_RECORD.replace("results", "mixed"),
        ),
        ({"tags": ["a", "b"]}, None),
        ({"products": []}, None),
        ({"tags": ["a", "b"], "sizes": []}, None),
        ({"name": "lamp", "size": {"w": 1}}, None),
        ({"size": {"w": 1}, "colour": {"h": 2}}, None),
    ],
    ids=["order", "record", "shapes", "texts", "empty", "two lists", "object", "two objects"],
)
def test_a_document_that_is_a_record_is_one_record_and_a_note_names_its_lists(
    tmp_path: Path, document: dict[str, Any], note: str | None
) -> None:
    path = written(tmp_path / "t.json", document)

    packed = pack(path)

    assert values(path) == [document]
    assert [text for text in packed.plan.notes if "record" in text] == ([note] if note else [])


@pytest.mark.slow
def test_a_document_with_several_lists_asks_for_one(tmp_path: Path) -> None:
    document = {"name": "board", "actions": ROWS, "cards": ROWS * 2}
    path = written(tmp_path / "t.json", document)

    with pytest.raises(BadInput, match="`cards` or `actions`; path='cards' loads one, path=''"):
        pack(path)
    assert values(path, path="cards") == ROWS * 2
    assert values(path, path="") == [document]
    written(tmp_path / "u.json", document)
    assert values(tmp_path / "*.json") == [document] * 2


@pytest.mark.parametrize("name", ["results", "data.items"])
def test_a_list_is_loaded_by_its_path(tmp_path: Path, name: str) -> None:
    document = {"results": ROWS, "data": {"items": ROWS, "of": 2}, "total": 2}

    assert values(written(tmp_path / "t.json", document), path=name) == ROWS


def test_lines_of_documents_are_documents_each(tmp_path: Path) -> None:
    path = tmp_path / "orders.ndjson"
    path.write_text('{"items": [{"sku": 1}]}\n{"items": [{"sku": 2}]}\n')

    assert values(path) == [{"items": [{"sku": 1}]}, {"items": [{"sku": 2}]}]
    with pytest.raises(BadInput, match="not one JSON object"):
        pack(path, path="items")


@pytest.mark.parametrize(
    ("source", "match"),
    [
        ({"results": ROWS}, "t.json has no list `result`; did you mean `results`?"),
        (ROWS, "t.json is not one JSON object"),
        ({"a": 1}, "t.json has no list `result`$"),
    ],
    ids=["near", "a list", "no list"],
)
def test_a_path_that_does_not_exist_is_refused(tmp_path: Path, source: Any, match: str) -> None:
    with pytest.raises(BadInput, match=match):
        pack(written(tmp_path / "t.json", source), path="result")


def test_the_option_path_needs_a_json_file(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")

    for source in (pd.DataFrame({"a": [1]}), [{"a": 1}], "SELECT 1 AS a", tmp_path / "t.csv"):
        with pytest.raises(BadInput, match="path"):
            loading.plan(source, "x", path="a")


@pytest.mark.parametrize("text", ["", "{", '{"a": [{"b": 1}', '{"a": [{}]}}', '{"a" [1]', "]", ":"])
def test_a_broken_document_has_no_lists(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.json").write_text(text)

    assert read_document(tmp_path / "t.json") is None


TREES = st.recursive(
    st.none() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('ab\\"[]{}:'), inner),
)


@pytest.mark.slow
@settings(max_examples=examples(200), deadline=None)
@given(document=st.dictionaries(st.text('xyz\\"[]{}:é', min_size=1), TREES, max_size=4))
def test_lists_are_found_where_a_parser_finds_them(
    tmp_path_factory: pytest.TempPathFactory, document: dict[str, Any]
) -> None:
    path = written(tmp_path_factory.mktemp("json") / "t.json", document, indent=1)

    found = read_document(path)

    assert found is not None
    assert len(found.names) == len(document)
    content = path.read_bytes()
    assert [(each.names, json.loads(content[each.start : each.end])) for each in found.lists] == [
        *lists_in(document, ())
    ]


def lists_in(value: Any, names: tuple[str, ...]) -> Any:
    if isinstance(value, list):
        yield names, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from lists_in(inner, (*names, name))


@pytest.mark.parametrize(
    ("name", "path"),
    [("sample_geojson.geojson", "features"), ("olympics2014.json", "data")],
)
def test_the_lists_of_natural_documents_are_loaded(name: str, path: str) -> None:
    file = TABLES / name

    notes = loading.plan(file, "x", record_bytes=10_000_000).notes

    assert any(f"the list `{path}`" in note for note in notes)
    assert values(file, nulls="null") == json.loads(file.read_text())[path]


def test_a_plan_names_the_kinds_of_json_columns(tmp_path: Path) -> None:
    path = tmp_path / "t.ndjson"
    rows = [
        {"t": "a", "n": 1, "f": 1.5, "b": True, "l": [1], "o": {"x": 1}, "m": 1, "u": 1, "z": None},
        {"t": "b", "n": 2, "f": 2, "b": False, "l": [], "o": {}, "m": "one", "u": 1e3, "z": None},
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    kinds = {
        "t": "text", "n": "integer", "f": "number", "b": "boolean", "l": "list", "o": "object",
        "m": "text or integer", "u": "number", "z": "JSON",
    }  # fmt: skip

    plans = [loading.plan(path, "x"), loading.plan(rows, "x")]

    for plan in plans:
        found = dict(zip(plan.columns["column"], plan.columns["sent as"], strict=True))
        assert found == kinds
        assert plan.columns["type"].tolist() == plan.columns["sent as"].tolist()


def test_brackets_without_an_end_are_not_searched_to_the_last(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text("[" * 3 * MAX_DEPTH)

    with pytest.raises(
        BadInput, match=r"t\.json cannot be read: more than 10,000 lists or objects"
    ):
        sample_objects(path)

    path.write_text('{"a":' + "[" * 3 * MAX_DEPTH + "]" * 3 * MAX_DEPTH + "}")
    assert read_document(path) is None


def test_arrow_lists_and_structs_have_their_names(tmp_path: Path) -> None:
    frame = pd.DataFrame({"l": [[1, 2]], "o": [{"a": 1}], "s": [[{"a": 1}]]})
    frame.to_parquet(tmp_path / "t.parquet")

    plan = loading.plan(tmp_path / "t.parquet", "x")

    assert plan.columns["sent as"].tolist() == ["list", "object", "list"]
