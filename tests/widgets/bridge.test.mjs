import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { fakeModel } from "./fake.mjs";
import { CallError, Cancelled, connect } from "../../widgets/kit/bridge.js";

const echo = (message, model) => "call" in message && model.tell({ id: message.id, value: message.args });

test("an answer reaches the call it belongs to, in whatever order answers come", async () => {
  const model = fakeModel();
  const link = connect(model);
  const [first, second] = [link.call("a"), link.call("b")];

  const [a, b] = model.sent;
  model.tell({ id: b.id, value: 2 });
  model.tell({ id: a.id, value: 1 });

  assert.deepEqual(await Promise.all([first, second]), [1, 2]);
  link.close();
});

test("an error comes with its advice", async () => {
  const model = fakeModel({}, (message, own) =>
    own.tell({ id: message.id, error: { type: "NotFound", message: "no such index", advice: "list them" } }),
  );

  await assert.rejects(connect(model).call("load"), (error) => {
    assert.ok(error instanceof CallError);
    assert.deepEqual([error.name, error.message, error.advice], ["NotFound", "no such index", "list them"]);
    return true;
  });
});

test("another view's answer is left alone", async () => {
  const model = fakeModel();
  const link = connect(model);
  const call = link.call("a");

  model.tell({ id: model.sent[0].id + 1, value: "not mine" });
  model.tell({ id: model.sent[0].id, value: "mine" });

  assert.equal(await call, "mine");
});

test("two views of one model never use the same number", () => {
  const model = fakeModel({}, echo);

  connect(model).call("a");
  connect(model).call("a");

  assert.notEqual(model.sent[0].id, model.sent[1].id);
  assert.ok(model.sent.every(({ id }) => Number.isSafeInteger(id)));
});

test("what is aborted is cancelled in Python, too", async () => {
  const model = fakeModel({}, (message, own) => "cancel" in message && own.tell({ id: message.cancel, cancelled: true }));
  const stop = new AbortController();
  const call = connect(model).call("long", {}, { signal: stop.signal });

  stop.abort();

  await assert.rejects(call, Cancelled);
});

test("progress is told and is no answer", async () => {
  const model = fakeModel();
  const told = [];
  const call = connect(model).call("save", {}, { onProgress: (progress) => told.push(progress.done) });

  model.tell({ id: model.sent[0].id, progress: { done: 1, total: 2, text: "" } });
  model.tell({ id: model.sent[0].id, value: "done" });

  assert.equal(await call, "done");
  assert.deepEqual(told, [1]);
});

test("a kernel that gives no sign of life is busy until it does", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const model = fakeModel();
  const told = [];
  const link = connect(model, { busy: (busy) => told.push(busy), busyAfter: 100 });
  link.call("a");

  mock.timers.tick(101);
  model.tell({ id: model.sent[0].id, working: true });
  mock.timers.tick(50);
  model.tell({ id: model.sent[0].id, value: 1 });
  mock.timers.tick(1000);
  mock.timers.reset();

  assert.deepEqual(told, [true, false]);
});

test("a view that is closed hears nothing more and its calls end", async () => {
  const model = fakeModel({ value: 1 });
  const link = connect(model);
  link.watch("value", () => {});
  const call = link.call("a");

  link.close();

  await assert.rejects(call, Cancelled);
  assert.equal(model.heard(), 0);
});

test("a model without a kernel says so", async () => {
  const model = fakeModel({}, () => {
    throw new Error("comm is dead");
  });

  await assert.rejects(connect(model).call("a"), /kernel of this editor is not running/);
});
