"""Fonts for characters that the default font of plots lacks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from svc_notebook.core.display import shorten
from svc_notebook.core.terminal import warn_user

if TYPE_CHECKING:
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
