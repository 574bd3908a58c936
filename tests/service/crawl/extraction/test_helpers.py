"""Helper functions of extractors."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from svc_notebook.service.crawl.extraction import Extractors
from tests.conftest import examples
from tests.service.crawl.extraction.conftest import Read, Run

DOCS = """<html lang="en"><head><title>Guide</title>
<meta name="docsearch:version" content="2.1"></head><body><nav><b class="on">Learn</b></nav>
<main><h1 id="start">Start</h1><p>Welcome.</p><ul><li>One</li><li><p>Two</p></li></ul>
<h2><a name="install"></a>Install</h2><p>Run   it.</p><h3>Linux</h3><p>apt</p>
<section id="use"><h2>Use</h2><p>Go.</p></section></main></body></html>"""
PROPS = (
    "lvl0: { selectors: 'nav .on', defaultValue: 'Docs' }, lvl1: ['.no h1', 'h1'], lvl2: 'h2',"
    " lvl3: 'h3', content: 'p, li'"
)


def docsearch(run: Run, options: str = "", props: str = PROPS) -> list[dict[str, Any]]:
    value = run(f"helpers.docsearch({{ recordProps: {{ {props} }}, {options} }})", DOCS)
    assert isinstance(value, list)
    return value


def brief(record: dict[str, Any]) -> tuple[str, str, list[str], str | None]:
    levels = [text for text in record["hierarchy"].values() if text]
    return record["type"], record["anchor"], levels, record["content"]


def test_docsearch_returns_records_of_headings_and_their_text(run: Run) -> None:
    assert [brief(record) for record in docsearch(run)] == [
        ("lvl1", "start", ["Learn", "Start"], None),
        ("content", "start", ["Learn", "Start"], "Welcome.\nOne\nTwo"),
        ("lvl2", "install", ["Learn", "Start", "Install"], None),
        ("content", "install", ["Learn", "Start", "Install"], "Run it."),
        ("lvl3", "install", ["Learn", "Start", "Install", "Linux"], None),
        ("content", "install", ["Learn", "Start", "Install", "Linux"], "apt"),
        ("lvl2", "use", ["Learn", "Start", "Use"], None),
        ("content", "use", ["Learn", "Start", "Use"], "Go."),
    ]


def test_a_record_of_docsearch_has_all_its_members(run: Run) -> None:
    version = "version: 'meta[name=\"docsearch:version\"]'"
    props = f"{PROPS}, pageRank: '30', {version}, tags: {{ defaultValue: ['a', 'b'] }}"

    record = docsearch(run, "recordVersion: 'v3'", props)[2]

    assert record == {
        "objectID": "2-https://shop.test/lamps/desk?page=2",
        "lang": "en",
        "language": "en",
        "version": "2.1",
        "tags": ["a", "b"],
        "url": "https://shop.test/lamps/desk?page=2#install",
        "url_without_variables": "https://shop.test/lamps/desk",
        "url_without_anchor": "https://shop.test/lamps/desk?page=2",
        "anchor": "install",
        "content": None,
        "content_camel": None,
        "type": "lvl2",
        "no_variables": False,
        "weight": {"pageRank": 30, "level": 80, "position": 2},
        "hierarchy": {
            "lvl0": "Learn", "lvl1": "Start", "lvl2": "Install",
            "lvl3": None, "lvl4": None, "lvl5": None, "lvl6": None,
        },
        "recordVersion": "v3",
    }  # fmt: skip


def test_docsearch_can_leave_headings_out_and_content_in_pieces(run: Run) -> None:
    without = docsearch(run, "indexHeadings: false")
    some = docsearch(run, "indexHeadings: { from: 2, to: 2 }")
    pieces = docsearch(run, "indexHeadings: false, aggregateContent: false")

    assert [record["type"] for record in without] == ["content"] * 4
    assert [record["type"] for record in some].count("lvl2") == 2
    assert len(some) == 6
    assert [record["content"] for record in pieces] == [
        "Welcome.", "One", "Two", "Run it.", "apt", "Go.",
    ]  # fmt: skip


def test_docsearch_falls_back_on_default_values(run: Run) -> None:
    props = "lvl0: { selectors: '.no', defaultValue: 'Docs' }, lvl1: 'h1', content: '.no'"

    records = docsearch(run, "", props)

    assert [brief(record) for record in records] == [("lvl1", "start", ["Docs", "Start"], None)]


TAGGED = """<html lang="de"><head><title>Guide</title>
<meta name="docsearch:language" content="en">
<meta name="docsearch:version" content="current, 2.10,">
<meta name="docsearch:docusaurus_tag" content="docs-default-current">
<meta name="docsearch:tags" content='["a", "b"]'><meta name="docsearch:odd" content="[a">
<meta name="docsearch:build" content="3.10"><meta name="docsearch:empty" content="">
<meta name="docsearch:"><meta name="docsearch:objectID" content="x">
<meta name="docsearch:url" content="y"></head><body><h1>Start</h1></body></html>"""


def test_each_docsearch_meta_element_of_a_page_is_in_every_record(
    extractors: Extractors, read: Read
) -> None:
    code = "({ helpers }) => helpers.docsearch({ recordProps: { lvl1: 'h1', build: '.no' } })"

    extraction = extractors.extract(read(TAGGED), code)

    assert extraction.error is None
    [record] = extraction.records
    expected = {
        "lang": "de",
        "language": "en",
        "version": ["current", "2.10"],
        "docusaurus_tag": "docs-default-current",
        "tags": ["a", "b"],
        "odd": "[a",
        "build": None,  # as the options say
        "empty": None,
        "objectID": "0-https://shop.test/lamps/desk?page=2",
    }
    assert {name: record.get(name) for name in expected} == expected
    assert record["url"].startswith("https://shop.test/")


def test_docsearch_names_missing_options(extractors: Extractors, read: Read) -> None:
    extraction = extractors.extract(read(""), "({ helpers }) => helpers.docsearch()")

    assert extraction.error is not None
    assert "recordProps" in extraction.error


JSON_LD = r"""{
  "@context": "https://schema.org", "@type": "Product", "name": "Lamp // one",
  "description": "a, ]b} /* c */", "sku": "4\"2", "url": "https://shop.test//x;"
}"""
SAID = {"name": "Lamp // one", "description": "a, ]b} /* c */", "sku": '4"2'}
WRAPPERS = {
    "bare": "{}",
    "blanks": "\ufeff \n\t{} \n",
    "cdata": "<![CDATA[{}]]>",
    "cdata in comments of lines": "//<![CDATA[\n{}\n//]]>",
    "cdata in comments of lines, with blanks": "\n  // <![CDATA[\n{}\n  // ]]>\n",
    "cdata in comments": "/*<![CDATA[*/\n{}\n/*]]>*/",
    "cdata in comments, with blanks": "/* <![CDATA[ */ {} /* ]]> */",
    "html comment": "<!-- {} -->",
    "html comment, closed in a line's comment": "<!--\n{}\n//-->",
    "both": "<!--//--><![CDATA[//><!--\n{}\n//--><!]]>",
    "semicolon": "{};",
}


@pytest.mark.parametrize("wrapper", WRAPPERS.values(), ids=WRAPPERS)
@pytest.mark.parametrize("loose", [False, True], ids=["json", "loose"])
def test_linked_data_is_read_however_it_is_wrapped(run: Run, wrapper: str, loose: bool) -> None:
    said = JSON_LD.replace('x;"', 'x;", // a comment, "with" ] all\n') if loose else JSON_LD
    html = f'<script type="application/ld+json">{wrapper.replace("{}", said)}</script>'

    product = run("helpers.product()", html)

    assert {name: product[name] for name in SAID} == SAID


LOOSE = {
    "a line break in a text": ('{"@type": "Product", "name": "a\nb\n\tc"}', "a\nb\n\tc"),
    "a control character": ('{"@type": "Product", "name": "a\x01b"}', "a\x01b"),
    "a comma too many": ('{"@type": ["Product",], "name": "a,", }', "a,"),
    "comments": ('/* one */ {"@type": "Product", // two\n "name": "/* a */"}', "/* a */"),
}


@pytest.mark.parametrize(("data", "name"), LOOSE.values(), ids=LOOSE)
def test_linked_data_that_is_not_quite_json_is_read(run: Run, data: str, name: str) -> None:
    product = run("helpers.product()", f'<script type="application/ld+json">{data}</script>')

    assert product["name"] == name


PRODUCT = """<html lang="de"><head><script type="application/ld+json">[{"@type": "WebSite"},
{"@graph": [{"@type": ["Thing", "https://schema.org/Product"], "name": " Lamp ", "sku": "L1",
"description": "Bright", "image": [{"url": "/1.png"}], "category": "Light",
"brand": {"@type": "Brand", "name": "Lux"},
"offers": [{"highPrice": "12.50", "lowPrice": "9", "priceCurrency": "EUR"}]}]}]</script></head>"""


def test_product_reads_the_product_of_a_page(run: Run) -> None:
    assert run("helpers.product({ url, $ })", PRODUCT) == {
        "objectID": "https://shop.test/lamps/desk?page=2",
        "url": "https://shop.test/lamps/desk",
        "lang": "de",
        "name": "Lamp",
        "sku": "L1",
        "description": "Bright",
        "image": "/1.png",
        "price": "12.50",
        "currency": "EUR",
        "category": "Light",
        "brand": "Lux",
    }


@pytest.mark.parametrize("data", ["", "{", "null", "[]", '{"@type": "Person"}', '{"@graph": 7}'])
def test_a_page_without_a_product_yields_no_record(run: Run, data: str) -> None:
    html = f'<script type="application/ld+json">{data}</script>'

    assert run("helpers.product()", html) is None
    assert run("helpers.article()", html) is None


ARTICLE = """<html lang="en"><head><title>T</title><meta property="og:title" content="Lamps!">
<meta name="description" content="All of them"><meta property="article:tag" content="light">
<meta property="article:tag" content="home"><meta name="twitter:image" content="/t.png">
<script type="application/ld+json">{"@type": "NewsArticle", "headline": "No",
"author": [{"name": "Ann"}, "Bob"], "datePublished": "2024-01-02", "keywords": "a, b",
"articleSection": "News"}</script></head><body><nav>x</nav><article><h1>Lamps</h1><p>Text.</p>"""


def test_article_reads_the_article_of_a_page(run: Run) -> None:
    assert run("helpers.article({ url, $ })", ARTICLE) == {
        "objectID": "https://shop.test/lamps/desk?page=2",
        "url": "https://shop.test/lamps/desk",
        "lang": "en",
        "headline": "Lamps!",
        "description": "All of them",
        "keywords": ["a", "b"],
        "tags": ["light", "home"],
        "image": "/t.png",
        "authors": ["Ann", "Bob"],
        "datePublished": "2024-01-02",
        "category": "News",
        "content": "Lamps Text.",
    }


def test_page_makes_one_record_of_any_page(run: Run) -> None:
    html = "<title>T</title><body><h1>A</h1><h2>B</h2><script>no</script><main>One<p>two</main>"

    value = run(
        "helpers.page({ url, $, recordProps: { first: 'h1', x: { defaultValue: 1 } } })", html
    )

    assert value == {
        "objectID": "https://shop.test/lamps/desk?page=2",
        "url": "https://shop.test/lamps/desk",
        "hostname": "shop.test",
        "path": ["lamps", "desk"],
        "depth": 2,
        "fileType": "html",
        "contentLength": len(html),
        "title": "T",
        "headers": ["A", "B"],
        "content": "One two",
        "first": "A",
        "x": 1,
    }


def test_split_content_keeps_records_small(run: Run) -> None:
    value = run(
        "helpers.splitContentIntoRecords({ $elements: $('p'), baseRecord: { url, objectID: 'o' },"
        " maxRecordBytes: 110, textAttributeName: 'body', orderingAttributeName: 'part' })",
        "<p>one two three four<br>five</p><p></p><p>six</p>",
    )

    url = "https://shop.test/lamps/desk?page=2#top"
    assert value == [
        {"url": url, "objectID": "o-0", "body": "one two three", "part": 0},
        {"url": url, "objectID": "o-1", "body": "four five", "part": 1},
        {"url": url, "objectID": "o-2", "body": "six", "part": 2},
    ]


def test_split_content_uses_the_body_by_default(run: Run) -> None:
    value = run("helpers.splitContentIntoRecords()", "<p>a<p>b<script>no</script>")

    assert value == [{"text": "a b"}]


def test_a_base_record_that_is_too_large_is_refused(extractors: Extractors, read: Read) -> None:
    options = "{ baseRecord: { a: 'x'.repeat(99) }, maxRecordBytes: 100 }"
    source = f"({{ helpers }}) => helpers.splitContentIntoRecords({options})"

    error = extractors.extract(read("<p>x"), source).error

    assert error is not None
    assert "maxRecordBytes = 100" in error


@settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=40), max_size=12
    ),
    st.integers(60, 400),
    st.sampled_from(["splitContentIntoRecords", "splitTextIntoRecords"]),
)
def test_split_records_fit_and_lose_nothing(
    extractors: Extractors, read: Read, words: list[str], most: int, helper: str
) -> None:
    text = "\n\n".join(words)
    source = f"""({{ $, helpers, dataSources }}) => helpers.{helper}({{
        $elements: $("<p>").text(dataSources.t.t), text: dataSources.t.t,
        baseRecord: {{ objectID: "id" }}, maxRecordBytes: {most}, orderingAttributeName: "n",
    }})"""

    extraction = extractors.extract(read(""), source, sources={"t": {"t": text}})

    assert extraction.error is None
    records = extraction.records
    assert all(len(json.dumps(one, ensure_ascii=False).encode()) <= most + 12 for one in records)
    assert squeezed("".join(one["text"] for one in records)) == squeezed(text)
    assert [one["n"] for one in records] == list(range(len(records)))
    assert len({one["objectID"] for one in records}) == len(records)


def squeezed(text: str) -> str:
    """A text without what JavaScript calls white space."""
    return "".join(sign for sign in text if not (sign.isspace() or sign == "\ufeff")
                   or sign in "\x1c\x1d\x1e\x1f\x85")  # fmt: skip


def test_split_text_breaks_where_a_paragraph_ends(run: Run) -> None:
    text = "# One\\n\\nalpha beta gamma\\n\\n# Two\\n\\ndelta epsilon zeta"

    value = run(f"helpers.splitTextIntoRecords({{ text: '{text}', maxRecordBytes: 55 }})")

    assert [record["text"] for record in value] == [
        "# One\n\nalpha beta gamma",
        "# Two\n\ndelta epsilon zeta",
    ]


MARKDOWN = [
    ("<h2>A <em>b</em></h2><p>c  d<br>e</p>", "## A *b*\n\nc d  \ne"),
    ("<p><a href='/x'>l</a> <a href='#y'>m</a> <b> n </b><code>o`p</code></p>",
     "[l](https://shop.test/x) m **n** ``o`p``"),
    ("<ul><li>a<ul><li>b</li></ul></li><li><p>c</p><p>d</p></li></ul>", "- a\n  - b\n- c\n\n  d"),
    ("<ol start=3><li>a<li>b</ol>", "3. a\n4. b"),
    ("<pre class='language-js'>x = 1\n  y\n</pre>", "```js\nx = 1\n  y\n```"),
    ("<pre><code class='lang-py'>a</code></pre>", "```py\na\n```"),
    ("<blockquote><p>a<p>b</blockquote>", "> a\n>\n> b"),
    ("<table><tr><th>a<th>b<tr><td>1|2<td>3</table>", "| a | b |\n| --- | --- |\n| 1\\|2 | 3 |"),
    ("<div>a<div>b</div>c</div><hr><script>no</script>", "a\n\nb\n\nc\n\n---"),
    ("<img src=/i.png alt=I>", "![I](https://shop.test/i.png)"),
    ("<dl><dt>a<dd>b</dl>", "**a**\n\nb"),
]  # fmt: skip


@pytest.mark.parametrize(("html", "markdown"), MARKDOWN)
def test_markdown_contains_the_text_of_the_page(run: Run, html: str, markdown: str) -> None:
    assert run("helpers.markdown('main')", f"<main>{html}</main>") == markdown


def test_code_snippets_have_their_language(run: Run) -> None:
    html = (
        "<pre class='language-js'>let a;</pre><div><pre>"
        "<code class='language-py x'>b = 1\n</code></pre><a href='/src'>source</a></div>"
        "<pre>plain</pre>"
    )

    assert run("helpers.codeSnippets()", html) == [
        {"content": "let a;", "language": "js"},
        {"content": "b = 1", "language": "py", "codeUrl": "/src"},
        {"content": "plain"},
    ]
    assert run("helpers.codeSnippets({ tag: 'code', languageClassPrefix: 'x' })", html) == [
        {"content": "b = 1"}
    ]
