"""Plots of counts: searches, clicks, facets, clusters, keys, and the URLs of a crawl."""

from __future__ import annotations

import textwrap
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from svc_notebook.core.display import format_size, shorten
from svc_notebook.data.plots.canvas import (
    Plot,
    check_columns,
    check_top,
    clean,
    colours,
    draw_empty,
    draw_legend,
    make_axes,
)
from svc_notebook.data.plots.operation import format_times

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# Heights of a bar, and of one whose label can have two lines.
ROW_INCHES, TALL_ROW_INCHES = 0.26, 0.36
HEADER_INCHES = 0.7
# Longer labels are cut in the middle, where names differ least.
MAX_LABEL_CHARACTERS = 40
# Of a line of a label with two lines.
WRAP_CHARACTERS = 32
# Outcomes of a URL, from good to bad; darker needs attention.
SHADES = {"DONE": "palest", "SKIPPED": "pale", "FAILED": "hue"}
CLUSTER_PANELS = (("nbRecords", "records"), ("nbUserIDs", "users"), ("dataSize", "size"))
SEARCHES_HEIGHT_INCHES, POSITIONS_HEIGHT_INCHES, TEST_HEIGHT_INCHES = 3.8, 2.4, 2.6
# The number of Saturday in a week that begins with Monday.
FIRST_WEEKEND_DAY = 5


def plot_search_counts(days: pd.DataFrame, *, axes: Any = None) -> Plot:
    """Draw the searches of each day, with weekends shaded, and the share without hits below."""
    check_columns(days, ("searchCount", "noResultRate"), "read_search_counts")
    drawn = make_axes(axes, 2, 1, SEARCHES_HEIGHT_INCHES, sharex=True)
    total = int(days["searchCount"].sum())
    clean(drawn[0], f"{total:,} search{'es' * (total != 1)}")
    clean(drawn[1], "share without hits")
    if days.empty or not total:
        for axis in drawn:
            draw_empty(axis, "no search was counted")
        return Plot(drawn)
    drawn[0].plot(days.index, days["searchCount"], color=colours().hue, marker=".")
    rates = days["noResultRate"].where(days["searchCount"] > 0)
    drawn[1].plot(days.index, rates, color=colours().hue, marker=".")
    drawn[1].yaxis.set_major_formatter("{x:.0%}")
    for axis in drawn:
        axis.set_ylim(bottom=0)
        _shade_weekends(axis, days.index)
    format_times(drawn[1])
    return Plot(drawn)


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
    axis.bar(range(len(clicks)), clicks["clickCount"], color=colours().hue, width=0.75)
    axis.set_xticks(range(len(clicks)), labels)
    return Plot([axis])


class Bar(NamedTuple):
    """One bar: its label, its length, the text at its end and its shade."""

    label: str
    value: float
    text: str
    shade: str = "hue"


def plot_facets(facets: pd.DataFrame, *, top: int = 10, axes: Any = None) -> Plot:
    """Draw the `top` values of each facet of `read_facets`; one axes for each facet."""
    check_columns(facets, ("facet", "value", "count"), "read_facets")
    check_top(top)
    names = list(dict.fromkeys(facets["facet"]))
    shown = [facets[facets["facet"] == name] for name in names]
    rows = [min(len(part), top) for part in shown] or [1]
    drawn = make_axes(axes, len(rows), 1, _height(rows), height_ratios=[n + 2 for n in rows])
    if not names:
        _empty(drawn[0], "Facets", "no facet values")
    for axis, name, part in zip(drawn, names, shown, strict=False):
        best = part.sort_values("count", ascending=False, kind="stable").head(top)
        more = f", {top} of {len(part):,} values" if len(part) > top else ""
        title = f"{_short(str(name))}{more}"
        pairs = zip(best["value"], best["count"], strict=True)
        _draw_bars(axis, title, [Bar(_short(str(v)), n, f"{n:,}") for v, n in pairs])
    return Plot(drawn)


def plot_clusters(clusters: pd.DataFrame, *, axes: Any = None) -> Plot:
    """Draw the records, users and bytes of each cluster of `read_clusters`; three axes."""
    needed = ("clusterName", "nbRecords", "nbUserIDs", "dataSize")
    check_columns(clusters, needed, "read_clusters")
    names = [_short(str(name)) for name in clusters["clusterName"]]
    drawn = make_axes(axes, 1, 3, _height([max(len(names), 1)]), sharey=True)
    for axis, (column, title) in zip(drawn, CLUSTER_PANELS, strict=True):
        texts = [format_size(v) if column == "dataSize" else f"{v:,}" for v in clusters[column]]
        bars = [Bar(*bar) for bar in zip(names, clusters[column], texts, strict=True)]
        if bars:
            _draw_bars(axis, title, bars)
        else:
            _empty(axis, title, "no cluster")
    return Plot(drawn)


def plot_crawl(urls: pd.DataFrame, *, axes: Any = None) -> Plot:
    """Draw the outcomes of the URLs of `read_crawler_urls`, by category and reason, largest first.

    A DataFrame of `read_crawled_urls`, or some of its rows, is counted first.
    """
    columns = getattr(urls, "columns", ())
    if "count" not in columns and "url" in columns:
        check_columns(urls, ("status", "category", "reason"), "read_crawled_urls")
        groups = urls.groupby(["category", "status", "reason"], sort=False)
        urls = groups.size().reset_index(name="count")
    check_columns(urls, ("status", "category", "reason", "count"), "read_crawler_urls")
    axis = make_axes(axes, 1, 1, _height([max(len(urls), 1)], TALL_ROW_INCHES))[0]
    total = int(urls["count"].sum())
    if not total:
        return Plot([_empty(axis, "URLs of the last crawl", "no URL was crawled")])
    weight = urls.groupby("category")["count"].transform("sum")
    ordered = urls.assign(weight=weight).sort_values(
        ["weight", "category", "count"], ascending=[False, True, False], kind="stable"
    )
    bars = [_crawl_bar(row, total) for row in ordered.to_dict("records")]
    _draw_bars(axis, f"{total:,} URL{'s' * (total > 1)} of the last crawl", bars)
    _draw_statuses(axis, [status for status in SHADES if status in set(urls["status"])])
    return Plot([axis])


def plot_key_use(keys: pd.DataFrame, *, top: int = 20, axes: Any = None) -> Plot:
    """Draw the requests of the `top` keys of an overview's `key_use`, with failed ones darker."""
    check_columns(keys, ("key", "count", "errors", "last"), "svc.overview().key_use")
    check_top(top)
    total = int(keys["count"].sum())
    shown = keys.sort_values("count", ascending=False, kind="stable").head(top)
    axis: Axes = make_axes(axes, 1, 1, _height([max(len(shown), 1)]))[0]
    more = f", {top} of {len(keys):,}" if len(keys) > top else ""
    title = f"{total:,} request{'s' * (total != 1)} by key{more}"
    if not total:
        return Plot([_empty(axis, title, "no request was logged")])
    _draw_bars(axis, title, [_key_bar(row) for row in shown.to_dict("records")])
    axis.barh(range(len(shown)), shown["errors"], color=colours().hue, height=0.7)
    return Plot([axis])


def _key_bar(row: Mapping[Hashable, Any]) -> Bar:
    failed = f", {row['errors']:,} failed" if row["errors"] else ""
    text = f"{row['count']:,}{failed}, last {row['last']:%b %d %H:%M}"
    return Bar(_short(str(row["key"])), row["count"], text, "pale")


def _crawl_bar(row: Mapping[Hashable, Any], total: int) -> Bar:
    count, category = row["count"], row["category"]
    reason = row.get("readable") or row["reason"]
    label = category if reason in ("", category) else f"{category}: {reason}"
    share = f"{count / total:.0%}" if count * 200 >= total else "<1%"
    lines = textwrap.fill(label, WRAP_CHARACTERS, max_lines=2, placeholder=" …")
    return Bar(lines or "(empty)", count, f"{count:,}  {share}", SHADES.get(row["status"], "grey"))


def _height(rows: Sequence[int], row_inches: float = ROW_INCHES) -> float:
    return sum(HEADER_INCHES + row_inches * count for count in rows)


def _draw_bars(axes: Axes, title: str, bars: Sequence[Bar]) -> None:
    rows, palette = range(len(bars)), colours()
    shades = [getattr(palette, b.shade) for b in bars]
    drawn = axes.barh(rows, [b.value for b in bars], color=shades, height=0.7)
    axes.bar_label(drawn, [b.text for b in bars], padding=4, fontsize=8.5, color=palette.ink)
    clean(axes, title)
    axes.set_yticks(rows, [b.label for b in bars], parse_math=False)
    axes.set_ylim(len(bars) - 0.4, -0.6)
    axes.tick_params(left=False, bottom=False, labelbottom=False)
    axes.spines["bottom"].set_visible(False)
    # Space for the text at the end of the longest bar.
    width_factor = 1.05 + 0.022 * max(len(b.text) for b in bars)
    axes.set_xlim(0, max([b.value for b in bars] + [1]) * width_factor)


def _empty(axes: Axes, title: str, text: str) -> Axes:
    clean(axes, title)
    draw_empty(axes, text)
    return axes


def _draw_statuses(axes: Axes, statuses: Sequence[str]) -> None:
    from matplotlib.patches import Patch

    palette = colours()
    patches = [Patch(color=getattr(palette, SHADES[s]), label=s.lower()) for s in statuses]
    draw_legend(axes, handles=patches)


def _short(label: str) -> str:
    return shorten(label, MAX_LABEL_CHARACTERS, keep_end=True) or "(empty)"
