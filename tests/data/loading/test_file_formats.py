"""Formats of files by their first bytes: what is read whatever its name is, and what is refused."""

from __future__ import annotations

import gzip
import io
import pickle
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.data.client import Client
from svc_notebook.data.loading import plan
from svc_notebook.errors import BadInput
from tests.data.loading.encoded_records import values

TABLE = "sku,price\n007,1.5\n008,2.5\n"
ROWS = [{"sku": "007", "price": 1.5}, {"sku": "008", "price": 2.5}]


def zipped(files: dict[str, str | bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


def saved(frame: pd.DataFrame, kind: str) -> bytes:
    content = io.BytesIO()
    if kind == "stata":
        frame.to_stata(content)
    else:
        np.save(content, frame.to_numpy())
    return content.getvalue()


FRAME = pd.DataFrame({"n": [1.5, 2.5], "m": [3.0, 4.0]})
REFUSED = {
    "a pickle": pickle.dumps(FRAME),
    "a pickle ": pickle.dumps({"a": 1}, protocol=2),
    "a Stata file": saved(FRAME, "stata"),
    "a NumPy file": saved(FRAME, "numpy"),
    "a PDF document": b"%PDF-1.7\n%\xe2\xe3\n1 0 obj\n",
    "an image": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
    "an image ": b"\xff\xd8\xff\xe0\0\x10JFIF\0" + bytes(range(256)),
    "a pointer of Git LFS": b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 1\n",
    "a DuckDB database": bytes(8) + b"DUCK" + bytes(100),
    "a document of Office": zipped({"[Content_Types].xml": "", "word/document.xml": "<w/>"}),
    "a binary file of an unknown format": bytes(range(256)) * 20,
    "a binary file of an unknown format ": b"\x16\0\0\0\x02_id\0\x04\0\0\0abc\0\x10n\0\1\0\0\0" * 9,
    "a BibTeX file": b"% refs\n@article{weber0,\n  title = {A road},\n  year = {2000}\n}\n",
    "a log of a web server": b'1.2.3.4 - - [01/May/2023:10:11:12 +0200] "GET /a" 200 5\n' * 9,
    "a system log": b"May  1 10:11:12 host sshd[12]: accepted\n" * 9,
    "a file of SQL statements": b"-- MySQL dump 10.13\n--\nCREATE TABLE `t` (`a` int);\n",
    "a file of SQL statements ": b"INSERT INTO t (a, b) VALUES (1, 'x'), (2, 'y');\n",
    "a log of Git": b"commit a1b2c3d4 (HEAD -> main)\nAuthor: A <a@x.org>\n\n    Add x\n",
    "a listing of files": b"total 8\n-rw-r--r-- 1 a b 12 May  1 10:11 x y.csv\n",
    "a vCard file": b"BEGIN:VCARD\nVERSION:3.0\nFN:Ada\nEND:VCARD\n",
    "a calendar": b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n",
    "an LDIF file": b"version: 1\n\ndn: cn=Ada,dc=example\nobjectClass: person\ncn: Ada\n",
    "a bank statement in MT940": b":20:START\n:25:10020030/1234567\n:28C:00001/001\n:60F:C1\n-\n",
    "a bank statement in QIF": b"!Type:Bank\nD01/02/2024\nT-45.10\nPShop\n^\n",
    "a bank statement in OFX": b"OFXHEADER:100\nDATA:OFXSGML\n\n<OFX><BANKMSGSRSV1></OFX>\n",
    "an EDIFACT message": b"UNB+UNOA:1+A+B+240101:1000+1'UNH+1+ORDERS:D:96A:UN'\n",
    "a GEDCOM file": b"0 HEAD\n1 SOUR X\n0 @I1@ INDI\n1 NAME Ada /L/\n",
    "a game in PGN": b'[Event "F"]\n[Site "B"]\n\n1. e4 e5 2. Nf3 *\n',
    "a file of settings": b"# settings\ndb.url=jdbc:x\ndb.user=a, b\n",
    "a file of settings ": b"SHOP_URL=https://x\nSHOP_KEY=abc\nDEBUG=1\n",
    "a mail": b"Received: by x\nFrom: Jo <jo@example.org>\nTo: Al\nSubject: Hi\n\nHi\n",
    "a file of translations": b'msgid ""\nmsgstr "Language: de\\n"\n\nmsgid "Save"\nmsgstr "S"\n',
    "a file of subtitles": b"1\n00:00:01,000 --> 00:00:02,500\nHello, you\n",
    "a plot of Grace": b'# By x\n@ title "Energy"\n@TYPE xy\n  0.0  -35.1\n  1.0  -34.2\n',
    "a file in the form of LibSVM": b"+1 1:0.7 3:0.12\n-1 2:0.5 3:0.9\n" * 9,
    "a log of a program": b"2024-01-02 10:00:00,123 INFO  [main] com.x.App - Started in 3 s\n" * 9,
    "a log of a program ": b"2024-01-02 10:00:00,123 - shop.app - INFO - started in 3 s\n" * 9,
    "a log of a program  ": b"WARNING:shop.app:slow query, 3 s\nINFO:root:done, at last\n" * 9,
    "an SQL query": b"-- sales, by month\nSELECT month, sum(total)\nFROM orders, items\n;\n",
    "an SQL query ": b"WITH t AS (\n  SELECT id, name\n  FROM p\n)\nSELECT id FROM t;\n",
    "an SQL query  ": b"select id, name from p where price > 3;\n",
    "a file of SQL statements  ": b"CREATE OR REPLACE VIEW v AS\nSELECT a, b FROM t;\n",
    "a listing of Stata": b"  +-----------+\n  | make  mpg |\n  |-----------|\n"
    b"  1. | AMC    22 |\n  +-----------+\n",
    "a data file of JMulTi": b"/* quarterly, adjusted */\n<1960 Q1>\nincome cons\n451 415\n",
    "a file of code or settings": b"import os\nimport re, sys\n\nprint(os, re)\n",
    "a file of code or settings ": b"# web\nserver {\n    listen 80;\n    name a, b;\n}\n",
    "a document in Markdown": b"# Title\n\nText, and more.\n\n## Install\n\n- one\n- two\n",
    "a list of requirements of Python": b"numpy==1.26.4\npandas>=2.0,<3\n# for tests\nhttpx\n"
    b"requests[socks]~=2.31\nscipy==1.12.0; python_version >= '3.9'\n",
    "a file of metrics of Prometheus": b"# HELP up Up.\n# TYPE up gauge\nup 1\n",
    "a table of LaTeX": b"\\begin{tabular}{lr}\nModel & Acc. \\\\\nA & 1.5 \\\\\n\\end{tabular}\n",
    "a sequence of JSON texts": b'\x1e{"a": 1}\n\x1e{"a": 2}\n',
    "a file of code or settings  ": b"def main(a, b):\n    print(a, b)\n    return a + b\n",
    "a mailbox": b"From ada@example.org Mon May  1 10:11:12 2023\nSubject: hello\n\ntext\n",
}  # fmt: skip


@pytest.mark.parametrize("name", ["t.csv", "t.bin", "t.json"])
@pytest.mark.parametrize("what", REFUSED)
def test_a_format_that_is_not_read_is_refused_by_name_whatever_its_file_is_called(
    tmp_path: Path, what: str, name: str
) -> None:
    if name == "t.json" and REFUSED[what][:1] not in (b"\x80", b"%"):
        name = "t.txt"
    path = tmp_path / name
    path.write_bytes(REFUSED[what])

    with pytest.raises(BadInput) as refusal:
        plan(str(path), "products")

    assert str(refusal.value).startswith(f"{path} is {what.strip()}")


PROSE = {
    "notes": "Meeting on Monday, with Ann and Bob.\n\nWe talked about the shop, its prices, and"
    " more.\nBob will write the plan; Ann will check it.\n\nNext steps:\n- order paper, and pens\n",
    "as many commas in all lines": "It rained all day, and we stayed in.\nThe next day was bright,"
    " so we left.\nAt noon we ate bread, and drank water.\nThen we came back, tired but happy.\n",
    "a read-me": "My project\n==========\n\nThis tool reads files and writes them again.\n\nUse\n"
    "---\nRun pip install thing, then thing --help.\n\nHelp\n----\nSee the docs: they explain "
    "all options, formats, and errors.\n",
    "wrapped paragraphs": "Permission is hereby granted, free of charge, to any person obtaining\n"
    "copies of this software, to deal in it without restriction,\nsubject to the following "
    "conditions, in all copies.\n\nThe software is provided as it is, without any warranty,\n"
    "express or implied, and without fitness for a particular purpose.\n",
}  # fmt: skip


@pytest.mark.parametrize("text", PROSE.values(), ids=PROSE)
def test_sentences_are_not_read_as_a_table(tmp_path: Path, text: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(BadInput, match=r"is a text of sentences, .* pass a list of dicts"):
        plan(str(path), "products")


TEXT_TABLES = {
    "reviews with labels": "review,label\n" + '"Great phone, it works well.",1\n' * 5,
    "labels with reviews": "ham\tWell, I will call you later on today.\n" * 6,
    "questions with answers": "What is the capital of Peru?|It is the city of Lima.\n" * 6,
    "words": "apple\nbanana\ncherry\ndate\n",
    "names and towns": "name, town\nAnn Lee, New York\nBob Ray, St. Louis\nCid Ott, San Jose\n" * 2,
    "addresses": "Ann Lee; Main Street\nBob Ray; Long Road\nCid Ott; High Street\n" * 2,
    "dated remarks": "2023-05-01, We opened the shop today.\n2023-05-02, It rained all day.\n" * 3,
    "columns between blanks": "year  mean  unc\n1959  315.9  0.12\n1960  316.9  0.12\n" * 3,
}


@pytest.mark.parametrize("text", TEXT_TABLES.values(), ids=TEXT_TABLES)
def test_tables_with_sentences_are_read(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.txt"
    path.write_text(text, encoding="utf-8")

    assert values(str(path))


def test_a_table_of_sentences_is_read_by_its_name_or_an_option(tmp_path: Path) -> None:
    for name, options in (("t.csv", {}), ("t.txt", {"separator": ","})):
        path = tmp_path / name
        path.write_text(PROSE["as many commas in all lines"], encoding="utf-8")

        assert len(values(str(path), **options)) == 3


def test_a_compressed_file_of_such_a_format_is_refused_too(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(pickle.dumps(FRAME)))

    with pytest.raises(BadInput, match=r"t\.csv\.gz is a pickle"):
        plan(str(path), "products")


def test_a_log_is_split_when_its_separator_is_given(tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    path.write_bytes(REFUSED["a log of a web server"])

    records = values(str(path), separator=" ", header=False)

    assert records[0]["column0"] == "1.2.3.4"


@pytest.mark.parametrize(
    "text",
    [
        "sku,note\n1,caf\x85\n2,\x00b\n",
        "@handle,likes\n@ada,1\n@bob,2\n",
        "From,To\na,b\nc,d\n",
        "set,size\nA,1\nB,2\n",
        "BEGIN,END\n1,2\n3,4\n",
        "sku\x01price\n7\x011.5\n8\x012.5\n",
        "select,from\n1,2\n3,4\n",
        "import,export\n1,2\n3,4\n",
        "import value,export value\n1,2\n3,4\n",
        "import duties, year\nsteel, 2020\nwine, 2021\n",
        "Use case;Owner\nSearch;Ada\nBrowse;Bob\n",
        "begin;end\n1;2\n3;4\n",
        "Drop table;Alter table\n1;2\n3;4\n",
        "# Title\n\n## Table\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n",
        "# rows\n\na,b\n1,2\n3,4\n",
    ],
    ids=[
        "few controls",
        "handles",
        "from",
        "set",
        "begin",
        "Hive",
        "select",
        "import",
        "import and a word",
        "import, blanks",
        "use and a word",
        "begin and end",
        "statements as names",
        "table in Markdown",
        "title in a comment",
    ],
)
def test_tables_that_begin_like_another_format_are_read(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")

    assert len(values(str(path))) >= 2


@pytest.mark.parametrize("suffix", [".csv", ".txt", ".dat", ".json"])
def test_json_lines_are_read_whatever_their_file_is_called(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    path.write_text(
        '{"sku": "007", "price": 1.5}\n{"sku": "008", "price": 2.5}\n', encoding="utf-8"
    )

    assert values(str(path)) == ROWS


def test_the_only_file_of_a_zip_archive_is_read(tmp_path: Path) -> None:
    path = tmp_path / "archive.zip"
    path.write_bytes(zipped({"data/t.csv": TABLE, "__MACOSX/data/._t.csv": "x"}))
    nested = tmp_path / "nested.csv"
    nested.write_bytes(zipped({"t.gz": gzip.compress(TABLE.encode())}))

    assert values(str(path)) == values(str(nested)) == ROWS


def test_archives_of_several_files_and_damaged_ones_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "archive.zip"
    path.write_bytes(zipped({"a.csv": TABLE, "b.csv": TABLE}))
    with pytest.raises(BadInput, match=r"an archive of 2 files \(a\.csv, b\.csv\); extract it"):
        plan(str(path), "products")

    content = zipped({"a.csv": TABLE * 1000})
    path.write_bytes(content[:60] + b"\xff" * 8 + content[68:])
    with pytest.raises(BadInput, match=r"cannot be decompressed"):
        plan(str(path), "products")

    with tarfile.open(tmp_path / "t.tar.gz", "w:gz") as archive:
        archive.addfile(tarfile.TarInfo("a.csv"))
    with pytest.raises(BadInput, match=r"an archive of 1 file \(a\.csv\)"):
        plan(str(tmp_path / "t.tar.gz"), "products")


@pytest.mark.parametrize("if_exists", ["append", "replace"])
def test_a_file_without_a_row_that_can_be_sent_is_an_error(
    tmp_path: Path, client: Client, if_exists: svc.data.loading.options.IfExists
) -> None:
    rejected, empty = tmp_path / "rejected.csv", tmp_path / "empty.csv"
    rejected.write_text("id,n\n,1\n,2\n", encoding="utf-8")
    empty.write_text("id,n\n", encoding="utf-8")

    with pytest.raises(BadInput, match="no row can be sent, and t is unchanged: row 1"):
        svc.load(str(rejected), "t", id="id", client=client, if_exists=if_exists)
    with pytest.raises(BadInput, match="has no rows"):
        svc.load(str(empty), "t", client=client, if_exists=if_exists)
    assert not svc.load(str(rejected), "t", id="id", client=client, dry_run=True).sent
