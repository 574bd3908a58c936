import assert from "node:assert/strict";
import { test } from "node:test";

import { fakeModel } from "./fake.mjs";
import { lowerEdge, MIN_HEIGHT_PIXELS, resizeByKey } from "../../widgets/kit/height.js";

for (const [key, from, to] of [
  ["ArrowDown", 560, 580],
  ["ArrowUp", 250, MIN_HEIGHT_PIXELS],
  ["PageDown", 560, 680],
  ["Home", 560, MIN_HEIGHT_PIXELS],
  ["End", 560, null],
  ["a", 560, undefined],
]) {
  test(`a key resizes: ${key}`, () => {
    assert.equal(resizeByKey(key, from), to);
  });
}

/** The edge of an editor of 560 pixels. */
function open() {
  const root = document.createElement("section");
  const model = fakeModel({ height: 560 });
  const edge = lowerEdge(root, model);
  edge.draw(560);
  return { root, model, edge };
}

test("a height is drawn, said and kept", () => {
  const { root, model, edge } = open();

  edge.el.fire("keydown", { key: "ArrowDown" });

  assert.equal(model.get("height"), 580);
  assert.equal(root.style["--svc-height"], "580px");
  assert.equal(edge.el.getAttribute("aria-valuetext"), "580 pixels");
});

test("a double click shows all content, a second one the height before", () => {
  const { root, model, edge } = open();

  edge.el.fire("dblclick");
  assert.equal(model.get("height"), null);
  assert.ok(!root.classList.contains("svc-bounded"));
  edge.el.fire("dblclick");

  assert.equal(model.get("height"), 560);
});
