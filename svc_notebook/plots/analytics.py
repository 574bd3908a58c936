"""Plots of analytics: searches of each day, clicks by position, and changes by A/B tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from svc_notebook.plots.canvas import Plot, check_columns, clean, colours, draw_empty, make_axes
from svc_notebook.plots.logs import format_times

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

HEIGHT_INCHES, POSITIONS_HEIGHT_INCHES, TEST_HEIGHT_INCHES = 3.8, 2.4, 2.6
# The number of Saturday in a week that begins with Monday.
FIRST_WEEKEND_DAY = 5


def plot_search_counts(days: pd.DataFrame, *, axes: Any = None) -> Plot:
    """Draw the searches of each day, with weekends shaded, and the share without hits below."""
    check_columns(days, ("searchCount", "noResultRate"), "read_search_counts")
    drawn = make_axes(axes, 2, 1, HEIGHT_INCHES, sharex=True)
    total = int(days["searchCount"].sum())
    clean(drawn[0], f"{total:,} search{'es' * (total != 1)}")
    clean(drawn[1], "share without hits")
    if days.empty or not total:
        for axis in drawn:
            draw_empty(axis, "no search was counted")
        return drawn
    drawn[0].plot(days.index, days["searchCount"], color=colours().hue, marker=".")
    rates = days["noResultRate"].where(days["searchCount"] > 0)
    drawn[1].plot(days.index, rates, color=colours().hue, marker=".")
    drawn[1].yaxis.set_major_formatter("{x:.0%}")
    for axis in drawn:
        axis.set_ylim(bottom=0)
        _shade_weekends(axis, days.index)
    format_times(drawn[1])
    return drawn


def _shade_weekends(axis: Axes, days: Any) -> None:
    """Shade each Saturday and Sunday, so that the rhythm of weeks is visible."""
    import pandas as pd

    half = pd.Timedelta("12h")
    for day in days[days.day_of_week >= FIRST_WEEKEND_DAY]:
        axis.axvspan(day - half, day + half, color=colours().palest, zorder=0, linewidth=0)


def plot_ab_test(metrics: pd.DataFrame, *, axes: Any = None) -> Plot:
    """Draw the relative change of each metric of an A/B test, with its 95 % interval."""
    check_columns(metrics, ("metric", "change", "change_low", "change_high"), "read_ab_test")
    shown = metrics[metrics["change"].notna()].iloc[::-1]
    axis: Axes = make_axes(axes, 1, 1, TEST_HEIGHT_INCHES)[0]
    clean(axis, "change by the variant, with 95 % intervals")
    if shown.empty:
        draw_empty(axis, "nothing can be compared yet")
        return Plot([axis])
    rows = range(len(shown))
    axis.axvline(0, color=colours().pale, linewidth=1, zorder=0)
    for row, (_, entry) in zip(rows, shown.iterrows(), strict=True):
        hue = colours().hue if entry["significant"] else colours().pale
        axis.plot([entry["change_low"], entry["change_high"]], [row, row], color=hue, linewidth=3)
        axis.plot([entry["change"]], [row], color=colours().hue, marker="o")
    axis.set_yticks(list(rows), list(shown["metric"]))
    axis.set_ylim(-0.6, len(shown) - 0.4)
    axis.xaxis.set_major_formatter("{x:+.0%}")
    return Plot([axis])


def plot_click_positions(clicks: pd.DataFrame, *, axes: Any = None) -> Plot:
    """Draw the number of clicks in each range of positions."""
    check_columns(clicks, ("first", "last", "clickCount"), "read_click_positions")
    axis: Axes = make_axes(axes, 1, 1, POSITIONS_HEIGHT_INCHES)[0]
    total = int(clicks["clickCount"].sum())
    clean(axis, f"{total:,} click{'s' * (total != 1)}, by position")
    if not total:
        draw_empty(axis, "no click was reported")
        return Plot([axis])
    labels = [
        f"{first}+" if last is None else f"{first}" if first == last else f"{first}-{last:.0f}"
        for first, last in zip(
            clicks["first"], clicks["last"].astype(object).where(clicks["last"].notna(), None),
            strict=True,
        )
    ]  # fmt: skip
    places = range(len(clicks))
    axis.bar(places, clicks["clickCount"], color=colours().hue, width=0.75)
    axis.set_xticks(list(places), labels)
    return Plot([axis])
