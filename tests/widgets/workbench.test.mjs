import assert from "node:assert/strict";
import { test } from "node:test";

import { fakeModel } from "./fake.mjs";
import { h } from "../../widgets/kit/dom.js";
import { tabs } from "../../widgets/kit/tabs.js";
import { describeMove } from "../../widgets/query/hits.js";
import { Panes } from "../../widgets/workbench/panes.js";
import { countChanges } from "../../widgets/workbench/review.js";
import { describeMoves, describeScore, judge, signed } from "../../widgets/workbench/trial.js";

const SCORE = { metric: "ndcg@10", before: 0.5, after: 0.625, delta: 0.125, low: 0.05, high: 0.2, queries: 12, judged: 1 };

test("a score is told with the interval of its difference", () => {
  assert.equal(describeScore(SCORE), "ndcg@10 0.500 → 0.625, +0.125 (95 % interval +0.050 to +0.200), 12 judged queries");
  assert.equal(describeScore({ ...SCORE, low: null, queries: 1 }), "ndcg@10 0.500 → 0.625, +0.125, 1 judged query");
  assert.equal(describeScore({ ...SCORE, before: null }), "ndcg@10: no score yet");
  assert.equal(signed(-0.1), "−0.100");
});

test("only a difference that is sure has a colour", () => {
  const colour = (low, high) => judge({ ...SCORE, low, high });

  assert.deepEqual([colour(0.1, 0.2), colour(-0.2, -0.1), colour(-0.1, 0.2), colour(null, null)], ["good-text", "error-text", "", ""]);
});

test("moves are counted by what happened", () => {
  assert.equal(describeMoves({ gained: 1, moved: 2, left: 3 }), "2 moved, 1 new, 3 left the page");
  assert.equal(describeMoves({ gained: 0, moved: 0, left: 0 }), "no hit of this page moved");
  assert.equal(describeMoves(undefined), "");
});

test("a hit shows by how many places a draft moved it", () => {
  const text = (previous, place) => describeMove({ previous, place })?.text ?? null;

  assert.deepEqual([text(9, 2), text(2, 9), text(0, 1), text(3, 3), text(undefined, 3)], ["▲ 7", "▼ 7", "new", null, null]);
});

test("all changes of all parts are counted", () => {
  assert.equal(countChanges({ order: [], settings: [1], synonyms: [1, 2], rules: [1], replicas: [] }), 4);
});

test("a tab shows the number of its changes, also to a screen reader", () => {
  const shown = tabs({ label: "parts", panels: ["a", "b"].map((name) => ({ name, title: name, draw: () => h("p") })) });
  const [, second] = shown.el.children[0].children;

  shown.mark("b", 2);
  assert.equal(second.textContent, "b2");
  assert.equal(second.getAttribute("aria-label"), "b, 2 changed");
  shown.mark("b", 0);
  assert.equal(second.textContent, "b");
});

test("a front end without other widgets' models says what to do instead", async () => {
  const panes = new Panes({ model: fakeModel({ parts: { query: "IPY_MODEL_1" } }), el: h("div") }, assert.fail);

  const el = panes.draw("query");
  await panes.ready("query");

  assert.match(el.textContent, /svc\.edit\.query/);
});

test("an editor inside is drawn by its own module, and closed with the workbench", async () => {
  globalThis.closed = 0;
  const code = "export default { render: ({ model, el }) => { el.append(model.get('text')); return () => globalThis.closed++; } }";
  const child = fakeModel({ text: "here", _esm: code });
  const asked = [];
  const model = fakeModel({ parts: { query: "IPY_MODEL_7" } });
  model.widget_manager = { get_model: async (id) => (asked.push(id), child) };
  const url = globalThis.URL.createObjectURL;
  globalThis.URL.createObjectURL = () => `data:text/javascript,${encodeURIComponent(code)}`;
  try {
    const panes = new Panes({ model, el: h("div") }, assert.fail);
    const el = panes.draw("query");
    await panes.ready("query");
    assert.equal(el.textContent, "here");
    assert.deepEqual(asked, ["7"]);
    panes.close();
    assert.equal(globalThis.closed, 1);
  } finally {
    globalThis.URL.createObjectURL = url;
  }
});
