import assert from "node:assert/strict";
import { test } from "node:test";

import { fakeModel } from "./fake.mjs";
import { frame } from "../../widgets/kit/frame.js";

globalThis.window = { addEventListener() {}, removeEventListener() {} };
const turn = () => new Promise((done) => setTimeout(done));

test("undo takes back the last edit, though none of them was answered yet", async () => {
  const state = { title: "Editor", index: "lamps", address: "here", undo: true, applies: true, dirty: true };
  const model = fakeModel({ state, value: 0 });
  const shown = frame({ model, el: document.createElement("div") }, { named: "svc-test" });
  const sent = () => model.sent.map(({ op, args }) => args.value ?? args.step ?? op);
  const answer = async () => {
    model.tell({ id: model.sent.at(-1).id, ok: null });
    await turn();
  };

  shown.propose(1);
  shown.propose(2);
  shown.root.find((el) => el.attributes.title?.startsWith("Undo"))[0].click();
  await turn();
  assert.deepEqual(sent(), [1]);
  await answer();
  assert.deepEqual(sent(), [1, 2]);
  await answer();

  assert.deepEqual(sent(), [1, 2, "undo"]);
});

test("an interrupted change is shown with its two ends, unless another editor applies", async () => {
  const change = { change: "3f9c21aa", text: "A change was interrupted.", finish: "Finish it", revert: "Take it back" };
  const state = { title: "Editor", index: "lamps", applies: true, interrupted: [change] };
  const model = fakeModel({ state, value: 0 });
  const shown = frame({ model, el: document.createElement("div") }, { named: "svc-test" });
  const [note] = shown.root.find((el) => el.className?.includes("interrupted") && el.className.includes("note"));
  const buttons = () => note.find((el) => el.tagName === "BUTTON" || el.tag === "button");

  assert.equal(note.hidden, false);
  buttons()[1].click();
  await turn();

  assert.deepEqual(model.sent.at(-1).args, { change: "3f9c21aa", end: "revert" });
});

test("a view reads again when the session has a new connection", () => {
  const state = { title: "Editor", index: "lamps", applies: true };
  const model = fakeModel({ state, value: 0 });
  frame({ model, el: document.createElement("div") }, { named: "svc-test" });
  assert.deepEqual(model.sent, []);

  model.change("state", { ...state, outdated: true });

  assert.deepEqual(model.sent.map(({ call }) => call), ["read_again"]);
});
