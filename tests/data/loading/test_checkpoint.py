"""Checkpoints of resumable loads."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sending.batches import Span
from svc_notebook.data.loading.sending.checkpoint import (
    AcknowledgedBatch,
    Checkpoint,
    facts_of,
    open_checkpoint,
)
from svc_notebook.errors import BadInput
from tests.conftest import ROOT

ENTRIES = [AcknowledgedBatch(0, 10, 9, 1), AcknowledgedBatch(10, 20, 10, 2)]


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def opened() -> Checkpoint[AcknowledgedBatch]:
    return open_checkpoint("file", "as it is")


def written() -> Checkpoint[AcknowledgedBatch]:
    checkpoint = opened()
    checkpoint.begin("index_tmp_1")
    for entry in ENTRIES:
        checkpoint.write(entry)
    return checkpoint


def test_acknowledged_batches_are_read_back_from_an_unclosed_file() -> None:
    written()

    again = opened()

    assert again.entries == ENTRIES
    assert again.target == "index_tmp_1"
    assert [entry.span for entry in again.entries] == [Span(0, 10), Span(10, 20)]


def test_the_target_is_stored_before_the_first_acknowledgement() -> None:
    opened().begin("index_tmp_1")

    assert (opened().target, opened().entries) == ("index_tmp_1", [])


def test_a_truncated_line_is_ignored() -> None:
    path = written().path
    whole = path.read_bytes()

    for length in range(len(whole)):
        path.write_bytes(whole[:length])

        assert opened().entries == ENTRIES[: max(0, whole[:length].count(b"\n") - 1)]


def test_a_damaged_line_is_ignored() -> None:
    path = written().path
    whole = path.read_bytes()
    dice = random.Random(1)

    for _ in range(200):
        damaged = bytearray(whole)
        damaged[dice.randrange(len(whole))] ^= 1 << dice.randrange(8)
        path.write_bytes(damaged)

        found = opened().entries

        assert found in ([], ENTRIES[:1], ENTRIES[1:])


def test_resuming_after_a_truncated_line_loses_only_that_line() -> None:
    path = written().path
    path.write_bytes(path.read_bytes()[:-5])

    opened().write(ENTRIES[1])

    assert opened().entries == ENTRIES


def test_resuming_appends() -> None:
    written()
    again = opened()

    again.write(AcknowledgedBatch(20, 30, 10, 3))

    assert len(opened().entries) == 3


def test_a_target_that_is_not_deleted_is_stored_with_the_first_acknowledgement() -> None:
    written()
    checkpoint = opened()
    checkpoint.begin("index", at_once=False)

    before = opened().target
    for entry in ENTRIES:
        checkpoint.write(entry)

    assert before is None
    assert (opened().target, opened().entries) == ("index", ENTRIES)


def test_a_completed_load_leaves_no_file(state: Path) -> None:
    checkpoint = opened()
    with checkpoint.hold():
        checkpoint.begin("index")
        checkpoint.discard()

    assert [path for path in state.rglob("*") if path.is_file()] == []


def test_a_new_load_discards_the_checkpoint() -> None:
    written().begin("target")

    assert (opened().target, opened().entries) == ("target", [])


@pytest.mark.parametrize("content", [b"", b"rubbish\n", b'"t"\n{"first": 1}\n', b"\xff\xfe\n"])
def test_an_invalid_checkpoint_file_is_removed(content: bytes) -> None:
    path = written().path
    path.write_bytes(content)

    assert (opened().target, opened().entries) == (None, [])


def test_another_source_has_another_checkpoint() -> None:
    written()

    assert open_checkpoint("another", "as it is").target is None


def test_a_checkpoint_of_another_state_has_only_its_target() -> None:
    written()

    other = open_checkpoint("file", "changed")

    assert (other.target, other.entries) == ("index_tmp_1", [])


def test_other_options_are_another_state() -> None:
    assert facts_of("append", LoadSettings()) == facts_of("append", LoadSettings())
    assert facts_of("append", LoadSettings()) != facts_of("append", LoadSettings(id="sku"))
    assert facts_of("append", LoadSettings()) != facts_of("replace", LoadSettings())


def test_two_loads_of_one_source_do_not_run_at_once() -> None:
    with (
        opened().hold(),
        pytest.raises(BadInput, match="another load of the same source into this index"),
        opened().hold(),
    ):
        pass

    with opened().hold():
        pass


@pytest.mark.slow
def test_a_killed_process_releases_its_lock() -> None:
    program = (
        "import os, signal\n"
        "from svc_notebook.data.loading.sending.checkpoint import open_checkpoint\n"
        "with open_checkpoint('file', 'as it is').hold():\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=dict(os.environ))

    with opened().hold():
        assert ended.returncode < 0


def test_an_unwritable_folder_means_no_checkpoint(state: Path) -> None:
    (state / "svc-notebook").write_text("in the way")

    with opened().hold():
        checkpoint = written()
        checkpoint.discard()

    assert opened().entries == []
