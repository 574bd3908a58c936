// The form of a second search, and its comparison with the current one.

import { drawCode } from "../kit/code_text.js";
import { button, fill, follow, freshId, h } from "../kit/dom.js";
import { drawComparison } from "./compare.js";
import { drawParameter } from "./parameters.js";

/** @typedef {import("../kit/frame.js").Frame} Frame */
/** @typedef {import("./parameters.js").Row} Row */
/** @typedef {import("./compare.js").Comparison} Comparison */

/** @param {Frame} view */
export function comparePanel(view) {
  /** @type {Row[]} */
  let rows = [];
  /** @type {Record<string, any>} the parameters and settings of the other search */
  let other = {};
  const index = h("input", {
    class: "input",
    type: "text",
    placeholder: "the same index",
    id: freshId("index"),
    on: { change: () => comparisons && compare() },
  });
  const query = h("input", {
    class: "input",
    type: "text",
    placeholder: "the typed query",
    id: freshId("query"),
    dir: "auto",
    on: { change: () => put("query", query.value || undefined) },
  });
  const known = h("datalist", { id: freshId("known") });
  const adding = h("input", {
    class: "input",
    type: "text",
    list: known.id,
    placeholder: "Add a parameter or setting…",
    "aria-label": "Add a parameter or setting",
    on: {
      keydown: (event) => {
        if (event.key !== "Enter") return;
        event.preventDefault();
        add();
      },
      // A name that is picked from the list needs no Enter. Browsers mark typed characters as such.
      input: (event) => {
        const { inputType } = /** @type {InputEvent} */ (event);
        if (inputType === undefined || inputType === "insertReplacementText") add();
      },
    },
  });
  const form = h("div", { class: "group-rows compared" });
  const area = h("textarea", {
    rows: 5,
    spellcheck: "false",
    "aria-label": "The other search as JSON",
    // Read at each key: a form that grows on `change` would move the button that is being clicked.
    on: { input: readArea, change: redraw },
  });
  const result = h("div", { class: "comparison" });
  const notice = h("div", { class: "compare-note", role: "status" });
  const errorText = h("p", { class: "error-text", role: "alert" });
  /** @type {string[]} members that are in the form without a value */
  let added = [];
  let jsonError = "";
  let comparisons = 0;
  useCurrent();

  // Without a query, the other search uses the query that is typed above.
  function useCurrent() {
    const { query: _, ...rest } = view.value() ?? {};
    [other, added, jsonError] = [rest, [], ""];
    fill(errorText);
    redraw();
  }

  async function add() {
    const name = adding.value.trim();
    await loaded; // a name may be typed before the list is there
    const row = rows.find((one) => one.name === name);
    fill(errorText, name && !row ? `Not a search parameter or setting: ${name}. Choose one from the list.` : null);
    if (!row) return;
    if (adding.value.trim() === name) adding.value = "";
    if (!(name in other) && !added.includes(name)) added = [...added, name];
    redraw();
    const box = [...form.children].find((el) => /** @type {HTMLElement} */ (el).dataset.key === name);
    /** @type {HTMLElement | null | undefined} */ (box?.querySelector("input, select"))?.focus();
  }

  /** @param {string} name @param {any} value */
  function put(name, value) {
    const { [name]: _, ...rest } = other;
    if (value === undefined && name !== "query") added = [...new Set([...added, name])];
    other = value === undefined ? rest : { ...rest, [name]: value };
    redraw();
    if (comparisons || value !== undefined) compare();
  }

  /** @param {string} name @param {string} text */
  async function type(name, text) {
    const value = text.trim() ? await view.run("read", { name, text }) : undefined;
    if (value !== undefined || !text.trim()) put(name, value);
  }

  /** @param {string} name */
  function remove(name) {
    added = added.filter((one) => one !== name);
    put(name, undefined);
    added = added.filter((one) => one !== name);
    redraw();
  }

  function readArea() {
    try {
      const value = JSON.parse(area.value || "{}");
      if (value === null || typeof value !== "object" || Array.isArray(value)) throw new Error("Enter a JSON object: { … }");
      [other, added, jsonError] = [value, [], ""];
      drawForm();
    } catch (error) {
      jsonError = String(error instanceof Error ? error.message : error);
    }
    area.setAttribute("aria-invalid", jsonError ? "true" : "false");
    fill(errorText, jsonError);
  }

  function redraw() {
    if (!jsonError) area.value = JSON.stringify(other, null, 2);
    drawForm();
  }

  function drawForm() {
    query.value = other.query ?? "";
    const names = [...new Set([...Object.keys(other), ...added])].filter((name) => name !== "query");
    const shown = rows.filter((row) => names.includes(row.name));
    form.hidden = !shown.length;
    follow(form, shown, (row) => row.name, drawRow);
    fill(
      known,
      rows.filter((row) => !names.includes(row.name)).map((row) => h("option", { value: row.name }, row.group)),
    );
  }

  /** @param {Row} row @param {HTMLElement | null} old */
  function drawRow(row, old) {
    const state = JSON.stringify(other[row.name]) ?? "";
    if (old && old.dataset.state === state) return old;
    const change = {
      put: (/** @type {any} */ value) => put(row.name, value),
      type: (/** @type {string} */ text) => type(row.name, text),
    };
    const gone = button(`Remove ${row.name}`, () => remove(row.name), { icon: "×", bare: true });
    return drawParameter(row, old, other[row.name], { change, about: drawCode(row.meaning), remove: gone });
  }

  /** @param {boolean} [mayCopy] whether the index may be copied to try settings */
  async function compare(mayCopy = false) {
    const number = ++comparisons;
    if (jsonError) return fill(result);
    fill(errorText);
    const value = withQuery(other, view.value()?.query);
    const args = { index: index.value.trim(), value, may_copy: mayCopy };
    const found = await view.run("compare", args, { long: mayCopy });
    // A failed search clears the previous result.
    if (number !== comparisons) return;
    drawNotice(found);
    fill(result, found?.sides ? drawComparison(nameSides(found)) : null);
  }

  /** @param {{needs: string[], copy: string} | undefined} found */
  function drawNotice(found) {
    const names = (found?.needs ?? []).flatMap((name, place) => [place ? ", " : "", h("code", { class: "inline-code" }, name)]);
    fill(
      notice,
      names.length
        ? h(
            "p",
            { class: "missing" },
            "Not a search parameter: ",
            names,
            ". To compare it, the index is copied with its records; the index itself does not change. ",
            button("Compare on a copy", () => compare(true), { class: ["button", "small"] }),
          )
        : found?.copy
          ? h(
              "p",
              { class: "hint" },
              "The copy ",
              h("code", { class: "inline-code" }, found.copy),
              " is deleted when the editor closes. ",
              button("Delete the copy", dropCopy, { class: ["button", "small"] }),
            )
          : null,
    );
  }

  async function dropCopy() {
    await view.run("drop_copy");
    fill(notice);
    fill(result);
    comparisons = 0;
  }

  async function load() {
    rows = (await view.run("describe_parameters", { settings: true })) ?? [];
    redraw();
  }

  const loaded = load();
  view.link.watch("answer", () => {
    if (comparisons && result.isConnected) compare();
  });
  return {
    el: h(
      "div",
      { class: "compare" },
      h(
        "p",
        { class: "hint" },
        "Compares the current search with another one: other parameters, other settings, another index.",
      ),
      h(
        "div",
        { class: "row compare-places" },
        h("div", { class: "field" }, h("label", { for: index.id }, "Index"), index),
        h("div", { class: "field" }, h("label", { for: query.id }, "Query"), query),
      ),
      form,
      known,
      h("div", { class: "row" }, adding, button("Add", add)),
      h("details", { class: "compare-json" }, h("summary", {}, "The other search as JSON"), area),
      errorText,
      h(
        "div",
        { class: "row" },
        button("Compare", () => compare(), { class: ["button", "main"] }),
        button("Use current search", useCurrent),
      ),
      notice,
      result,
    ),
  };
}

/** Head each column by what differs. @param {any} found @returns {Comparison} */
const nameSides = (found) => ({
  ...found,
  sides: found.sides.map((/** @type {{name: string}} */ side) => ({ ...side, index: side.name })),
});

/** Add the typed query to search parameters without a query. @param {any} value @param {string | undefined} query */
export function withQuery(value, query) {
  const plain = value !== null && typeof value === "object" && !Array.isArray(value);
  return plain && query && !("query" in value) ? { query, ...value } : value;
}
