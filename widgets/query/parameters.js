// Every search parameter by group: meaning, default and control.

import { button, fill, freshId, h } from "../kit/dom.js";
import { noMatch } from "../kit/empty.js";
import { describeDefault, drawMeaning, fits, groupedRows } from "../kit/parameter_groups.js";
import { tagInput } from "../kit/tags.js";

/** @typedef {{name: string, meaning: string, kind: string, choices: string[], default: any, effect: string,
 *   group: string, scope: string}} Row */
/** @typedef {import("../kit/frame.js").Frame} Frame */

/** @param {Frame} view */
export function parameterPanel(view) {
  /** @type {Row[]} */
  let rows = [];
  const find = h("input", {
    class: "input",
    type: "search",
    placeholder: "Find a parameter by name or meaning…",
    "aria-label": "Find a parameter",
    on: { input: regroup },
  });
  const only = h("input", { type: "checkbox", on: { change: regroup } });
  const list = groupedRows({ label: "Parameters", draw: (/** @type {Row} */ row, old) => drawRow(row, old, current(row)) });
  /** @type {Set<string>} the parameters in the first section; they stay there until the rows are grouped again */
  let first = new Set();
  const none = noMatch("parameters", { find, only, show: regroup });

  /** @param {Row} row */
  const current = (row) => view.value()?.[row.name];

  function regroup() {
    first = new Set(rows.filter((row) => current(row) !== undefined).map((row) => row.name));
    redraw();
  }

  function redraw() {
    const text = find.value.trim();
    const shown = rows.filter((row) => fits(row, text) && (!only.checked || current(row) !== undefined));
    none.hidden = shown.length > 0 || !rows.length;
    list.show(shown, first, Boolean(text) || only.checked);
  }

  /** @param {Row} row @param {HTMLElement | null} old @param {any} value */
  function drawRow(row, old, value) {
    const state = JSON.stringify(value) ?? "";
    if (old && (old.dataset.state === state || old.contains(document.activeElement))) {
      old.classList.toggle("svc-set", value !== undefined);
      return old;
    }
    const fallback = describeDefault(row.default);
    const change = {
      put: (/** @type {any} */ next) => put(row.name, next),
      type: (/** @type {string} */ text) => view.run("put", { name: row.name, text }),
    };
    const unset = button(`Unset ${row.name}`, () => put(row.name, undefined), { icon: "×", bare: true });
    return drawParameter(row, old, value, {
      change,
      about: drawMeaning(row, fallback.text, fallback.isCode),
      remove: value === undefined ? null : unset,
    });
  }

  /** @param {string} name @param {any} value */
  async function put(name, value) {
    const { [name]: _, ...rest } = view.value() ?? {};
    /** @type {HTMLElement | null} */ (list.el.querySelector(":focus"))?.blur();
    await view.propose(value === undefined ? rest : { ...rest, [name]: value });
  }

  async function load() {
    rows = (await view.run("describe_parameters")) ?? [];
    regroup();
  }

  load();
  view.link.watch("value", () => list.el.isConnected && redraw());
  return {
    el: h(
      "div",
      { class: "parameter-panel" },
      h("div", { class: "row" }, find, h("label", { class: "row hint" }, only, "Only modified")),
      list.el,
      none,
    ),
    regroup,
  };
}

/**
 * Draw a parameter with its control, its meaning and the button that removes it.
 * @param {Row} row @param {HTMLElement | null} old @param {any} value
 * @param {{change: Parameters<typeof parameterControl>[2], about: any, remove: HTMLElement | null}} parts
 */
export function drawParameter(row, old, value, { change, about, remove }) {
  const el = old ?? h("div", {});
  el.className = `svc-parameter${value === undefined ? "" : " svc-set"}`;
  el.dataset.state = JSON.stringify(value) ?? "";
  const input = parameterControl(row, value, change);
  input.id ||= freshId("parameter");
  const hint = h("span", { class: "hint", id: freshId("hint") }, about);
  input.setAttribute("aria-describedby", hint.id);
  const label = h("label", { for: input.id }, h("code", { class: "inline-code" }, row.name));
  fill(el, h("div", { class: "field" }, label, input, hint), remove);
  return el;
}

/**
 * The control of a parameter. `put` gets a value, undefined to unset it, and `type` a typed text.
 * @param {Row} row @param {any} value
 * @param {{put: (value: any) => void, type: (text: string) => void}} change
 * @returns {HTMLElement}
 */
export function parameterControl(row, value, { put, type }) {
  if (row.kind === "switch" || row.kind === "choice") {
    const choices = row.kind === "switch" ? ["true", "false"] : row.choices;
    const select = h(
      "select",
      { class: "input", on: { change: () => type(select.value) } },
      h("option", { value: "" }, "not set"),
      choices.map((word) => h("option", { value: word, selected: String(value) === word }, word)),
    );
    return select;
  }
  if (row.kind === "words") {
    const own = value === undefined || value === null ? [] : [value].flat().map(String);
    return tagInput({
      words: own,
      label: row.name,
      suggestions: row.choices,
      placeholder: own.length ? "add…" : "not set",
      change: (next) => put(next.length ? next : undefined),
    });
  }
  const text = value === undefined || value === null ? "" : typeof value === "string" ? value : JSON.stringify(value);
  const input = h("input", {
    class: "input",
    type: row.kind === "number" ? "number" : "text",
    value: text,
    placeholder: "not set",
    dir: "auto",
    on: { change: () => type(input.value) },
  });
  return input;
}
