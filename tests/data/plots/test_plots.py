"""Plots of DataFrames."""

from __future__ import annotations

import inspect
import io
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle

import svc_notebook as svc
from svc_notebook.data import plots
from svc_notebook.data.frames.columns import typed
from svc_notebook.data.frames.schemas import (
    CLUSTERS,
    CRAWLED_URLS,
    CRAWLER_URLS,
    DEFAULTS,
    FACETS,
    LOGS,
)
from svc_notebook.errors import BadInput


@pytest.fixture(autouse=True)
def unseen() -> Iterator[None]:
    before = mpl.get_backend()
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")
    pyplot.switch_backend(before)


def frame(schema: dict[str, str], *rows: dict[str, Any]) -> pd.DataFrame:
    return typed(rows, schema, DEFAULTS)


def texts(axes: Any) -> list[str]:
    drawn = [*axes.texts, *axes.get_yticklabels(), axes.title, axes._left_title]
    return [text.get_text() for text in drawn if text.get_text()]


def lengths(axes: Any) -> list[float]:
    return [patch.get_width() for patch in axes.patches if isinstance(patch, Rectangle)]


def told(axes: Any) -> list[str]:
    """What stands below an axes, once it is drawn."""
    saved(axes)
    return [label.get_text() for label in axes.get_xticklabels()]


def logs_of(codes: list[int], seconds: float) -> pd.DataFrame:
    times = pd.Timestamp("2026-01-01T10:00Z") + pd.to_timedelta(
        np.linspace(0, seconds, len(codes)), unit="s"
    )
    rows = [
        {"timestamp": time.isoformat(), "answer_code": code, "processing_time_ms": place}
        for place, (time, code) in enumerate(zip(times, codes, strict=True))
    ]
    return frame(LOGS, *rows)


def saved(axes: Any) -> bytes:
    written = io.BytesIO()
    one = axes[0] if isinstance(axes, list) else axes
    one.figure.savefig(written, format="png")
    return written.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0, 3, 600, 90_000, 3_000_000])
def test_every_logged_request_is_drawn_whatever_the_span(seconds: float) -> None:
    codes = [200] * 30 + [404] * 5 + [500]

    drawn: list[Any] = [*plots.plot_logs(logs_of(codes, seconds))]
    requests, latency, answers = drawn

    heights = [patch.get_height() for patch in requests.patches]
    assert sum(heights) == len(codes)
    assert len(heights) <= 62
    assert sum(patch.get_height() for patch in answers.patches) == len(codes)
    assert max(latency.lines[0].get_ydata()) <= len(codes) - 1
    labels = [text.get_text() for text in answers.get_legend().get_texts()]
    assert labels == ["2xx answered 30", "4xx refused 5", "5xx failed 1"]
    assert saved([requests])


def test_the_best_values_of_each_facet_are_drawn_with_their_counts() -> None:
    rows = [{"facet": "brand", "value": f"b{n}", "count": n} for n in range(1, 13)]
    drawn = plots.plot_facets(
        frame(FACETS, *rows, {"facet": "kind", "value": "$x^$", "count": 1200})
    )

    assert len(drawn) == 2
    assert lengths(drawn[0]) == list(range(12, 2, -1))
    assert "brand, 10 of 12 values" in texts(drawn[0])
    assert {"1,200", "$x^$"} <= set(texts(drawn[1]))
    assert saved(drawn[1])


def test_what_clusters_hold_is_drawn_side_by_side() -> None:
    rows = [
        {"clusterName": "c1", "nbRecords": 5, "nbUserIDs": 2, "dataSize": 12_000_000},
        {"clusterName": "c2", "nbRecords": 7, "nbUserIDs": 1, "dataSize": 999},
    ]
    records, users, sizes = plots.plot_clusters(frame(CLUSTERS, *rows))

    assert (lengths(records), lengths(users)) == ([5, 7], [2, 1])
    assert {"12 MB", "999 B"} <= set(texts(sizes))


def test_how_urls_ended_is_drawn_by_category_with_shares() -> None:
    rows = [
        {"status": "FAILED", "category": "fetch", "reason": "http_404", "count": 10},
        {"status": "DONE", "category": "success", "reason": "success", "count": 85},
        {"status": "SKIPPED", "category": "fetch", "reason": "robots", "count": 5},
    ]
    axes = plots.plot_crawl(frame(CRAWLER_URLS, *rows))

    assert lengths(axes)[:3] == [85, 10, 5]
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "success",
        "fetch: http_404",
        "fetch: robots",
    ]
    assert "85  85%" in texts(axes)


def test_urls_said_one_by_one_are_counted_and_drawn_alike() -> None:
    ends = [
        ("FAILED", "fetch", "http_404", 3),
        ("DONE", "success", "success", 7),
        ("SKIPPED", "fetch", "excluded", 1),
    ]
    counted = [
        dict(zip(("status", "category", "reason", "count"), end, strict=True)) for end in ends
    ]
    each = [
        {"url": f"https://a.test/{reason}/{n}", "status": status, "category": category,
         "reason": reason, "message": str(n)}
        for status, category, reason, count in ends for n in range(count)
    ]  # fmt: skip

    one, other = (
        plots.plot_crawl(frame(CRAWLED_URLS, *each)),
        plots.plot_crawl(frame(CRAWLER_URLS, *counted)),
    )

    assert lengths(one)[:3] == [7, 3, 1]
    assert texts(one) == texts(other)


def test_a_reason_that_is_a_sentence_has_two_lines() -> None:
    told = {"readable": "The page was read and gave records, as it should and always did before"}
    row = {"status": "DONE", "category": "success", "reason": "success", "count": 5, **told}

    axes = plots.plot_crawl(frame(CRAWLER_URLS, row))

    [label] = [label.get_text() for label in axes.get_yticklabels()]
    assert label.split("\n") == [
        "success: The page was read and",
        "gave records, as it should and …",
    ]


@pytest.mark.parametrize(
    ("draw", "schema", "words"),
    [
        (plots.plot_logs, LOGS, "no request was logged"),
        (plots.plot_facets, FACETS, "no facet values"),
        (plots.plot_clusters, CLUSTERS, "no cluster"),
        (plots.plot_crawl, CRAWLER_URLS, "no URL was crawled"),
        (plots.plot_crawl, CRAWLED_URLS, "no URL was crawled"),
    ],
)
def test_nothing_is_drawn_as_words(draw: Any, schema: dict[str, str], words: str) -> None:
    drawn = draw(frame(schema))

    one = drawn[0] if isinstance(drawn, list) else drawn
    assert words in texts(one)
    assert saved(one)


def test_every_plot_is_one_kind_of_object_that_shows_no_text_as_the_last_line() -> None:
    """A plot of one axes can be used as these axes; a list of several says which to choose."""
    single, several = plots.plot_crawl(frame(CRAWLER_URLS)), plots.plot_logs(logs_of([200], 0))

    assert [type(plot) for plot in (single, several)] == [plots.Plot, plots.Plot]
    assert single.get_title(loc="left") == single[0].get_title(loc="left") != ""
    assert several.figure is several[2].figure
    assert several._repr_png_().startswith(b"\x89PNG")
    with pytest.raises(AttributeError, match="a plot of 3 axes has no `set_title`; choose one"):
        several.set_title("x")
    assert several._ipython_display_() is None  # type: ignore[func-returns-value]


@pytest.mark.parametrize("package", [svc, svc.tuning, svc.tuning.clicks], ids=lambda p: p.__name__)
def test_each_function_that_plots_returns_a_plot(package: Any) -> None:
    returned = {
        name: inspect.signature(getattr(package, name)).return_annotation
        for name in dir(package)
        if name.startswith("plot_")
    }

    assert returned
    assert {str(kind).rpartition(".")[2] for kind in returned.values()} == {"Plot"}


def test_one_can_give_the_axes() -> None:
    _, own = pyplot.subplots(3)

    drawn = plots.plot_logs(logs_of([200], 0), axes=own)

    assert drawn == list(own)
    with pytest.raises(BadInput, match="needs 3 axes, not 1"):
        plots.plot_logs(logs_of([200], 0), axes=own[0])


def test_a_frame_of_something_else_is_refused() -> None:
    with pytest.raises(BadInput, match=r"no column `timestamp`.*read_logs"):
        plots.plot_logs(pd.DataFrame({"a": [1]}))


def test_a_request_without_a_time_is_left_out() -> None:
    logs = logs_of([200, 200, 500], 3)
    logs.loc[0, "timestamp"] = pd.NaT

    assert "2 requests" in texts(plots.plot_logs(logs)[0])
    assert "no request was logged" in texts(plots.plot_logs(logs.head(1))[0])


def test_times_that_a_file_made_text_are_refused_with_advice() -> None:
    logs = logs_of([200], 0).astype({"timestamp": str})

    with pytest.raises(BadInput, match="to_datetime"):
        plots.plot_logs(logs)


def test_a_way_to_end_that_nobody_knows_is_drawn_too() -> None:
    row = {"status": "PAUSED", "category": "fetch", "reason": "later", "count": 3}

    axes = plots.plot_crawl(frame(CRAWLER_URLS, row))

    assert "3  100%" in texts(axes)


DRAWN = [
    lambda: plots.plot_logs(logs_of([200, 404, 500], 3)),
    lambda: plots.plot_facets(frame(FACETS, {"facet": "brand", "value": "b", "count": 1})),
    lambda: plots.plot_clusters(frame(CLUSTERS, {"clusterName": "c", "nbRecords": 5})),
    lambda: plots.plot_crawl(
        frame(CRAWLER_URLS, {"status": "FAILED", "category": "fetch", "reason": "x", "count": 1})
    ),
]


@pytest.mark.parametrize("style", ["default", "dark_background"])
@pytest.mark.parametrize("draw", DRAWN, ids=["logs", "facets", "clusters", "crawl"])
def test_words_and_what_failed_stand_out_from_the_ground_of_every_style(
    style: str, draw: Any
) -> None:
    with pyplot.style.context(style):
        drawn = draw()
        every = drawn if isinstance(drawn, list) else [drawn]

        for axes in every:
            ground = to_rgb(axes.get_facecolor())
            words = [axes._left_title, *axes.texts, *axes.get_yticklabels()]
            bars = [bar.get_facecolor() for bar in axes.patches[-1:]]
            for colour in [*(word.get_color() for word in words), *bars]:
                assert np.abs(np.subtract(to_rgb(colour), ground)).sum() > 1


@pytest.mark.slow
def test_time_is_told_in_utc_whatever_the_zone_of_the_frame_and_of_matplotlib() -> None:
    logs = logs_of([200] * 48, 47 * 3600)
    elsewhere = logs.assign(timestamp=logs["timestamp"].dt.tz_convert("Asia/Kolkata"))
    naive = logs.assign(timestamp=logs["timestamp"].dt.tz_localize(None))

    with mpl.rc_context({"timezone": "America/New_York"}):
        drawn = [plots.plot_logs(one) for one in (logs, elsewhere, naive)]
        starts = [[bar.get_extents().x0 for bar in axes[0].patches] for axes in drawn]
        labels = [told(axes[2]) for axes in drawn]

    assert starts[0] == starts[1] == starts[2]
    assert labels[0] == labels[1] == labels[2]
    assert "Jan-02" in labels[0]


def test_one_request_is_counted_in_whole_numbers() -> None:
    requests = plots.plot_logs(logs_of([200], 0))[0]

    assert requests.get_title(loc="left") == "1 request"
    assert all(float(tick).is_integer() for tick in requests.get_yticks())


def test_a_years_requests_are_drawn_week_by_week() -> None:
    requests = plots.plot_logs(logs_of([200] * 800, 400 * 86_400))[0]

    assert len(requests.patches) < 62
    assert requests.get_ylabel() == "per week"


def test_a_long_name_and_a_small_share_are_told_in_brief() -> None:
    facets = plots.plot_facets(frame(FACETS, {"facet": "f" * 200, "value": "v", "count": 1}))
    rows = [
        {"status": "DONE", "category": "success", "reason": "success", "count": 9999},
        {"status": "FAILED", "category": "fetch", "reason": "x", "count": 1},
    ]

    assert len(facets[0].get_title(loc="left")) == 39
    assert "1  <1%" in texts(plots.plot_crawl(frame(CRAWLER_URLS, *rows)))
