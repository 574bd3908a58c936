"""Extractors written in JavaScript."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from svc_notebook.errors import BadInput, SvcError
from svc_notebook.faces.functions.crawler_configuration import DEFAULT_EXTRACTOR
from svc_notebook.service.crawl.extraction import (
    Document,
    Extraction,
    Extractors,
    FetchedPage,
    Unreadable,
)
from svc_notebook.service.crawl.extraction.extractors import REQUIRED_PACKAGES, check_installed
from tests.conftest import examples
from tests.service.crawl.extraction.conftest import Read, Run

HTML = '<title>Lamps</title><h1 id="top">All lamps</h1><a href="/a">A</a><a href="/b#x">B</a>'


@pytest.fixture(scope="module")
def page(read: Read) -> Document:
    return read(HTML)


def test_an_extractor_receives_the_page(extractors: Extractors, page: Document) -> None:
    source = """({ url, $, contentLength, fileType, dataSources, helpers }) => [{
        url: url.href, title: $("title").text(), contentLength, fileType,
        price: dataSources.prices.eur, helpers: Object.keys(helpers).sort(),
    }]"""

    extraction = extractors.extract(page, source, sources={"prices": {"eur": 7}})

    assert extraction == Extraction(
        records=[
            {
                "url": "https://shop.test/lamps/desk?page=2#top",
                "title": "Lamps",
                "contentLength": len(HTML),
                "fileType": "html",
                "price": 7,
                "helpers": [
                    "article", "codeSnippets", "docsearch", "markdown", "page", "product",
                    "splitContentIntoRecords", "splitTextIntoRecords",
                ],
            }
        ]
    )  # fmt: skip


def test_the_extractor_of_a_start_address_returns_a_record_of_any_page(
    extractors: Extractors, page: Document
) -> None:
    [record] = extractors.extract(page, DEFAULT_EXTRACTOR).records

    assert record["title"] == "Lamps"
    assert record["objectID"]


FORMS = [
    "() => [{ a: 1 }]",
    "() => ({ a: 1 })",
    "function () { return [{ a: 1 }]; }",
    "async ({ $ }) => { await null; return [{ a: 1 }]; }",
    "recordExtractor({ url }) { return [{ a: 1 }]; }",
    "  async recordExtractor ({ url }) { return [{ a: 1 }]; }",
    "// a note\n() => [{ a: 1 }]; // another",
    "() => [{ a: 1 }];",
    "() => new Promise((done) => done([{ a: 1 }]))",
    "() => ({ then(done) { done([{ a: 1 }]); } })",
]


@pytest.mark.parametrize("source", FORMS)
def test_an_extractor_may_be_any_function(
    extractors: Extractors, page: Document, source: str
) -> None:
    extractors.check(source.removesuffix(" // another"))

    assert extractors.extract(page, source.removesuffix(" // another")).records == [{"a": 1}]


BROKEN = [
    ("({ $ }) => {\n  let a = ;\n}", "SyntaxError: Unexpected token ';' (line 2, column 11)"),
    ("x => x +", "SyntaxError: Unexpected token ')' (at its end)"),
    ("(a b) => 1", "SyntaxError: missing ) after arguments list"),
    ("1", "an extractor is a function"),
    ("", "SyntaxError: Unexpected token ')' (at its end)"),
    ("`", "SyntaxError: "),
    ("throwing()", "ReferenceError: throwing is not defined"),
    ("1); while (false) {} (2", "an extractor is a function"),
]


@pytest.mark.parametrize(("source", "message"), BROKEN, ids=[source for source, _ in BROKEN])
def test_a_source_that_is_not_a_function_is_refused_with_its_position(
    extractors: Extractors, page: Document, source: str, message: str
) -> None:
    said = message.removeprefix("SyntaxError: missing ) after arguments list")

    with pytest.raises(BadInput) as refused:
        extractors.check(source)

    assert said in str(refused.value)
    assert extractors.extract(page, source).error == str(refused.value)


RETURNED = [
    ("undefined", "it returned undefined: an extractor returns a list of objects"),
    ("7", "it returned a number"),
    ("'x'", "it returned a string"),
    ("() => 1", "it returned a function"),
    ("$('h1')", "it returned an element of the page"),
    ("[1]", "record 1 is a number"),
    ("[{}, null]", "record 2 is null"),
    ("[{}, {}, [1]]", "record 3 is a list"),
    ("[{ title: $('h1') }]", "`title` contains an element of the page: use its .text()"),
    ("[{ a: [$('h1')[0]] }]", "`0` contains an element of the page"),
    ("[{ a: 1n }]", "`a` is a BigInt"),
    ("(() => { const a = {}; a.a = a; return [a]; })()", "circular structure"),
    ("new Promise(() => {})", "its promise is never settled"),
    ("Promise.reject(new Error('late'))", "Error: late"),
    ("Promise.resolve(7)", "it returned a number"),
    ("[{ get a() { throw new Error('got'); } }]", "Error: got"),
]


@pytest.mark.parametrize(("returned", "message"), RETURNED)
def test_invalid_records_are_an_error(
    extractors: Extractors, page: Document, returned: str, message: str
) -> None:
    extraction = extractors.extract(page, f"({{ $ }}) => {returned}")

    assert extraction.records == []
    assert message in str(extraction.error)


VALUES = [
    ("NaN", None),
    ("-Infinity", None),
    ("new Date(0)", "1970-01-01T00:00:00.000Z"),
    ("[undefined, () => 1]", [None, None]),
    ("new Set([1, 2])", [1, 2]),
    ("new Map([['a', 1]])", {"a": 1}),
    ("'\\ud800x'", "\ufffdx"),
    ("2 ** 53", 2**53),
    ("1e300", 1e300),
    ("({ __proto__: null, b: 1 })", {"b": 1}),
    ("url", "https://shop.test/lamps/desk?page=2#top"),
]


@pytest.mark.parametrize(("expression", "value"), VALUES)
def test_values_are_converted_as_by_json(run: Run, expression: str, value: Any) -> None:
    assert run(expression) == value


def test_no_records_are_not_an_error(extractors: Extractors, page: Document) -> None:
    assert extractors.extract(page, "() => []") == Extraction()
    assert extractors.extract(page, "() => null") == Extraction()


def test_an_error_contains_its_position(extractors: Extractors, page: Document) -> None:
    source = "({ $ }) => {\n  const a = null;\n  return a.b;\n}"

    error = extractors.extract(page, source).error

    assert error == "TypeError: Cannot read properties of null (reading 'b') (line 3, column 12)"


def test_any_value_may_be_thrown(extractors: Extractors, page: Document) -> None:
    assert extractors.extract(page, "() => { throw { a: 1 }; }").error == 'it threw {"a":1}'


def test_the_console_goes_into_the_logs(extractors: Extractors, page: Document) -> None:
    source = """({ $, url }) => {
      console.log("one", 2, { three: [3] }, null, undefined);
      console.warn($("h1"), $("h1")[0], url);
      console.error(new TypeError("bad"), () => 1, 4n);
      throw new Error("after");
    }"""

    extraction = extractors.extract(page, source)

    assert extraction.logs == [
        'one 2 {"three":[3]} null undefined',
        '1 found: <h1 id="top">All lamps</h1> <h1> https://shop.test/lamps/desk?page=2#top',
        "TypeError: bad (line 4, column 21) [function ] 4",
    ]
    assert extraction.error == "Error: after (line 5, column 13)"


def test_logs_are_cut_where_they_grow_too_long(extractors: Extractors, page: Document) -> None:
    source = """() => {
      console.log("x".repeat(1e6));
      for (let i = 0; i < 1e5; i++) console.log(i);
      return [];
    }"""

    logs = extractors.extract(page, source).logs

    assert logs[0] == "x" * 10000 + "..."
    assert len(logs) == 1001
    assert logs[-1] == "... and more, which is omitted"


ABSENT = ["require", "process", "fetch", "setTimeout", "setInterval", "queueMicrotask", "Atomics",
          "SharedArrayBuffer", "WebAssembly", "XMLHttpRequest", "Deno", "module",
          "__timer_manager", "runExtractor", "parsePage", "ENTITIES"]  # fmt: skip


def test_extractors_have_no_access_to_the_outside(run: Run) -> None:
    names = ", ".join(f"typeof {name}" for name in ABSENT)

    assert set(run(f"[{names}]")) == {"undefined"}


def test_no_state_is_visible_to_the_next_page(extractors: Extractors, page: Document) -> None:
    vandal = """({ $ }) => {
      Object.prototype.stained = 1;
      Array.prototype.map = () => ["mine"];
      $.fn.text = () => "mine";
      $("h1").remove();
      JSON.parse = URL = console = null;
      globalThis.kept = (globalThis.kept ?? 0) + 1;
      return [{ kept }];
    }"""
    honest = """({ $ }) => [{
      text: $("h1").text(), map: [1].map(String), stained: {}.stained ?? null,
      kept: typeof kept, url: new URL("/x", "http://a.test").href,
    }]"""

    extractors.extract(page, vandal)
    extractors.extract(page, vandal)
    extraction = extractors.extract(page, honest)

    assert extraction.records == [
        {"text": "All lamps", "map": ["1"], "stained": None, "kept": "undefined",
         "url": "http://a.test/x"}
    ]  # fmt: skip


FORGED = [
    "JSON.stringify = () => '7'",
    "JSON.stringify = () => 7",
    "JSON.stringify = () => ({})",
    "JSON.stringify = () => 'x'.repeat(5e7)",
    "JSON.stringify = () => '{\"value\": [1]}'",
    'JSON.stringify = () => \'{"value": [{}], "logs": 3}\'',
    "JSON.stringify = () => '['.repeat(1e5)",
    "JSON.stringify = () => { throw 1 }",
    "Object.prototype.then = (done) => done()",
    "Array.prototype.forEach = () => {}",
]


@pytest.mark.parametrize("forging", FORGED)
def test_an_extractor_cannot_forge_its_outcome(
    extractors: Extractors, page: Document, forging: str
) -> None:
    extraction = extractors.extract(page, f"() => {{ {forging}; return [1]; }}")

    assert extraction.records == []
    assert extraction.error


@pytest.fixture(scope="module")
def strict() -> Any:
    with Extractors(seconds=1, reading=1, memory=64 << 20, processes=1) as extractors:
        yield extractors


ENDLESS = [
    "while (true) {}",
    '/(a+)+b/.test("a".repeat(50))',
    "return (async () => { for (;;) await 1; })()",
    "try { while (true) {} } finally { while (true) {} }",
]


@pytest.mark.slow
@pytest.mark.sampled(1)
@pytest.mark.parametrize("body", ENDLESS)
def test_an_extractor_that_never_ends_is_ended(
    strict: Extractors, page: Document, body: str
) -> None:
    extraction = strict.extract(page, f"() => {{ {body} }}")

    assert extraction.error == "it took more than 1 seconds"


GREEDY = [
    "const a = []; for (;;) a.push(new Array(1e6));",
    "const a = []; for (;;) a.push(new Array(1e3).fill(1.5));",
    "const a = []; for (;;) a.push(new Uint8Array(1e8).fill(1));",
    "const a = []; for (;;) a.push('x'.repeat(1e8) + a.length);",
    "let s = 'x'; for (;;) s += s;",
    "return [{ a: 'x'.repeat(5e8) }];",
    "const f = () => f() + 1; f();",
    "const a = {}; let b = a; for (let i = 0; i < 1e5; i++) b = b.a = {}; return [a];",
    "const a = {}; let b = a; for (let i = 0; i < 3e3; i++) b = b.a = {}; return [a];",
    "const a = {}; let b = a; for (let i = 0; i < 300; i++) b = b.a = [{}][0]; return [a];",
]


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("body", GREEDY)
def test_an_extractor_that_takes_too_much_fails_alone(
    strict: Extractors, page: Document, body: str
) -> None:
    extraction = strict.extract(page, f"() => {{ {body} }}")

    assert extraction.error
    assert not extraction.records


@pytest.mark.slow
def test_the_engine_continues_after_every_failure(strict: Extractors, page: Document) -> None:
    strict.extract(page, "() => { const a = []; for (;;) a.push(new Array(1e6)); }")
    strict.extract(page, "() => { while (true) {} }")

    assert strict.extract(page, "() => [{ a: 1 }]").records == [{"a": 1}]


NESTED = "<div>" * 60_000
FORMATTED = "<p>" + "".join(f'<font a="{i}">' for i in range(3000)) + "</p><p>x" * 20_000


@pytest.mark.slow
@pytest.mark.parametrize("html", [NESTED, FORMATTED], ids=["nested", "formatted"])
def test_a_page_that_parses_endlessly_times_out(strict: Extractors, html: str) -> None:
    with pytest.raises(Unreadable) as given_up:
        strict.read(FetchedPage("https://a.test/", html.encode(), "text/html"))

    assert given_up.value.reason in ("reading_timed_out", "too_large")


@pytest.mark.slow
def test_pages_are_processed_in_parallel(page: Document) -> None:
    source = "({ dataSources }) => [{ n: dataSources.n.n }]"

    with Extractors(processes=2) as extractors, ThreadPoolExecutor(8) as pool:
        found = list(
            pool.map(lambda n: extractors.extract(page, source, sources={"n": {"n": n}}), range(16))
        )

    assert [extraction.records for extraction in found] == [[{"n": n}] for n in range(16)]


@pytest.mark.slow
def test_an_engine_that_is_killed_is_replaced(page: Document) -> None:
    with Extractors(processes=1) as extractors:
        extractors.check("() => 1")
        process = extractors._workers[0]._process
        assert process is not None
        threading.Timer(0.3, process.kill).start()

        lost = extractors.extract(page, "() => { while (true) {} }")
        after = extractors.extract(page, "() => [{ a: 1 }]")

    assert lost.error
    assert "crashed" in lost.error
    assert after.records == [{"a": 1}]


@pytest.mark.slow
def test_an_engine_that_died_unnoticed_is_replaced(page: Document) -> None:
    with Extractors(processes=1) as extractors:
        extractors.check("() => 1")
        process = extractors._workers[0]._process
        assert process is not None
        process.kill()
        process.wait()

        assert extractors.extract(page, "() => [{ a: 1 }]").records == [{"a": 1}]


@pytest.mark.slow
def test_closing_ends_waiting_calls(page: Document) -> None:
    extractors = Extractors(processes=1)
    extractors.check("() => 1")
    threading.Timer(0.3, extractors.close).start()

    lost = extractors.extract(page, "() => { while (true) {} }")

    assert lost.error
    with pytest.raises(SvcError, match="closed"):
        extractors.check("() => 1")


ORPHAN = """
import os, sys
from svc_notebook.service.crawl.extraction import Extractors, FetchedPage, read_document
extractors = Extractors(processes=1)
extractors.check("() => 1")
print(extractors._workers[0]._process.pid, flush=True)
page = read_document(FetchedPage("http://a.test/", b"", "text/html"))
extractors.extract(page, "() => { while (true) {} }")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_an_engine_exits_when_its_parent_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", ORPHAN], stdout=subprocess.PIPE) as parent:
        assert parent.stdout
        engine = int(parent.stdout.readline())
        time.sleep(0.3)

        parent.kill()
        parent.wait()

        assert ends(engine)


def ends(pid: int, seconds: float = 20) -> bool:
    """Wait for a process that is not ours to end."""
    for _ in range(int(seconds * 50)):
        try:
            os.kill(pid, 0)
            stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
            if stat.rpartition(")")[2].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)
    return False


@pytest.mark.slow
def test_many_pages_leave_no_memory_behind(page: Document) -> None:
    source = "({ $ }) => [{ t: $('*').text(), big: 'x'.repeat(1e6).length }]"

    with Extractors(processes=1) as extractors:
        for _ in range(15):
            extractors.extract(page, source)
        process = extractors._workers[0]._process
        assert process is not None
        before = resident(process.pid)
        for _ in range(50):
            extractors.extract(page, source)
        after = resident(process.pid)

    assert after < before * 1.25 + 10


def resident(pid: int) -> float:
    """Megabytes that a process holds."""
    statm = Path(f"/proc/{pid}/statm")
    return int(statm.read_text().split()[1]) * 4096 / 1e6 if statm.exists() else 0.0


@settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.text(max_size=60))
def test_a_text_that_is_refused_does_not_run(
    extractors: Extractors, page: Document, source: str
) -> None:
    refused = ""
    try:
        extractors.check(source)
    except BadInput as error:
        refused = str(error)

    ran = extractors.extract(page, source)
    assert not refused or ran.error == refused


LINKS = [
    (
        "({ defaultExtractor }) => defaultExtractor()",
        ["https://shop.test/a", "https://shop.test/b"],
    ),
    ("({ $, url }) => [new URL('/c', url), 'x' + $('a').length]", ["https://shop.test/c", "x2"]),
    ("linkExtractor({ url }) { return []; }", []),
]


@pytest.mark.parametrize(("source", "links"), LINKS)
def test_a_link_extractor_returns_links(
    extractors: Extractors, page: Document, source: str, links: list[str]
) -> None:
    assert extractors.links(page, source) == links


def test_a_failed_link_extractor_is_reported(extractors: Extractors, page: Document) -> None:
    with pytest.raises(BadInput, match=r"linkExtractor: .*a list of URLs"):
        extractors.links(page, "() => 7")
    with pytest.raises(BadInput, match="linkExtractor: Error: no"):
        extractors.links(page, "() => { throw new Error('no'); }")


def test_missing_packages_are_named(without_package: Callable[..., None]) -> None:
    check_installed()
    without_package(REQUIRED_PACKAGES[0])

    with pytest.raises(BadInput, match=r"py_mini_racer.*svc-notebook\[crawl\]"):
        Extractors()


def test_an_internal_error_is_not_reported_as_a_fault_of_the_page(extractors: Extractors) -> None:
    for broken in (7, None):
        page = FetchedPage("https://a.test/", broken, "text/html")  # type: ignore[arg-type]

        with pytest.raises(Unreadable) as fault:
            extractors.read(page)

        assert fault.value.reason == "internal_error"
        assert re.search(
            r"^internal error of the crawler: .*\(\w+\.py, line \d+\)$", str(fault.value)
        )


def test_an_internal_error_is_not_reported_as_a_fault_of_an_extractor(
    extractors: Extractors, page: Document
) -> None:
    with pytest.raises(Unreadable) as fault:
        extractors.extract(page, 7)  # type: ignore[arg-type]

    assert fault.value.reason == "internal_error"
    assert extractors.extract(page, "() => [{ a: 1 }]").records == [{"a": 1}]
