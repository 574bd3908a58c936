from __future__ import annotations

from pathlib import Path

import pytest

from svc_notebook.bulk.batches import Span
from svc_notebook.bulk.checkpoint import Checkpoint, Entry, facts_of, open_checkpoint
from svc_notebook.bulk.options import Options

ENTRIES = [Entry(0, 10, 9, 1), Entry(10, 20, 10, 2)]


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def written() -> Checkpoint:
    checkpoint = open_checkpoint("file", "app", "index_tmp_1", "facts")
    for entry in ENTRIES:
        checkpoint.write(entry)
    return checkpoint


def test_what_was_acknowledged_is_read_back_though_nobody_closed_it() -> None:
    written()

    again = open_checkpoint("file", "app", "index_tmp_2", "facts")

    assert again.entries == ENTRIES
    assert again.target == "index_tmp_1"
    assert [entry.span for entry in again.entries] == [Span(0, 10), Span(10, 20)]


def test_a_line_cut_short_is_as_if_it_were_not_there() -> None:
    path = written().path
    whole = path.read_bytes()

    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        again = open_checkpoint("file", "app", "other", "facts")

        assert again.entries == ENTRIES[: max(0, whole[:length].count(b"\n") - 1)]


def test_going_on_after_a_line_cut_short_loses_nothing_but_that_line() -> None:
    path = written().path
    path.write_bytes(path.read_bytes()[:-5])

    open_checkpoint("file", "app", "x", "facts").write(ENTRIES[1])

    assert open_checkpoint("file", "app", "x", "facts").entries == ENTRIES


def test_going_on_appends() -> None:
    written()
    again = open_checkpoint("file", "app", "x", "facts")

    again.write(Entry(20, 30, 10, 3))

    assert len(open_checkpoint("file", "app", "x", "facts").entries) == 3


def test_what_is_done_leaves_nothing(state: Path) -> None:
    checkpoint = written()

    checkpoint.discard()

    assert [path for path in state.rglob("*") if path.is_file()] == []


def test_beginning_anew_forgets() -> None:
    fresh = written().anew("target")

    assert fresh.entries == []
    assert open_checkpoint("file", "app", "x", "facts").entries == []


@pytest.mark.parametrize("content", [b"rubbish\n", b'"t"\n{"first": 1}\n', b"\xff\xfe\n"])
def test_a_file_that_is_no_checkpoint_is_put_away(content: bytes) -> None:
    path = written().path
    path.write_bytes(content)

    assert open_checkpoint("file", "app", "x", "facts").entries == []


@pytest.mark.parametrize("other", [("b", "app"), ("file", "b")])
def test_another_file_or_application_has_another_checkpoint(other: tuple[str, str]) -> None:
    written()

    assert open_checkpoint(*other, "x", "facts").entries == []


def test_other_options_are_another_load() -> None:
    assert facts_of("i", "append", Options()) == facts_of("i", "append", Options())
    assert facts_of("i", "append", Options()) != facts_of("i", "append", Options(id="sku"))
    assert facts_of("i", "append", Options()) != facts_of("i", "replace", Options())
