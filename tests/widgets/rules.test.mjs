import assert from "node:assert/strict";
import { test } from "node:test";

import "./fake.mjs";
import { TEMPLATES, makeRule } from "../../widgets/rules/new_rule.js";
import { fromCard, listItem, pinOf, describeSpan, findSpanProblem, toCard, typicalQuery, withParam, withWords, wordsOf } from "../../widgets/rules/shape.js";

for (const condition of [
  { pattern: "lamp", anchoring: "contains", alternatives: true },
  { pattern: "", anchoring: "is" },
  { context: "mobile" },
  { filters: "brand:Acme" },
  { pattern: "lamp", anchoring: "is", context: "mobile", filters: "brand:Acme" },
]) {
  test(`a condition is the same after the form: ${JSON.stringify(condition)}`, () => {
    assert.deepEqual(fromCard(toCard(condition)), condition);
  });
}

for (const card of [
  { when: "any", pattern: "", alternatives: false, context: "", filters: " " },
  { when: "is", pattern: " ", alternatives: false, context: "x", filters: "" },
]) {
  test(`what is not complete is no condition: ${card.when}`, () => {
    assert.equal(fromCard(card), null);
  });
}

test("a rule without any parameter has no params", () => {
  const rule = { objectID: "1", consequence: { params: { filters: "a:b" } } };

  assert.deepEqual(withParam(rule, "filters", undefined), { objectID: "1", consequence: {} });
  assert.deepEqual(withParam(rule, "page", 0).consequence.params, { filters: "a:b", page: 0 });
});

test("one record is pinned otherwise than several", () => {
  assert.deepEqual(pinOf(["a"], 2), { objectID: "a", position: 2 });
  assert.deepEqual(pinOf(["a", "b"], 2), { objectIDs: ["a", "b"], position: 2 });
});

for (const [span, fault, words] of [
  [{ from: 1, until: 2 }, "", "1s – 2s"],
  [{ from: 1 }, "", "from 1s"],
  [{ until: 2 }, "", "until 2s"],
  [{ from: 2, until: 2 }, "End must be after start.", "2s – 2s"],
  [{ from: 0, until: -1 }, "End must be after start.", "0s – -1s"],
  [{}, "Set a start or an end, or remove this time range.", "always"],
]) {
  test(`a time range may be open at an end: ${JSON.stringify(span)}`, () => {
    assert.equal(findSpanProblem(span), fault);
    assert.equal(describeSpan(span, (seconds) => `${seconds}s`), words);
  });
}

test("a rule is tried on the first plain words it is for", () => {
  const conditions = [{ context: "x" }, { pattern: "{facet:brand}" }, { pattern: "lamp" }];

  assert.equal(typicalQuery({ conditions }), "lamp");
  assert.equal(typicalQuery(undefined), "");
});

test("items are edited in a list that has changed meanwhile", () => {
  const [first, second] = [{ a: 1 }, { b: 1 }];
  const [putFirst, putSecond, append] = [listItem(first, 0), listItem(second, 1), listItem(undefined)];

  let list = putSecond([first, second], { b: 2 });
  assert.deepEqual(list, [{ a: 1 }, { b: 2 }]);
  list = append(list, { c: 1 });
  list = append(list, { c: 2 });
  assert.deepEqual(list, [{ a: 1 }, { b: 2 }, { c: 2 }]);
  list = putFirst(list, undefined);
  list = putSecond(list, { b: 3 });
  assert.deepEqual(list, [{ b: 3 }, { c: 2 }]);
  list = putSecond(list.toReversed(), { b: 1 });
  assert.deepEqual(list, [{ c: 2 }, { b: 1 }]);
});

test("an item that was removed is appended by a later edit and replaces no other", () => {
  const put = listItem("a", 0);

  const list = put(["a", "b"], undefined);
  assert.deepEqual(put(list, "c"), ["b", "c"]);
});

test("the item of a list that was read again is at its place", () => {
  const put = listItem({ a: 1 }, 0);

  assert.deepEqual(put([{ a: 1 }, { b: 1 }], { a: 2 }), [{ a: 2 }, { b: 1 }]);
  assert.equal(listItem({ a: 1 }, 0)([{ a: 1 }], undefined), undefined);
  assert.deepEqual(listItem(undefined)(undefined, { a: 1 }), [{ a: 1 }]);
});

test("words of a query edit are changed in both forms of a removal", () => {
  const bulb = { type: "replace", delete: "bulb", insert: "lamp" };
  const query = { remove: ["a", "b"], edits: [{ type: "remove", delete: "c" }, bulb] };
  const now = wordsOf(query);

  assert.deepEqual(now, { old: ["a", "b"], removed: ["a", "b", "c"], replaced: [bulb] });
  assert.equal(now.replaced[0], bulb);
  assert.deepEqual(withWords(now, now.removed, now.replaced), query);
  assert.deepEqual(withWords(now, ["b", "d"], []), { remove: ["b"], edits: [{ type: "remove", delete: "d" }] });
  assert.equal(withWords(now, [], []), undefined);
  for (const none of [undefined, null, "a whole query"])
    assert.deepEqual(wordsOf(none), { old: [], removed: [], replaced: [] });
});

const template = (name) => TEMPLATES.find((each) => each.name === name);

for (const [when, name, values, wanted] of [
  ["is", "", {}, { conditions: [{ pattern: "lamp", anchoring: "is" }], consequence: {} }],
  ["always", "", {}, { consequence: {} }],
  ["empty", "hide", { record: " 7 " }, { conditions: [{ pattern: "", anchoring: "is" }], consequence: { hide: [{ objectID: "7" }] } }],
  ["always", "pin", { record: "7", position: "3" }, { consequence: { promote: [{ objectID: "7", position: 2 }] } }],
  ["always", "boost", { filter: "a:b" }, { consequence: { params: { optionalFilters: ["a:b"] } } }],
  ["always", "banner", { text: "Hi", link: "" }, { consequence: { userData: { banner: "Hi" } } }],
  ["always", "index", { index: "b" }, { consequence: { redirect: { indexName: "b" } } }],
]) {
  test(`a new rule is made from a template: ${when} ${name}`, () => {
    assert.deepEqual(makeRule({ when, pattern: " lamp ", template: template(name), values }), { rule: wanted });
  });
}

for (const [when, pattern, name, values, words] of [
  ["is", " ", "", {}, /choose “every search/],
  ["is", "a", "pin", {}, /“Record”/],
  ["is", "a", "pin", { record: "1", position: "0" }, /whole number/],
  ["is", "a", "replace", { from: "b" }, /“Replacement”/],
]) {
  test(`a new rule is refused with what is missing: ${words}`, () => {
    assert.match(makeRule({ when, pattern, template: template(name), values }).problem, words);
  });
}
