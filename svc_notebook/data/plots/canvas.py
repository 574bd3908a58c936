"""The axes and style of every plot: one hue, thin lines, printed values.

Texts use installed fonts for characters that the default font lacks.
"""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

from svc_notebook.core.display import shorten
from svc_notebook.core.terminal import warn_user
from svc_notebook.errors import BadInput

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# Fonts of Linux, macOS and Windows for Chinese, Japanese, Korean, Thai, Hindi, Arabic, Hebrew and
# symbols. matplotlib takes none of them by itself.
FALLBACK_FONTS = (
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Source Han Sans SC", "Noto Sans SC"),
    *("WenQuanYi Micro Hei", "WenQuanYi Zen Hei", "Droid Sans Fallback", "Unifont"),
    *("PingFang SC", "Hiragino Sans GB", "Hiragino Sans", "Heiti TC", "Apple SD Gothic Neo"),
    *("Microsoft YaHei", "SimHei", "Yu Gothic", "Meiryo", "MS Gothic", "Malgun Gothic"),
    *("IPAexGothic", "Noto Sans JP", "Noto Sans CJK KR", "Noto Sans KR", "NanumGothic"),
    *("Noto Sans Thai", "Thonburi", "Leelawadee UI", "Tahoma"),
    *("Noto Sans Devanagari", "Lohit Devanagari", "Kohinoor Devanagari", "Nirmala UI"),
    *("Noto Sans Arabic", "Geeza Pro", "Noto Sans Hebrew", "Arial Hebrew", "Arial Unicode MS"),
    *("Segoe UI Symbol", "Apple Symbols", "Noto Sans Symbols2", "Symbola"),
)
# The default font has all letters before it: Latin, Greek and Cyrillic ones.
FIRST_LACKING = 0x530
MAX_NAMED_CHARACTERS = 10


class Colours(NamedTuple):
    """Shades of one hue, from most to least important, and the colours of text."""

    hue: str
    pale: str
    palest: str
    ink: str
    grey: str


LIGHT = Colours("#2f5d8c", "#9db7d1", "#dbe5ef", "#333333", "#767676")
DARK = Colours("#a9cbee", "#52789e", "#2b4058", "#dddddd", "#9a9a9a")
# About the width that a cell shows without scaling.
WIDTH_INCHES = 7.5
MAX_LABEL_CHARACTERS = 38
# What a plot in one axes returns and raises.
ONE_AXES = """
Returns
-------
Plot
    The plot, which has the methods of its axes.

Raises
------
BadInput
    If a column is missing.
"""


def colours() -> Colours:
    """Return colours that are visible on the background of the current style."""
    from matplotlib import rcParams
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(rcParams["axes.facecolor"])
    return LIGHT if 0.3 * red + 0.6 * green + 0.1 * blue > 0.5 else DARK


def shades(count: int) -> list[Any]:
    """Return `count` shades of the hue, from the most important to the palest."""
    from matplotlib.colors import to_rgb

    first, last = (to_rgb(colour) for colour in (colours().hue, colours().palest))
    steps = [number / max(count - 1, 1) for number in range(count)]
    return [tuple(a + (b - a) * step for a, b in zip(first, last, strict=True)) for step in steps]


def hue_map(*, lowest: str) -> Any:
    """Return the shades between `lowest` and the hue as a colour map."""
    from matplotlib.colors import LinearSegmentedColormap

    palette = colours()
    steps = dict.fromkeys([lowest, palette.palest, palette.pale, palette.hue])
    return LinearSegmentedColormap.from_list("hue", [*steps])


def background() -> str:
    """Return the background colour."""
    from matplotlib import rcParams

    return str(rcParams["axes.facecolor"])


def check_columns(frame: pd.DataFrame, needed: Iterable[str], reader: str) -> None:
    """Raise `BadInput` for a DataFrame that the expected reader did not return."""
    columns = getattr(frame, "columns", ())
    missing = [name for name in needed if name not in columns]
    if missing:
        raise BadInput(f"the DataFrame has no column `{missing[0]}`; {reader} returns it")


def check_top(top: int) -> None:
    """Raise `BadInput` for a number of rows to draw below 1."""
    if top < 1:
        raise BadInput("`top` must be 1 or more")


def short(label: str, max_characters: int = MAX_LABEL_CHARACTERS) -> str:
    """Shorten a label at its end."""
    return shorten(label, max_characters)


class Plot(list[Any]):
    """The axes of a plot; a plot with one axes also has the methods of this axes.

    Attributes
    ----------
    figure : matplotlib.figure.Figure
        The figure of the axes.

    Examples
    --------
    >>> plot = svc.plot_crawl("shop")
    >>> plot.figure.savefig("crawl.png")
    """

    def __init__(self, drawn: Iterable[Any]) -> None:
        super().__init__(drawn)
        add_fonts(self)

    def __getattr__(self, name: str) -> Any:
        if len(self) == 1 or name == "figure":
            return getattr(self[0], name)
        raise AttributeError(f"a plot of {len(self)} axes has no `{name}`; choose one: plot[0]")

    def __repr__(self) -> str:
        return f"plot of {len(self)} axes"

    def _ipython_display_(self) -> None:
        """Display nothing: notebooks show the figure itself at the end of the cell."""

    def _repr_png_(self) -> bytes:
        """Return the figure for other notebooks."""
        content = BytesIO()
        self.figure.savefig(content, format="png")
        return content.getvalue()


def make_axes(axes: Any, rows: int, columns: int, height: float, **layout: Any) -> list[Any]:
    """Return `rows` x `columns` axes: those given, else new ones; raise `BadInput` for too few."""
    if axes is not None:
        given = list(axes.flat) if hasattr(axes, "flat") else [*_many(axes)]
        if len(given) < rows * columns:
            raise BadInput(f"the plot needs {rows * columns} axes, not {len(given)}")
        return given[: rows * columns]
    from matplotlib import pyplot

    _, made = pyplot.subplots(
        rows, columns, figsize=(WIDTH_INCHES, height), squeeze=False, layout="constrained", **layout
    )
    return list(made.flat)


def _many(axes: Any) -> Iterable[Axes]:
    return axes if isinstance(axes, Iterable) else [axes]


def clean(axes: Axes, title: str) -> None:
    """Remove lines without information, and left-align the title."""
    axes.set_title(title, loc="left", fontsize=10, color=colours().ink, parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(colours().pale)
    axes.tick_params(colors=colours().grey, labelcolor=colours().ink, labelsize=8.5, length=3)


def draw_legend(axes: Axes, **options: Any) -> None:
    """Write the legend beside the title, where it covers no data."""
    entries = len(axes.get_legend_handles_labels()[1]) or len(options.get("handles", ()))
    axes.legend(
        loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0.2, frameon=False,
        fontsize=8.5, labelcolor=colours().ink, ncols=entries, handlelength=1.4, columnspacing=1.2,
        **options,
    )  # fmt: skip


def draw_empty(axes: Axes, text: str) -> None:
    """Write a text in place of missing data."""
    axes.text(
        0.5, 0.5, text, ha="center", va="center", color=colours().grey, transform=axes.transAxes
    )
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[["left", "bottom"]].set_visible(False)


def add_fonts(drawn: Iterable[Axes]) -> None:
    """Let the texts of axes use installed fonts that have their characters; warn if none has."""
    from matplotlib.text import Text

    axes = [*drawn]
    texts = [text for axis in axes for text in axis.findobj(Text)]
    letters = {
        ord(letter) for text in texts for letter in text.get_text() if ord(letter) >= FIRST_LACKING
    }
    if not letters:
        return
    families = texts[0].get_fontfamily()
    fonts, lacking = _choose_fonts(families, letters)
    for text in texts if fonts else ():
        text.set_fontfamily([*text.get_fontfamily(), *fonts])
    for axis in axes if fonts else ():
        axis.tick_params(labelfontfamily=[*families, *fonts])
    if lacking:
        named = shorten("".join(map(chr, sorted(lacking))), MAX_NAMED_CHARACTERS)
        warn_user(
            f"no installed font has the characters {named}, which plots draw as boxes; install "
            "the Noto font of their script, or set matplotlib's rcParams['font.family']"
        )


def _choose_fonts(families: list[str], letters: set[int]) -> tuple[list[str], set[int]]:
    """Return the fonts that add characters to those of the families, and those that none has."""
    from matplotlib import font_manager

    def read_letters(path: str) -> set[int]:
        return {*font_manager.get_font(path).get_charmap()}

    lacking, fonts = set(letters), list[str]()
    for family in families:
        lacking -= read_letters(font_manager.findfont(font_manager.FontProperties(family=[family])))
    paths = {font.name: font.fname for font in font_manager.fontManager.ttflist}
    for name in FALLBACK_FONTS:
        if lacking and name in paths and (added := lacking & read_letters(paths[name])):
            fonts.append(name)
            lacking -= added
    return fonts, lacking
