import assert from "node:assert/strict";
import { test } from "node:test";

import "./fake.mjs";
import { h } from "../../widgets/kit/dom.js";
import { momentInput, toLocal, zone } from "../../widgets/kit/moment.js";
import { tabs } from "../../widgets/kit/tabs.js";

test("a panel is drawn when first opened, and once", () => {
  const drawn = [];
  const panels = ["a", "b"].map((name) => ({ name, title: name, draw: () => (drawn.push(name), h("p", {}, name)) }));
  const shown = tabs({ label: "panels", panels });
  assert.deepEqual(drawn, ["a"]);

  for (const name of ["b", "a", "b"]) shown.open(name);

  assert.deepEqual(drawn, ["a", "b"]);
  assert.equal(shown.current(), "b");
});

test("arrow keys go round the tabs, and one can be reached by Tab", () => {
  const panels = ["a", "b", "c"].map((name) => ({ name, title: name, draw: () => h("p") }));
  const shown = tabs({ label: "panels", panels });
  const [bar] = shown.el.children;

  bar.fire("keydown", { key: "ArrowLeft" });

  assert.equal(shown.current(), "c");
  assert.deepEqual(bar.children.map((head) => head.tabIndex), [-1, -1, 0]);
  assert.deepEqual(bar.children.map((head) => head.getAttribute("aria-selected")), ["false", "false", "true"]);
});

test("a moment is told in seconds, and its zone is named", () => {
  const told = [];
  const el = momentInput({ seconds: 0, label: "from", change: (seconds) => told.push(seconds) });
  const [input] = el.children;

  input.value = toLocal(1_700_000_040);
  input.fire("change");
  input.value = "";
  input.fire("change");

  assert.deepEqual(told, [1_700_000_040, null]);
  assert.ok(el.textContent.includes(zone()));
});
