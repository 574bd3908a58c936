import assert from "node:assert/strict";
import { test } from "node:test";

import "./fake.mjs";
import { describeRules } from "../../widgets/query.js";
import { describeMove, describeMoves } from "../../widgets/query/compare.js";
import { comparePanel, withQuery } from "../../widgets/query/compare_panel.js";
import { drawCode } from "../../widgets/kit/code_text.js";
import { drawExplanation, stateOf } from "../../widgets/query/explanation.js";
import { facetPanel, sortValues } from "../../widgets/query/facets.js";
import { isInside, readHandles } from "../../widgets/query/range.js";
import { reason } from "../../widgets/query/hits.js";
import { h } from "../../widgets/kit/dom.js";
import { describeDefault, fits, groupedRows } from "../../widgets/kit/parameter_groups.js";

test("only a hit below another says why it ranks there", () => {
  const card = { why: "Ranked lower by typos: 1 typo vs no typo" };

  assert.equal(reason(card, undefined), "");
  assert.equal(reason(card, card), card.why);
});

const rows = ["typo", "words", "custom"].map((criterion) => ({ criterion, name: criterion, order: "", values: ["`a`", "b", "c"] }));

for (const [decisive, states] of [
  ["words", ["equal", "decides", "unused"]],
  ["tie", ["equal", "equal", "equal"]],
]) {
  test(`criteria before the first difference are equal, those after it do not count: ${decisive}`, () => {
    assert.deepEqual(rows.map((row) => stateOf(rows, row.criterion, decisive)), states);
  });
}

test("an explanation begins with what decides, beside titles and ids", () => {
  const above = { id: "<b>1", title: "Red", place: 3, decisive: "words", reason: "query words: `2` vs 1" };

  const el = drawExplanation("Blue", { id: "2", place: 4 }, { above, below: null, rows });

  const [, first] = el.children;
  assert.equal(first.textContent, "Below 3 Red <b>1query words: 2 vs 1");
  assert.equal(el.querySelectorAll("td.svc-decides").length, 1);
  assert.equal(el.querySelectorAll("thead")[0].querySelectorAll("th").length, 3);
  assert.equal(el.querySelectorAll("tbody")[0].querySelectorAll("td")[0].textContent, "a");
});

for (const [text, drawn] of [
  ["`a,b` equal", ["CODE a,b", " equal"]],
  ["no code", ["no code"]],
  ["a ` alone", ["a ` alone"]],
  ["`<img>`", ["CODE <img>"]],
]) {
  test(`code between backticks is drawn as code: ${text}`, () => {
    assert.deepEqual(drawCode(text).map((part) => (typeof part === "string" ? part : `CODE ${part.textContent}`)), drawn);
  });
}

test("a parameter is found by words of its name and its meaning", () => {
  const row = { name: "hitsPerPage", meaning: "hits on one page" };

  assert.ok(fits(row, "HITSPER"));
  assert.ok(fits(row, "page one"));
  assert.ok(!fits(row, "typo"));
});

for (const [name, value, query, wanted] of [
  ["none of its own", { page: 1 }, "lamp", { query: "lamp", page: 1 }],
  ["its own", { query: "desk" }, "lamp", { query: "desk" }],
  ["none on purpose", { query: "" }, "lamp", { query: "" }],
  ["nothing typed", {}, undefined, {}],
  ["no parameters", [1], "lamp", [1]],
]) {
  test(`the other search follows what is typed unless it has words: ${name}`, () => {
    assert.deepEqual(withQuery(value, query), wanted);
  });
}

for (const [value, text] of [
  [null, "not set"],
  ["", "not set"],
  [[], "none"],
  [{}, "none"],
  [0, "0"],
  [false, "false"],
  ["count", "count"],
  [["*"], '["*"]'],
]) {
  test(`a default is described: ${JSON.stringify(value)}`, () => {
    assert.equal(describeDefault(value).text, text);
  });
}

test("modified parameters come first, and a search opens every group", () => {
  const row = (name, group) => ({ name, group, meaning: `Meaning of \`${name}\`.`, effect: "works" });
  const own = [row("a", "One"), row("b", "One"), row("c", "Two")];
  const groups = groupedRows({ label: "x", draw: ({ name }, el) => el ?? h("p", {}, name) });
  const shown = () => groups.el.children.map((section) => section.textContent);

  groups.show(own, new Set(["c"]), false);
  const [moved] = groups.el.querySelectorAll("p");
  assert.deepEqual(shown(), ["Modified 1c", "One 2ab"]);

  groups.show(own.slice(2), new Set(), true);
  assert.deepEqual(shown(), ["Two 1c"]);
  assert.equal(groups.el.querySelectorAll("p")[0], moved);
});

for (const [order, names] of [
  ["count", ["b", "a10", "a9"]],
  ["name", ["a9", "a10", "b"]],
]) {
  test(`the values of a facet are sorted: ${order}`, () => {
    const values = [["a10", 2, false], ["b", 5, false], ["a9", 1, true]];

    assert.deepEqual(sortValues(values, order).map(([value]) => value), names);
  });
}

for (const [low, high, least, most] of [
  [0, 10, null, null],
  [2, 10, 2, null],
  [0, 9.5, null, 9.5],
  [0.30000000000000004, 9.9, 0.3, 9.9],
]) {
  test(`handles at their ends leave the range open: ${low} to ${high}`, () => {
    assert.deepEqual(readHandles({ min: 0, max: 10 }, 0.1, low, high), { least, most });
  });
}

test("a last step that is too short leaves the upper end open", () => {
  assert.equal(readHandles({ min: 0.5, max: 4.9 }, 1, 0.5, 4.5).most, null);
});

test("bars inside the range are marked", () => {
  const inside = [0, 1, 2, 3].map((place) => isInside({ min: 0, max: 8 }, 4, place, 2, 5));

  assert.deepEqual(inside, [false, true, true, false]);
});

test("the rules that applied are named, a few of many", () => {
  const rules = ["a", "b", "c", "d", "e"].map((objectID) => ({ objectID }));

  assert.equal(describeRules(rules.slice(0, 1)), "rule a");
  assert.equal(describeRules(rules), "rules a, b, c and 2 more");
});

for (const [counts, totals, words] of [
  [{ moved: 0, gained: 0, lost: 0 }, [1, 1], "The first hits and their order are the same. 1 hit each."],
  [{ moved: 3, gained: 1, lost: 2 }, [10, 1200], "Of the first hits, 3 moved, 1 is new, 2 dropped out. 10 and 1,200 hits."],
  [{ moved: 0, gained: 2, lost: 0 }, [5, 7], "Of the first hits, 2 are new. 5 and 7 hits."],
]) {
  test(`a comparison is described in words: ${words}`, () => {
    assert.equal(describeMoves(counts, totals), words);
  });
}

for (const [place, to, alone, words] of [
  [0, 0, "lost", ""],
  [0, 4, "lost", ""],
  [0, 4, "gained", "up from 5"],
  [4, 0, "gained", "down from 1"],
  [1, undefined, "gained", "new"],
  [1, undefined, "lost", "dropped out"],
]) {
  test(`a hit of a comparison is described: ${alone} ${place} ${to}`, () => {
    assert.equal(describeMove(place, to, alone), words);
  });
}

test("facets that were counted before a click do not take it back", async () => {
  let answer = () => {};
  const calls = [];
  const view = { state: () => ({}), run: (name, args) => new Promise((done) => (calls.push([name, args.value]), (answer = done))) };
  const panel = facetPanel(view);
  const counted = (chosen) => [
    { name: "brand", mode: "any", values: [["Acme", 3, chosen], ["Lumen", 2, false]], chosen: chosen ? ["Acme"] : [],
      stats: null, least: null, most: null, step: 1, bins: [], limited: false, hint: "" },
  ];
  panel.show(counted(false));
  const box = panel.el.querySelector("ul").querySelector("input");

  box.checked = true;
  box.fire("change");
  panel.show(counted(false));
  assert.equal(box.checked, true, "an old count keeps the click");

  answer(null);
  await new Promise((done) => setImmediate(done));
  panel.show(counted(true));
  assert.equal(box.checked, true);
  panel.show(counted(false));
  assert.equal(box.checked, false, "later counts have the say");
  assert.deepEqual(calls, [["toggle", "Acme"]]);
});

test("a click that is refused is taken back", async () => {
  const panel = facetPanel({ state: () => ({}), run: async () => undefined });
  panel.show([
    { name: "brand", mode: "any", values: [["Acme", 3, false], ["Lumen", 2, false]], chosen: [],
      stats: null, least: null, most: null, step: 1, bins: [], limited: false, hint: "" },
  ]);
  const box = panel.el.querySelector("ul").querySelector("input");

  box.checked = true;
  box.fire("change");
  await new Promise((done) => setImmediate(done));

  assert.equal(box.checked, false);
});

test("a name that is typed before the list of names is there is added with the list", async () => {
  let answer = () => {};
  const run = () => new Promise((done) => (answer = done));
  const { el } = comparePanel({ value: () => ({}), run, link: { watch() {} } });
  const [adding] = el.find((part) => part.attributes["aria-label"] === "Add a parameter or setting");
  const alert = el.find((part) => part.attributes.role === "alert")[0];

  adding.value = "ranking";
  adding.fire("keydown", { key: "Enter" });
  await new Promise((done) => setImmediate(done));
  assert.equal(alert.textContent, "");

  answer([{ name: "ranking", group: "Ranking", kind: "list", meaning: "", choices: [] }]);
  await new Promise((done) => setImmediate(done));
  assert.equal(adding.value, "");
  assert.equal(el.find((part) => part.dataset.key === "ranking").length, 1);
  assert.equal(alert.textContent, "");

  adding.value = "rankng";
  adding.fire("keydown", { key: "Enter" });
  await new Promise((done) => setImmediate(done));
  assert.match(alert.textContent, /Not a search parameter or setting: rankng/);
});
