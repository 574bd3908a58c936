import assert from "node:assert/strict";
import { test } from "node:test";

import "./fake.mjs";
import { choiceInput, editTable, textInput } from "../../widgets/kit/table.js";

const FRUIT = [
  { id: "1", name: "apple", kind: "pome" },
  { id: "2", name: "plum", kind: "stone" },
  { id: "3", name: "pear", kind: "pome" },
];

/** A table of fruit, and what it told. */
function table(options = {}) {
  const told = [];
  const made = editTable({
    label: "fruit",
    keyOf: (row) => row.id,
    columns: [
      { name: "name", title: "Name", text: (row) => row.name, input: (row) => textInput(row.name, "Name") },
      {
        name: "kind",
        title: "Kind",
        text: (row) => row.kind,
        input: (row) => choiceInput(row.kind, [["pome", "pome"], ["stone", "stone"]], "Kind"),
      },
    ],
    change: (row, name, value) => told.push([row.id, name, value]),
    remove: (row) => told.push([row.id, "removed"]),
    ...options,
  });
  made.show(FRUIT);
  const rows = () => made.el.querySelectorAll(".svc-virtual-row");
  return {
    ...made,
    told,
    rows,
    press: (key, more = {}) => made.el.fire("keydown", { key, ...more }),
    input: () => made.el.querySelector(".svc-cell-input"),
    /** The texts of the cells that the keyboard is at. */
    at: () => made.el.querySelectorAll(".svc-current").map((cell) => cell.textContent),
  };
}

test("every row shows its columns, and says how many there are", () => {
  const { el, rows } = table();

  assert.deepEqual(rows().map((row) => row.textContent), ["applepome×", "plumstone×", "pearpome×"]);
  assert.equal(el.getAttribute("aria-rowcount"), "3");
});

test("keys move among cells and stop at the edges", () => {
  const { press, at, current } = table();

  for (const key of ["ArrowDown", "ArrowRight", "ArrowRight"]) press(key);
  assert.deepEqual([at(), current().id], [["stone"], "2"]);
  for (const key of ["ArrowUp", "ArrowUp", "ArrowLeft", "ArrowLeft"]) press(key);
  assert.deepEqual([at(), current().id], [["apple"], "1"]);
  for (const [key, id] of [["End", "3"], ["Home", "1"], ["PageDown", "3"], ["PageUp", "1"]]) {
    press(key);
    assert.equal(current().id, id, key);
  }
});

test("the cell that the keyboard is at is told to screen readers", () => {
  const { el, press, at, show } = table();
  const told = () => el.find((one) => one.id && one.id === el.getAttribute("aria-activedescendant"));

  assert.deepEqual(told().map((cell) => cell.textContent), ["apple"]);
  for (const key of ["End", "ArrowRight"]) press(key);
  assert.deepEqual(told().map((cell) => cell.textContent), at());
  assert.deepEqual(at(), ["pome"]);

  show([]);

  assert.equal(el.getAttribute("aria-activedescendant"), null);
});

test("a key with Ctrl is left to whom it belongs", () => {
  const { press, current, told } = table();
  let stopped = 0;

  press("ArrowDown", { ctrlKey: true, preventDefault: () => (stopped += 1) });
  press("Delete", { metaKey: true, preventDefault: () => (stopped += 1) });

  assert.deepEqual([current().id, told, stopped], ["1", [], 0]);
});

test("Enter edits a cell, and Enter again proposes what was typed", () => {
  const { press, input, told } = table();

  press("Enter");
  input().value = "quince";
  input().fire("keydown", { key: "Enter" });

  assert.deepEqual(told, [["1", "name", "quince"]]);
  assert.equal(input(), null);
});

test("Escape proposes nothing, and gives the keyboard back to the table", () => {
  const { el, press, input, told } = table();

  press("F2");
  input().value = "quince";
  input().fire("keydown", { key: "Escape" });

  assert.deepEqual(told, []);
  assert.equal(document.activeElement, el);
});

test("Tab proposes and goes on to the next cell, and round the row", () => {
  const { press, input, told } = table();

  press("Enter");
  input().value = "quince";
  input().fire("keydown", { key: "Tab" });
  assert.equal(input().tagName, "SELECT");
  input().fire("keydown", { key: "Tab" });

  assert.equal(input().value, "apple");
  assert.deepEqual(told.map(([, name]) => name), ["name", "kind"]);
});

test("leaving a cell by mouse proposes, too", () => {
  const { el, press, input, told } = table();

  press("Enter");
  input().value = "quince";
  input().fire("focusout", { relatedTarget: el });

  assert.deepEqual(told, [["1", "name", "quince"]]);
});

test("no key of an input moves or removes a row", () => {
  const { press, told, current } = table();

  press("Enter");
  for (const key of ["Delete", "ArrowDown", "End"]) press(key);

  assert.deepEqual([told, current().id], [[], "1"]);
});

test("a row that is being edited stays as it is when rows come anew", () => {
  const { press, input, show } = table();

  press("Enter");
  const typed = input();
  typed.value = "qui";
  show(FRUIT.map((row) => ({ ...row })));

  assert.equal(input(), typed);
  assert.equal(input().value, "qui");
});

test("Delete removes a row, and the last of a shorter list is the current one", () => {
  const { press, told, show, current } = table();

  press("End");
  press("Delete");
  show(FRUIT.slice(0, 2));

  assert.deepEqual(told, [["3", "removed"]]);
  assert.equal(current().id, "2");
});

test("what is wrong with a row is said on it", () => {
  const { rows } = table({ problem: (row) => (row.kind === "stone" ? "too hard" : "") });

  assert.deepEqual(rows().map((row) => row.getAttribute("title")), [null, "too hard", null]);
  assert.equal(rows()[1].getAttribute("aria-invalid"), "true");
});

test("a table that is only read opens rows in place of editing them", () => {
  const opened = [];
  const { press, input } = table({ change: undefined, remove: undefined, open: (row) => opened.push(row.id) });

  press("ArrowDown");
  press("Enter");
  press("Delete");

  assert.deepEqual([opened, input()], [["2"], null]);
});

test("a table without rows has nothing to do by any key", () => {
  const { press, show, told, current } = table();

  show([]);
  for (const key of ["ArrowDown", "Enter", "Delete", "End"]) press(key);

  assert.deepEqual([told, current()], [[], undefined]);
});
