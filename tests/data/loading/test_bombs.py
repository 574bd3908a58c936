"""Small files that become huge when they are read are refused before they take memory.

Each bomb is read by a process of its own, whose highest use of memory is compared with that of a
process that reads a harmless file of the format.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import svc_notebook as svc
from svc_notebook.core.yaml_nodes import MAX_DEPTH, read_document, read_groups
from svc_notebook.data.loading.sources import read_limits
from svc_notebook.errors import BadInput
from tests.conftest import ROOT

MEGABYTE = 2**20
# What all bombs may take above a harmless file.
MAX_EXTRA_MEGABYTES = 200
READ = """
import json, resource, sys
import svc_notebook as svc
from svc_notebook.errors import BadInput
from svc_notebook.data.loading.sources import read_limits
read_limits.MIN_READING_SECONDS = 6.0
for path in sys.argv[1:]:
    try:
        svc.plan(path, "i", id="id")
        said = "read"
    except BadInput as error:
        said = f"refused: {error}"
    print(json.dumps([said, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024]))
"""


def read_files(*paths: Path) -> list[tuple[str, int]]:
    """Plan loads in one process; return what it says to each, and its highest megabytes."""
    command = [sys.executable, "-c", READ, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return [(said, megabytes) for said, megabytes in map(json.loads, done.stdout.splitlines())]


def pieces_of_zeros(megabytes: int) -> Iterator[bytes]:
    yield b"id,text\n1,"
    for _ in range(megabytes):
        yield b"x" * MEGABYTE


def write_packed(compress: Callable[[bytes], bytes], path: Path, megabytes: int = 300) -> None:
    """Write one huge cell; the formats allow to write compressed parts one after the other."""
    start, cell = next(pieces_of_zeros(0)), compress(b"x" * 20 * MEGABYTE)
    path.write_bytes(compress(start) + cell * (megabytes // 20))


def write_zip(path: Path, names: dict[str, Iterator[bytes]]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, pieces in names.items():
            with archive.open(name, "w") as sink:
                for piece in pieces:
                    sink.write(piece)


def write_workbook(path: Path, **parts: Iterator[bytes]) -> None:
    """Write a workbook of which some parts are replaced."""
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(["id", "text"])
    book.active.append(["1", "x"])
    plain = io.BytesIO()
    book.save(plain)
    replaced = {f"xl/{name.replace('__', '/')}.xml": pieces for name, pieces in parts.items()}
    with zipfile.ZipFile(plain) as source:
        kept = {name: iter([source.read(name)]) for name in source.namelist()}
    write_zip(path, kept | replaced)


def one_huge_cell(megabytes: int) -> Iterator[bytes]:
    yield (
        b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
        b'<row r="1"><c r="A1" t="inlineStr"><is><t>id</t></is></c></row>'
        b'<row r="2"><c r="A2" t="inlineStr"><is><t>'
    )
    for _ in range(megabytes):
        yield b"x" * MEGABYTE
    yield b"</t></is></c></row></sheetData></worksheet>"


def many_shared_strings(megabytes: int) -> Iterator[bytes]:
    yield b'<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    for _ in range(megabytes):
        yield b"<si><t/></si>" * (MEGABYTE // 13)
    yield b"</sst>"


LETTERS = "bcdefghij"
ENTITIES = "".join(f'<!ENTITY {n} "{f"&{chr(ord(n) - 1)};" * 10}">' for n in LETTERS)
LAUGHS_XML = (
    f'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "xxxxxxxxxx">{ENTITIES}]>'
    "<r><item><id>1</id><t>&j;</t></item><item><id>2</id></item></r>"
)
LAUGHS_YAML = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{n}: &{n} [{','.join([f'*{chr(ord(n) - 1)}'] * 9)}]\n" for n in LETTERS
)


def write_twice(path: Path) -> None:
    inner = path.with_name("inner.gz")
    write_packed(gzip.compress, inner)
    path.write_bytes(gzip.compress(inner.read_bytes()))


def write_long_line(path: Path) -> None:
    with path.open("wb") as sink:
        sink.writelines(pieces_of_zeros(200))


def write_long_latin_line(path: Path) -> None:
    with path.open("wb") as sink:
        sink.write(b"id;text\n" + b"1;x\n" * 1000)
        sink.writelines(b"\xe9" * MEGABYTE for _ in range(200))


def write_rows(path: Path) -> None:
    table = pa.table({"id": pa.array(["a"] * 1_000_000).dictionary_encode()})
    with pq.ParquetWriter(path, table.schema) as writer:
        for _ in range(30):
            writer.write_table(table)


def write_cells(path: Path) -> None:
    texts = ["x" * 10_000_000 + str(number) for number in range(30)]
    table = pa.table({"id": ["a"] * len(texts), "text": texts})
    pq.write_table(table, path, compression="zstd", use_dictionary=False)


def compress_zstd(content: bytes) -> bytes:
    return bytes(pa.compress(content, codec="zstd", asbytes=True))


def write_avro(path: Path) -> None:
    import fastavro

    fields = [{"name": name, "type": "string"} for name in ("id", "text")]
    schema = fastavro.parse_schema({"type": "record", "name": "row", "fields": fields})
    rows = ({"id": str(number), "text": "x" * 10_000_000} for number in range(30))
    with path.open("wb") as sink:
        fastavro.writer(sink, schema, rows, codec="deflate", sync_interval=1)


def write_feather(path: Path) -> None:
    texts = ["x" * 10_000_000] * 30
    table = pa.table({"id": ["a"] * len(texts), "text": texts})
    feather.write_feather(table, str(path), compression="zstd", chunksize=1)


def write_orc(path: Path) -> None:
    from pyarrow import orc

    texts = ["x" * 10_000_000] * 100
    with orc.ORCWriter(str(path), compression="zstd") as writer:
        writer.write(pa.table({"id": ["a"] * len(texts), "text": texts}))


def write_orc_rows(path: Path) -> None:
    from pyarrow import orc

    table = pa.table({"id": ["a"] * 3_000_000, "n": [1] * 3_000_000})
    with orc.ORCWriter(str(path), compression="zstd") as writer:
        for _ in range(5):
            writer.write(table)


def write_one_batch(path: Path) -> None:
    table = pa.table({"id": ["a"] * 100, "text": ["x" * 10_000_000] * 100})
    feather.write_feather(table, str(path), compression="zstd")


def write_view(select: str, path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"CREATE VIEW v AS {select}")


ENDLESS = "WITH RECURSIVE c(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM c) SELECT"
SPACE = "urn:oasis:names:tc:opendocument:xmlns"
ODS = "application/vnd.oasis.opendocument.spreadsheet"


def write_repeated_cells(path: Path) -> None:
    """Write an OpenDocument workbook of one row that is repeated."""
    cell = "<table:table-cell office:value-type='string'%s><text:p>id</text:p></table:table-cell>"
    wide = cell % " table:number-columns-repeated='1000'"
    content = (
        f"<office:document-content xmlns:office='{SPACE}:office:1.0' xmlns:text='{SPACE}:text:1.0' "
        f"xmlns:table='{SPACE}:table:1.0'><office:body><office:spreadsheet>"
        f"<table:table table:name='s'><table:table-row>{cell % ''}</table:table-row>"
        f"<table:table-row table:number-rows-repeated='90000'>{wide}</table:table-row>"
        "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    manifest = (
        f"<m:manifest xmlns:m='{SPACE}:manifest:1.0'><m:file-entry m:full-path='/' "
        f"m:media-type='{ODS}'/></m:manifest>"
    )
    write_zip(
        path,
        {
            "mimetype": iter([ODS.encode()]),
            "content.xml": iter([content.encode()]),
            "META-INF/manifest.xml": iter([manifest.encode()]),
        },
    )


def far_columns(rows: int) -> Iterator[bytes]:
    yield (
        b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
        b'<row r="1"><c r="A1" t="inlineStr"><is><t>id</t></is></c></row>'
    )
    for row in range(2, rows):
        yield b'<row r="%d"><c r="XFD%d"><v>1</v></c></row>' % (row, row)
    yield b"</sheetData></worksheet>"


def write_nested_zip(path: Path) -> None:
    inner = path.with_name("inner.zip")
    write_zip(inner, {"cell.csv": pieces_of_zeros(300)})
    write_zip(path, {"inner.zip": iter([inner.read_bytes()])})


def write_spans(path: Path) -> None:
    cell = "<tr><td rowspan=100000 colspan=1000>1</td></tr>"
    path.write_text(f"<table><tr><th>id</th><th>t</th></tr>{cell * 1000}</table>")


QUADRATIC_ITEMS = f"<item><id>1</id><t>{'&a;' * 100}</t></item>" * 100
QUADRATIC_XML = (
    f"<?xml version='1.0'?><!DOCTYPE l [<!ENTITY a '{'x' * 100_000}'>]><r>{QUADRATIC_ITEMS}</r>"
)


def write_sparse_xml(path: Path) -> None:
    items = "".join(f"<item id='{number}' a{number}='1'/>" for number in range(15_000))
    path.write_text(f"<rows>{items}</rows>")


WRITERS: dict[str, Callable[[Path], object]] = {
    "cell.csv.gz": lambda path: write_packed(gzip.compress, path),
    "cell.csv.bz2": lambda path: write_packed(bz2.compress, path),
    "cell.csv.xz": lambda path: write_packed(lzma.compress, path),
    "cell.csv.zst": lambda path: write_packed(compress_zstd, path),
    "cell.csv.zip": lambda path: write_zip(path, {"cell.csv": pieces_of_zeros(300)}),
    "twice.csv.gz": write_twice,
    "cell.xlsx": lambda path: write_workbook(path, worksheets__sheet1=one_huge_cell(100)),
    "strings.xlsx": lambda path: write_workbook(path, sharedStrings=many_shared_strings(100)),
    "line.csv": write_long_line,
    "line.txt": write_long_latin_line,
    "columns.csv": lambda path: path.write_text(
        "id" + ",x" * 30_000 + "\n1" + ",1" * 30_000 + "\n"
    ),
    "rows.parquet": write_rows,
    "cells.parquet": write_cells,
    "cells.avro": write_avro,
    "cells.feather": write_feather,
    "cells.orc": write_orc,
    "batch.feather": write_one_batch,
    "rows.db": lambda path: write_view(f"{ENDLESS} id FROM c", path),
    "count.db": lambda path: write_view(f"{ENDLESS} count(*) AS id FROM c", path),
    "cell.db": lambda path: write_view("SELECT 1 AS id, hex(zeroblob(300000000)) AS text", path),
    "repeated.ods": write_repeated_cells,
    "far.xlsx": lambda path: write_workbook(path, worksheets__sheet1=far_columns(20_000)),
    "nested.zip": write_nested_zip,
    "spans.html": write_spans,
    "quadratic.xml": lambda path: path.write_text(QUADRATIC_XML),
    "sparse.xml": write_sparse_xml,
    "laughs.xml": lambda path: path.write_text(LAUGHS_XML),
    "deep.xml": lambda path: path.write_text("<a>" * 100_000),
    "laughs.yaml": lambda path: path.write_text(LAUGHS_YAML),
    "deep.yaml": lambda path: path.write_text("[" * 40_000),
}
BOMBS = {
    "cell.csv.gz": "unpack it and load the file inside",
    "cell.csv.bz2": "unpack it and load the file inside",
    "cell.csv.xz": "unpack it and load the file inside",
    "cell.csv.zst": "unpack it and load the file inside",
    "cell.csv.zip": "unpack it and load the file inside",
    "twice.csv.gz": "unpack it and load the file inside",
    "cell.xlsx": "its largest part is `xl/worksheets/sheet1.xml`",
    "strings.xlsx": "its largest part is `xl/sharedStrings.xml`",
    "line.csv": "line 2 of line.csv is longer than 32 MB",
    "line.txt": "line 1,002 of line.txt is longer than 32 MB",
    "columns.csv": "30,001 columns, the maximum is 16,000",
    "rows.parquet": "by its footer 30,000,000 rows",
    "cells.parquet": "the limit for files of its size",
    "cells.avro": "write it without compression",
    "cells.feather": "write it without compression",
    "cells.orc": "write it in smaller batches, or as a Parquet file",
    "batch.feather": "write it in smaller batches, or as a Parquet file",
    "rows.db": "is not read after 6 s, the limit for files of its size: a view can have rows",
    "count.db": "is not read after 6 s, the limit for files of its size: a view can have rows",
    "cell.db": "string or blob too big",
    "repeated.ods": "save the sheet as .csv in a spreadsheet",
    "far.xlsx": "save the sheet as .csv in a spreadsheet",
    "nested.zip": "unpack it and load the file inside",
    "spans.html": "its cells span too many columns and rows",
    "quadratic.xml": "is not valid XML",
    "sparse.xml": "15,001 rows and 15,001 columns, of which few are filled",
    "laughs.xml": "is not valid XML",
    "deep.xml": "Excessive depth",
    "laughs.yaml": "repeats its parts by references too often",
    "deep.yaml": "exceeded maximum nesting depth",
}


# The package that the reader of a format needs.
NEEDED = {
    "xlsx": "openpyxl",
    "ods": "python_calamine",
    "html": "lxml",
    "avro": "fastavro",
    "xml": "lxml",
    "yaml": "yaml",
}


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_bombs_are_refused_without_their_memory(tmp_path: Path) -> None:
    """All are read by one process, after a harmless file."""
    (tmp_path / "plain.csv").write_text("id,text\n1,x\n2,y\n")
    kinds = [kind for kind in BOMBS if find_spec(NEEDED.get(kind.rpartition(".")[2], "pyarrow"))]
    for kind in kinds:
        WRITERS[kind](tmp_path / kind)
    plain, *outcomes = read_files(*(tmp_path / kind for kind in ("plain.csv", *kinds)))

    assert plain[0] == "read"
    failures = [
        (kind, said, megabytes - plain[1])
        for kind, (said, megabytes) in zip(kinds, outcomes, strict=True)
        if not (said.startswith("refused:") and BOMBS[kind] in said and kind in said)
        or megabytes > plain[1] + MAX_EXTRA_MEGABYTES
    ]
    assert not failures


DEEP = {
    "brackets": "[" * 40_000,
    "braces": "{" * 40_000,
    "object of brackets": "a: " + "[" * 40_000,
    "dashes": "- " * 20_000 + "x",
    "questions": "? " * 20_000 + "x",
    "pairs": "[{a: " * 10_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_deep_yaml_is_refused_at_its_line(text: str) -> None:
    with pytest.raises(BadInput, match=r"^file, line 1 is not YAML: more than 100 lists"):
        read_document(text, "file")
    assert read_groups(text) is None


def test_yaml_of_the_greatest_depth_is_read() -> None:
    text = "[" * MAX_DEPTH + "]" * MAX_DEPTH

    assert read_document(text, "file").id == "sequence"


DEEP_JSON = {
    "brackets": "[" * 500_000,
    "objects": '{"a":' * 200_000,
    "inside of a record": '[{"id":"1","a":' + "[" * 200_000,
    "closed": '{"id":"1","a":' + "[" * 100_000 + "]" * 100_000 + "}\n",
}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("text", DEEP_JSON.values(), ids=DEEP_JSON)
@pytest.mark.parametrize("suffix", ["json", "ndjson"])
def test_deep_json_is_refused_or_its_row_is_rejected(
    tmp_path: Path, text: str, suffix: str
) -> None:
    path = tmp_path / f"deep.{suffix}"
    path.write_text(text)

    assert describe_plan(path) in ("1 row", f"{path.name} is refused")


def describe_plan(path: Path) -> str:
    """Return the number of rows of a plan, or that the error names the file."""
    try:
        return f"{svc.plan(str(path), 'i', id='id').rows} row"
    except BadInput as error:
        return f"{path.name} is refused" if path.name in str(error) else str(error)


def test_limits_follow_the_size_of_the_source(tmp_path: Path) -> None:
    small, large = read_limits.unpacked_limit(1_000), read_limits.unpacked_limit(10**8)

    assert small == read_limits.MIN_UNPACKED_BYTES
    assert large == read_limits.UNPACKED_FACTOR * 10**8


@pytest.mark.slow
@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
def test_the_line_that_is_too_long_is_found_at_any_place(tmp_path: Path, ends: bytes) -> None:
    limit = read_limits.MAX_LINE_BYTES
    for lines, expected in (
        ([b"x" * (limit - 2)] * 2, None),
        ([b"a", b"x" * (limit + 1), b"b"], 2),
        ([b"a" * 100] * 50_000 + [b"x" * (limit + 5)], 50_001),
        ([b"x" * (limit + 1)], 1),
    ):
        path = tmp_path / "lines.csv"
        path.write_bytes(ends.join(lines))

        assert read_limits._find_long_line(path) == expected


def test_a_csv_that_unpacks_to_much_less_than_the_limit_is_read(tmp_path: Path) -> None:
    rows = "".join(f"{n},{json.dumps('text ' * 50)}\n" for n in range(20_000))
    path = tmp_path / "plain.csv.gz"
    path.write_bytes(gzip.compress(f"id,text\n{rows}".encode()))

    assert svc.plan(str(path), "i", id="id").rows == 20_000
