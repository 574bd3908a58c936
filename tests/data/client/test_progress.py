"""A progress bar, drawn by the waiting thread."""

from __future__ import annotations

import asyncio
import io
import re
import threading
from contextlib import redirect_stderr

import pytest

from svc_notebook.data.client.background_loop import behind_bar
from svc_notebook.data.client.progress import Progress
from svc_notebook.data.client.tasks import OnProgress
from svc_notebook.errors import Stopped
from tests.data.client.clock import Clock


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal() -> Terminal:
    return Terminal()


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_bar_shows_in_a_terminal(terminal: Terminal, clock: Clock) -> None:
    with redirect_stderr(terminal), Progress(10, unit="rows", label="sent", clock=clock) as bar:
        clock.now += 60
        bar.update(4)
        bar.draw()

    assert "sent:  40%" in terminal.getvalue()
    assert "4/10" in terminal.getvalue()


def test_what_is_done_soon_needs_no_bar(terminal: Terminal, clock: Clock) -> None:
    with redirect_stderr(terminal), Progress(10, clock=clock) as bar:
        clock.now += 0.1
        bar.update(10)
        bar.draw()

    assert terminal.getvalue() == ""


def test_the_last_state_is_drawn_as_the_bar_closes(terminal: Terminal, clock: Clock) -> None:
    with redirect_stderr(terminal), Progress(10, clock=clock) as bar:
        clock.now += 60
        bar.draw()
        bar.update(10, 12)

    assert "10/12" in terminal.getvalue()


def test_a_bar_may_not_know_its_total(terminal: Terminal, clock: Clock) -> None:
    with redirect_stderr(terminal), Progress(unit="rows", clock=clock) as bar:
        for done in (3, 7):
            clock.now += 60
            bar.update(done)
            bar.draw()

    assert "7 rows" in terminal.getvalue()


def test_a_bar_is_drawn_only_where_it_has_changed(terminal: Terminal, clock: Clock) -> None:
    with redirect_stderr(terminal), Progress(10, clock=clock) as bar:
        clock.now += 60
        for done in (3, 3, 3, 7, 7):
            bar.update(done)
            bar.draw()
            clock.now += 0.01

        _, *lines = terminal.getvalue().split("\r")

    assert ["3/10" in line for line in lines] == [True, False]
    assert ["7/10" in line for line in lines] == [False, True]


def test_a_bar_is_drawn_anew_for_the_time_it_takes(terminal: Terminal, clock: Clock) -> None:
    with redirect_stderr(terminal), Progress(10, clock=clock) as bar:
        clock.now += 60
        bar.draw()
        clock.now += 1
        bar.draw()

        assert terminal.getvalue().count("\r") == 2


def test_telling_draws_nothing(terminal: Terminal, clock: Clock) -> None:
    bar = Progress(10, clock=clock)
    clock.now += 60
    teller = threading.Thread(target=bar.update, args=(5,))
    with redirect_stderr(terminal):
        teller.start()
        teller.join()

    assert terminal.getvalue() == ""


def test_a_bar_may_be_turned_off(terminal: Terminal, clock: Clock) -> None:
    with redirect_stderr(terminal), Progress(10, shown=False, clock=clock) as bar:
        clock.now += 60
        bar.draw()

    assert terminal.getvalue() == ""


def test_there_is_no_bar_where_nobody_looks(clock: Clock) -> None:
    file = io.StringIO()
    with redirect_stderr(file), Progress(10, clock=clock) as bar:
        clock.now += 60
        bar.draw()

    assert file.getvalue() == ""


def test_no_thread_draws_on_its_own(terminal: Terminal, clock: Clock) -> None:
    before = threading.active_count()
    with redirect_stderr(terminal), Progress(10, clock=clock) as bar:
        clock.now += 60
        bar.draw()

        assert threading.active_count() == before


def test_a_load_counts_the_tasks_that_it_publishes_and_shows_no_unknown_rate(
    terminal: Terminal, clock: Clock
) -> None:
    with redirect_stderr(terminal), Progress(10, unit="rows", clock=clock) as bar:
        for done in (0, 5, 10):
            clock.now += 60
            bar.update(done)
            bar.draw()
        for published in (0, 2):
            bar.publish(published, 3)
            bar.draw()
        lines = terminal.getvalue().split("\r")

    assert "? rows/s" not in terminal.getvalue()
    steps = [re.findall(r"publishing: \d of 3 tasks", line) for line in lines[-3:]]
    assert steps == [[], ["publishing: 0 of 3 tasks"], ["publishing: 2 of 3 tasks"]]
    assert "publishing" not in terminal.getvalue().split("\r")[-1]


def test_the_work_behind_a_bar_is_cancelled(terminal: Terminal) -> None:
    async def work(on_progress: OnProgress) -> None:
        on_progress(3, 10)
        bar.stop.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            raise Stopped("3 of 10 rows are published") from None

    bar = Progress(10)

    with redirect_stderr(terminal), pytest.raises(Stopped, match="3 of 10 rows are published"):
        behind_bar(work, bar)
