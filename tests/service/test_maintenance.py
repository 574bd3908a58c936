"""Engine files are saved between writes, and used only if they are current."""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc_notebook.errors import LocalServiceFailed
from svc_notebook.service.engine.index.segment import Segment
from svc_notebook.service.engine.term_dictionary import TermDictionary
from svc_notebook.service.engine.text.compounds import Compounds, Splitter
from svc_notebook.service.indices.records import find_retired, read_bodies, read_chunks, read_ids
from svc_notebook.service.maintenance import MaintenanceLimits
from svc_notebook.service.migrations import MIGRATIONS
from svc_notebook.service.resources.entries import read_entries
from svc_notebook.service.service import DATABASE, Service
from svc_notebook.service.store import Store
from svc_notebook.service.tasks.batch_operations import BatchOperation, encode_operations
from svc_notebook.service.vector_builder import VectorTimes
from tests.conftest import examples, wait_published
from tests.service.past import connect_old


def add(service: Service, *ids: str) -> None:
    steps = [BatchOperation("addObject", one, b'{"objectID":"%s"}' % one.encode()) for one in ids]
    wait_published(service, service.accept("films", "steps", encode_operations(steps)))


def wait_saved(service: Service) -> None:
    while service.catalog.unsaved():
        time.sleep(0.01)


@pytest.fixture
def read_again(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count how often an engine is built from the store."""
    built: list[int] = []

    def note(store: Store, index: int) -> Iterator[list[dict[str, Any]]]:
        built.append(1)
        return read_chunks(store, index)

    monkeypatch.setattr("svc_notebook.service.indices.registry.read_chunks", note)
    return built


@pytest.mark.slow
def test_the_database_becomes_smaller_after_an_index_is_dropped(tmp_path: Path) -> None:
    service = Service(tmp_path)
    service.start()
    database = tmp_path / "service.sqlite"
    text = "word " * 200
    steps = [
        BatchOperation("addObject", f"{n}", msgspec.json.encode({"objectID": f"{n}", "text": text}))
        for n in range(8_000)
    ]
    wait_published(service, service.accept("films", "steps", encode_operations(steps)))
    [[stored]] = service.store.read("PRAGMA page_count")

    wait_published(
        service, service.accept("films", "steps", encode_operations([BatchOperation("delete")]))
    )

    assert wait_until(lambda: database.stat().st_size < stored * 4096 / 4)
    service.stop()


def wait_until(is_reached: Callable[[], bool], seconds: float = 15) -> bool:
    deadline = time.monotonic() + seconds
    while not is_reached() and time.monotonic() < deadline:
        time.sleep(0.05)
    return is_reached()


def test_a_saved_engine_is_not_built_again(tmp_path: Path, read_again: list[int]) -> None:
    service = Service(tmp_path)
    service.start()
    add(service, "1", "2")
    wait_saved(service)
    service.stop()

    again = Service(tmp_path)

    assert len(again.catalog.find("films").engine.get()) == 2
    assert read_again == []
    again.stop()


def films(service: Service) -> list[str]:
    return sorted(service.catalog.find("films").engine.get().matching({}))


def test_records_newer_than_the_files_are_indexed_at_the_start(
    tmp_path: Path, read_again: list[int]
) -> None:
    service = Service(tmp_path)
    service.start()
    add(service, "1", "2", "3")
    wait_saved(service)
    title = BatchOperation("addObject", "2", b'{"objectID":"2","title":"lamp"}')
    steps = encode_operations(
        [
            title,
            BatchOperation("deleteObject", "3"),
            BatchOperation("addObject", "4", b'{"objectID":"4"}'),
        ]
    )
    wait_published(service, service.accept("films", "steps", steps))
    service.stop()

    again = Service(tmp_path)

    assert films(again) == ["1", "2", "4"]
    assert search(again, "lamp") == 1
    assert read_again == []
    again.stop()


@pytest.mark.slow
def test_files_are_written_while_writes_go_on(tmp_path: Path, read_again: list[int]) -> None:
    service = Service(tmp_path, maintenance=MaintenanceLimits(save_interval_seconds=0.0))
    service.start()
    names = map(str, count())
    while not list((tmp_path / "engine").rglob("manifest.json")):
        add(service, next(names))
    add(service, next(names))
    service.stop()

    again = Service(tmp_path)

    assert len(films(again)) == int(next(names))
    assert read_again == []
    again.stop()


def test_segments_that_are_merged_after_a_save_are_saved_again(tmp_path: Path) -> None:
    service = Service(tmp_path)
    service.start()
    add(service, "1")
    films = service.catalog.find("films")
    store = films.engine.get().segment_store
    wait_saved(service)
    for name in ("2", "3"):
        add(service, name)
        service.catalog.save(service.catalog.find("films"))
    assert len(list((tmp_path / "engine").rglob("*.segment"))) > 1

    store.compact()  # as the writer does after its pause
    wait_saved(service)

    assert len(list((tmp_path / "engine").rglob("*.segment"))) == 1
    service.stop()


NAMES = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=3)
STEPS = st.tuples(st.sampled_from(["put", "cut", "clear", "save", "sweep", "restart"]), NAMES)


@pytest.mark.slow
@settings(max_examples=examples(25), deadline=None)
@given(st.lists(STEPS, max_size=12))
def test_files_and_later_records_together_equal_the_records(
    work: list[tuple[str, list[str]]],
) -> None:
    with TemporaryDirectory() as folder:
        service = start_quietly(folder)
        try:
            for number, (step, names) in enumerate([("put", ["a"]), *work, ("restart", ["a"])]):
                if step == "restart":
                    service.stop()
                    service = start_quietly(folder)
                    check_found(service)
                else:
                    take_step(service, step, names, number)
        finally:
            service.stop()


def take_step(service: Service, step: str, names: list[str], number: int) -> None:
    steps = {
        "put": [BatchOperation("addObject", name, write_record(name, number)) for name in names],
        "cut": [BatchOperation("deleteObject", name) for name in names],
        "clear": [BatchOperation("clear")],
    }
    if step == "save":
        service.catalog.save(service.catalog.find("films"))
    elif step == "sweep":
        service.catalog.remove_leftovers()
    else:
        wait_published(service, service.accept("films", "steps", encode_operations(steps[step])))


def check_found(service: Service) -> None:
    """Hold what searches find against the records."""
    home = service.catalog.find("films").records_id
    stored = read_bodies(service.store, home, sorted(read_ids(service.store, home)))
    assert films(service) == sorted(stored)
    engine = service.catalog.find("films").engine.get()
    for name, body in stored.items():
        written = msgspec.json.decode(body)["written"]
        assert name in engine.matching({"numericFilters": [f"written = {written}"]})


def start_quietly(folder: str) -> Service:
    """Start a service that writes no files of its own accord."""
    service = Service(Path(folder))
    service.catalog.unsaved = list  # type: ignore[method-assign]
    service.start()
    return service


def write_record(name: str, number: int) -> bytes:
    return msgspec.json.encode({"objectID": name, "written": number})


def test_files_of_a_replica_are_ignored_after_it_is_unlinked(tmp_path: Path) -> None:
    service = Service(tmp_path)
    service.start()
    sorted_by = {"customRanking": ["asc(n)"], "searchableAttributes": ["n"]}
    add(service, "1", "2")
    for links in (["other"], []):
        order = {"settings": {"replicas": links}, "forward": False}
        wait_published(service, service.accept("films", "settings", order))
        order = {"settings": sorted_by, "forward": False}
        wait_published(service, service.accept("other", "settings", order))
        add(service, *(links or ["3"]))
        wait_saved(service)
    service.stop()

    again = Service(tmp_path)

    assert films(again) == ["1", "2", "3", "other"]
    assert sorted(again.catalog.find("other").engine.get().matching({})) == ["1", "2", "other"]
    again.stop()


def test_files_newer_than_the_records_are_not_believed(tmp_path: Path) -> None:
    service = Service(tmp_path / "a")
    service.start()
    add(service, "1")
    service.stop()
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    service = Service(tmp_path / "b")
    service.start()
    add(service, "2")
    wait_saved(service)
    service.stop()
    # The thread that is still deleting files is not waited for.
    service._maintenance._thread.join(10)
    shutil.copytree(tmp_path / "b" / "engine", tmp_path / "a" / "engine", dirs_exist_ok=True)

    again = Service(tmp_path / "a")

    assert films(again) == ["1"]
    again.stop()


def test_a_store_of_an_older_version_is_taken_over(tmp_path: Path) -> None:
    write_old_folder(tmp_path)

    service = Service(tmp_path)
    before = films(service), search(service, "lamp")
    service.start()
    add(service, "3")
    title = BatchOperation("addObject", "2", b'{"objectID":"2","title":"lamp"}')
    wait_published(service, service.accept("films", "steps", encode_operations([title])))
    wait_saved(service)
    service.stop()
    again = Service(tmp_path)

    assert before == (["1", "2"], 1)
    assert (films(again), search(again, "lamp")) == (["1", "2", "3"], 2)
    again.stop()


def write_old_folder(folder: Path) -> None:
    """Write what a service kept before records carried stamps: an index and a write to come."""
    with connect_old(folder / DATABASE, version=2) as connection:
        connection.executescript(
            """
            INSERT INTO indices VALUES (1, 'films', '{}', '', '', 1, 0, 0);
            CREATE TABLE records_1
                (place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, body BLOB NOT NULL);
            INSERT INTO records_1 VALUES (1, '1', CAST('{"objectID":"1","title":"lamp"}' AS BLOB));
            INSERT INTO records_1 VALUES (2, '2', CAST('{"objectID":"2"}' AS BLOB));
            INSERT INTO sqlite_sequence VALUES ('tasks', 1);
            """
        )


def test_an_older_version_leaves_newer_records_alone(tmp_path: Path) -> None:
    Service(tmp_path).stop()
    with closing(sqlite3.connect(tmp_path / DATABASE)) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")

    with pytest.raises(LocalServiceFailed, match="written by a newer version"):
        Service(tmp_path)


def test_files_that_cannot_be_read_are_not_believed(tmp_path: Path) -> None:
    service = Service(tmp_path)
    service.start()
    add(service, "1", "2")
    wait_saved(service)
    service.stop()
    for path in (tmp_path / "engine").rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    again = Service(tmp_path)

    assert len(again.catalog.find("films").engine.get()) == 2
    again.stop()


def test_files_that_cannot_be_written_are_reported_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    service = Service(tmp_path)
    shutil.rmtree(tmp_path / "engine", ignore_errors=True)
    (tmp_path / "engine").write_text("in the way")
    service.start()
    add(service, "alien")
    time.sleep(2)  # four looks
    told = capsys.readouterr().err
    (tmp_path / "engine").unlink()
    wait_saved(service)
    service.stop()

    assert told.count("maintenance is paused") == 1
    assert "Traceback" not in told


def test_the_files_of_a_deleted_index_are_swept_away(tmp_path: Path) -> None:
    service = Service(tmp_path)
    service.start()
    add(service, "1")
    wait_saved(service)
    assert list((tmp_path / "engine").iterdir())

    wait_published(
        service, service.accept("films", "steps", encode_operations([BatchOperation("delete")]))
    )
    while list((tmp_path / "engine").iterdir()):
        time.sleep(0.01)

    service.stop()


def test_engines_are_opened_at_a_start_unless_they_have_too_many_records(
    tmp_path: Path,
) -> None:
    service = Service(tmp_path)
    service.start()
    one = BatchOperation("addObject", "1", b'{"objectID":"1"}')
    wait_published(service, service.accept("shop", "steps", encode_operations([one])))
    add(service, "1", "2", "3")
    service.stop()

    again = Service(tmp_path, maintenance=MaintenanceLimits(max_preloaded_records=2))
    again.start()
    while not again.catalog.find("shop").engine.is_open:
        time.sleep(0.01)

    # Written last, it would have come first.
    assert not again.catalog.find("films").engine.is_open
    again.stop()


def test_segments_are_merged_into_one_without_writes(tmp_path: Path) -> None:
    service = Service(tmp_path)
    service.start()
    for number in range(3):
        add(service, str(number))
    add(service, "0")

    while len(list((tmp_path / "engine").rglob("*.segment"))) != 1:
        time.sleep(0.01)

    assert len(service.catalog.find("films").engine.get()) == 3
    service.stop()


def test_a_piece_without_its_dead_records_is_ready_for_the_first_search(tmp_path: Path) -> None:
    service = Service(tmp_path)
    service.start()
    order = {"settings": {"attributeForDistinct": "kind"}, "forward": False}
    service.accept("films", "settings", order)
    add(service, "1", "2", "3")
    whole = wait_grouped(service, 3)

    wait_published(
        service,
        service.accept("films", "steps", encode_operations([BatchOperation("deleteObject", "1")])),
    )

    assert wait_grouped(service, 2) is not whole
    service.stop()


def wait_grouped(service: Service, rows: int) -> Segment:
    """Wait until the only piece has so many rows, and what distinct needs is worked out for it."""
    stock = service.catalog.find("films").engine.get().segment_store
    give_up = time.monotonic() + 20
    while "grouping" not in vars(stock.readers[0].segment) or len(stock.readers[0].segment) != rows:
        assert time.monotonic() < give_up
        time.sleep(0.01)
    return stock.readers[0].segment


def test_language_data_is_prepared_before_the_first_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken_apart: list[str] = []

    class Counting(Compounds):
        @classmethod
        def of(cls, vocabulary: TermDictionary, splitter: Splitter) -> Compounds:
            taken_apart.append(splitter.language)
            return Compounds.of(vocabulary, splitter)

    monkeypatch.setattr("svc_notebook.service.engine.text.typos.Compounds", Counting)
    service = Service(tmp_path)
    service.start()
    languages = {"decompoundedAttributes": {"nl": ["title"]}, "ignorePlurals": ["en"]}
    order = {"settings": languages, "forward": False}
    wait_published(service, service.accept("films", "settings", order))
    add(service, "1", "2")

    while not taken_apart:
        time.sleep(0.01)

    index = service.catalog.find("films")
    knowledge = service.catalog.resources.language_resources(index.id)
    index.engine.get().search({"query": "kast"}, lambda names: [None for _ in names], knowledge)
    assert taken_apart == ["nl"]
    service.stop()


@pytest.fixture
def read_entries_again(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note whenever synonyms or rules are read to be compiled."""
    read: list[str] = []

    def note(store: Store, owner: int, kind: str) -> list[dict[str, Any]]:
        read.append(kind)
        return read_entries(store, owner, kind)

    monkeypatch.setattr("svc_notebook.service.resources.compiled.read_entries", note)
    return read


def search(service: Service, query: str) -> int:
    index = service.catalog.find("films")
    knowledge = service.catalog.resources.language_resources(index.id)
    found = index.engine.get().search({"query": query}, lambda ids: [None] * len(ids), knowledge)
    return found.nbHits


def test_entries_are_compiled_after_a_start_and_not_again_when_settings_change(
    tmp_path: Path, read_entries_again: list[str]
) -> None:
    service = Service(tmp_path)
    service.start()
    lamp = BatchOperation("addObject", "1", b'{"objectID":"1","title":"lamp"}')
    service.accept("films", "steps", encode_operations([lamp]))
    synonym = {"objectID": "s", "type": "synonym", "synonyms": ["lamp", "light"]}
    change = [{"kind": "synonyms", "save": [synonym]}]
    wait_published(service, service.accept("films", "entries", change))
    service.stop()
    read_entries_again.clear()

    again = Service(tmp_path)
    again.start()
    while len(read_entries_again) < 2:
        time.sleep(0.01)
    before = search(again, "light")
    order = {"settings": {"hitsPerPage": 5}, "forward": False}
    wait_published(again, again.accept("films", "settings", order))

    assert (before, search(again, "light")) == (1, 1)
    assert sorted(read_entries_again) == ["rules", "synonyms"]
    again.stop()


def test_compiled_resources_are_dropped_with_their_index(tmp_path: Path) -> None:
    service = Service(tmp_path)
    service.start()
    add(service, "lamp")
    owner = service.catalog.find("films").id
    before = service.catalog.resources.rules(owner)

    wait_published(
        service, service.accept("films", "steps", encode_operations([BatchOperation("delete")]))
    )
    while service.catalog.resources.rules(owner) is before:
        time.sleep(0.01)

    service.stop()


@pytest.mark.parametrize("kind", ["move", "copy", "steps"])
def test_a_running_search_still_reads_the_records_of_a_replaced_index(
    tmp_path: Path, kind: str
) -> None:
    service = Service(tmp_path)
    service.start()
    add(service, "1", "2")
    made = service.accept(
        "new", "steps", encode_operations([BatchOperation("addObject", "3", b'{"objectID":"3"}')])
    )
    before = service.catalog.find("films")
    task = {
        "move": ("new", "move", {"destination": "films"}),
        "copy": ("new", "copy", {"destination": "films", "scope": None}),
        "steps": ("films", "steps", encode_operations([BatchOperation("delete")])),
    }[kind]
    wait_published(service, made, service.accept(*task))

    found = read_bodies(service.store, before.records_id, ["1", "2"])
    while find_retired(service.store):
        time.sleep(0.05)
    later = read_bodies(service.store, before.records_id, ["1", "2"])

    assert found.keys() == {"1", "2"}
    assert not later
    service.stop()


def test_an_idle_service_looks_at_all_indices_every_two_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Service(tmp_path)
    passes: Counter[str] = Counter()
    for name in ("list_open_stores", "remove_leftovers"):
        method = getattr(service.catalog, name)

        def note(name: str = name, method: Callable[[], Any] = method) -> Any:
            passes[name] += 1
            return method()

        monkeypatch.setattr(service.catalog, name, note)
    service.start()
    add(service, "1")
    wait_saved(service)
    time.sleep(2)  # until what the write asks for is done
    passes.clear()

    time.sleep(4.5)
    assert passes["remove_leftovers"] <= 3
    assert passes["list_open_stores"] <= 3

    service.stop()


def test_an_idle_service_computes_vectors_at_once_on_request(tmp_path: Path) -> None:
    # Without a request, the next check of all indices comes in an hour.
    service = Service(tmp_path, vectors=VectorTimes(quiet_seconds=0.1, idle_seconds=3600.0))
    service.start()
    lamp = BatchOperation("addObject", "1", b'{"objectID":"1","title":"lamp"}')
    wait_published(service, service.accept("films", "steps", encode_operations([lamp])))
    index = service.catalog.find("films")
    segments = index.engine.get().segment_store
    time.sleep(1)  # until the check that the write asks for is done

    assert segments.vectors is None
    service.catalog.request_vectors(index)
    assert wait_until(lambda: segments.vectors is not None)
    service.stop()
