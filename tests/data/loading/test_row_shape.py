"""The scan of a file's lines, beside rows whose cells are known because they were written here."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from svc_notebook.data.loading.sources import csv_copies
from svc_notebook.data.loading.sources.csv_cells import Dialect
from svc_notebook.data.loading.sources.csv_copies import scan_lines
from tests.conftest import examples

HEADER = ["id", "name", "note"]
DIALECT = Dialect(",", '"', '"', header=True, names=tuple(HEADER), cells=tuple(HEADER))
CELLS = ["", '""', "a", "id", '"b,c"', '"say ""hi"""', "é", "name"]
ROWS = st.lists(
    st.one_of(st.lists(st.sampled_from(CELLS), min_size=1, max_size=5), st.just(HEADER)),
    max_size=12,
)
EMPTY = {"", '""'}


@settings(max_examples=examples(300))
@given(
    rows=ROWS,
    ends=st.sampled_from(["\n", "\r\n"]),
    closed=st.booleans(),
    mark=st.booleans(),
    block_bytes=st.integers(1, 40),
)
# The last block is one blank line.
@example(rows=[["a" * 10], [""]], ends="\n", closed=True, mark=False, block_bytes=1)
@example(rows=[["a" * 10], [""]], ends="\r\n", closed=True, mark=False, block_bytes=1)
def test_the_shape_of_rows_that_are_known(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[list[str]],
    ends: str,
    closed: bool,
    mark: bool,
    block_bytes: int,
) -> None:
    path = tmp_path_factory.mktemp("shape") / "t.csv"
    text = ends.join(",".join(row) for row in [HEADER, *rows]) + (ends if closed else "")
    path.write_bytes(text.encode("utf-8-sig" if mark else "utf-8"))

    with pytest.MonkeyPatch.context() as patch:
        # The header is read from the first block.
        patch.setattr(csv_copies, "BLOCK_BYTES", 20 + block_bytes)
        shape = scan_lines(path, DIALECT)

    wide = any(len(row) > len(HEADER) and row[-1] in EMPTY for row in rows)
    has_line_end = bool(rows) or closed
    assert shape.empty_surplus == wide
    assert shape.repeated_header == (has_line_end and HEADER in rows)
    assert not shape.quoted_lines
    assert not shape.open_end


@pytest.mark.parametrize("last", ['4,"a\nb",c\n', '4,"a\n,c'], ids=["closed", "open"])
def test_a_line_end_inside_quotes_in_a_later_block(tmp_path: Path, last: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,name,note\n" + "1,a,b\n" * 100_000 + last)

    shape = scan_lines(path, DIALECT)

    assert shape.quoted_lines
    assert shape.open_end == (not last.endswith("\n"))
