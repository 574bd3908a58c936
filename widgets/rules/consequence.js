// The consequence of a rule: pins, hidden records, query edits, filters, parameters, redirect, custom data.

import { offer } from "../curation/offer.js";
import { button, fill, field, freshId, h } from "../kit/dom.js";
import { tagInput } from "../kit/tags.js";
import { idsOf, listItem, listed, pinOf, withConsequence, withParam, withWords, wordsOf } from "./shape.js";

/** @typedef {import("../kit/frame.js").Frame} Frame */
/** @typedef {import("./form.js").Propose} Propose */
/** @typedef {import("./ideas.js").Ideas} Ideas */

// Parameters with their own controls in the form.
const OWN_CONTROLS = ["query", "filters", "automaticFacetFilters"];

/** @param {Frame} view @param {any} rule @param {Propose} propose @param {Ideas} known */
export function consequenceParts(view, rule, propose, known) {
  return [
    part("Pin records", "drag hits under Hits, or enter objectIDs", pins(rule, propose, known)),
    part("Hide records", "", hides(rule, propose), known.titles(hiddenOf(rule))),
    part("Change the query", "", ...query(rule, propose)),
    part("Filter", "", ...filters(rule, propose, known)),
    part("Set parameters", "", ...parameters(view, rule, propose)),
    part("Redirect or return custom data", "", ...others(rule, propose, known)),
  ];
}

/** @param {string} title @param {string} hint @param {...any} parts */
function part(title, hint, ...parts) {
  return h(
    "div",
    { class: "part", role: "group", "aria-label": title, data: { at: title } },
    h("h4", {}, title, hint ? h("span", { class: "hint" }, ` — ${hint}`) : null),
    ...parts,
  );
}

/** @param {any} rule @returns {string[]} */
const hiddenOf = (rule) => (rule.consequence.hide ?? []).map((/** @type {any} */ item) => item.objectID);

/** @param {any} rule @param {Propose} propose @param {Ideas} known */
function pins(rule, propose, known) {
  const own = rule.consequence.promote ?? [];
  /** @param {any} [pin] @param {number} [place] */
  const changeOf = (pin, place) => {
    const item = listItem(pin, place);
    return (/** @type {any} */ next) =>
      propose((now) => {
        const pins = item(now.consequence.promote, next);
        return withConsequence(now, "promote", pins?.toSorted((/** @type {any} */ a, /** @type {any} */ b) => a.position - b.position));
      });
  };
  const rows = own.map((/** @type {any} */ pin, /** @type {number} */ place) => {
    let now = pin;
    const put = changeOf(pin, place);
    const position = number(pin.position + 1, "Position", (to) => put((now = { ...now, position: to - 1 })));
    const ids = tagInput({
      words: idsOf(pin),
      label: `Records at ${pin.position + 1}`,
      commas: false,
      change: (words) => put(words.length ? (now = pinOf(words, now.position)) : undefined),
    });
    return h("div", { class: ["row", "pin"] }, h("span", { class: "hint" }, "at"), position, h("div", { class: "pinned-ids" }, ids, known.titles(idsOf(pin))));
  });
  const next = own.length ? own[own.length - 1].position + 1 : 0;
  const append = changeOf();
  const blank = tagInput({
    words: [],
    label: "Pin a record",
    placeholder: "objectID, then Enter…",
    commas: false,
    change: (words) => append(words.length ? pinOf(words, next) : undefined),
  });
  const strict = h("input", {
    type: "checkbox",
    on: { change: () => propose((now) => withConsequence(now, "filterPromotes", strict.checked || undefined)) },
  });
  strict.checked = Boolean(rule.consequence.filterPromotes);
  return h(
    "div",
    { class: "form" },
    ...rows,
    h("div", { class: ["row", "pin"] }, h("span", { class: "hint" }, `at ${next + 1}`), blank),
    own.length ? h("label", { class: "row" }, strict, "Only if they match the filters of the search") : null,
  );
}

/** @param {number} value @param {string} label @param {(value: number) => void} change */
function number(value, label, change) {
  const input = h("input", {
    class: ["input", "position"],
    type: "number",
    min: 1,
    step: 1,
    value: String(value),
    "aria-label": label,
    on: { change: () => Number.isInteger(input.valueAsNumber) && input.valueAsNumber > 0 && change(input.valueAsNumber) },
  });
  return input;
}

/** @param {any} rule @param {Propose} propose */
function hides(rule, propose) {
  return tagInput({
    words: hiddenOf(rule),
    label: "Hidden records",
    placeholder: "objectID, then Enter…",
    commas: false,
    change: (words) => propose((now) => withConsequence(now, "hide", listed(words.map((objectID) => ({ objectID }))))),
  });
}

/** @param {any} rule @param {Propose} propose */
function query(rule, propose) {
  const now = rule.consequence.params?.query;
  const how = now === undefined || now === null ? "" : typeof now === "string" ? "text" : "edits";
  /** @param {(query: any) => any} edit */
  const put = (edit) => propose((now) => withParam(now, "query", edit(now.consequence.params?.query)));
  const choice = h(
    "select",
    {
      class: "input",
      "aria-label": "Query edit",
      on: {
        change: () => {
          if (!choice.value) put(() => undefined);
          else fill(body, ...(choice.value === "text" ? wholeQuery("", put) : edits({}, put)));
        },
      },
    },
    [
      ["", "no change"],
      ["text", "replace the whole query"],
      ["edits", "remove or replace words"],
    ].map(([value, text]) => h("option", { value, selected: value === how }, text)),
  );
  const body = h("div", { class: "form" }, ...(how === "text" ? wholeQuery(now, put) : how ? edits(now, put) : []));
  return [choice, body];
}

/** @param {string} now @param {(edit: (query: any) => any) => void} put */
function wholeQuery(now, put) {
  const input = h("input", { class: "input", "aria-label": "New query", value: now, dir: "auto", on: { change: () => put(() => input.value) } });
  return [input];
}

/** @param {any} now @param {(edit: (query: any) => any) => void} put */
function edits(now, put) {
  const { removed, replaced } = wordsOf(now);
  const rows = [...replaced, undefined].map((edit, place) => {
    const item = listItem(edit, place);
    let isNew = !edit;
    const from = h("input", { class: "input", "aria-label": "Replace", placeholder: "replace…", value: edit?.delete ?? "", on: { change: readTyped } });
    const to = h("input", { class: "input", "aria-label": "By", placeholder: "by…", value: edit?.insert ?? "", on: { change: readTyped } });
    function readTyped() {
      const replacement = { type: "replace", delete: from.value.trim(), insert: to.value };
      if (isNew && !(replacement.delete && to.value.trim())) return;
      isNew = false;
      put((query) => {
        const now = wordsOf(query);
        return withWords(now, now.removed, item(now.replaced, replacement.delete ? replacement : undefined) ?? []);
      });
    }
    return h("div", { class: ["row", "edit-words"] }, from, "→", to);
  });
  const words = tagInput({
    words: removed,
    label: "Removed words",
    placeholder: "remove…",
    change: (words) =>
      put((query) => {
        const now = wordsOf(query);
        return withWords(now, words, now.replaced);
      }),
  });
  return [words, ...rows];
}

/** @param {any} rule @param {Propose} propose @param {Ideas} known */
function filters(rule, propose, known) {
  const params = rule.consequence.params ?? {};
  const text = h("input", {
    class: "input",
    value: params.filters ?? "",
    placeholder: "brand:Acme AND price < 50",
    on: { change: () => propose((now) => withParam(now, "filters", text.value.trim() || undefined)) },
  });
  const plain = (params.automaticFacetFilters ?? []).every((/** @type {any} */ one) => typeof one === "string");
  const facets = tagInput({
    words: plain ? (params.automaticFacetFilters ?? []) : [],
    label: "Automatic facet filters",
    placeholder: "facet, then Enter…",
    change: (words) => propose((now) => withParam(now, "automaticFacetFilters", listed(words))),
  });
  return [
    field("Filters", text),
    offer(text, known.filters),
    plain
      ? h("div", {}, h("span", { class: "label" }, "Automatic facet filters"), facets, offer(facets, known.facets))
      : h("p", { class: "hint" }, "The automatic filters have scores: edit them as JSON."),
  ];
}

/** @param {Frame} view @param {any} rule @param {Propose} propose */
function parameters(view, rule, propose) {
  const params = Object.entries(rule.consequence.params ?? {}).filter(([name]) => !OWN_CONTROLS.includes(name));
  const known = h("datalist", { id: freshId("parameters") });
  const name = h("input", { class: "input", list: known.id, "aria-label": "Parameter", placeholder: "parameter…", on: { focus: list, change: readTyped } });
  const value = h("input", { class: "input", "aria-label": "Its value", placeholder: "value…", on: { change: readTyped } });

  async function list() {
    if (known.children.length) return;
    const rows = (await view.run("describe_parameters")) ?? [];
    fill(known, rows.map((/** @type {any} */ row) => h("option", { value: row.name }, row.meaning)));
  }

  async function readTyped() {
    const [key, text] = [name.value.trim(), value.value];
    if (!key || !text.trim()) return;
    // Clear the controls, so that a redraw before the answer does not keep the text.
    name.value = value.value = "";
    if (!(await read(key, text)) && !name.value && !value.value) [name.value, value.value] = [key, text];
  }

  /** @param {string} key @param {string} text */
  async function read(key, text) {
    const found = await view.run("read_param", { name: key, text });
    if (found !== undefined) propose((now) => withParam(now, key, found));
    return found !== undefined;
  }

  const rows = params.map(([key, now]) => {
    const input = h("input", {
      class: "input",
      "aria-label": key,
      value: typeof now === "string" ? now : JSON.stringify(now),
      on: { change: () => (input.value.trim() ? read(key, input.value) : propose((now) => withParam(now, key, undefined))) },
    });
    return h(
      "div",
      { class: ["row", "param"] },
      h("code", { class: "param-name" }, key),
      input,
      button(`Unset ${key}`, () => propose((now) => withParam(now, key, undefined)), { icon: "×", bare: true }),
    );
  });
  return [...rows, h("div", { class: ["row", "param"] }, name, value, known)];
}

/** @param {any} rule @param {Propose} propose @param {Ideas} known */
function others(rule, propose, known) {
  const { redirect, userData } = rule.consequence;
  const redirectInput = h("input", {
    class: "input",
    value: redirect?.indexName ?? "",
    placeholder: "the same index",
    on: {
      change: () => {
        const indexName = redirectInput.value.trim();
        propose((now) => withConsequence(now, "redirect", indexName ? { indexName } : undefined));
      },
    },
  });
  const errorText = h("p", { class: "error-text", role: "status" });
  const data = h("textarea", {
    rows: 2,
    spellcheck: "false",
    on: {
      change: () => {
        try {
          fill(errorText);
          const value = data.value.trim() ? JSON.parse(data.value) : undefined;
          propose((now) => withConsequence(now, "userData", value));
        } catch (error) {
          fill(errorText, `Invalid JSON: ${error instanceof Error ? error.message : error}`);
        }
      },
    },
  });
  data.value = userData === undefined ? "" : JSON.stringify(userData, null, 1);
  return [field("Redirect to index", redirectInput), offer(redirectInput, known.indices), field("Custom data in the response (JSON)", data), errorText];
}
