import assert from "node:assert/strict";
import { test } from "node:test";

import "./fake.mjs";
import { ask } from "../../widgets/kit/dialog.js";
import { button, h } from "../../widgets/kit/dom.js";

const BUTTONS = [
  { name: "", label: "Cancel" },
  { name: "apply", label: "Apply", main: true },
];

/** A question over a page whose button had the keyboard. */
function open(body = "Sure?") {
  const before = button("Before", () => {});
  const root = h("section", {}, before);
  before.focus();
  const answer = ask(root, { title: "Apply?", body, buttons: BUTTONS });
  const box = root.querySelector(".svc-dialog");
  return { root, before, answer, box, press: (key, more = {}) => box.fire("keydown", { key, target: document.activeElement, ...more }) };
}

for (const [place, name] of [[0, ""], [1, "apply"]]) {
  test(`the answer is the button's name: ${BUTTONS[place].label}`, async () => {
    const { box, answer, root } = open();

    box.querySelectorAll("button")[place].click();

    assert.equal(await answer, name);
    assert.equal(root.querySelector(".svc-dialog"), null);
  });
}

test("Escape closes without an answer and gives the keyboard back", async () => {
  const { press, answer, before } = open();

  press("Escape");

  assert.equal(await answer, null);
  assert.equal(document.activeElement, before);
});

test("a click beside the question closes it, one inside does not", async () => {
  const { root, box, answer } = open();
  const overlay = root.querySelector(".svc-overlay");

  overlay.fire("mousedown", { target: box });
  assert.ok(root.querySelector(".svc-dialog"));
  overlay.fire("mousedown");

  assert.equal(await answer, null);
});

test("the main button has the keyboard, or the first field where there is one", () => {
  open();
  assert.equal(document.activeElement.textContent, "Apply");
  const field = h("input", { type: "text" });
  open(field);
  assert.equal(document.activeElement, field);
});

test("Enter in a field is the main button, once", async () => {
  const { press, answer } = open(h("input", { type: "text" }));
  let stopped = 0;

  press("Enter", { preventDefault: () => (stopped += 1) });

  assert.equal(await answer, "apply");
  assert.equal(stopped, 1);
});

test("Enter in a text of several lines is a line", () => {
  const { press, root } = open(h("textarea", {}));

  press("Enter");

  assert.ok(root.querySelector(".svc-dialog"));
});

test("Tab stays inside", () => {
  const { box, press } = open();
  const [first, last] = box.querySelectorAll("button");

  last.focus();
  press("Tab");
  assert.equal(document.activeElement, first);
  press("Tab", { shiftKey: true });
  assert.equal(document.activeElement, last);
});

test("no key reaches what is below", () => {
  const { press } = open();
  let stopped = 0;

  for (const key of ["a", "Delete", "ArrowDown"]) press(key, { stopPropagation: () => (stopped += 1) });

  assert.equal(stopped, 3);
});

test("a dialog is in the top layer where the page has one", async () => {
  const calls = [];
  const root = h("section", {});
  const before = button("Before", () => {});
  root.append(before);
  before.focus();
  const create = document.createElement;
  globalThis.window = { innerHeight: 900, screen: { availHeight: 1000 } };
  root.isConnected = true;
  document.createElement = (tag) =>
    Object.assign(create(tag), tag === "dialog" && { showModal: () => calls.push("show"), close: () => calls.push("close") });

  const answer = ask(root, { title: "Apply?", body: "Sure?", buttons: BUTTONS });
  document.createElement = create;
  const box = root.querySelector(".svc-dialog");
  assert.equal(root.querySelector(".svc-overlay"), null);
  box.fire("cancel");

  assert.equal(await answer, null);
  assert.deepEqual(calls, ["show", "close"]);
  assert.equal(root.querySelector(".svc-dialog"), null);
  assert.equal(document.activeElement, before);
});
