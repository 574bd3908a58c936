"""Figures that benchmarks record, and the table of all scripts."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from benchmarks import table
from benchmarks.figures import (
    FILE_VARIABLE,
    Figure,
    Percentiles,
    compute_percentiles,
    parse_wanted,
    read_figures,
    record,
    record_percentiles,
)
from tests.conftest import ROOT

BENCHMARKS = sorted((ROOT / "benchmarks").glob("*.py"))
# Records the figures of the lines; each run of a script takes those of another round.
SCRIPT = """
import os, sys
from pathlib import Path
rounds = {rounds!r}
counter = Path(__file__).with_suffix(".count")
number = len(counter.read_text()) if counter.exists() else 0
counter.write_text("x" * (number + 1))
lines, status = rounds[number]
print("the script's own text")
with open(os.environ["SVC_BENCH_FIGURES"], "a") as file:
    file.writelines(line + "\\n" for line in lines)
sys.exit(status)
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file for figures, which `record` appends to."""
    path = tmp_path / "figures.jsonl"
    monkeypatch.setenv(FILE_VARIABLE, str(path))
    return path


def write_script(path: Path, *rounds: tuple[list[dict[str, object]], int]) -> Path:
    """Write a script that records some figures and ends with a status, in each of its runs."""
    texts = [([json.dumps(figure) for figure in figures], status) for figures, status in rounds]
    path.write_text(SCRIPT.format(rounds=texts))
    return path


def test_a_recorded_figure_is_read_again(file: Path) -> None:
    record("load", 900, "rows/s", peer="official client", peer_value=100, wanted=">= 8")

    assert read_figures(file) == [
        Figure("load", 900, "rows/s", "official client", 100, 9.0, ">= 8")
    ]


def test_a_ratio_of_several_rounds_is_not_computed_from_the_values(file: Path) -> None:
    record("load", 900, peer="official client", peer_value=100, ratio=8.5)

    assert read_figures(file)[0].ratio == 8.5


def test_without_a_file_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(FILE_VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)

    record("load", 900, "rows/s")

    assert list(tmp_path.iterdir()) == []
    assert capsys.readouterr().out == ""


def test_percentiles_are_two_figures(file: Path) -> None:
    times = compute_percentiles([float(number) for number in range(1, 101)])

    record_percentiles("search", times, peer="milli", theirs=Percentiles(25, 40), wanted_p95="< 10")

    p50, p95 = read_figures(file)
    assert (p50.name, p50.value, p50.ratio, p50.holds) == ("search, p50", 50.5, 2.02, None)
    assert (p95.name, p95.value, p95.ratio, p95.holds) == ("search, p95", 96, 2.4, True)


@pytest.mark.parametrize(
    ("wanted", "value", "holds"),
    [
        (">= 8", 8, True),
        (">= 8", 7.99, False),
        ("<= 0.4", 0.4, True),
        ("<= 0.4", 0.41, False),
        ("< 10", 10, False),
        ("> 10", 10, False),
        ("= 0", 0, True),
        ("= 0", 1, False),
        (">= 25,000", 24_999, False),
        ("", 1, None),
    ],
)
def test_what_is_wanted_is_compared_with_the_value(
    wanted: str, value: float, holds: bool | None
) -> None:
    assert Figure("a", value, wanted=wanted).holds is holds


def test_what_is_wanted_is_compared_with_the_ratio_if_there_is_one() -> None:
    assert Figure("a", 900, peer_value=100, ratio=9, wanted=">= 10").holds is False


@pytest.mark.parametrize("wanted", ["8", ">=8", "wanted >= 8", ">= fast", "=> 8", ">= 8x"])
def test_a_malformed_comparison_is_an_error(wanted: str) -> None:
    with pytest.raises(ValueError, match="is not a comparison"):
        Figure("a", 1, wanted=wanted)


def test_every_comparison_of_the_benchmarks_can_be_parsed() -> None:
    texts = [
        text
        for path in BENCHMARKS
        for text in texts_of(ast.parse(path.read_text(encoding="utf-8")))
        if text.startswith((">", "<", "=")) and any(sign.isdigit() for sign in text)
    ]

    assert len(texts) >= 20
    assert all(parse_wanted(text) for text in texts)


def texts_of(node: ast.AST) -> Iterator[str]:
    """Yield the strings of a module without those in f-strings, which have format specifiers."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Constant) and isinstance(child.value, str):
            yield child.value
        elif not isinstance(child, ast.JoinedStr):
            yield from texts_of(child)


@pytest.mark.parametrize("path", [*table.SCRIPTS, *table.SCALE], ids=lambda path: path.stem)
def test_a_script_of_the_table_records_figures(path: Path) -> None:
    assert "from benchmarks.figures import" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1_234_567.8, "1,234,568"),
        (99.97, "100"),
        (26.14, "26.1"),
        (1.5, "1.50"),
        (0.0941, "0.0941"),
        (3.0, "3"),
        (0, "0"),
        (None, ""),
    ],
)
def test_numbers_have_three_significant_digits(number: float | None, text: str) -> None:
    assert table.format_number(number) == text


def test_the_table_contains_the_figures_of_all_scripts_by_group(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    client = {"peer": "official client", "peer_value": 100, "unit": "rows/s"}
    loaded = [
        {"name": "10 rows", "value": 900, **client, "ratio": 9, "wanted": ">= 8"},
        {"name": "peak memory", "value": 400.4, "unit": "MB", "wanted": "<= 350"},
    ]
    scripts = {
        write_script(tmp_path / "first.py", (loaded, 0)): "Loading",
        write_script(tmp_path / "second.py", ([{"name": "kills", "value": 50}], 0)): "Killing",
    }

    status = table.main([], scripts)

    shown = capfd.readouterr().out
    assert status == 0
    assert shown.count("the script's own text") == 2
    assert cells_of(shown, "10 rows") == [
        "10 rows", "900 rows/s", "official client 100 rows/s", "9x", ">= 8x", "yes"
    ]  # fmt: skip
    assert cells_of(shown, "peak memory") == ["peak memory", "400 MB", "<= 350 MB", "missed"]
    assert cells_of(shown, "kills") == ["kills", "50"]
    assert shown.rindex("\nLoading\n") < shown.index("peak memory") < shown.rindex("\nKilling\n")
    assert shown.endswith("Figures: 3; as wanted: 1 of 2.\n")


def cells_of(shown: str, name: str) -> list[str]:
    line = next(line for line in shown.splitlines() if line.startswith(name))
    return [cell.strip() for cell in line.split("  ") if cell.strip()]


def test_columns_are_aligned(tmp_path: Path) -> None:
    group = table.Group("Loading", [("a", "1 s", "", "", "", ""), ("bb", "10 s", "", "", "", "")])

    lines = table.format_text([group])

    assert lines == [
        "figure  ours  peer  ratio  wanted  holds",
        "",
        "Loading",
        "a        1 s",
        "bb      10 s",
    ]


def test_several_rounds_give_medians_with_minimum_and_maximum(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def rate(value: float, peer: float) -> dict[str, object]:
        ours = {"name": "load", "value": value, "unit": "rows/s", "ratio": value / peer}
        return ours | {"peer": "client", "peer_value": peer, "wanted": ">= 8"}

    rounds = [([rate(value, peer)], 0) for value, peer in ((700, 100), (900, 90), (800, 100))]
    script = write_script(tmp_path / "some.py", *rounds)

    assert table.main(["--rounds", "3"], {script: "Loading"}) == 0

    assert cells_of(capfd.readouterr().out, "load ") == [
        "load", "800 rows/s (700 to 900)", "client 100 rows/s", "8x (7 to 10)", ">= 8x", "yes"
    ]  # fmt: skip


def test_a_loss_in_one_round_is_not_hidden_by_the_median() -> None:
    runs = [table.Run([Figure("lost", lost, wanted="= 0")], int(lost > 0)) for lost in (0, 2, 0)]

    lost, failed = table.make_rows(runs)

    assert lost == ("lost", "0 (0 to 2)", "", "", "= 0", "missed")
    assert failed[0] == "failed in 1 of 3 rounds: exit status 1"
    assert table.summarize({Path("kill.py"): runs}) == [
        "Figures: 1; as wanted: 0 of 1.",
        "Failed: kill.py.",
    ]


def test_a_figure_that_some_rounds_lack_has_the_median_of_the_others() -> None:
    runs = [
        table.Run([Figure("load", 3, ratio=3), Figure("once", 1)], 0),
        table.Run([Figure("load", 5)], 0),
    ]

    load, once = table.make_rows(runs)

    assert load[:4] == ("load", "4 (3 to 5)", "", "3x")
    assert once[:2] == ("once", "1")


def test_a_failed_script_keeps_its_figures_and_those_of_others(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lost = [{"name": "lost batches", "value": 2, "wanted": "= 0"}]
    scripts = {
        write_script(tmp_path / "kill.py", (lost, 3)): "Killing",
        write_script(tmp_path / "load.py", ([{"name": "load", "value": 9}], 0)): "Loading",
    }

    status = table.main([], scripts)

    shown = capfd.readouterr().out
    assert status == 1
    assert cells_of(shown, "lost batches") == ["lost batches", "2", "= 0", "missed"]
    assert cells_of(shown, "failed") == ["failed: exit status 3", "failed"]
    assert cells_of(shown, "load ") == ["load", "9"]
    assert shown.endswith("Failed: kill.py.\n")


def test_a_script_that_fails_in_some_rounds_is_shown_as_failed(tmp_path: Path) -> None:
    script = write_script(tmp_path / "some.py", ([], 0), ([], 1))

    assert table.main(["--rounds", "2"], {script: "Loading"}) == 1

    runs = [table.Run([], 0), table.Run([], 1)]
    assert table.make_rows(runs)[-1][0] == "failed in 1 of 2 rounds: exit status 1"


def test_a_script_without_figures_leaves_an_empty_group(tmp_path: Path) -> None:
    script = tmp_path / "crash.py"
    script.write_text("raise SystemExit(2)")

    assert table.run_script(script) == table.Run([], 2)


def test_the_same_table_is_written_as_markdown(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    figures = [{"name": "a | b", "value": 9, "unit": "ms", "wanted": "< 10"}]
    script = write_script(tmp_path / "some.py", (figures, 0))

    table.main(["--markdown", str(tmp_path / "table.md")], {script: "Loading"})

    lines = (tmp_path / "table.md").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("svc-notebook ")
    assert lines[2:] == [
        "| figure | ours | peer | ratio | wanted | holds |",
        "| --- | ---: | --- | ---: | --- | --- |",
        "| **Loading** |  |  |  |  |  |",
        r"| a \| b | 9 ms |  |  | < 10 ms | yes |",
        "",
        "Figures: 1; as wanted: 1 of 1.",
    ]
    assert lines[0] in capfd.readouterr().out


SCRIPT_CHOICES: Mapping[str, tuple[list[str], list[str]]] = {
    "all": ([], ["load", "frames"]),
    "one": (["--only", "frames"], ["frames"]),
    "several": (["--only", "frames", "load"], ["load", "frames"]),
    "scale too": (["--with-scale"], ["load", "frames", "scale"]),
    "one and scale": (["--only", "load", "scale"], ["load", "scale"]),
}


@pytest.mark.parametrize("name", SCRIPT_CHOICES)
def test_options_choose_scripts(name: str) -> None:
    arguments, chosen = SCRIPT_CHOICES[name]
    scripts = {Path("load.py"): "Loading", Path("frames.py"): "DataFrames"}

    given = table.read_options(arguments, {**scripts, **table.SCALE})

    assert [path.stem for path in table.choose_scripts(given, scripts)] == chosen


def test_without_a_browser_one_line_names_the_skipped_scripts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    load, typing = tmp_path / "load.py", tmp_path / "typing.py"
    load.write_text("print('measured')", encoding="utf-8")
    typing.write_text("raise SystemExit(1)", encoding="utf-8")
    for name, value in (("CHROMIUM", None), ("IN_BROWSER", (typing,))):
        monkeypatch.setattr(table, name, value)

    status = table.main([], {load: "Loading", typing: "Typing"})

    shown = capsys.readouterr().out
    assert status == 0
    assert shown.startswith("Skipped without Chromium: typing.py; apt-get install chromium\n")
    assert shown.count("typing.py") == 1


@pytest.mark.parametrize("arguments", [["--only", "unknown"], ["--rounds", "0"]])
def test_unknown_scripts_and_no_rounds_are_refused(arguments: list[str]) -> None:
    with pytest.raises(SystemExit):
        table.main(arguments)
