"""Polluted files: how much of them is read, and that every line of them is accounted for."""

from __future__ import annotations

import csv
import io
import random
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from svc_notebook.data.loading.table import changes_of
from svc_notebook.errors import BadInput
from tests.data.loading.encoded_records import Packed, pack
from tests.data.loading.polluted_files import (
    Loaded,
    PollutedFile,
    more_files,
    polluted_files,
    score,
    score_files,
)

# The minimum score of a class of pollutions; 10 for all others. What lacks: an empty file is
# refused, names of two tables count twice, and a row of the wrong width can have lost a value.
FLOORS = {
    "file_no_payload": 0.0,
    "file_header_multirow_2": 9.1,
    "file_header_multirow_3": 8.8,
    "file_multitable_less": 9.2,
    "file_multitable_same": 9.1,
    "file_multitable_more": 9.2,
    "row_more_sep": 9.95,
    "row_less_sep": 9.9,
    "row_field_delimiter": 9.9,
}
MAX_SCORE = 10
FILES = [*polluted_files([40]), *more_files()]


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Packed]:
    """What is sent of each file that is not refused."""
    folder = tmp_path_factory.mktemp("polluted")
    found: dict[str, Packed] = {}
    for file in FILES:
        path = folder / file.name
        path.write_bytes(file.content)
        with suppress(BadInput):
            found[file.name] = pack(path)
    return found


@pytest.mark.timeout(300)
@pytest.mark.slow
def test_the_score_of_every_class_of_pollutions(loaded: dict[str, Packed]) -> None:
    scores = score_files(FILES, lambda file: read(file, loaded))

    low = {k: found for k, (found, _) in scores.items() if found < FLOORS.get(k, 10 - 1e-9)}
    assert low == {}
    weights = sum(weight for _, weight in scores.values())
    assert sum(found * weight for found, weight in scores.values()) / weights > 9.89


def read(file: PollutedFile, loaded: dict[str, Packed]) -> Loaded | None:
    """What is sent of a file; None if it is refused."""
    if file.name not in loaded:
        return None
    packed = loaded[file.name]
    names = packed.plan.columns["column"].tolist()
    return Loaded(names, [[record.get(name) for name in names] for record in packed.records])


@pytest.mark.timeout(300)
@pytest.mark.slow
def test_no_class_of_pollutions_is_read_otherwise_without_a_word(loaded: dict[str, Packed]) -> None:
    """A note of what was changed, or a rejected row, says that a file is read otherwise.

    Advice does not count; a clean file has neither.
    """
    silent: Counter[str] = Counter()
    for file in FILES:
        is_whole = sum(score(file, read(file, loaded))) == MAX_SCORE
        if not is_whole and file.name in loaded:
            plan = loaded[file.name].plan
            silent[file.kind] += not changes_of(plan.notes) and not plan.rejected_rows

    assert +silent == Counter()
    clean = loaded["source.csv"].plan
    assert (changes_of(clean.notes), clean.rejected_rows) == ((), 0)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_every_line_of_a_polluted_file_is_accounted_for(loaded: dict[str, Packed]) -> None:
    """Lines that are not blank are the header, rows that are sent or rejected, or skipped lines."""
    assert {file.name for file in FILES} - loaded.keys() == {"file_no_payload.csv"}
    for file in FILES[:1] + FILES[2:]:
        encoding = "utf-16" if "utf-16" in file.name else "utf-8-sig"
        text = file.content.decode("cp1252" if "cp1252" in file.name else encoding)
        lines = sum(
            bool(line.strip(" ,;|^~:\"'\t\r\n")) for line in io.StringIO(text, newline=None)
        )

        packed = loaded[file.name]
        plan = packed.plan
        header = not any("no header was found" in note for note in plan.notes)
        assert plan.rows == len(packed.records) + plan.rejected_rows, file.name
        assert plan.rows + plan.skipped_lines + header == lines, (file.name, plan.notes)
        if file.name != "source.csv" and (plan.rejected_rows or plan.skipped_lines):
            assert plan.notes, file.name


ATOMS = (
    "a", "b", "1", "2", "x y", ",", ";", "|", "\t", "'", '"', '""', "\\", '\\"', "#", "# ", "\n",
    "\r\n", " ", "-", "n.a.", "2020", "é", "€", "://", ":", "~", "^", "1.5", "10:30", "(", "sep=;",
    "Total", '""a', '{"k": "v"}', "Men's", "C:\\dir\\",
)  # fmt: skip


@pytest.mark.sampled(quick=4)
@pytest.mark.parametrize("seed", range(20))
def test_a_file_as_the_csv_module_writes_it_is_read_as_it_reads_it(
    tmp_path: Path, seed: int
) -> None:
    make = random.Random(seed)

    def cell() -> str:
        return "".join(make.choice(ATOMS) for _ in range(make.choice([0, 1, 1, 2, 4])))

    names = ["first", "second", "third", "fourth"][: make.choice([2, 3, 4])]
    rows = [
        [f"k{number}" if make.random() < 0.7 else cell(), *(cell() for _ in names[1:])]
        for number in range(make.choice([1, 2, 3, 12, 40]))
    ]
    separator = make.choice(",;|\t")
    path = tmp_path / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(
            file, delimiter=separator, quoting=make.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
            lineterminator=make.choice(["\n", "\r\n"]),
        )  # fmt: skip
        writer.writerows([names, *rows])
    with path.open(newline="", encoding="utf-8") as file:
        read = list(csv.DictReader(file, delimiter=separator))

    packed = pack(path, separator=separator, dtype=dict.fromkeys(names, "string"))

    sent = [{n: v for n, v in record.items() if n != "objectID"} for record in packed.records]
    # A row without a value is skipped, with a note.
    filled = [{n: v for n, v in row.items() if v} for row in read]
    assert sent == [*filter(None, filled)]
    assert any("no value" in note for note in packed.plan.notes) == (len(sent) < len(filled))
    assert packed.plan.rejected_rows == packed.plan.skipped_lines == 0
