import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { test } from "node:test";

import "./fake.mjs";
import { h } from "../../widgets/kit/dom.js";
import { noMatch } from "../../widgets/kit/empty.js";
import { failedPanel } from "../../widgets/crawler/failed.js";
import { historyPanel } from "../../widgets/settings/changes.js";
import { appliedPanel } from "../../widgets/workbench/applied.js";
import { loadCode } from "../../widgets/query/hits.js";

const WIDGETS = new URL("../../widgets/", import.meta.url);

/** All buttons below an element. */
const buttonsOf = (el) => el.children.flatMap((child) => (child.tagName === "BUTTON" ? [child] : buttonsOf(child)));
const labelsOf = (el) => buttonsOf(el).map((child) => child.textContent);

/** The paths of the modules of the editors and the explorer. */
function modulesOf(folder) {
  return readdirSync(folder).flatMap((name) => {
    const path = new URL(name, folder);
    if (name === "vendor") return [];
    return statSync(path).isDirectory() ? modulesOf(new URL(`${name}/`, folder)) : name.endsWith(".js") ? [path] : [];
  });
}

test("every empty state of the editors has its next step as a button", () => {
  const states = modulesOf(WIDGETS).flatMap((path) => {
    const text = readFileSync(path, "utf8");
    return text.split(/(?:emptyState|drawNone)\([^{)]*\{/).slice(1).map((rest) => [path.pathname, rest.slice(0, rest.indexOf("})"))]);
  });

  assert.ok(states.length >= 13, String(states.length));
  assert.deepEqual(states.filter(([, text]) => !text.includes("action")), []);
});

test("a list whose filters match nothing has a button that clears them", () => {
  const find = h("input", {});
  const only = h("input", { type: "checkbox" });
  [find.value, only.checked] = ["hits", true];
  let isShown = false;
  find.focus = () => {};

  const el = noMatch("settings", { find, only, show: () => (isShown = true) });
  buttonsOf(el)[0].fire("click");

  assert.deepEqual([find.value, only.checked, isShown], ["", false, true]);
});

test("a crawler without a crawl offers what leads to one, another one does not", async () => {
  const view = { run: async () => ({ rows: [], more: false }) };
  let action = { label: "Start crawl…", act() {} };
  const panel = failedPanel(view, () => {}, () => action);

  await panel.read();
  const none = panel.el.children.at(-1);
  assert.deepEqual([none.hidden, labelsOf(none)], [false, ["Start crawl…"]]);

  action = null;
  await panel.read();
  assert.equal(none.hidden, true);
  assert.ok(panel.el.textContent.includes("No URL of the last crawl failed."));
});

test("a history without changes leads to the settings", async () => {
  let opened = 0;
  const none = appliedPanel({ run: async () => [] }, () => (opened += 1)).el;
  buttonsOf(none).find((child) => child.textContent === "Draft a change").fire("click");
  const view = { link: { watch: (_, draw) => draw([]) } };
  buttonsOf(historyPanel(view, () => (opened += 1)).el)[0].fire("click");

  assert.equal(opened, 2);
});

test("an index without records gives the code that loads some", () => {
  assert.equal(loadCode('a"b'), 'import svc_notebook as svc\n\nsvc.load("FILE", "a\\"b")');
});
