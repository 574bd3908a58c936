"""Characters that the default font of plots lacks are drawn in an installed font that has them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from fontTools.fontBuilder import FontBuilder  # type: ignore[import-untyped]
from fontTools.pens.ttGlyphPen import TTGlyphPen  # type: ignore[import-untyped]
from matplotlib import font_manager, pyplot
from matplotlib.text import Text

from svc_notebook.data import plots

CHINESE = "Noto Sans CJK SC"


@pytest.fixture(autouse=True)
def _no_fallback_fonts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The fonts of matplotlib alone, whatever the machine has."""
    fonts = font_manager.fontManager.ttflist
    monkeypatch.setattr(
        font_manager.fontManager, "ttflist", [f for f in fonts if f.name.startswith("DejaVu")]
    )
    yield
    pyplot.close("all")


def write_font(path: Path, name: str, letters: str) -> None:
    """Write a font that has these letters, all of them empty, and add it to those of matplotlib."""
    builder = FontBuilder(1000, isTTF=True)
    names = {ord(letter): f"letter{number}" for number, letter in enumerate(letters)}
    glyphs = [".notdef", *names.values()]
    builder.setupGlyphOrder(glyphs)
    builder.setupCharacterMap(names)
    builder.setupGlyf({glyph: TTGlyphPen(None).glyph() for glyph in glyphs})
    builder.setupHorizontalMetrics(dict.fromkeys(glyphs, (600, 0)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": name, "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    builder.save(path)
    font_manager.fontManager.addfont(path)


def facets(*values: str) -> pd.DataFrame:
    return pd.DataFrame({"facet": "品牌", "value": [*values], "count": range(len(values), 0, -1)})


def test_an_installed_font_has_the_characters(tmp_path: Path) -> None:
    write_font(tmp_path / "chinese.ttf", CHINESE, "品牌华为")

    with warnings.catch_warnings():
        warnings.simplefilter("error")  # matplotlib warns of every character that it lacks
        plot = plots.plot_facets(facets("华为", "Lamp"))
        plot.figure.canvas.draw()

    drawn = {text.get_text(): text.get_fontfamily() for text in plot[0].findobj(Text)}
    assert drawn["品牌"][-1] == drawn["华为"][-1] == CHINESE


def test_one_warning_names_the_characters_that_no_font_has() -> None:
    with pytest.warns(UserWarning, match="no installed font has the characters 为华品牌, which"):
        plots.plot_facets(facets("华为", "Lamp"))


def test_latin_greek_and_cyrillic_texts_keep_their_font() -> None:
    frame = facets("Größe", "Μέγεθος", "Размер").assign(facet="size")

    plot = plots.plot_facets(frame)

    assert {*map(tuple, (text.get_fontfamily() for text in plot[0].findobj(Text)))} == {
        ("sans-serif",)
    }
