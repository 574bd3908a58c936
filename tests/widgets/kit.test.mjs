import assert from "node:assert/strict";
import { mock, test } from "node:test";

import "./fake.mjs";
import { drawTokens, findPair } from "../../widgets/kit/code_field.js";
import { tokenize } from "../../widgets/vendor/prism.js";
import { diffLines, drawValueChange, jsonLines } from "../../widgets/kit/diff.js";
import { classes, follow, h } from "../../widgets/kit/dom.js";
import { drawMarked, plainText, POST, PRE, splitMarked } from "../../widgets/kit/highlight.js";
import { fromLocal, toLocal } from "../../widgets/kit/moment.js";
import { moved, sortableList } from "../../widgets/kit/sortable.js";
import { splitWords, tagInput } from "../../widgets/kit/tags.js";
import { debounce, oneAtATime } from "../../widgets/kit/timing.js";
import { rowsInSight, virtualList } from "../../widgets/kit/virtual.js";

const mark = (text) => `${PRE}${text}${POST}`;

for (const [name, text, parts] of [
  ["plain", "a lamp", [["a lamp", false]]],
  ["marked", `a ${mark("lam")}p`, [["a ", false], ["lam", true], ["p", false]]],
  ["open", `a ${PRE}lamp`, [["a ", false], ["lamp", false]]],
  ["closed twice", `${mark("a")}b${POST}c`, [["a", true], ["bc", false]]],
  ["empty", "", []],
]) {
  test(`marks are told from text: ${name}`, () => {
    assert.deepEqual(splitMarked(text).map((part) => [part.text, part.marked]), parts);
  });
}

test("markup in a record stays text", () => {
  const [text, marked] = drawMarked(`<img src=x onerror=alert(1)> ${mark("<b>")}`);

  assert.equal(text.textContent, "<img src=x onerror=alert(1)> ");
  assert.equal(marked.textContent, "<b>");
  assert.equal(marked.children.length, 0);
  assert.equal(plainText(`a ${mark("b")}`), "a b");
});

test("an element's props become what they should", () => {
  const el = h("button", { class: ["button main", null], disabled: true, hidden: false, "aria-label": "go" }, "a", null, ["b", 1]);

  assert.equal(el.className, "svc-button svc-main");
  assert.deepEqual(el.attributes, { disabled: "", "aria-label": "go" });
  assert.equal(el.textContent, "ab1");
  assert.equal(classes("a"), "svc-a");
});

test("what stays in a list keeps its element", () => {
  const list = h("ul");
  const draw = (item, old) => old ?? h("li", {}, item);
  follow(list, ["a", "b", "c"], String, draw);
  const [a, , c] = list.children;

  follow(list, ["c", "a", "d"], String, draw);

  assert.deepEqual(list.children.map((el) => el.textContent), ["c", "a", "d"]);
  assert.ok(list.children[0] === c && list.children[1] === a);
});

test("of a thousand rows only those in sight are drawn", () => {
  const list = virtualList({ rowHeight: 30, height: 300, keyOf: String, draw: (row, old) => old ?? h("div", {}, String(row)) });

  list.show(Array.from({ length: 1000 }, (_, row) => row));

  assert.ok(list.el.children[0].children.length < 30);
  assert.deepEqual(rowsInSight(3000, 300, 30, 1000), { first: 94, last: 116 });
  assert.deepEqual(rowsInSight(0, 300, 30, 3), { first: 0, last: 3 });
});

for (const [name, before, after] of [
  ["nothing", ["a", "b"], ["a", "b"]],
  ["added", ["a"], ["a", "b", "c"]],
  ["removed", ["a", "b", "c"], ["b"]],
  ["all", ["a", "b"], ["c", "d"]],
  ["twice", ["a", "a", "b", "a"], ["a", "b", "a", "a"]],
]) {
  test(`a diff leads from one list to the other: ${name}`, () => {
    const lines = diffLines(before, after);

    assert.deepEqual(lines.filter(({ kind }) => kind !== "added").map(({ text }) => text), before);
    assert.deepEqual(lines.filter(({ kind }) => kind !== "removed").map(({ text }) => text), after);
  });
}

test("the order of members is no difference", () => {
  assert.deepEqual(jsonLines({ a: 1, b: [{ d: 1, c: 2 }] }), jsonLines({ b: [{ c: 2, d: 1 }], a: 1 }));
});

test("an item is moved within the bounds of its list", () => {
  assert.deepEqual(moved(["a", "b", "c"], 0, 2), ["b", "c", "a"]);
  assert.deepEqual(moved(["a", "b", "c"], 2, -1), ["c", "a", "b"]);
});

test("Alt with an arrow key moves an item, and the order is told", () => {
  const told = [];
  const list = sortableList({ items: ["a", "b", "c"], label: "order", keyOf: String, draw: String, change: (items) => told.push(items) });

  list.el.children[0].children[0].fire("keydown", { key: "ArrowDown", altKey: true });

  assert.deepEqual(told, [["b", "a", "c"]]);
  assert.match(list.el.children[1].textContent, /a is now 2 of 3/);
});

test("items that arrive during a drag are shown after it; a drop on other items moves nothing", () => {
  const told = [];
  const list = sortableList({ items: ["a", "b"], label: "order", keyOf: String, draw: String, change: (items) => told.push(items) });
  const labels = () => list.el.children[0].children.map((el) => el.textContent);
  const item = (place) => list.el.children[0].children[place];
  const before = labels();

  item(0).fire("dragstart");
  list.show(["a", "b"]);
  item(1).fire("drop");
  item(1).fire("dragend");
  assert.deepEqual(told, [["b", "a"]]);
  assert.deepEqual(labels(), [...before].reverse());

  item(0).fire("dragstart");
  list.show(["c", "b", "a"]);
  assert.equal(labels().length, 2);
  item(1).fire("drop");
  item(1).fire("dragend");
  assert.deepEqual(told, [["b", "a"]]);
  assert.equal(labels().length, 3);
});

test("typed words are added and Backspace takes the last away", () => {
  const told = [];
  const input = tagInput({ words: ["a"], label: "words", change: (words) => told.push(words) });
  const [box] = input.find((el) => el.tagName === "INPUT");
  box.value = " b , c";

  box.fire("keydown", { key: "Enter" });
  box.fire("keydown", { key: "Backspace" });

  assert.deepEqual(told, [["a", "b", "c"], ["a", "b"]]);
  assert.deepEqual(splitWords("a, b\n\nc ,"), ["a", "b", "c"]);
});

test("a moment survives the way to a control and back", () => {
  const noon = 1_700_000_040;

  assert.equal(fromLocal(toLocal(noon)), noon);
  assert.equal(toLocal(null), "");
  assert.equal(fromLocal(""), null);
});

test("what is asked for again and again is done once, with the last words", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const done = [];
  const act = debounce((word) => done.push(word), 100);

  act("a");
  mock.timers.tick(50);
  act("b");
  mock.timers.tick(100);
  act("c");
  act.flush();
  mock.timers.reset();

  assert.deepEqual(done, ["b", "c"]);
});

test("while one is under way only the last of those that follow is kept", async () => {
  const done = [];
  const act = oneAtATime(async (word) => {
    await null;
    done.push(word);
  });

  await Promise.all([act("a"), act("b"), act("c")]);

  assert.deepEqual(done, ["a", "c"]);
});

for (const [text, caret, wanted] of [
  ["(a[b])", 0, [0, 5]],
  ["(a[b])", 5, [2, 4]],
  ['{"a": "]"}', 9, [0, 9]],
  ["(]", 1, []],
  ["abc", 1, []],
]) {
  test(`a bracket finds its partner, those in strings left out: ${text} ${caret}`, () => {
    const { brackets } = drawTokens(tokenize(text, text.includes('"') ? "json" : "javascript"));

    assert.deepEqual(findPair(brackets, caret).map(({ at }) => at), wanted);
  });
}

test("painted code is the same text, and hostile text stays text", () => {
  const text = '({url}) => [{ t: `<img onerror=${url}>`, n: 1 }] // </pre><script>';
  const parts = drawTokens(tokenize(text, "javascript")).nodes;

  assert.equal(parts.map((part) => (typeof part === "string" ? part : part.textContent)).join(""), text);
});

for (const [name, before, after, absent, text] of [
  ["a number", 20, 5, {}, "20 → 5"],
  ["a text", "min", true, {}, '"min" → true'],
  ["a new value", null, "<b>", { before: "not set (true)" }, 'not set (true) → "<b>"'],
  ["a removed value", 7, undefined, { after: "reset to 20" }, "7 → reset to 20"],
  ["entries of a list", ["name", "brand"], ["name", "unordered(text)"], {}, " name−brand+unordered(text)"],
  ["a new list", undefined, ["desc(price)"], { before: "not set (none)" }, "before: not set (none)+desc(price)"],
  ["a removed object", { a: 1 }, null, { after: "reset to none" }, 'reset to none−{−  "a": 1−}'],
]) {
  test(`the change of a value is drawn: ${name}`, () => {
    assert.equal(drawValueChange(before, after, absent).textContent, text);
  });
}
