"""JSON and NDJSON files."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from svc_notebook.data.loading.database import Database
from svc_notebook.data.loading.load_plan.preparation import prepare
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.errors import BadInput
from tests.data.loading.encoded_records import pack, values

LINES = (
    '{"name": "lamp", "tags": ["a", {"b": null}], "n": 1.50}\n'
    "\n"
    '{"n": null, "Name": "é\\ud83d\\ude00"}\n'
)
ARRAY = '[{"name": "lamp", "tags": ["a", {"b": null}], "n": 1.50},\n {"n": null, "Name": "é😀"}]'
SENT = [{"name": "lamp", "tags": ["a", {"b": None}], "n": 1.5}, {"Name": "é😀"}]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.ndjson", LINES.encode()),
        ("t.jsonl", LINES.encode()),
        ("t.json", LINES.encode()),
        ("t.json", ARRAY.encode()),
        ("t", ARRAY.encode()),
        ("t.ndjson.gz", gzip.compress(LINES.encode())),
    ],
    ids=["ndjson", "jsonl", "lines-in-json", "array", "unnamed", "packed"],
)
def test_documents_are_sent_unchanged(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)

    assert values(path) == SENT


def test_texts_that_look_like_dates_or_numbers_stay_texts(tmp_path: Path) -> None:
    path = tmp_path / "t.ndjson"
    path.write_text('{"a": "2024-01-02", "b": "007", "c": "true", "d": "nan", "e": "x,nan,y"}\n')

    assert values(path) == [
        {"a": "2024-01-02", "b": "007", "c": "true", "d": "nan", "e": "x,nan,y"}
    ]


def test_members_of_any_name_are_found(tmp_path: Path) -> None:
    path = tmp_path / "t.ndjson"
    path.write_text(
        '{"a/b": 1, "c~d": 2, "e.f": 3, "$": 4, "A": 5, "a": 6, "": 7, "\'": 8, "\\"": 9}\n'
    )

    assert values(path) == [
        {"a/b": 1, "c~d": 2, "e.f": 3, "$": 4, "A": 5, "a": 6, "": 7, "'": 8, '"': 9}
    ]


def test_an_objectid_is_sent_as_text(tmp_path: Path) -> None:
    path = tmp_path / "t.ndjson"
    path.write_text('{"objectID": 7, "n": 1}\n{"objectID": "007", "n": 2}\n{"n": 3}\n')

    packed = pack(path)

    assert packed.records == [{"objectID": "7", "n": 1}, {"objectID": "007", "n": 2}]
    assert packed.rejected == [(3, "objectID", "has no id")]


def test_lines_that_are_not_json_objects_are_rejected_with_their_row(tmp_path: Path) -> None:
    path = tmp_path / "t.ndjson"
    path.write_text('{"id": 1}\n{"id": \n[1, 2]\n{"id": 4}\n"x"\n')

    packed = pack(path, id="id")

    assert [record["id"] for record in packed.records] == [1, 4]
    assert packed.rejected == [
        (2, None, "is not JSON"),
        (3, None, "is a JSON array, not an object"),
        (5, None, "is a JSON varchar, not an object"),
    ]


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        ("-Infinity", "infinity"),
        ("1e400", "infinity"),
        ("[1, NaN]", "NaN"),
        ('{"a": 1e999}', "infinity"),
        ("18446744073709551615", "64 bits"),
        ('{"a": [123456789012345678901]}', "64 bits"),
    ],
)
def test_numbers_that_json_lacks_are_rejected(tmp_path: Path, number: str, reason: str) -> None:
    path = tmp_path / "t.ndjson"
    path.write_text(f'{{"id": "1", "x": {number}}}\n{{"id": "2", "x": 2}}\n')

    packed = pack(path, id="id")

    assert [record["objectID"] for record in packed.records] == ["2"]
    assert all(row == 1 and reason in told for row, _, told in packed.rejected)


@pytest.mark.parametrize("others", ["2.5", "2", '"a"'])
def test_nan_is_a_missing_value(tmp_path: Path, others: str) -> None:
    path = tmp_path / "t.json"
    path.write_text(f'[{{"id": "1", "x": NaN}}, {{"id": "2", "x": {others}}}]')

    packed = pack(path, id="id")

    assert packed.rejected == []
    assert ["x" in record for record in packed.records] == [False, True]


@pytest.mark.parametrize("content", ["[]", "[1, 2]", "{", "[{]"])
def test_a_file_without_an_object_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "t.json"
    path.write_text(content)

    with pytest.raises(BadInput):
        pack(path)


@pytest.mark.slow
def test_a_file_of_many_buffers_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "large.ndjson"
    filler = "x" * 50_000
    with path.open("w") as file:
        file.writelines(f'{{"id": {n}, "text": "{filler}"}}\n' for n in range(1_500))

    with Database() as db:
        planned = prepare(str(path), "index", LoadSettings(), db).plan

    assert planned.sendable == 1_500


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("pretty.json", b'{\n "id": 1,\n "a": 2\n}\n{\n "id": 2,\n "a": 3\n}\n'),
        ("wide.ndjson", '{"id": 1, "a": 2}\n{"id": 2, "a": 3}\n'.encode("utf-16")),
        ("wide.json", '[{"id": 1, "a": 2}, {"id": 2, "a": 3}]'.encode("utf-16")),
    ],
)
def test_documents_over_several_lines_and_in_utf_16_are_read(
    tmp_path: Path, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(content)

    assert values(str(path)) == [{"id": 1, "a": 2}, {"id": 2, "a": 3}]


def test_dtype_may_name_a_member_that_no_document_has(tmp_path: Path) -> None:
    path = tmp_path / "t.ndjson"
    path.write_text('{"id": "1", "price": 2}\n')

    found = pack(path, dtype={"id": "string", "prices": "number"})

    assert found.records == [{"objectID": "1", "id": "1", "price": 2}]
    assert found.plan.notes == ("no document has `prices`; did you mean `price`?",)


@pytest.mark.parametrize("option", [{"id": "prices"}, {"columns": ["prices"]}])
def test_a_member_that_no_document_has_is_refused_as_id_and_column(
    tmp_path: Path, option: dict[str, object]
) -> None:
    path = tmp_path / "t.ndjson"
    path.write_text('{"id": "1", "price": 2}\n')

    with pytest.raises(BadInput, match="has no column `prices`; did you mean `price`"):
        pack(path, dtype={"prices": "number"}, **option)


@pytest.mark.parametrize("name", ["t.json", "t.ndjson"])
def test_records_that_repeat_a_member_are_noted(tmp_path: Path, name: str) -> None:
    documents = ['{"id":1,"a":1,"a":2}', '{"id":2,"a":3}']
    path = tmp_path / name
    path.write_text(f"[{','.join(documents)}]" if name == "t.json" else "\n".join(documents))

    packed = pack(path)

    assert [record["a"] for record in packed.records] == [1, 3]
    assert packed.plan.notes == (
        "1 record has a member with the name of another one; the first of each name is sent",
    )
