"""Plots of what a person who operates a service looks at."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle
from matplotlib.text import Annotation

import svc_notebook as svc
from svc_notebook.data import plots
from svc_notebook.data.client import Client
from svc_notebook.data.plots.canvas import colours
from svc_notebook.data.plots.changes import ADDED, REMOVED
from svc_notebook.errors import BadInput
from svc_notebook.faces.functions.overview import EVENTS, KEY_USE
from tests.data.plots.test_plots import lengths, saved, texts, unseen
from tests.tuning.shop import client, shop

__all__ = ["client", "shop", "unseen"]

DAYS = pd.date_range("2026-11-01", periods=3, freq="1D", tz="UTC")
STYLES = pytest.mark.parametrize("style", ["default", "dark_background"], indirect=True)


@pytest.fixture(autouse=True)
def style(request: pytest.FixtureRequest) -> Iterator[None]:
    with pyplot.style.context(getattr(request, "param", "default")):
        yield


def measurements(**indices: tuple[int, int, int]) -> pd.DataFrame:
    """Measurements of three days: records, bytes and pending tasks grow by the first values."""
    rows = [
        (day, name, entries * n, size * n, pending * (n - 1))
        for n, day in enumerate(DAYS, 1)
        for name, (entries, size, pending) in indices.items()
    ]
    return pd.DataFrame(rows, columns=["at", "index", "entries", "dataSize", "pending"])


def test_index_sizes_are_lines_and_the_small_indices_their_sum() -> None:
    sizes = measurements(a=(100, 5000, 2), b=(10, 900, 0), c=(1, 80, 0), d=(2, 70, 0))

    records, size, pending = plots.plot_index_sizes(sizes, top=2)

    assert [np.asarray(line.get_ydata()).tolist() for line in records.lines] == [
        [100, 200, 300], [10, 20, 30], [3, 6, 9],
    ]  # fmt: skip
    assert np.asarray(size.lines[2].get_ydata()).tolist() == [150, 300, 450]
    assert {"a  300", "b  30", "2 others  9"} <= set(texts(records))
    assert {"a  15 kB", "2 others  450 B"} <= set(texts(size))
    assert [np.asarray(line.get_ydata()).tolist() for line in pending.lines] == [[0, 2, 4]]
    assert pending.lines[0].get_color() == records.lines[0].get_color()
    heights = sorted(text.xyann[1] for text in records.texts if isinstance(text, Annotation))
    assert min(b - a for a, b in itertools.pairwise(heights)) > 0.1
    assert saved([records])


def test_one_measurement_without_tasks_is_drawn_with_hours_around_it() -> None:
    drawn = plots.plot_index_sizes(measurements(a=(1, 2, 0)).head(1))

    assert "no task was pending" in texts(drawn[2])
    low, high = drawn[0].get_xlim()
    assert 0.05 < high - low < 0.1  # days
    none = plots.plot_index_sizes(measurements().head(0))
    assert "each `svc.overview()` adds one" in " ".join(texts(none[0]))


@STYLES
def test_key_use_shows_failed_requests(style: None) -> None:
    rows = [("abcd…", 12, 3, DAYS[0]), ("$x$", 5, 0, DAYS[1])]
    axes = plots.plot_key_use(pd.DataFrame(rows, columns=list(KEY_USE)))

    assert lengths(axes) == [12, 5, 3, 0]
    assert {"17 requests by key", "12, 3 failed, last Nov 01 00:00", "$x$"} <= set(texts(axes))
    assert to_rgb(axes.patches[2].get_facecolor()) == to_rgb(colours().hue)
    top = plots.plot_key_use(pd.DataFrame(rows, columns=list(KEY_USE)), top=1)
    assert "17 requests by key, 1 of 2" in texts(top)
    assert "no request was logged" in texts(plots.plot_key_use(pd.DataFrame(columns=list(KEY_USE))))


@STYLES
def test_events_are_stacked_by_type(style: None) -> None:
    rows = [(DAYS[0], "view", 5), (DAYS[0], "click", 2), (DAYS[2], "view", 1)]
    axes = plots.plot_events(pd.DataFrame(rows, columns=list(EVENTS)))

    bars = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert [bar.get_height() for bar in bars] == [2, 0, 5, 1]
    assert [bar.get_y() for bar in bars] == [0, 0, 2, 0]
    assert "8 events by day" in texts(axes)
    legend = axes.get_legend()
    assert legend
    assert [text.get_text() for text in legend.get_texts()] == ["click 2", "view 6"]
    assert "no event was sent" in texts(plots.plot_events(pd.DataFrame(columns=list(EVENTS))))


@STYLES
def test_changes_are_a_table_with_tints(style: None) -> None:
    rule = {"objectID": "pin", "conditions": [{"pattern": "oak"}]}
    rows = [
        ("settings", "hitsPerPage", "new", 20, 10),
        ("settings", "attributesForFaceting", "changed", ["$a", "b"], ["$a"]),
        ("rules", "pin", "changed", {**rule, "enabled": True}, {**rule, "enabled": False}),
        ("synonyms", "s", "gone", {"objectID": "s", "synonyms": ["x" * 400]}, None),
    ]
    changes = pd.DataFrame(rows, columns=["scope", "name", "kind", "before", "after"])
    axes = plots.plot_changes(changes)

    words = texts(axes)
    assert "1 added, 2 changed, 1 removed" in words
    assert {'["$a", "b"]', '["$a"]', '{"enabled": true}', '{"enabled": false}'} <= set(words)
    assert all(text.count("\n") < 6 for text in words)
    cells = [[*patch.get_facecolor()] for patch in axes.patches]
    assert (cells.count([*REMOVED]), cells.count([*ADDED])) == (3, 3)
    assert saved(axes)
    assert "nothing differs" in texts(plots.plot_changes(changes.head(0)))
    assert "; the first 1 are shown" in texts(plots.plot_changes(changes, top=1))[-1]


@STYLES
def test_running_tasks_are_paler_and_end_now(style: None) -> None:
    tasks = pd.DataFrame(
        {"taskID": [7, 8], "index": ["films", ""], "call": ["batch", ""], "began": [10.0, 11.0],
         "ended": [10.5, 14.0], "running": [False, True]}
    )  # fmt: skip
    axes = plots.plot_tasks(tasks)

    assert lengths(axes) == [0.5, 3.0]
    assert {"2 tasks, 1 running", "films batch 7", "8", "0.5 s", "3.0 s so far"} <= set(texts(axes))
    shown = [to_rgb(patch.get_facecolor()) for patch in axes.patches]
    assert shown == [to_rgb(colours().hue), to_rgb(colours().pale)]
    assert "2 tasks, 1 running, the 1 longest" in texts(plots.plot_tasks(tasks, top=1))
    assert "no task" in texts(plots.plot_tasks(tasks.head(0)))


@pytest.mark.slow
def test_functions_read_what_they_draw(shop: str, client: Client) -> None:
    svc.send_events({"eventType": "click", "eventName": "Opened", "index": shop,
                     "userToken": "me", "objectIDs": ["1"]})  # fmt: skip
    before = svc.tuning.snapshot(shop)
    svc.set_settings(shop, {"hitsPerPage": 7})
    difference = svc.tuning.diff(before, shop)
    overview = svc.overview()

    records, _, _ = svc.plot_index_sizes(overview)
    labels = texts(records)
    assert any(shop[:10] in label or "others" in label for label in labels)
    assert sum(lengths(svc.plot_key_use(overview))) > 0
    for given in (None, overview, svc.read_events()):
        assert "event" in texts(svc.plot_events(given))[-1]
    assert {"hitsPerPage", "7"} <= set(texts(svc.plot_changes(difference)))
    with pytest.raises(BadInput, match=r"no column `scope`; the plan of a deployment"):
        svc.plot_changes(overview.indices)


@pytest.mark.parametrize("draw", [
    svc.plot_changes, svc.plot_events, svc.plot_index_sizes, svc.plot_key_use, svc.plot_crawl,
    svc.tuning.plot_deltas, svc.tuning.plot_density,
])  # fmt: skip
def test_what_no_reader_returned_is_refused(draw: Callable[[Any], Any]) -> None:
    for given in (1, [1]):
        with pytest.raises(BadInput, match=r"returns it|returns one"):
            draw(given)


def test_tasks_are_watched_until_they_are_published(shop: str, client: Client) -> None:
    written = client.clear_synonyms(shop)

    axes = svc.plot_tasks(written, index=shop)
    of_writes = svc.plot_tasks(svc.read_writes(shop, limit=3))

    assert "1 task, all published" in texts(axes)
    assert "3 tasks, all published" in texts(of_writes)
    assert any("clear_synonyms" in text for text in texts(of_writes))
    with pytest.raises(BadInput, match="is not a task"):
        svc.plot_tasks("17")
    with pytest.raises(BadInput, match="read_writes returns it"):
        svc.plot_tasks(pd.DataFrame({"a": [1]}))
