"""The HTML page of a report: style, sections, tables and plots, all in one file."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from pandas import DataFrame

from svc_notebook.core.display import write_table
from svc_notebook.core.files import expand_path
from svc_notebook.errors import BadInput

STYLE = """
:root{color-scheme:light dark;--ink:#222;--soft:#667;--ground:#fff;--card:#f5f7fa;--line:#dde3ea;
--hue:#2f5d8c}
@media (prefers-color-scheme:dark){:root{--ink:#e6e6e6;--soft:#9aa4ae;--ground:#16191d;
--card:#1f242a;--line:#333b44;--hue:#a9cbee}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:60rem;margin:0 auto;padding:2.5rem 1.5rem 4rem}
h1{font-size:1.75rem;line-height:1.25;margin:0 0 .4rem;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:2.6rem 0 .8rem;padding-bottom:.35rem;
border-bottom:1px solid var(--line)}
h3{font-size:1rem;margin:1.5rem 0 .4rem}
p{margin:.35rem 0}.about,.small{color:var(--soft)}.small{font-size:.875rem}
.figures{display:flex;flex-wrap:wrap;gap:1rem;margin:1.6rem 0 0}
.figure{flex:1 1 15rem;background:var(--card);border-radius:.6rem;padding:1.1rem 1.3rem}
.figure b{display:block;font-size:2.2rem;line-height:1.15;color:var(--hue);
font-variant-numeric:tabular-nums;font-weight:650}
.figure .name{font-size:.875rem;color:var(--soft);overflow-wrap:anywhere}
.figure ul{list-style:none;margin:.6rem 0 0;padding:0;font-size:.9rem;
font-variant-numeric:tabular-nums}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.875rem;font-variant-numeric:tabular-nums}
th{color:var(--soft);font-weight:500;text-align:left;white-space:nowrap}
th,td{padding:.35rem .8rem .35rem 0!important;vertical-align:top;
border-bottom:1px solid var(--line)}
td{overflow-wrap:anywhere;min-width:5.5rem}td.n,th.n{text-align:right;white-space:nowrap;min-width:0}
td code{display:inline-block;max-width:22rem;overflow-wrap:break-word}
pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:0;
font:.8125rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.code{background:var(--card);border-radius:.5rem;padding:.9rem 1.1rem;margin:.6rem 0}
details summary{cursor:pointer;color:var(--soft)}
figure{margin:1.2rem 0}img{display:block;width:100%;max-width:54rem;height:auto}
figure img+img{display:none}
@media (prefers-color-scheme:dark){figure img{display:none}figure img+img{display:block}}
@media print{:root{--ink:#000;--ground:#fff;--card:#f5f7fa;--line:#ccc;--soft:#555;--hue:#2f5d8c}
body{font-size:10.5pt}main{max-width:none;padding:0}h2{break-after:avoid}
figure,.figure,tr,.code{break-inside:avoid}.wide{overflow:visible}
figure img{display:block}figure img+img{display:none}}
"""
DARK = {
    "figure.facecolor": "#16191d", "axes.facecolor": "#16191d", "savefig.facecolor": "#16191d",
    "text.color": "#e6e6e6", "axes.labelcolor": "#e6e6e6", "xtick.color": "#e6e6e6",
    "ytick.color": "#e6e6e6", "axes.edgecolor": "#52789e",
}  # fmt: skip
LIGHT = {"figure.facecolor": "#ffffff", "axes.facecolor": "#ffffff", "savefig.facecolor": "#ffffff"}
MAX_OPEN_CODE_CHARACTERS = 800  # characters of code that are not folded
DOTS_PER_INCH = 160  # dots per inch


def check_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of a page; raise `BadInput` for another suffix than that of HTML."""
    target = expand_path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise BadInput(f"unsupported format `{target.suffix}`; use .html")
    return target


def write_page(title: str, about: Iterable[str], parts: Iterable[str]) -> str:
    """Assemble a page."""
    paragraphs = "".join(f"<p class=about>{escape(line)}</p>" for line in about)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "img-src data:; style-src 'unsafe-inline'\">"
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>"
        f"<body><main><h1>{escape(title)}</h1>{paragraphs}{''.join(parts)}</main></body></html>\n"
    )


def write_section(title: str, inner: str) -> str:
    """Write a section of HTML."""
    return f"<section><h2>{escape(title)}</h2>{inner}</section>"


def write_figures(figures: Sequence[Mapping[str, Any]]) -> str:
    """Write key figures: each its name, value, interval, and a text below."""
    cards = []
    for figure in figures:
        lines = "".join(f"<li>{escape(line)}</li>" for line in figure["words"])
        cards.append(
            f'<div class="figure"><span class=name>{escape(figure["name"])}</span>'
            f"<b>{escape(figure['value'])}</b>{escape(figure['span'])}<ul>{lines}</ul></div>"
        )
    return f'<div class="figures">{"".join(cards)}</div>'


def write_wide_table(frame: DataFrame) -> str:
    """Write a table of text; columns of numbers are right-aligned."""
    if frame.empty:
        return "<p class=small>none</p>"
    numbers = [number for number, name in enumerate(frame) if all(map(_is_number, frame[name]))]
    head = [str(name).replace("_", " ") for name in frame]
    rows = frame.itertuples(index=False, name=None)
    table = write_table(head, rows, numbers=numbers, max_characters=MAX_OPEN_CODE_CHARACTERS)
    return f"<div class=wide>{table}</div>"


def _is_number(text: Any) -> bool:
    return set(str(text)) <= set("0123456789.,+-<≤ –−")  # noqa: RUF001


def write_code(text: str) -> str:
    """Write code or JSON; long code is folded."""
    inner = f"<div class=code><pre>{escape(text)}</pre></div>"
    if len(text) <= MAX_OPEN_CODE_CHARACTERS:
        return inner
    return f"<details><summary>{len(text):,} characters</summary>{inner}</details>"


def draw(plot: Callable[[], Any], words: str) -> str:
    """Draw a plot as pictures embedded in the page, one for light and one for dark mode."""
    images = "".join(_picture(plot, style, words) for style in (LIGHT, DARK))
    return f"<figure>{images}</figure>"


def _picture(plot: Callable[[], Any], style: Mapping[str, str], words: str) -> str:
    try:
        from matplotlib import pyplot, rc_context
    except ImportError as error:
        raise BadInput("plots need matplotlib: pip install 'svc-notebook[lab]'") from error
    with rc_context({**style}):  # type: ignore[dict-item]
        before = set(pyplot.get_fignums())
        plot()
        [made] = [*map(pyplot.figure, set(pyplot.get_fignums()) - before)]
        file = io.BytesIO()
        made.savefig(
            file, format="png", dpi=DOTS_PER_INCH, bbox_inches="tight", metadata={"Software": None}
        )
        pyplot.close(made)
    data = base64.b64encode(file.getvalue()).decode()
    return f'<img alt="{escape(words)}" src="data:image/png;base64,{data}">'
