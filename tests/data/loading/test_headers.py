"""Headers of delimited files: the whole first row against the rows below decides."""

from __future__ import annotations

from pathlib import Path

import pytest

from svc_notebook.data.loading.dispatch import plan
from svc_notebook.data.loading.text_cells.header_score import is_header
from svc_notebook.errors import BadInput
from tests.data.loading.real_headers import HEADERS, read_header, separator_of, write_table
from tests.looping import loop_over

NUMBERS = {*"infmd"}


@pytest.mark.slow
@loop_over("line", HEADERS)
def test_a_real_header_names_the_columns(line: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(write_table(line), encoding="utf-8")
    header, _ = read_header(line)

    columns = list(plan(str(path), "t").columns["column"])

    assert columns == [name.strip() for name in header.split(separator_of(header))]


@loop_over("line", [line for line in HEADERS if set(read_header(line)[1]) & NUMBERS])
def test_rows_with_numbers_have_no_header(line: str) -> None:
    header, _ = read_header(line)
    _, *rows = (row.split(separator_of(header)) for row in write_table(line).splitlines())

    assert not is_header(rows)


def test_an_id_in_a_first_row_that_is_no_header_is_named_in_the_error(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("5,sku,7\n6,b,8\n9,c,4\n", encoding="utf-8")

    with pytest.raises(BadInput, match=r"the first row holds `sku`.*header=True"):
        plan(str(path), "t", id="sku")

    assert plan(str(path), "t", id="sku", header=True).rows == 2


@pytest.mark.parametrize(
    "rows",
    [
        ["1.51e+02", "7.5e+01", "1.41e+02", "1.51e+02", "2.06e+02"],
        ["AD\t+4230+00131\tEurope/Andorra", "AG\t+1703-06148\tAmerica/Antigua",
         "AQ\t-6617+11031\tAntarctica/Casey", "AR\t-3436-05827\tAmerica/Argentina/Jujuy"],
    ],
)  # fmt: skip
def test_a_first_row_with_the_form_of_the_others_is_no_header(
    rows: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "table.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")

    read = plan(str(path), "t")

    assert read.rows == len(rows)
    assert read.columns["column"].tolist()[0] == "column0"


def test_the_name_of_the_only_column_can_be_a_value(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("apple\nbanana\ncherry\n", encoding="utf-8")

    advice = "`apple` is read as the name of the only column; header=False reads it as a value"
    assert advice in plan(str(path), "t").notes
    assert advice not in plan(str(path), "t", header=True).notes
    assert plan(str(path), "t", header=False).rows == 3
