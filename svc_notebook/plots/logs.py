"""Plots of requests over time: their number, latency and response status."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from svc_notebook.errors import BadInput
from svc_notebook.plots.canvas import (
    Plot,
    background,
    check_columns,
    clean,
    colours,
    draw_empty,
    draw_legend,
    make_axes,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

NEEDED = ("timestamp", "answer_code", "processing_time_ms")
HEIGHT_INCHES = 5.4
# About this number of bins; the width of each is one of `STEPS`.
TIME_BINS = 60
STEPS = {
    "100ms": "100 ms", "1s": "second", "5s": "5 seconds", "15s": "15 seconds", "1min": "minute",
    "5min": "5 minutes", "15min": "15 minutes", "1h": "hour", "3h": "3 hours",
    "12h": "12 hours", "1D": "day", "7D": "week", "28D": "4 weeks",
}  # fmt: skip
CLASSES = {2: ("2xx answered", "palest"), 4: ("4xx refused", "pale"), 5: ("5xx failed", "hue")}


def plot_logs(logs: pd.DataFrame, *, axes: Any = None) -> Plot:
    """Draw the requests of `read_logs` in three axes: number, latency and status over time."""
    check_columns(logs, NEEDED, "read_logs")
    if getattr(logs["timestamp"].dtype, "kind", "") != "M":
        raise BadInput("`timestamp` has no times; convert it by pd.to_datetime(logs['timestamp'])")
    logs = _in_utc(logs.dropna(subset=["timestamp"]))
    drawn = make_axes(axes, 3, 1, HEIGHT_INCHES, sharex=True)
    titles = (
        f"{len(logs):,} request{'s' * (len(logs) != 1)}",
        "latency in milliseconds",
        "response status",
    )
    for axis, title in zip(drawn, titles, strict=True):
        clean(axis, title)
        if logs.empty:
            draw_empty(axis, "no request was logged")
    if not logs.empty:
        _draw(logs, drawn)
    return drawn


def _in_utc(logs: pd.DataFrame) -> pd.DataFrame:
    """Align days and hours with the axis, in UTC."""
    times = logs["timestamp"].dt
    aware = times.tz_localize("UTC") if times.tz is None else times.tz_convert("UTC")
    return logs.assign(timestamp=aware)


def _draw(logs: pd.DataFrame, axes: Sequence[Axes]) -> None:
    step = _step(logs["timestamp"])
    start = logs["timestamp"].dt.floor(step).rename("start")
    width = _days(step)
    _draw_requests(axes[0], logs.groupby(start).size(), width, step)
    _draw_latency(axes[1], logs["processing_time_ms"].groupby(start), width)
    _draw_codes(axes[2], logs["answer_code"] // 100, start, width)
    format_times(axes[2])


def _draw_requests(axes: Axes, counts: pd.Series[int], width: float, step: str) -> None:
    axes.bar(
        counts.index,
        counts,
        width=width,
        align="edge",
        color=colours().hue,
        edgecolor=background(),
        lw=0.3,
    )
    count_up(axes)
    axes.set_ylabel(f"per {STEPS[step]}", fontsize=8.5, color=colours().grey)


def count_up(axes: Axes) -> None:
    """Let an axis begin at zero and have whole-number ticks only."""
    from matplotlib.ticker import MaxNLocator

    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=4, integer=True))


def _draw_latency(axes: Axes, times: Any, width: float) -> None:
    """Draw the median latency as the dark line and the 95th percentile as the pale one."""
    palette, middle = colours(), times.median()
    above = times.quantile(0.95)
    for name, values, colour in (("p95", above, palette.pale), ("median", middle, palette.hue)):
        axes.plot(
            _centres(values.index, width),
            values,
            color=colour,
            lw=1.6,
            marker="o",
            ms=3,
            label=name,
        )
    axes.set_ylim(bottom=0)
    draw_legend(axes)


def _draw_codes(axes: Axes, classes: pd.Series[int], start: pd.Series[Any], width: float) -> None:
    counts = classes.groupby([start, classes]).size().unstack(fill_value=0)
    base = counts.iloc[:, 0] * 0
    for kind in counts.columns.tolist():
        name, shade = CLASSES.get(int(kind), (f"{kind}xx", "grey"))
        label = f"{name} {counts[kind].sum():,}"
        axes.bar(
            counts.index, counts[kind], bottom=base, width=width, align="edge",
            color=getattr(colours(), shade), edgecolor=background(), lw=0.3, label=label,
        )  # fmt: skip
        base = base + counts[kind]
    count_up(axes)
    draw_legend(axes)


def format_times(axes: Axes) -> None:
    """Label the time axis with few words, in UTC."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator: Any = AutoDateLocator(tz="UTC", minticks=3, maxticks=7)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(
        ConciseDateFormatter(locator, tz="UTC")  # type: ignore[no-untyped-call]
    )
    axes.set_xlabel("UTC", fontsize=8.5, color=colours().grey)


def _step(times: pd.Series[Any]) -> str:
    import pandas as pd

    span = times.max() - times.min()
    return next((step for step in STEPS if pd.Timedelta(step) * TIME_BINS >= span), [*STEPS][-1])


def _days(step: str) -> float:
    import pandas as pd

    return float(pd.Timedelta(step) / pd.Timedelta("1D"))


def _centres(starts: Any, width: float) -> Any:
    import pandas as pd

    return starts + pd.Timedelta(days=width / 2)
