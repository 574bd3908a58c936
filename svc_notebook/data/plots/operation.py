"""Plots of a service over time: requests, index sizes, events, and tasks while they run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from svc_notebook.core.display import format_size, shorten
from svc_notebook.data.plots.canvas import (
    Plot,
    background,
    check_columns,
    check_top,
    clean,
    colours,
    draw_empty,
    draw_legend,
    make_axes,
    shades,
)
from svc_notebook.errors import BadInput

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


LOG_COLUMNS = ("timestamp", "answer_code", "processing_time_ms")
LOGS_HEIGHT_INCHES = 5.4
# About this number of bins; the width of each is one of `STEPS`.
TIME_BINS = 60
STEPS = {
    "100ms": "100 ms", "1s": "second", "5s": "5 seconds", "15s": "15 seconds", "1min": "minute",
    "5min": "5 minutes", "15min": "15 minutes", "1h": "hour", "3h": "3 hours",
    "12h": "12 hours", "1D": "day", "7D": "week", "28D": "4 weeks",
}  # fmt: skip
STATUS_CLASSES = {
    2: ("2xx answered", "palest"),
    4: ("4xx refused", "pale"),
    5: ("5xx failed", "hue"),
}

SIZES_HEIGHT_INCHES, EVENTS_HEIGHT_INCHES = 6.0, 2.8
SIZE_PANELS = (("entries", "records"), ("dataSize", "size"), ("pending", "pending tasks"))
# Space between the labels of two lines, as a share of the height of an axes.
LABEL_GAP = 0.13
MAX_LABEL_CHARACTERS = 24
HEADER_INCHES, TASK_INCHES = 0.9, 0.26


def plot_index_sizes(sizes: pd.DataFrame, *, top: int = 5, axes: Any = None) -> Plot:
    """Draw records, size and pending tasks of the `top` indices over time; three axes."""
    needed = ("at", "index", *(column for column, _ in SIZE_PANELS))
    check_columns(sizes, needed, "svc.overview().sizes")
    check_top(top)
    drawn = make_axes(axes, 3, 1, SIZES_HEIGHT_INCHES, sharex=True)
    largest = _largest(sizes, top)
    for axis, (column, title) in zip(drawn, SIZE_PANELS, strict=True):
        clean(axis, title)
        if sizes.empty:
            draw_empty(axis, "no measurement yet; each `svc.overview()` adds one")
        elif column == "pending" and not sizes["pending"].any():
            draw_empty(axis, "no task was pending")
        else:
            _draw_lines(axis, _pivot(sizes, column, largest), column)
    if not sizes.empty:
        _limit_times(drawn[-1], sizes["at"])
        format_times(drawn[-1])
    return Plot(drawn)


def _largest(sizes: pd.DataFrame, top: int) -> list[str]:
    """Return the names of the largest indices by their last size."""
    newest = sizes.groupby("index", sort=False)["dataSize"].last()
    return newest.sort_values(ascending=False, kind="stable").index[:top].tolist()


def _limit_times(axis: Axes, times: pd.Series[Any]) -> None:
    """Add a margin of at least an hour, so that a single measurement is visible."""
    import pandas as pd

    margin = max((times.max() - times.min()) * 0.02, pd.Timedelta(hours=1))
    axis.set_xlim(times.min() - margin, times.max() + margin)


def _pivot(sizes: pd.DataFrame, column: str, largest: list[str]) -> pd.DataFrame:
    """Return a column for each of the largest indices, and one for the sum of the others."""
    table = sizes.pivot_table(index="at", columns="index", values=column, aggfunc="last")
    others = table.drop(columns=largest)
    table = table[largest]
    if others.shape[1]:
        table[f"{others.shape[1]:,} others"] = others.sum(axis=1)
    return table


def _draw_lines(axis: Axes, table: pd.DataFrame, column: str) -> None:
    """Draw a line for each index, with its name and last value at its end."""
    write = format_size if column == "dataSize" else "{:,.0f}".format
    style = "steps-post" if column == "pending" else "default"
    ends = []
    for name, shade in zip(table.columns, shades(len(table.columns) + 1), strict=False):
        line = table[name].dropna()
        if column == "pending" and not line.any():
            continue
        axis.plot(line.index, line, color=shade, lw=1.6, marker=".", drawstyle=style)
        label = shorten(str(name), MAX_LABEL_CHARACTERS, keep_end=True)
        ends.append((float(line.iloc[-1]), f"{label}  {write(line.iloc[-1])}"))
    axis.set_ylim(top=max(float(table.max().max()) * 1.08, 1))
    count_up(axis)
    axis.yaxis.set_major_formatter(lambda value, _: write(value))
    _label_ends(axis, ends)


def _label_ends(axis: Axes, ends: Sequence[tuple[float, str]]) -> None:
    """Write the labels right of the lines, so far apart that none covers another."""
    top, height = axis.get_ylim()[1], -LABEL_GAP
    for value, label in sorted(ends, key=lambda end: end[0]):
        height = max(value / top, height + LABEL_GAP)
        axis.annotate(
            label, (1.01, height), xycoords="axes fraction", va="center", fontsize=8.5,
            color=colours().ink, parse_math=False,
        )  # fmt: skip


def plot_events(events: pd.DataFrame, *, axes: Any = None) -> Plot:
    """Draw the events of each day by type, from an overview's `events`."""
    check_columns(events, ("day", "type", "count"), "svc.overview().events")
    axis: Axes = make_axes(axes, 1, 1, EVENTS_HEIGHT_INCHES)[0]
    total = int(events["count"].sum())
    clean(axis, f"{total:,} event{'s' * (total != 1)} by day")
    if not total:
        draw_empty(axis, "no event was sent")
        return Plot([axis])
    table = events.pivot_table(
        index="day", columns="type", values="count", aggfunc="sum", fill_value=0
    )
    order = table.sum().sort_values(kind="stable").index
    base = table.iloc[:, 0] * 0
    for name, shade in zip(order, shades(len(order)), strict=True):
        axis.bar(
            table.index, table[name], bottom=base, width=0.8, color=shade,
            edgecolor=background(), lw=0.3, label=f"{name} {table[name].sum():,}",
        )  # fmt: skip
        base = base + table[name]
    count_up(axis)
    format_times(axis)
    draw_legend(axis)
    return Plot([axis])


def plot_tasks(tasks: pd.DataFrame, *, top: int = 30, axes: Any = None) -> Plot:
    """Draw a bar for each task, from `began` to `ended`, in seconds; running ones are paler.

    `running` is True for a task that was not published at `ended`. The `top` longest are drawn.
    """
    needed = ("taskID", "index", "call", "began", "ended", "running")
    check_columns(tasks, needed, "the watch of tasks")
    shown = tasks.sort_values("began", kind="stable")
    if len(shown) > top:
        shown = shown.loc[(shown["ended"] - shown["began"]).nlargest(top).index.sort_values()]
    axis: Axes = make_axes(axes, 1, 1, HEADER_INCHES + TASK_INCHES * max(len(shown), 1))[0]
    running = int(tasks["running"].sum())
    state = f"{running:,} running" if running else "all published"
    more = f", the {top} longest" if len(tasks) > top else ""
    clean(axis, f"{len(tasks):,} task{'s' * (len(tasks) != 1)}, {state}{more}")
    if tasks.empty:
        draw_empty(axis, "no task")
        return Plot([axis])
    _draw_durations(axis, shown)
    return Plot([axis])


def _draw_durations(axis: Axes, tasks: pd.DataFrame) -> None:
    palette, rows = colours(), range(len(tasks))
    start = float(tasks["began"].min())
    lengths = (tasks["ended"] - tasks["began"]).clip(lower=0)
    shown = axis.barh(
        rows, lengths, left=tasks["began"] - start, height=0.7,
        color=[palette.pale if running else palette.hue for running in tasks["running"]],
    )  # fmt: skip
    texts = [
        f"{length:.1f} s{' so far' * bool(running)}"
        for length, running in zip(lengths, tasks["running"], strict=True)
    ]
    axis.bar_label(shown, texts, padding=4, fontsize=8.5, color=palette.ink)
    labels = [
        shorten(f"{row.index_name} {row.call} {row.taskID}".strip(), 40, keep_end=True)
        for row in tasks.rename(columns={"index": "index_name"}).itertuples()
    ]
    axis.set_yticks(list(rows), labels, parse_math=False)
    axis.set_ylim(len(tasks) - 0.4, -0.6)
    axis.tick_params(left=False)
    axis.set_xlim(0, max(float(tasks["ended"].max()) - start, 0.1) * 1.2)
    axis.set_xlabel("seconds", fontsize=8.5, color=palette.grey)


def plot_logs(logs: pd.DataFrame, *, axes: Any = None) -> Plot:
    """Draw the requests of `read_logs` in three axes: number, latency and status over time."""
    check_columns(logs, LOG_COLUMNS, "read_logs")
    if getattr(logs["timestamp"].dtype, "kind", "") != "M":
        raise BadInput("`timestamp` has no times; convert it by pd.to_datetime(logs['timestamp'])")
    logs = _in_utc(logs.dropna(subset=["timestamp"]))
    drawn = make_axes(axes, 3, 1, LOGS_HEIGHT_INCHES, sharex=True)
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
        _draw_logs(logs, drawn)
    return Plot(drawn)


def _in_utc(logs: pd.DataFrame) -> pd.DataFrame:
    """Align days and hours with the axis, in UTC."""
    times = logs["timestamp"].dt
    aware = times.tz_localize("UTC") if times.tz is None else times.tz_convert("UTC")
    return logs.assign(timestamp=aware)


def _draw_logs(logs: pd.DataFrame, axes: Sequence[Axes]) -> None:
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
        name, shade = STATUS_CLASSES.get(int(kind), (f"{kind}xx", "grey"))
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
