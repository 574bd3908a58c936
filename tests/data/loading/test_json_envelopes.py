"""Records in the JSON that services, databases and pandas write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from svc_notebook.errors import BadInput
from tests.data.loading.encoded_records import pack, values

ROWS: list[dict[str, Any]] = [{"name": "lamp", "price": 1.5}, {"name": "desk", "price": 2.5}]
WITH_IDS = [{"objectID": "a", **ROWS[0]}, {"objectID": "b", **ROWS[1]}]
HITS = [{"_index": "p", "_id": record["objectID"], "_source": row}
        for record, row in zip(WITH_IDS, ROWS, strict=True)]  # fmt: skip
FRAME = pd.DataFrame(ROWS)
SHOP = [
    {"type": "uri", "value": "http://x/1"},
    {"type": "literal", "value": "Shop", "xml:lang": "en"},
]
COUNT = {"type": "literal", "value": "5", "datatype": "http://www.w3.org/2001/XMLSchema#integer"}
ITEM = {
    "id": {"S": "p0"}, "price": {"N": "12.50"}, "tags": {"SS": ["a", "b"]}, "ok": {"BOOL": True},
    "size": {"M": {"w": {"N": "3"}}}, "parts": {"L": [{"S": "x"}, {"N": "1"}]},
    "no": {"NULL": True},
}  # fmt: skip
PLAIN_ITEM = {
    "id": "p0", "price": 12.5, "tags": ["a", "b"], "ok": True, "size": {"w": 3}, "parts": ["x", 1],
}  # fmt: skip


def write(folder: Path, content: Any) -> Path:
    path = folder / "t.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def lines(*objects: Any) -> str:
    return "\n".join(map(json.dumps, objects)) + "\n"


SPARQL = {
    "head": {"vars": ["x", "label", "n"]},
    "results": {"bindings": [{"x": SHOP[0], "label": SHOP[1], "n": COUNT}]},
}
EXTENDED = {
    "_id": {"$oid": "64"}, "n": {"$numberLong": "5"}, "at": {"$date": "2023-05-01T00:00:00Z"},
    "in": {"at": {"$date": {"$numberLong": "1683000000000"}}},
}  # fmt: skip
PLAIN = {
    "_id": "64", "n": 5, "at": "2023-05-01T00:00:00Z", "in": {"at": "2023-05-02T04:00:00.000Z"},
}  # fmt: skip
BULK = lines(
    {"index": {"_id": "a"}}, ROWS[0], {"delete": {"_id": "z"}}, {"update": {"_id": "b"}},
    {"doc": ROWS[1]},
)  # fmt: skip
COLUMNS = {
    "columns": [{"name": "name"}, {"name": "price"}], "rows": [["lamp", 1.5], ["desk", 2.5]],
}  # fmt: skip


@pytest.mark.parametrize(
    ("content", "records"),
    [
        ({"took": 1, "hits": {"total": 2, "hits": HITS}}, WITH_IDS),
        (HITS, WITH_IDS),
        (lines(*HITS), WITH_IDS),
        ({"data": {"items": {"edges": [{"node": row, "cursor": "x"} for row in ROWS]}}}, ROWS),
        ({"rows": [{"id": "a", "key": "a", "value": {}, "doc": ROWS[0]}]}, ROWS[:1]),
        ({"requests": [{"action": "addObject", "body": row} for row in WITH_IDS]}, WITH_IDS),
        ({"Items": [ITEM], "Count": 1}, [PLAIN_ITEM]),
        (lines({"Item": ITEM}, {"Item": ITEM}), [PLAIN_ITEM, PLAIN_ITEM]),
        (SPARQL, [{"x": "http://x/1", "label": "Shop", "n": 5}]),
        (lines(EXTENDED), [PLAIN]),
        (lines(EXTENDED, EXTENDED), [PLAIN, PLAIN]),
        (BULK, WITH_IDS),
        (lines({"create": {}}, ROWS[0], {"create": {}}, ROWS[1]), ROWS),
    ],
    ids=["hits", "list of hits", "lines of hits", "edges", "rows", "operations", "scan", "items",
         "SPARQL", "one of extended JSON", "extended JSON", "bulk", "bulk without ids"],
)  # fmt: skip
def test_the_records_inside_of_wrappers_are_the_rows(
    tmp_path: Path, content: Any, records: list[dict[str, Any]]
) -> None:
    path = write(tmp_path, content)

    packed = pack(path)

    ids = "objectID" in records[0]
    assert (packed.records if ids else values(path)) == records
    assert [note for note in packed.plan.notes if note.startswith(("each row is", "the rows are"))]
    assert len(values(path, path="")) >= 1
    assert values(path, path="") != values(path)


@pytest.mark.parametrize(
    ("content", "records"),
    [
        ({"a": ROWS[0], "b": ROWS[1]}, WITH_IDS),
        ({"products": {"a": ROWS[0], "b": ROWS[1]}}, WITH_IDS),
        ({"x": WITH_IDS[0], "y": WITH_IDS[1]}, WITH_IDS),
        (FRAME.to_json(), ROWS),
        (FRAME.set_axis(["x", "y"]).to_json(), ROWS),
        (FRAME.to_json(orient="split"), ROWS),
        (FRAME.to_json(orient="table", index=False), ROWS),
        (FRAME.to_json(orient="records"), ROWS),
        (FRAME.to_dict(orient="list"), ROWS),
        ([["name", "price"], ["lamp", 1.5], ["desk", 2.5]], ROWS),
        (COLUMNS, ROWS),
    ],
    ids=["by id", "nested", "with ids", "columns", "labels", "split", "table", "records", "lists",
         "arrays", "rows"],
)  # fmt: skip
def test_documents_by_id_and_by_column_are_rows(
    tmp_path: Path, content: Any, records: list[dict[str, Any]]
) -> None:
    path = write(tmp_path, content)

    packed = pack(path)

    assert (packed.records if "objectID" in records[0] else values(path)) == records


def test_pandas_by_row_has_the_labels_as_ids(tmp_path: Path) -> None:
    path = write(tmp_path, FRAME.to_json(orient="index"))

    assert [record["objectID"] for record in pack(path).records] == ["0", "1"]


def test_the_members_of_an_object_are_loaded_by_a_path(tmp_path: Path) -> None:
    path = write(tmp_path, {"id": 1, "stock": {"a": {"n": 1}, "b": {"m": 2}}, "size": {"w": 1}})

    assert pack(path, path="stock.*").records == [
        {"objectID": "a", "n": 1}, {"objectID": "b", "m": 2},
    ]  # fmt: skip
    with pytest.raises(BadInput, match="not an object of objects"):
        pack(path, path="size.*")


def test_numbers_and_texts_inside_of_wrappers_keep_their_spelling(tmp_path: Path) -> None:
    text = '{"_id": "a", "_source": {"big": 12345678901234567, "s": "\\u00e9 \\n", "x": 1.10}}'
    path = write(tmp_path, text + "\n" + text.replace('"a"', '"b"'))

    assert pack(path).records[0] == {
        "objectID": "a",
        "big": 12345678901234567,
        "s": "é \n",
        "x": 1.1,
    }


def test_a_broken_line_among_wrappers_is_rejected(tmp_path: Path) -> None:
    path = write(tmp_path, lines(*HITS) + '{"_id": "c", "_source": {"name": \n' + lines(*HITS[:1]))

    packed = pack(path)

    assert [reason for _, _, reason in packed.rejected][:1] == ["is not JSON"]
    assert len(packed.plan.sample) == 2
