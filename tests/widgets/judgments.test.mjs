import assert from "node:assert/strict";
import { test } from "node:test";

import { isJudged, meaningOf, nextOpen, progressOf, spoken } from "../../widgets/judgments/grades.js";

const LABELS = { 0: "irrelevant", 1: "related", 2: "good", 3: "perfect" };
const open = { rating: null, unrateable: null };
const zero = { rating: 0, unrateable: false };
const odd = { rating: null, unrateable: true };

for (const [hit, judged, words] of [
  [open, false, "not judged"],
  [zero, true, "0, irrelevant"],
  [odd, true, "unrateable"],
  [{ rating: 0.5, unrateable: false }, true, "0.5"],
]) {
  test(`zero, unrateable and missing are three things: ${words}`, () => {
    assert.equal(isJudged(hit), judged);
    assert.equal(spoken(hit, LABELS), words);
  });
}

for (const [key, meant] of [
  ["0", { rating: 0, unrateable: false }],
  ["3", { rating: 3, unrateable: false }],
  ["4", null],
  ["u", { rating: null, unrateable: true }],
  ["Delete", { rating: null, unrateable: false }],
  ["x", null],
]) {
  test(`a key means a grade or nothing: ${key}`, () => {
    assert.deepEqual(meaningOf(key, LABELS), meant);
  });
}

test("after a grade comes the next open hit, then one that was left out, then none", () => {
  assert.equal(nextOpen([zero, open, zero, open], 1), 3);
  assert.equal(nextOpen([open, zero, zero], 1), 0);
  assert.equal(nextOpen([zero, odd], 0), -1);
});

test("progress counts hits, and queries that are done", () => {
  const far = progressOf([{ done: 2, total: 2 }, { done: 1, total: 3 }, { done: 0, total: 0 }]);

  assert.deepEqual(far, { done: 3, total: 5, ready: 2 });
});
