"""Exported tables that a spreadsheet does not run."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest

import svc_notebook as svc
from svc_notebook.data.client import Client
from svc_notebook.errors import BadInput
from svc_notebook.faces.cli import main
from tests.conftest import Running

DANGEROUS = (
    *("=1+1", "+1+1", "-2+3", "@SUM(A1)", "＝1+1", "\t=1", "\r=1", "\n=1", "  =1+1"),  # noqa: RUF001
    *('=HYPERLINK("http://a.example")', "-"),
)
HARMLESS = ("lamp", "a=b", "1 - 2", "'=1", "", "5", "[-1]", "Größe")


@pytest.fixture
def records(client: Client) -> list[dict[str, object]]:
    texts = [*DANGEROUS, *HARMLESS, "\x1b[31mred\x07"]
    rows: list[dict[str, object]] = [
        {"objectID": f"{n:02}", "text": text} for n, text in enumerate(texts)
    ]
    rows[0] |= {"=cmd": "x", "price": -5, "list": ["=1"], "object": {"a": "=1"}}
    svc.load(rows, "defused", client=client, if_exists="replace", progress=False)
    return rows


def read(path: Path, separator: str) -> dict[str, dict[str, str]]:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    lines = data.decode().splitlines(keepends=True)
    return {row["objectID"]: row for row in csv.DictReader(lines, delimiter=separator)}


@pytest.mark.parametrize(
    ("name", "separator"), [("a.csv", ","), ("a.tsv", "\t"), ("a.csv.gz", ",")]
)
def test_texts_are_no_formulas(
    name: str, separator: str, records: list[dict[str, object]], client: Client, tmp_path: Path
) -> None:
    path = tmp_path / name

    svc.export("defused", path, spreadsheet_safe=True, client=client)

    rows = read(path, separator)
    assert len(rows) == len(records)
    for number, text in enumerate(DANGEROUS):
        shown = rows[f"{number:02}"]["text"]
        assert shown.startswith("'"), text
        assert shown[1:].strip() == text.replace("\r", "\\u000d").strip()
    for number, text in enumerate(HARMLESS, len(DANGEROUS)):
        assert rows[f"{number:02}"]["text"] == text
    assert rows[f"{len(records) - 1:02}"]["text"] == "\\u001b[31mred\\u0007"
    assert (rows["00"]["'=cmd"], rows["00"]["price"]) == ("x", "-5")
    assert rows["00"]["list"] == '["=1"]'


def test_without_the_option_texts_are_exact(
    records: list[dict[str, object]], client: Client, tmp_path: Path
) -> None:
    svc.export("defused", tmp_path / "a.csv", client=client)

    with (tmp_path / "a.csv").open(newline="", encoding="utf-8") as file:
        texts = {row["text"] for row in csv.DictReader(file)}
    assert texts == {str(record["text"]) for record in records}


def test_other_formats_have_no_formulas(client: Client, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"`spreadsheet_safe` is an option of .csv and .tsv"):
        svc.export("defused", tmp_path / "a.parquet", spreadsheet_safe=True, client=client)


def test_the_command_has_the_option(
    records: list[dict[str, object]],
    service: Running,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in (("URL", service.url), ("APP_ID", service.appId)):
        monkeypatch.setenv(f"SVC_{name}", value)
    monkeypatch.setenv("SVC_API_KEY", service.adminKey)

    assert main(["export", "defused", str(tmp_path / "a.csv"), "--spreadsheet-safe"]) == 0

    assert "'=1+1" in (tmp_path / "a.csv").read_text(encoding="utf-8")
