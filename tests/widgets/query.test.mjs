import assert from "node:assert/strict";
import { test } from "node:test";

import "./fake.mjs";
import { describeRules } from "../../widgets/query.js";
import { withQuery } from "../../widgets/query/compare.js";
import { reason } from "../../widgets/query/hits.js";
import { fits } from "../../widgets/query/parameters.js";

const hit = (why, value, more = {}) => ({ why, ladder: [{ criterion: "typo", value: 0 }, { criterion: "words", value }], ...more });

for (const [name, card, above, words] of [
  ["first of all", hit("", 2), undefined, ""],
  ["criterion", hit("words", 1), hit("", 2), "Ranked lower by words: 1 vs 2"],
  ["missing", hit("words", null), hit("", 2), "Ranked lower by words: none vs 2"],
  ["equal", hit("objectID", 2), hit("", 2), "Ranked lower by objectID: all criteria are equal"],
  ["rule", hit("words", 1, { promoted: true }), hit("", 2), "Pinned by a rule"],
]) {
  test(`a hit says why it stands below the other: ${name}`, () => {
    assert.equal(reason(card, above), words);
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

test("the rules that applied are named, a few of many", () => {
  const rules = ["a", "b", "c", "d", "e"].map((objectID) => ({ objectID }));

  assert.equal(describeRules(rules.slice(0, 1)), "rule a");
  assert.equal(describeRules(rules), "rules a, b, c and 2 more");
});
