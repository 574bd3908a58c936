// Every search parameter: meaning, default and control.

import { button, field, fill, follow, h } from "../kit/dom.js";
import { tagInput } from "../kit/tags.js";

/** @typedef {{name: string, meaning: string, kind: string, choices: string[], default: any, effect: string}} Row */
/** @typedef {import("../kit/frame.js").Frame} Frame */

/** Whether every word of a text is in the name or meaning of a parameter. @param {Row} row @param {string} text */
export function fits(row, text) {
  const where = `${row.name} ${row.meaning}`.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => where.includes(word));
}

/** @param {Frame} view */
export function parameterPanel(view) {
  /** @type {Row[]} */
  let rows = [];
  const find = h("input", {
    class: "input",
    type: "search",
    placeholder: "Find a parameter by name or meaning…",
    "aria-label": "Find a parameter",
    on: { input: redraw },
  });
  const only = h("input", { type: "checkbox", on: { change: redraw } });
  const list = h("div", { class: "parameters" });
  const none = h("p", { class: "hint", hidden: true }, "No matching parameters");

  function redraw() {
    const value = view.value() ?? {};
    const shown = rows.filter((row) => fits(row, find.value) && (!only.checked || row.name in value));
    none.hidden = shown.length > 0 || !rows.length;
    follow(
      list,
      shown,
      (row) => row.name,
      (row, old) => drawRow(row, old, value[row.name]),
    );
  }

  /** @param {Row} row @param {HTMLElement | null} old @param {any} value */
  function drawRow(row, old, value) {
    const state = JSON.stringify(value) ?? "";
    if (old && (old.dataset.state === state || old.contains(document.activeElement))) {
      old.classList.toggle("svc-set", value !== undefined);
      return old;
    }
    const el = old ?? h("div", {});
    el.className = `svc-parameter${value === undefined ? "" : " svc-set"}`;
    el.dataset.state = state;
    const note =
      row.effect === "works"
        ? ""
        : row.effect === "later"
          ? " · no effect in the local service yet"
          : " · accepted, no effect here";
    fill(
      el,
      field(row.name, control(row, value), `${row.meaning}. Default: ${JSON.stringify(row.default)}${note}`),
      value === undefined
        ? null
        : button(`Unset ${row.name}`, () => put(row.name, undefined), { icon: "×", bare: true }),
    );
    return el;
  }

  /** @param {string} name @param {any} value */
  async function put(name, value) {
    const { [name]: _, ...rest } = view.value() ?? {};
    /** @type {HTMLElement | null} */ (list.querySelector(":focus"))?.blur();
    await view.propose(value === undefined ? rest : { ...rest, [name]: value });
  }

  /** @param {Row} row @param {any} value @returns {HTMLElement} */
  function control(row, value) {
    if (row.kind === "switch" || row.kind === "choice") return choice(row, value);
    if (row.kind === "words") return words(row, value);
    const text = value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
    const input = h("input", {
      class: "input",
      type: row.kind === "number" ? "number" : "text",
      value: text,
      placeholder: "not set",
      dir: "auto",
      on: {
        change: () => view.run("put", { name: row.name, text: input.value }),
      },
    });
    return input;
  }

  /** @param {Row} row @param {any} value */
  function choice(row, value) {
    const choices = row.kind === "switch" ? ["true", "false"] : row.choices;
    const select = h(
      "select",
      { class: "input", on: { change: () => view.run("put", { name: row.name, text: select.value }) } },
      h("option", { value: "" }, "not set"),
      choices.map((word) => h("option", { value: word, selected: String(value) === word }, word)),
    );
    return select;
  }

  /** @param {Row} row @param {any} value */
  function words(row, value) {
    const own = value === undefined ? [] : [value].flat().map(String);
    const input = tagInput({
      words: own,
      label: row.name,
      suggestions: row.choices,
      placeholder: own.length ? "add…" : "not set",
      change: (next) => {
        put(row.name, next.length ? next : undefined);
      },
    });
    return input;
  }

  async function load() {
    rows = (await view.run("parameters")) ?? [];
    redraw();
  }

  load();
  view.link.watch("value", redraw);
  return {
    el: h(
      "div",
      { class: "parameter-panel" },
      h("div", { class: "row" }, find, h("label", { class: "row hint" }, only, "Only modified")),
      list,
      none,
    ),
  };
}
