"""Changes of a configuration as a table of values before and after, with colours."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from svc_notebook.core.display import shorten
from svc_notebook.data.plots.canvas import (
    WIDTH_INCHES,
    Plot,
    check_columns,
    check_top,
    clean,
    colours,
    make_axes,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

LINE_INCHES, PADDING_INCHES, HEADER_INCHES = 0.155, 0.1, 0.55
# Left edges of the columns and the right edge of the last one, as shares of the width.
EDGES = {"scope": 0.0, "name": 0.09, "before": 0.31, "after": 0.655}
RIGHT_EDGE = 1.0
NAME_CHARACTERS, VALUE_CHARACTERS, MAX_LINES = 22, 36, 6
# Tints of removed and added values, visible on white and on black.
REMOVED, ADDED = (0.85, 0.33, 0.31, 0.25), (0.24, 0.63, 0.35, 0.3)
COUNTED = {"new": "added", "changed": "changed", "gone": "removed"}


def plot_changes(changes: pd.DataFrame, *, top: int = 30, axes: Any = None) -> Plot:
    """Draw the first `top` changes of a plan as a table of values before and after."""
    check_columns(changes, ("scope", "name", "kind", "before", "after"), "the plan of a deployment")
    check_top(top)
    rows = [_cells(row) for row in changes.head(top).to_dict("records")]
    heights = [
        max(text.count("\n") + 1 for text in cells.values()) * LINE_INCHES + PADDING_INCHES
        for cells in rows
    ]
    total = HEADER_INCHES + LINE_INCHES + PADDING_INCHES + sum(heights)
    axis: Axes = make_axes(axes, 1, 1, total)[0]
    clean(axis, _title(changes, top))
    axis.set_axis_off()
    axis.set_xlim(0, WIDTH_INCHES)
    axis.set_ylim(sum(heights) + LINE_INCHES + PADDING_INCHES, 0)
    below = LINE_INCHES + PADDING_INCHES
    if rows:
        _draw_row(axis, 0, below, {name: name for name in EDGES}, "head")
    for cells, height, kind in zip(rows, heights, changes["kind"], strict=False):
        _draw_row(axis, below, height, cells, str(kind))
        below += height
    return Plot([axis])


def _title(changes: pd.DataFrame, top: int) -> str:
    counts = changes["kind"].value_counts()
    named = [f"{counts[kind]:,} {word}" for kind, word in COUNTED.items() if kind in counts]
    more = f"; the first {top} are shown" if len(changes) > top else ""
    return ", ".join(named) + more if named else "nothing differs"


def _cells(row: Mapping[Hashable, Any]) -> dict[str, str]:
    before, after = row["before"], row["after"]
    if isinstance(before, dict) and isinstance(after, dict):
        names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
        before, after = ({name: side[name] for name in names if name in side}
                         for side in (before, after))  # fmt: skip
    return {
        "scope": str(row["scope"]),
        "name": _wrap(str(row["name"]), NAME_CHARACTERS),
        "before": _write(before),
        "after": _write(after),
    }


def _write(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, dict):  # the name is in the cell beside it
        value = {name: member for name, member in value.items() if name != "objectID"}
    return _wrap(json.dumps(value, ensure_ascii=False, default=str), VALUE_CHARACTERS)


def _wrap(text: str, width: int) -> str:
    lines = textwrap.wrap(shorten(text, width * (MAX_LINES + 1)), width, break_on_hyphens=False)
    return "\n".join(lines[:MAX_LINES]) + ("…" if len(lines) > MAX_LINES else "")


def _draw_row(axis: Axes, above: float, height: float, cells: Mapping[str, str], kind: str) -> None:
    """Draw the cells of a row, with the removed value and the added one on a tint."""
    from matplotlib.patches import Rectangle

    palette = colours()
    edges = [*EDGES.values(), RIGHT_EDGE]
    tints = {"before": REMOVED if kind in ("changed", "gone") else None,
             "after": ADDED if kind in ("changed", "new") else None}  # fmt: skip
    for (name, text), left, right in zip(cells.items(), edges[:-1], edges[1:], strict=True):
        x, width = left * WIDTH_INCHES, (right - left) * WIDTH_INCHES - 0.03
        cell = Rectangle((x, above + 0.02), width, height - 0.04, lw=0)
        cell.set_facecolor(tints.get(name) or "none")
        axis.add_patch(cell)
        written = axis.text(
            x + 0.06, above + PADDING_INCHES / 2, text, va="top", fontsize=8, parse_math=False,
            color=palette.grey if kind == "head" or name == "scope" else palette.ink,
            family=None if kind == "head" or name == "scope" else "monospace",
            linespacing=1.15, clip_on=True,
        )  # fmt: skip
        written.set_clip_path(cell)
    if kind != "head":
        axis.axhline(above, color=palette.palest, lw=0.6)
