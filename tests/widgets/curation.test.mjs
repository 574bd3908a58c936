import assert from "node:assert/strict";
import { test } from "node:test";

import { fakeModel } from "./fake.mjs";
import rules from "../../widgets/rules.js";
import synonyms from "../../widgets/synonyms.js";
import { h } from "../../widgets/kit/dom.js";

// As much more of a page as a form touches: elements are found by their tags.
globalThis.window ??= { addEventListener() {}, removeEventListener() {} };
Object.assign(Object.getPrototypeOf(h("div")), {
  matches(selector) {
    return selector.split(", ").includes(this.tagName.toLowerCase());
  },
  querySelectorAll(selector) {
    return this.find((each) => each.matches(selector));
  },
  querySelector(selector) {
    return this.querySelectorAll(selector)[0] ?? null;
  },
  closest: () => null,
});

// News goes away by itself after a while, for which no test waits.
const later = globalThis.setTimeout;
globalThis.setTimeout = (...how) => later(...how).unref();

const STATE = { index: "shop", address: "here", title: "Editor", applies: true, readOnly: "", busy: "", error: null, dirty: true };
const SYNONYMS = [
  { objectID: "a", type: "synonym", synonyms: ["lamp", "Lantern"] },
  { objectID: "b", type: "onewaysynonym", input: "seat", synonyms: ["chair"] },
];
const RULES = [
  { objectID: "a", consequence: {}, enabled: false },
  { objectID: "b", consequence: {}, tags: ["lamp"] },
];

/** An editor on a model whose Python half answers every call with nothing. */
function mount({ render }, values) {
  const model = fakeModel({ faults: {}, changes: {}, words: {}, queries: [], state: STATE, ...values }, (message) =>
    queueMicrotask(() => model.tell({ id: message.id, value: null })),
  );
  const el = h("div");
  const close = render({ model, el });
  const named = (label) => el.find((each) => each.getAttribute("aria-label") === label)[0];
  const calls = (name) => model.sent.filter((message) => message.call === name).map((message) => message.args);
  return { model, el, close, named, calls };
}

/** Press a button, by its text. */
async function press(el, text) {
  el.find((each) => each.tagName === "BUTTON" && each.textContent === text)[0].fire("click");
  await new Promise(setImmediate);
}

/** What a person chooses. */
function choose(el, value) {
  el.value = value;
  el.fire("change");
}

test("all synonyms that are shown are deleted in one call", async () => {
  const { named, calls, el } = mount(synonyms, { value: SYNONYMS });

  named("Find synonyms").value = "LANT lamp";
  named("Find synonyms").fire("input");
  assert.match(el.textContent, /1 of 2 synonyms/);
  await press(el, "Bulk edit…");
  assert.match(el.textContent, /Edit 1 synonym/);
  await press(el, "Delete");

  assert.deepEqual(calls("remove"), [{ ids: ["a"] }]);
  assert.match(el.textContent, /Delete: 1 synonym. Undo reverts it./);
});

test("all rules that are shown are switched in one call, or none", async () => {
  const { el, named, calls } = mount(rules, { value: RULES });

  choose(named("Which rules"), "on");
  await press(el, "Bulk edit…");
  await press(el, "Cancel");
  await press(el, "Bulk edit…");
  await press(el, "Disable");

  assert.deepEqual(calls("enable"), [{ ids: ["b"], enabled: false }]);
});

test("nothing is done to what may not be changed", () => {
  const { el } = mount(rules, { value: RULES, state: { ...STATE, readOnly: "no right" } });

  const [bulk] = el.find((each) => each.tagName === "BUTTON" && each.textContent === "Bulk edit…");

  assert.ok(bulk.disabled);
});

test("a count shows what it counts", async () => {
  const faults = { a: [{ level: "error", text: "empty" }], b: [{ level: "warning", text: "twice" }] };
  const { named, el } = mount(synonyms, { value: SYNONYMS, faults, changes: { b: "changed" } });

  await press(el, "1 error");
  assert.match(el.textContent, /1 of 2 synonyms/);
  assert.equal(named("Which synonyms").value, "+errors");
  await press(el, "1 changed");
  assert.equal(named("Which synonyms").value, "+changed");
  await press(el, "show all");

  assert.equal(named("Which synonyms").value, "");
});

test("a view that is closed hears nothing any more", () => {
  for (const [editor, value] of [[synonyms, SYNONYMS], [rules, RULES]]) {
    const { model, close } = mount(editor, { value });

    close();

    assert.equal(model.heard(), 0);
  }
});
