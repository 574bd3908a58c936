// A table of many rows with keyboard navigation and editing in place.

import { button, fill, freshId, h, setAttribute } from "./dom.js";
import { virtualList } from "./virtual.js";

/**
 * A column shows `text(row)`. It is editable if it has `input`, which makes a control from a row: an
 * element with `read()`, which returns the new value, and `focus()`.
 * @template T
 * @typedef {{name: string, title: string, width?: string, text: (row: T) => string,
 *   draw?: (row: T) => (Node | string), input?: (row: T) => HTMLElement & {read: () => any}}} Column
 */

/**
 * `keyOf` identifies a row, `problem` describes its error, `change(row, name, value)` proposes an
 * edit, `remove(row)` a deletion; `open(row)` is called by Enter on a row without inputs.
 * @template T
 * @param {{columns: Column<T>[], keyOf: (row: T) => string, label: string, height?: number, rowHeight?: number,
 *   problem?: (row: T) => string, mark?: (row: T) => string, change?: (row: T, name: string, value: any) => void,
 *   remove?: (row: T) => void, open?: (row: T) => void, select?: (row: T) => void}} options
 */
export function editTable({
  columns,
  keyOf,
  label,
  height = 420,
  rowHeight = 34,
  problem = () => "",
  mark = () => "",
  change,
  remove,
  open,
  select,
}) {
  /** @type {T[]} */
  let rows = [];
  let [at, column] = [0, 0];
  const named = freshId("cell");
  /** @type {{key: string, name: string} | null} */
  let editing = null;
  const widths = [...columns.map((c) => c.width ?? "minmax(80px, 1fr)"), remove ? "32px" : ""].join(" ");
  const head = h(
    "div",
    { class: "table-row table-head", role: "row", style: { "grid-template-columns": widths } },
    columns.map((c) => h("div", { role: "columnheader", class: "cell" }, c.title)),
    remove && h("div", { role: "columnheader" }),
  );
  const list = virtualList({ rowHeight, keyOf, height, role: "rowgroup", rowRole: "row", draw: drawRow });
  list.el.tabIndex = -1;
  // The head has the width of the rows, whether they have a scroll bar or not.
  if (typeof ResizeObserver === "function")
    new ResizeObserver(() =>
      head.style.setProperty("padding-inline-end", `${list.el.offsetWidth - list.el.clientWidth}px`),
    ).observe(list.el);
  const el = h(
    "div",
    { class: "table", role: "grid", tabindex: 0, "aria-label": label, on: { keydown: handleKey, focus: show } },
    head,
    list.el,
  );

  /** @param {T} row @param {HTMLElement | null} old @param {number} place */
  function drawRow(row, old, place) {
    const key = keyOf(row);
    if (old && editing?.key === key && old.querySelector(".svc-cell-input")) return old;
    const error = problem(row);
    const cells = columns.map((c, number) => drawCell(row, c, place, number));
    const trash =
      remove &&
      h(
        "div",
        { role: "gridcell" },
        button("Delete", () => remove(row), { icon: "×", bare: true, tabindex: -1 }),
      );
    const line = old ?? h("div", { style: { "grid-template-columns": widths } });
    line.className = ["svc-table-row", error && "svc-error", mark(row) && `svc-${mark(row)}`]
      .filter(Boolean)
      .join(" ");
    setAttribute(line, "title", error || null);
    setAttribute(line, "aria-invalid", error ? "true" : null);
    setAttribute(line, "aria-selected", place === at ? "true" : "false");
    fill(line, ...cells, trash);
    return line;
  }

  /** @param {T} row @param {Column<T>} c @param {number} place @param {number} number */
  function drawCell(row, c, place, number) {
    const cell = h("div", {
      id: idOf(place, number),
      role: "gridcell",
      class: ["cell", place === at && number === column && "current"],
      "aria-readonly": !(c.input && change),
      on: { click: () => move(place, number), dblclick: () => edit(place, number) },
    });
    if (editing?.key === keyOf(row) && editing.name === c.name && c.input) fill(cell, drawInput(row, c));
    else fill(cell, c.draw ? c.draw(row) : c.text(row));
    return cell;
  }

  /** @param {T} row @param {Column<T>} c */
  function drawInput(row, c) {
    const input = /** @type {NonNullable<Column<T>["input"]>} */ (c.input)(row);
    input.classList.add("svc-cell-input");
    input.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Escape") finish(null);
      if (event.key === "Enter" && !event.shiftKey && !event.defaultPrevented)
        finish({ row, name: c.name, value: input.read() });
      if (event.key === "Tab") {
        event.preventDefault();
        finish({ row, name: c.name, value: input.read() });
        edit(at, (column + (event.shiftKey ? columns.length - 1 : 1)) % columns.length);
      }
    });
    input.addEventListener("focusout", (event) => {
      if (editing && !input.contains(/** @type {Node | null} */ (event.relatedTarget)))
        finish({ row, name: c.name, value: input.read() });
    });
    return input;
  }

  /** @param {{row: T, name: string, value: any} | null} proposal */
  function finish(proposal) {
    editing = null;
    if (proposal) change?.(proposal.row, proposal.name, proposal.value);
    list.redraw();
    el.focus({ preventScroll: true });
  }

  /** Start editing a cell. @param {number} place @param {number} number */
  function edit(place, number) {
    const [row, c] = [rows[place], columns[number]];
    if (!row || !c) return;
    move(place, number);
    if (!c.input || !change) return open?.(row);
    editing = { key: keyOf(row), name: c.name };
    list.redraw();
    const input = list.rowAt(place)?.querySelector(".svc-cell-input");
    /** @type {HTMLElement | null} */ (
      input?.querySelector("input, select, textarea") ?? input ?? null
    )?.focus();
  }

  /** @param {number} place @param {number} [number] */
  function move(place, number = column) {
    if (editing) return;
    at = Math.max(0, Math.min(rows.length - 1, place));
    column = Math.max(0, Math.min(columns.length - 1, number));
    list.reveal(at);
    announceCell();
    if (rows[at]) select?.(rows[at]);
  }

  /** @param {number} place @param {number} number */
  const idOf = (place, number) => `${named}-${place}-${number}`;

  // The focus stays on the table, so the current cell must be announced.
  function announceCell() {
    setAttribute(el, "aria-activedescendant", rows[at] ? idOf(at, column) : null);
  }

  function show() {
    move(at);
  }

  /** @param {KeyboardEvent} event */
  function handleKey(event) {
    if (editing) return;
    const page = Math.floor(height / rowHeight) - 1;
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowDown: () => move(at + 1),
      ArrowUp: () => move(at - 1),
      PageDown: () => move(at + page),
      PageUp: () => move(at - page),
      ArrowRight: () => move(at, column + 1),
      ArrowLeft: () => move(at, column - 1),
      Home: () => move(0),
      End: () => move(rows.length - 1),
      Enter: () => edit(at, column),
      F2: () => edit(at, column),
      Delete: () => rows[at] && remove?.(rows[at]),
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
    event.preventDefault();
    event.stopPropagation();
    keys[event.key]();
  }

  return {
    el,
    edit,
    move,
    /** @param {T[]} next */
    show(next) {
      rows = next;
      at = Math.max(0, Math.min(at, rows.length - 1));
      setAttribute(el, "aria-rowcount", rows.length);
      list.show(rows);
      announceCell();
    },
    current: () => rows[at],
  };
}

/** A text control for a cell. @param {string} text @param {string} label */
export function textInput(text, label) {
  const el = h("input", { class: "input", type: "text", value: text, "aria-label": label });
  return Object.assign(el, { read: () => el.value });
}

/** A choice for a cell. @param {string} chosen @param {[string, string][]} choices @param {string} label */
export function choiceInput(chosen, choices, label) {
  const el = h(
    "select",
    { class: "input", "aria-label": label },
    choices.map(([value, text]) => h("option", { value, selected: value === chosen }, text)),
  );
  return Object.assign(el, { read: () => el.value });
}
