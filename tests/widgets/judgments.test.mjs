import assert from "node:assert/strict";
import { test } from "node:test";

import { fakeModel } from "./fake.mjs";
import { isJudged, meaningOf, nextOpen, progressOf, describeJudgment } from "../../widgets/judgments/grades.js";
import { describeState, sortPlaces, stepIn } from "../../widgets/judgments/question_list.js";
import { describeQueryScore, describeSetScore, linePoints } from "../../widgets/judgments/scores.js";
import { gradeSheet } from "../../widgets/judgments/sheet.js";

const LABELS = { 0: "irrelevant", 1: "related", 2: "good", 3: "perfect" };
const LINK = { watch() {} };
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
    assert.equal(describeJudgment(hit, LABELS), words);
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

  assert.deepEqual(far, { done: 3, total: 5, ready: 1, empty: 1 });
});

for (const [name, answer, shown] of [
  ["kept", null, ["", "why"]],
  ["not kept", undefined, ["why", ""]],
]) {
  test(`a note is drawn at once, and stays to be tried again where it cannot be kept: ${name}`, async () => {
    const hits = [{ id: "1", title: "lamp", lines: [], found: [], others: [], rating: null, unrateable: false, note: "" }];
    const model = fakeModel({ labels: { 0: "no", 1: "yes" }, sheet: { place: 0, hits } });
    const run = async (_, { text }) => {
      if (answer !== undefined) model.set("sheet", { place: 0, hits: [{ ...hits[0], note: text }] });
      return answer;
    };
    const sheet = gradeSheet({ run, link: LINK }, model, async () => {});
    sheet.show(model.get("sheet"));
    const list = sheet.el.querySelector(".svc-hits");
    const [item] = list.children;
    const texts = () => [".svc-note-input", ".svc-note-text"].map((one) => list.querySelector(one)?.[one.endsWith("input") ? "value" : "textContent"] ?? "");
    item.closest = () => item;

    list.fire("keydown", { key: "n", target: item });
    list.querySelector(".svc-note-input").value = " why ";
    list.querySelector(".svc-note-input").fire("keydown", { key: "Enter" });
    assert.deepEqual(texts(), ["", "why"]);
    await new Promise((done) => setImmediate(done));

    assert.deepEqual(texts(), shown);
  });
}

test("what is typed into a note stays when the answer to the one before it comes", async () => {
  const hits = [{ id: "1", title: "lamp", lines: [], found: [], others: [], rating: null, unrateable: null, note: "" }];
  const model = fakeModel({ labels: { 0: "no", 1: "yes" }, sheet: { place: 0, hits } });
  const run = async (_, { text }) => {
    model.set("sheet", { place: 0, hits: [{ ...hits[0], unrateable: false, note: text }] });
    return null;
  };
  const sheet = gradeSheet({ run, link: LINK }, model, async () => {});
  sheet.show(model.get("sheet"));
  const list = sheet.el.querySelector(".svc-hits");
  const [item] = list.children;
  const input = () => list.querySelector(".svc-note-input");
  item.closest = () => item;

  list.fire("keydown", { key: "n", target: item });
  input().value = "why";
  input().fire("keydown", { key: "Enter" });
  list.fire("keydown", { key: "n", target: item });
  const typing = input();
  typing.value = "why not";
  await new Promise((done) => setImmediate(done));

  assert.equal(input(), typing);
  assert.deepEqual(item.children.map((part) => part.className), ["svc-hit-text", "svc-grades", "svc-input svc-note-input"]);
  typing.fire("keydown", { key: "Escape" });
  assert.equal(list.querySelector(".svc-note-text").textContent, "why");
});

for (const [name, place, hidden] of [
  ["a query without hits", 0, false],
  ["no query yet", -1, true],
]) {
  test(`nothing to judge is said only of a query: ${name}`, () => {
    const sheet = gradeSheet({ link: LINK }, fakeModel({ labels: LABELS }), async () => {});

    sheet.show({ place, hits: [] });

    assert.equal(sheet.el.children.at(-1).hidden, hidden);
  });
}

test("queries are sorted by score, frequency and share judged, unknown ones last", () => {
  const entries = [
    [{ done: 1, total: 2, frequency: null }, 0.9],
    [{ done: 0, total: 0, frequency: 5 }, null],
    [{ done: 0, total: 2, frequency: 9 }, 0.1],
  ].map(([question, score], place) => ({ question, score, place }));

  assert.deepEqual(sortPlaces(entries, "given"), [0, 1, 2]);
  assert.deepEqual(sortPlaces(entries, "score"), [2, 0, 1]);
  assert.deepEqual(sortPlaces(entries, "frequency"), [2, 1, 0]);
  assert.deepEqual(sortPlaces(entries, "judged"), [2, 0, 1]);
  assert.deepEqual([stepIn([2, 0, 1], 2, 1), stepIn([2, 0, 1], 1, 1), stepIn([], 0, -1)], [0, 1, 0]);
  assert.deepEqual(entries.map(({ question }) => describeState(question)), ["1/2", "no hits", "0/2"]);
});

const score = (more) => ({ mean: 0.5, low: 0.25, high: 0.75, upper: 0.8, judged: 0.6, queries: 3, without_hits: 0, ...more });

for (const [more, words] of [
  [{}, "60 % judged, up to 0.800"],
  [{ judged: 1, upper: 0.5 }, "100 % judged"],
  [{ without_hits: 1 }, "no hits"],
  [{ mean: null, judged: 0.6 }, "60 % judged, no relevant record yet"],
  [{ mean: null, judged: 0 }, "0 % judged"],
]) {
  test(`the score of a query says what limits it: ${words}`, () => {
    assert.equal(describeQueryScore(score(more)), words);
  });
}

test("the score of all queries has its interval, and the number of queries that count", () => {
  assert.equal(describeSetScore(score({}), 3), "95 % interval 0.250 to 0.750, 60 % judged");
  assert.equal(describeSetScore(score({ low: null, high: null, queries: 1 }), 3), "60 % judged, 1 of 3 queries have a score");
});

test("a line of scores reaches from the lowest to the highest, and leaves out what is unknown", () => {
  assert.deepEqual(linePoints([0.2, null, 0.6], 10, 4), [[0, 4], [10, 0]]);
  assert.deepEqual(linePoints([0.5], 10, 4), [[0, 2]]);
});

/** A sheet of queries with `size` hits each, whose answers come after `delay` turns of the loop. */
function slowSheet(queries, size, delay) {
  const judged = {};
  const unjudged = (place, number) => ({ id: `${place}-${number}`, title: "", lines: [], found: [], others: [], ...open, note: "" });
  const sheetOf = (place) => ({ place, hits: Array.from({ length: size }, (_, number) => unjudged(place, number)) });
  const model = fakeModel({ labels: LABELS, sheet: sheetOf(0) });
  const wait = async (turns) => {
    for (let turn = 0; turn < turns; turn++) await new Promise((done) => setImmediate(done));
  };
  const run = async (_, { id, rating }) => {
    await wait(delay);
    judged[id] = rating;
    const { place, hits } = model.get("sheet");
    model.set("sheet", { place, hits: hits.map((hit) => (hit.id === id ? { ...hit, rating, unrateable: false } : hit)) });
    return null;
  };
  const leave = async () => {
    const place = model.get("sheet").place + 1;
    if (place === queries) return false;
    // The sheet is drawn after the answer of the call.
    wait(2 * delay).then(() => {
      model.set("sheet", sheetOf(place));
      sheet.show(model.get("sheet"));
    });
    await wait(delay);
    return true;
  };
  const sheet = gradeSheet({ run, link: LINK, root: { focus() {} } }, model, leave);
  sheet.show(model.get("sheet"));
  return { sheet, judged, wait };
}

test("keys pressed while the next query is awaited are kept in order", async () => {
  const { sheet, judged, wait } = slowSheet(3, 4, 5);
  const keys = [..."012301230123"];

  for (const key of keys) {
    assert.ok(sheet.grade(key));
    await wait(1);
  }
  await wait(200);

  const grades = Object.keys(judged).sort().map((id) => String(judged[id]));
  assert.deepEqual(grades, keys);
});

test("keys after the last hit of all queries are dropped", async () => {
  const { sheet, judged, wait } = slowSheet(1, 2, 3);

  for (const key of "1100") sheet.grade(key);
  await wait(100);

  assert.deepEqual(judged, { "0-0": 1, "0-1": 1 });
});

test("only keys of grades act from elsewhere in the editor", () => {
  const { sheet } = slowSheet(1, 2, 1);

  assert.deepEqual(["3", "u", "9", "ArrowDown", "Delete", "n"].map(sheet.grade), [true, true, false, false, false, false]);
});
