"""A JavaScript context is reused only if the previous run left its state unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from svc_notebook.service.crawl.extraction import Document, Extractors, FetchedPage, read_document
from svc_notebook.service.crawl.extraction.engine import MAX_IDLE_CONTEXTS, Engine
from svc_notebook.service.crawl.extraction.extractors import encode_json, page_facts
from tests.service.crawl.extraction.conftest import Read

HTML = "<!DOCTYPE html><title>Lamps</title><h1 class=top>All</h1><!-- x --><a href='/a'>A</a>"
HONEST = "({ $, url, helpers }) => [{ title: $('title').text(), text: helpers.markdown() }]"

# Each notes whether it finds what it leaves: `seen`.
LEAKS = {
    "a global": "const seen = typeof left; globalThis.left = 1;",
    "an undeclared variable": "const seen = typeof left; left = 1;",
    "a hidden global": (
        "const seen = typeof left;"
        "Object.defineProperty(globalThis, 'left', { value: 1, enumerable: false });"
    ),
    "a var by eval": "const seen = typeof left; (0, eval)('var left = 1');",
    "a function by eval": "const seen = typeof left; (0, eval)('function left() {}');",
    "a changed global": "const seen = typeof parseInt; parseInt = null;",
    "a global taken away": "const seen = typeof parseInt; delete globalThis.parseInt;",
    "a method": "const seen = [3].at(0); Array.prototype.at = () => 4;",
    "a getter": (
        "const seen = typeof {}.left;"
        "Object.defineProperty(Object.prototype, 'left', { get: () => 1, configurable: true });"
    ),
    "getters of descriptors": (
        "const seen = typeof {}.set;"
        "for (const name of ['set', 'writable', 'configurable'])"
        " Object.defineProperty(Object.prototype, name, { __proto__: null, get: () => 1 });"
    ),
    "a symbol": "const at = Symbol.for('x'), seen = typeof Map[at]; Map[at] = 1;",
    "an element of a prototype": "const seen = typeof [][7]; Array.prototype[7] = 1;",
    "another prototype": (
        "const seen = typeof Map.left; Object.setPrototypeOf(Map, { left: 1 });"
        "Object.setPrototypeOf(Map.prototype, { left: 1 });"
    ),
    "a prototype of nothing": (
        "const seen = typeof [].toString; Object.setPrototypeOf(Array.prototype, null);"
    ),
    "what cannot be extended": (
        "const seen = Object.isExtensible(Set.prototype); Object.preventExtensions(Set.prototype);"
    ),
    "what cannot be changed": "const seen = Object.isFrozen(Math); Object.freeze(Math);",
    "what can be listed": (
        "const seen = Object.keys(Math).length;"
        "Object.defineProperty(Math, 'max', { enumerable: true });"
    ),
    "the last match": "const seen = RegExp.$1; /(.)/.exec('x');",
    "the last match of the page": "const seen = RegExp.lastMatch; $('h1').text(); /x/.exec('ax');",
    "how stacks are told": (
        "const seen = typeof Error.prepareStackTrace; Error.prepareStackTrace = () => [];"
    ),
    "how long stacks are": "const seen = Error.stackTraceLimit; Error.stackTraceLimit = 1;",
    "places in stacks": (
        "const before = Error.prepareStackTrace; Error.prepareStackTrace = (_, sites) => sites;"
        "const above = Object.getPrototypeOf(new Error().stack[0]); const seen = typeof above.left;"
        "delete Error.prepareStackTrace; above.left = 1;"
    ),
    "generators": (
        "const above = Object.getPrototypeOf(function* () {}); const seen = typeof above.left;"
        "above.left = 1;"
    ),
    "asynchronous generators": (
        "const above = Object.getPrototypeOf(async function* () {}).prototype;"
        "const seen = typeof above.left; above.left = 1;"
    ),
    "iterators": (
        "const above = Object.getPrototypeOf([].values().map(String));"
        "const seen = typeof above.left; above.left = 1;"
    ),
    "segments": (
        "const above = Object.getPrototypeOf(new Intl.Segmenter().segment(''));"
        "const seen = typeof above.left; above.left = 1;"
    ),
    "a plugin": "const seen = typeof $.fn.left; $.fn.left = function () { return this; };",
    "a method of the page": ("const seen = $('title').text(); $.fn.text = () => 'mine';"),
    "kinds of nodes": (
        "const above = Object.getPrototypeOf($('h1')[0]); const seen = typeof above.left;"
        "above.left = 1;"
    ),
    "a function of `$`": "const seen = typeof $.merge.left; $.merge.left = 1;",
    "data of an element": "const seen = typeof $('h1').data('left'); $('h1').data('left', {});",
    "a change of the page": "const seen = $('h1').length; $('h1').remove();",
    "URLs": "const seen = typeof URL.left; URL.left = 1;",
    "parameters of URLs": (
        "const seen = typeof url.searchParams.left; URLSearchParams.prototype.left = 1;"
    ),
    "the console": "const seen = typeof console.left; console.left = console.log = 1;",
    "helpers": "const seen = typeof helpers.page.left; helpers.page.left = 1;",
    "an open promise": (
        "const seen = typeof left; globalThis.go ??= 0;"
        "(async () => { await null; globalThis.left = 1; })();"
    ),
}


@pytest.fixture(scope="module")
def page(read: Read) -> Document:
    return read(HTML)


@pytest.mark.parametrize("body", LEAKS.values(), ids=LEAKS)
def test_a_page_sees_no_state_of_the_previous_page(
    extractors: Extractors, page: Document, body: str
) -> None:
    source = f"({{ $, url, helpers }}) => {{ {body} return [{{ seen: String(seen) }}]; }}"

    runs = [extractors.extract(page, source) for _ in range(4)]

    assert runs[0].error is None
    assert runs[1:] == runs[:1] * 3


CLOSED = {
    "a source's own": "(() => { let n = 0; return () => [{ n: n++ }]; })()",
    "a source's own, with a global": "(left = 1, () => [{ n: 0 }])",
    "what is no expression": "1); let n = 0; (() => [{ n: n++ }]",
    "a pattern's place": (
        "(() => { const all = /a/g; return () => [{ n: all.test('aa') && all.lastIndex }]; })()"
    ),
}


@pytest.mark.parametrize("source", CLOSED.values(), ids=CLOSED)
def test_a_source_is_evaluated_again_for_each_page(
    extractors: Extractors, page: Document, source: str
) -> None:
    runs = [extractors.extract(page, source) for _ in range(4)]

    assert runs[0].error is None
    assert runs[1:] == runs[:1] * 3


MARKING = """(() => {
  const pages = [];
  const walk = (root) => {
    const known = new Set();
    const meet = (value) => { if (Object(value) === value) known.add(value); };
    [root, root.url.searchParams, root.$("*"), root.$("*").contents().toArray(), root.$._root,
      globalThis, function* () {}, async function* () {}, async () => {}].forEach(meet);
    for (const object of known) {
      meet(Object.getPrototypeOf(object));
      for (const one of Object.values(Object.getOwnPropertyDescriptors(object))) {
        [one.value, one.get, one.set].forEach(meet);
      }
      for (const key of Object.getOwnPropertySymbols(object)) {
        const one = Object.getOwnPropertyDescriptor(object, key);
        [one.value, one.get, one.set].forEach(meet);
      }
    }
    return known;
  };
  return {
    extract: (page) => { pages.push(page); return []; },
    mark: (tidy) => {
      const [one, other] = pages.map(walk);
      const shared = [...one].filter((object) => other.has(object));
      const missed = shared.filter((object) => {
        const sign = Symbol();
        if (!Reflect.defineProperty(object, sign, { value: 1, configurable: true })) return false;
        const unseen = tidy();
        delete object[sign];
        return unseen;
      });
      return JSON.stringify([shared.length, missed.map((one) => String(one.name ?? one)), tidy()]);
    },
  };
})()"""


@pytest.fixture
def engine() -> Iterator[Engine]:
    """What an engine's process holds, in this one."""
    engine = Engine(256 << 20)
    yield engine
    for world in (*engine.contexts.values(), engine.next):
        if world:
            world.close()


@pytest.fixture(scope="module")
def plain() -> tuple[str, str]:
    """A page's HTML and what is told of it, as an engine is given them."""
    document = read_document(FetchedPage("https://a.test/x?y=z", HTML.encode(), "text/html"))
    return document.html, encode_json(page_facts(document, None))


def test_every_change_of_a_shared_object_is_detected(
    engine: Engine, plain: tuple[str, str]
) -> None:
    engine.prepare()
    world = engine.next
    assert world
    world.watch()
    hands: Any = world.racer.eval(MARKING)
    for _ in range(2):
        world.call("runExtractor", hands["extract"], *plain)

    shared, missed, clean = msgspec.json.decode(hands["mark"](world._functions["prepareNextRun"]))

    assert shared > 1000
    assert missed == []
    assert clean


def test_a_clean_run_keeps_its_context(engine: Engine, plain: tuple[str, str]) -> None:
    answers = [engine.extract(HONEST, *plain) for _ in range(2)]
    world = engine.contexts[HONEST]

    answers += [engine.extract(HONEST, *plain) for _ in range(3)]

    assert engine.contexts[HONEST] is world
    assert all(answer == answers[0] for answer in answers)
    assert "Lamps" in answers[0]["value"]


THROWN = {
    "a trace": "() => { globalThis.left = 1; return []; }",
    "an open promise": "() => new Promise(() => {})",
    "a plugin": "({ $ }) => { $.fn.left = 1; return []; }",
}


@pytest.mark.parametrize("source", THROWN.values(), ids=THROWN)
def test_a_run_that_changes_state_loses_its_context(
    engine: Engine, plain: tuple[str, str], source: str
) -> None:
    kept = []
    for _ in range(4):
        engine.extract(source, *plain)
        kept.append(source in engine.contexts)

    assert not any(kept)
    assert engine.is_clean[source] is False


def test_a_failed_extractor_keeps_its_context(engine: Engine, plain: tuple[str, str]) -> None:
    source = "({ $ }) => $('[')"

    answers = [engine.extract(source, *plain) for _ in range(3)]

    assert source in engine.contexts
    assert answers[1:] == answers[:1] * 2


@pytest.mark.slow
def test_extractors_share_no_context(engine: Engine, plain: tuple[str, str]) -> None:
    sources = [f"() => [{{ n: {n} }}]" for n in range(MAX_IDLE_CONTEXTS + 2)]

    for source in (*sources, *sources):
        engine.extract(source, *plain)

    assert list(engine.contexts) == sources[2:]
    assert len({id(world) for world in engine.contexts.values()}) == MAX_IDLE_CONTEXTS


@pytest.mark.slow
def test_memory_of_a_page_is_not_charged_to_the_next(page: Document) -> None:
    source = "() => [{ n: new Array(2e6).fill(1.5).length }]"

    with Extractors(memory=64 << 20, processes=1) as extractors:
        errors = {extractors.extract(page, source).error for _ in range(12)}

    assert errors == {None}
