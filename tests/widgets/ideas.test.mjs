import assert from "node:assert/strict";
import { test } from "node:test";

import "./fake.mjs";
import { completeFilter, namesOf } from "../../widgets/rules/ideas.js";

const FILTERS = ["brand:Acme", "colour:red", "price >= 5"];

for (const [text, ideas] of [
  ["", FILTERS],
  ["ACM", ["brand:Acme"]],
  ["brand:Acme AND co", ["brand:Acme AND colour:red"]],
  ["brand:Acme OR (NOT pri", ["brand:Acme OR (NOT price >= 5"]],
  ["brand:Orland", []],
  ["brand:Acme ", ["brand:Acme"]],
]) {
  test(`a filter goes on: ${text}`, () => {
    assert.deepEqual(completeFilter(text, FILTERS), ideas);
  });
}

test("contexts and tags of all rules are offered, each once", () => {
  const rules = [
    { conditions: [{ context: "web" }, { pattern: "x" }], tags: ["sale"] },
    { conditions: [{ context: "app" }, { context: "web" }] },
    {},
  ];

  assert.deepEqual(namesOf(rules), { contexts: ["app", "web"], tags: ["sale"] });
});
