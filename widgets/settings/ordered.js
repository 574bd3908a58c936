// An ordered list of attributes or criteria, each with its modifier.

import { button, fill, h } from "../kit/dom.js";
import { drawCode } from "../kit/code_text.js";
import { sortableList } from "../kit/sortable.js";
import { SAME_AS_NONE, meaningOf, nameWithout, readEntry, typedEntry, writeEntry } from "./entries.js";

/** @typedef {import("./state.js").Row} Row */

/**
 * `change(entries)` is called with every change; `problem(entry)` describes the warning of an entry.
 * @param {{row: Row, entries: string[], known: string, suggest: string[], disabled: boolean,
 *   problem: (entry: string) => string, change: (entries: string[]) => void}} options
 */
export function orderedList({ row, entries, known, suggest, disabled, problem, change }) {
  let current = entries;
  const list = sortableList({
    items: current,
    label: row.name,
    keyOf: (entry) => entry,
    draw,
    change: acceptOrder,
    remove: (entry) => put(current.filter((other) => other !== entry)),
    disabled,
  });
  const input = h("input", {
    class: "input",
    type: "text",
    list: known,
    placeholder: row.choices.length ? "criterion, asc(a) or desc(a)…" : "attribute…",
    "aria-label": `${row.name}: add`,
    on: {
      keydown: (event) => {
        if (event.key !== "Enter") return;
        event.preventDefault();
        add(input.value);
      },
    },
  });
  const chips = h("div", { class: "row chips" });
  const adding = h("div", { class: "row" }, input, button("Add", () => add(input.value)), chips);
  adding.hidden = disabled;

  /** Accept an order that the list has already drawn. @param {string[]} next */
  function acceptOrder(next) {
    current = next;
    offer();
    change(next);
  }

  /** @param {string[]} next */
  function put(next) {
    redraw(next);
    change(next);
  }

  /** @param {string} text */
  function add(text) {
    const entry = typedEntry(text, row.around);
    if (!entry || current.includes(entry)) return;
    input.value = "";
    put([...current, entry]);
  }

  /** @param {string} entry */
  function draw(entry) {
    const parts = readEntry(entry, row.around);
    const warning = problem(entry);
    const sorts = row.name === "ranking" && !parts.around;
    return h(
      "span",
      { class: "entry" },
      h("bdi", { class: "entry-name", dir: "auto" }, parts.name),
      sorts ? null : around(entry, parts),
      h("span", { class: ["hint", warning ? "error-text warning" : ""] }, drawCode(warning || meaningOf(row.name, parts))),
      disabled
        ? null
        : button(`Remove ${entry}`, () => put(current.filter((other) => other !== entry)), {
            icon: "×",
            bare: true,
          }),
    );
  }

  /** @param {string} entry @param {{around: string, name: string}} parts */
  function around(entry, parts) {
    const choices = row.around.filter((word) => word !== SAME_AS_NONE && (word || row.name !== "ranking"));
    const chosen = parts.around === SAME_AS_NONE ? "" : parts.around;
    const select = h(
      "select",
      {
        class: ["input", "small"],
        "aria-label": `${parts.name}: modifier`,
        disabled,
        on: {
          change: () => {
            const next = writeEntry({ ...parts, around: select.value });
            put(current.map((other) => (other === entry ? next : other)));
          },
        },
      },
      choices.map((word) => h("option", { value: word, selected: word === chosen }, word || nameWithout(row.name))),
    );
    return select;
  }

  function offer() {
    const used = current.map((entry) => readEntry(entry, row.around).name);
    const left = suggest.filter((name) => !used.includes(name)).slice(0, 6);
    fill(
      chips,
      left.map((name) =>
        button(`Add ${name}`, () => add(name), { icon: `+ ${name}`, bare: true, class: ["button", "small"] }),
      ),
    );
  }

  /** Redraw the list; the focus stays at its place. @param {string[]} next */
  function redraw(next) {
    const active = document.activeElement;
    const at = [...list.el.querySelectorAll("li")].findIndex((item) => item.contains(active));
    current = next;
    list.show(next);
    offer();
    if (at < 0) return;
    const item = [...list.el.querySelectorAll("li")][Math.min(at, current.length - 1)];
    (active?.tagName === "SELECT" ? (item?.querySelector("select") ?? item) : item)?.focus();
  }

  /** @param {string[]} next @param {boolean} [force] */
  function show(next, force = false) {
    if (force || JSON.stringify(next) !== JSON.stringify(current)) redraw(next);
  }

  offer();
  return { el: h("div", { class: "ordered" }, list.el, adding), show, read: () => current };
}
