"""The selector engine against soupsieve's, on generated trees."""

from __future__ import annotations

import json
from importlib.metadata import version

import pytest
import soupsieve
from bs4 import BeautifulSoup
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from svc_notebook.service.crawl.extraction import Extractors
from tests.conftest import examples
from tests.service.crawl.extraction.conftest import Read, Run

NAMES = ["div", "b", "ul", "i", "section"]
ATTRIBUTES = [
    "", ' class="a"', ' class="a b"', ' id="x"', ' title="en-us"', ' data-q="Foo bar"',
    ' hidden=""', ' class="b-c"',
]  # fmt: skip
TESTS = [
    "*", "div", "b", "i", "ul", ".a", ".b", ".a.b", "#x", "[title]", "[title|=en]", "[hidden]",
    "[data-q~=bar]", "[data-q^=Foo]", '[data-q$="bar"]', '[data-q*="o b"]', '[data-q="foo bar" i]',
    "[class=a]", ":first-child", ":last-child", ":only-child", ":first-of-type", ":last-of-type",
    ":only-of-type", ":root", ":nth-child(2n+1)", ":nth-child(-n + 2)", ":nth-child(even)",
    ":nth-last-child(2)", ":nth-of-type(2n)", ":nth-last-of-type(odd)", ":nth-child(2 of .a)",
    ":not(.a)", ":not(div, .b)", ":is(div, b)", ":where(.a, i)", ":has(b)", ":has(> .a)",
    ":has(+ i)", ":has(~ b)", ":has(.a, > i)", ":not(:has(b))", ":is(ul > *, #x)",
]  # fmt: skip

element: st.SearchStrategy[str] = st.deferred(
    lambda: st.builds(
        "<{0}{1}>{2}</{0}>".format,
        st.sampled_from(NAMES),
        st.sampled_from(ATTRIBUTES),
        st.lists(element | st.sampled_from(["t", " ", "<!--c-->"]), max_size=4).map("".join),
    )
)
pages = st.lists(element, min_size=1, max_size=4).map("".join)
compounds = st.builds(
    lambda first, second: first if second[0] in "*abcdefghijklmnopqrstuvwxyz" else first + second,
    st.sampled_from(TESTS),
    st.sampled_from(TESTS),
) | st.sampled_from(TESTS)


@st.composite
def selectors(draw: st.DrawFn) -> str:
    groups = []
    for _ in range(draw(st.integers(1, 2))):
        group = draw(compounds)
        for _ in range(draw(st.integers(0, 2))):
            group += draw(st.sampled_from([" ", " > ", " + ", "~"])) + draw(compounds)
        groups.append(group)
    return ", ".join(groups)


FOUND = """({ $, dataSources }) => {
  const number = new Map($("*").toArray().map((element, at) => [element, at]));
  return [{ found: dataSources.selectors.map((selector) => (
    $(selector).toArray().map((element) => number.get(element))
  )) }];
}"""


@pytest.mark.skipif(
    int(version("soupsieve").split(".")[0]) < 3,
    reason="soupsieve 3 needs Python 3.11.5; older ones read `* *` and `:nth-child` otherwise",
)
@settings(max_examples=examples(12), deadline=None, suppress_health_check=list(HealthCheck))
@given(pages, st.lists(selectors(), min_size=20, max_size=60))
def test_selectors_match_as_in_css(
    extractors: Extractors, read: Read, html: str, wanted: list[str]
) -> None:
    page = read(f"<body>{html}</body>")
    soup = BeautifulSoup(page.html, "html.parser")
    number = {id(tag): at for at, tag in enumerate(soup.find_all(True))}

    extraction = extractors.extract(page, FOUND, sources={"selectors": wanted})

    assert extraction.error is None
    expected = [[number[id(tag)] for tag in soupsieve.select(one, soup)] for one in wanted]
    assert extraction.records[0]["found"] == expected


JQUERY = [
    ("li:first", "1"), ("li:last", "5"), ("li:eq(1)", "2"), ("li:eq(-1)", "5"), ("li:nth(1)", "2"),
    ("li:gt(2)", "45"), ("li:lt(2)", "12"), ("li:lt(-3)", "12"), ("li:even", "135"),
    ("li:odd", "24"), ("ul:first li", "123"), ("ul:last > li:first", "4"),
    ("li:gt(0):lt(2)", "23"), ("li:eq(0) + li", "2"), ("li:eq(0), li:eq(4)", "15"),
    ("li:eq(4), li:eq(0)", "15"), ("li:contains(4)", "4"), ("li:eq(9)", ""),
    ("ul:has(li:contains('5')) li", "45"), ("LI:icontains('4')", "4"),
]  # fmt: skip


@pytest.mark.parametrize(("selector", "text"), JQUERY)
def test_selectors_of_jquery_count_what_was_found(run: Run, selector: str, text: str) -> None:
    html = "<ul><li>1<li>2<li>3</ul><ul><li>4<li>5</ul>"

    assert run(f"$({json.dumps(selector)}).text()", html) == text


WRITTEN = [
    (r"#a\:b", '<p id="a:b">'), (r"#\31 st", '<p id="1st">'), (r".w-1\/2", '<p class="w-1/2">'),
    ("[data-a='x]y']", '<p data-a="x]y">'), ("[data-a=x/y.z]", '<p data-a="x/y.z">'),
    ("[ data-a = 'x' ]", '<p data-a="x">'), ("p:nth-child( 2n - 1 )", "<p>"), ("P", "<p>"),
    ("#日本", '<p id="日本">'), ("p:contains('a (b)')", "<p>a (b)"),
    ("p:contains(a (b))", "<p>a (b)"),
    ("p , i", "<p>"), ("\tp\n", "<p>"), ("body>p", "<p>"), ("[DATA-A]", "<p data-a>"),
    ("[data-a='q\\'r']", "<p data-a=\"q'r\">"), ("svg [viewBox]", "<svg><g viewBox=1>"),
    ("linearGradient", "<svg><linearGradient>"), ("p:not( .x , .y )", "<p>"),
    ("[type=TEXT]", "<input type=text>"),
]  # fmt: skip


@pytest.mark.parametrize(("selector", "html"), WRITTEN)
def test_selectors_may_be_written_in_many_ways(run: Run, selector: str, html: str) -> None:
    assert run(f"$({json.dumps(selector)}).length", html) == 1


WRONG = ["a[", "a]", "a,", ",a", "a:nope", "a::before", "a >", "> > a", "..a", "#", ":not", ":not(",
         ":eq(x)", ":nth-child(x)", "a:has", "a b)", "[a=]", "a!"]  # fmt: skip


@pytest.mark.parametrize("selector", WRONG)
def test_an_invalid_selector_is_refused(extractors: Extractors, read: Read, selector: str) -> None:
    source = f"({{ $ }}) => [{{ n: $({json.dumps(selector)}).length }}]"

    extraction = extractors.extract(read("<a><b>"), source)

    assert extraction.error is not None
    assert extraction.error.startswith("SyntaxError: ")
