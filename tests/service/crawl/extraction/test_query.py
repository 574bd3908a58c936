"""`$` against Cheerio: `data/cheerio.json` has the results of Cheerio 1.2 for `data/shop.html`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from svc_notebook.service.crawl.extraction import Extractors
from tests.looping import loop_over
from tests.service.crawl.extraction.conftest import Read, Run

DATA = Path(__file__).parent / "data"
SHOP = (DATA / "shop.html").read_bytes()
CASES: list[tuple[str, Any]] = json.loads((DATA / "cheerio.json").read_text(encoding="utf-8"))
# Each case has the page for itself, for many change it.
ALL = """({ $, dataSources }) => {
  const html = $.html();
  return [{ said: dataSources.cases.map((code) => {
    const value = new Function("$", `return ${code}`)($.load(html));
    return value === undefined ? null : value;
  }) }];
}"""


@pytest.fixture(scope="module")
def said(extractors: Extractors, read: Read) -> list[Any]:
    extraction = extractors.extract(read(SHOP), ALL, sources={"cases": [code for code, _ in CASES]})
    assert extraction.error is None
    values: list[Any] = extraction.records[0]["said"]
    return values


@loop_over("at", range(len(CASES)))
def test_it_returns_what_cheerio_returns(said: list[Any], at: int) -> None:
    assert said[at] == CASES[at][1]


BETTER = [
    ("$('option').parent().val()", "<select multiple><option value=1 selected>one</select>", ["1"]),
    ("$(':enabled').length", "<p><input><button disabled>", 1),
    ("$('p').html((i, html) => html + i).text()", "<p>a<p>b", "a0b1"),
]


@pytest.mark.parametrize(("expression", "html", "value"), BETTER)
def test_it_returns_what_jquery_returns_where_cheerio_is_wrong(
    run: Run, expression: str, html: str, value: Any
) -> None:
    assert run(expression, html) == value


PIECES = [
    ("<p>a<p>b", "<p>a</p><p>b</p>"),
    (
        "<ul><li>1<li>2<ul><li>3</ul><li>4</ul>",
        "<ul><li>1</li><li>2<ul><li>3</li></ul></li><li>4</li></ul>",
    ),
    ("<p>a<div>b</div>", "<p>a</p><div>b</div>"),
    ("<dl><dt>a<dd>b<dt>c</dl>", "<dl><dt>a</dt><dd>b</dd><dt>c</dt></dl>"),
    (
        "<select><option>a<option>b</select>",
        "<select><option>a</option><option>b</option></select>",
    ),
    (
        "<table><tr><td>1<td>2<tr><th>3</table>",
        "<table><tbody><tr><td>1</td><td>2</td></tr><tr><th>3</th></tr></tbody></table>",
    ),
    ("<br/><img src=a.png><hr>", '<br><img src="a.png"><hr>'),
    ("<a b c='1' D=2 b=3>x", '<a b="" c="1" d="2">x</a>'),
    (
        "<b>&copy;2020 &amp &lt &#x41;&#150;&notin; &bogus; a&b",
        "<b>©2020 &amp; &lt; A\u2013∉ &amp;bogus; a&amp;b</b>",
    ),
    ("<a href='?a=1&copy=2&amp;b'>", '<a href="?a=1&amp;copy=2&amp;b"></a>'),
    ("<script>if (a < b && '</p>') {}</script>x", "<script>if (a < b && '</p>') {}</script>x"),
    ("<textarea><b>&amp;</textarea>", "<textarea>&lt;b&gt;&amp;</textarea>"),
    ("<i></b></i></i>x", "<i></i>x"),
    ("<svg><path/><g><path/></g></svg><i>", "<svg><path></path><g><path></path></g></svg><i></i>"),
    ("<!-- a --><b><!>", "<!-- a --><b><!--!--></b>"),
    ("a < b <3", None),
    ("<", None),
    ("<b", "<b></b>"),
    ("<b a='", None),
]


@pytest.mark.parametrize(("written", "meant"), PIECES)
def test_html_may_be_hand_written(run: Run, written: str, meant: str | None) -> None:
    value = run(f"$('body').html({json.dumps(written)}).html()")

    assert value == meant if meant is not None else isinstance(value, str)


def test_large_pages_take_no_extra_time(extractors: Extractors, read: Read) -> None:
    rows = "".join(
        f'<tr class="r{i % 7}"><td id="c{i}">{i}<td><a href="/{i}">x</a>' for i in range(3000)
    )
    page = read(f"<table>{rows}</table>")

    extraction = extractors.extract(
        page,
        """({ $ }) => [{ found: [
            "tr:nth-child(2n)", ".r3 a", "#c2999", "td > a[href$='7']", "tr:has(#c5) ~ tr",
            "td:first-child:not(:empty)", "tr:nth-last-of-type(3)", "tr:eq(-1)", "table a:last",
        ].map((selector) => $(selector).length) }]""",
    )

    assert extraction.records == [{"found": [1500, 429, 1, 300, 2994, 3000, 1, 1, 1]}]


def test_nodes_keep_consistent_links_after_any_change(run: Run) -> None:
    """After any change, links between nodes say what lists of children say."""
    changes = """[
        "append('<i>1</i>x')", "prepend($('em').first())", "before($('em'))",
        "after('t', '<u></u>')",
        "replaceWith('<s></s>')", "wrap('<p><q></q></p>')", "unwrap()", "empty()", "remove()",
        "html('<i>a</i>b')", "text('z')", "clone().appendTo('div')", "wrapInner('<b></b>')",
        "wrapAll('<b></b>')", "insertAfter('div')", "append($('div *').last())",
    ]"""
    consistent = """(root) => {
        const stack = [root];
        while (stack.length) {
            const node = stack.pop();
            const children = node.children ?? [];
            children.forEach((child, at) => {
                if (child.parent !== node) throw new Error("parent");
                if (child.prev !== (children[at - 1] ?? null)) throw new Error("prev");
                if (child.next !== (children[at + 1] ?? null)) throw new Error("next");
                stack.push(child);
            });
        }
        return true;
    }"""
    html = "<div><b>1</b>a<em>2</em><b>3</b></div><div><i>x</i></div><p><b><em></em></b></p>"

    value = run(
        f"""(() => {{
        const changes = {changes}, consistent = {consistent}, html = $.html();
        let done = 0;
        const all = changes.flatMap((one) => changes.map((two) => [one, two]));
        for (const pair of all) for (const sel of ["b", "em", "div", "i"]) {{
            const page = $.load(html);
            for (const change of pair) {{
                try {{ new Function("$", `$("${{sel}}").${{change}}`)(page); }} catch (error) {{
                    if (!/into itself/.test(error.message)) throw error;
                }}
                consistent(page.root()[0]);
                page("b:first, em").toArray();
            }}
            done += 1;
        }}
        return done;
    }})()""",
        html,
    )

    assert value == 16 * 16 * 4
