// The dialog of a new rule: when it applies, and a template of what it does.

import { field, fill, h } from "../kit/dom.js";
import { plainText } from "../kit/highlight.js";
import { debounce } from "../kit/timing.js";
import { WHEN, fromCard, toCard } from "./shape.js";

/** @typedef {import("../kit/frame.js").Frame} Frame */
/** @typedef {Record<string, string>} Values the typed texts by field */
/** @typedef {{name: string, label: string, hint?: string, placeholder?: string, optional?: boolean, kind?: "record" | "position" | "index"}} TemplateField */
/** @typedef {{name: string, title: string, fields: TemplateField[], consequence: (values: Values) => any}} Template */

/** The choice that a rule without a pattern needs. */
const ALWAYS = "always";

/** @type {Template[]} */
export const TEMPLATES = [
  { name: "", title: "Choose in the form", fields: [], consequence: () => ({}) },
  {
    name: "pin",
    title: "Pin a record",
    fields: [
      { name: "record", label: "Record", kind: "record", placeholder: "objectID, or words to find it" },
      { name: "position", label: "Position", kind: "position" },
    ],
    consequence: ({ record, position }) => ({ promote: [{ objectID: record, position: Number(position || 1) - 1 }] }),
  },
  {
    name: "hide",
    title: "Hide a record",
    fields: [{ name: "record", label: "Record", kind: "record", placeholder: "objectID, or words to find it" }],
    consequence: ({ record }) => ({ hide: [{ objectID: record }] }),
  },
  {
    name: "boost",
    title: "Boost records",
    fields: [{ name: "filter", label: "Records with", placeholder: "brand:Acme", hint: "A facet and a value; their records rank higher." }],
    consequence: ({ filter }) => ({ params: { optionalFilters: [filter] } }),
  },
  {
    name: "replace",
    title: "Replace a word",
    fields: [
      { name: "from", label: "Word", placeholder: "a word of the query" },
      { name: "to", label: "Replacement", placeholder: "searched instead" },
    ],
    consequence: ({ from, to }) => ({ params: { query: { edits: [{ type: "replace", delete: from, insert: to }] } } }),
  },
  {
    name: "banner",
    title: "Show a banner",
    fields: [
      { name: "text", label: "Text", placeholder: "Free delivery this week" },
      { name: "link", label: "Link", placeholder: "https://…", optional: true, hint: "Both are in the response as custom data." },
    ],
    consequence: ({ text, link }) => ({ userData: { banner: text, ...(link && { link }) } }),
  },
  {
    name: "redirect",
    title: "Redirect to a page",
    fields: [{ name: "url", label: "Address", placeholder: "https://…", hint: "In the response as `renderingContent.redirect.url`." }],
    consequence: ({ url }) => ({ params: { renderingContent: { redirect: { url } } } }),
  },
  {
    name: "index",
    title: "Redirect to another index",
    fields: [{ name: "index", label: "Index", kind: "index" }],
    consequence: ({ index }) => ({ redirect: { indexName: index } }),
  },
];

/**
 * A new rule from the dialog's input, or the text of what is missing.
 * @param {{when: string, pattern: string, template: Template, values: Values}} input
 * @returns {{rule?: any, problem?: string}}
 */
export function makeRule({ when, pattern, template, values }) {
  const condition = when === ALWAYS ? null : fromCard({ ...toCard({}), when, pattern });
  if (when !== ALWAYS && !condition)
    return { problem: "Enter the words of the query. For a rule without words, choose “every search (always)”." };
  const empty = template.fields.find(({ name, optional, kind }) => !optional && kind !== "position" && !values[name]?.trim());
  if (empty) return { problem: `Enter a value for “${empty.label}”.` };
  const trimmed = Object.fromEntries(Object.entries(values).map(([name, text]) => [name, text.trim()]));
  if (trimmed.position && !/^[1-9]\d*$/.test(trimmed.position)) return { problem: "The position is a whole number, 1 for the first." };
  return { rule: { ...(condition && { conditions: [condition] }), consequence: template.consequence(trimmed) } };
}

/**
 * Ask for a new rule until the input is complete; null if the dialog is cancelled.
 * @param {Frame} view @param {() => string[]} indices @returns {Promise<any>}
 */
export async function askRule(view, indices) {
  const when = h(
    "select",
    { class: "input", "aria-label": "How the query matches", on: { change: drawWhen } },
    [...WHEN.filter(([value]) => value !== "any"), [ALWAYS, "every search (always)"]].map(([value, text]) =>
      h("option", { value, selected: value === "is" }, text),
    ),
  );
  const pattern = h("input", { class: ["input", "pattern"], "aria-label": "Pattern", placeholder: "words", dir: "auto" });
  const choice = h(
    "select",
    { class: "input", "aria-label": "What the rule does", on: { change: drawFields } },
    TEMPLATES.map(({ name, title }) => h("option", { value: name }, title)),
  );
  const fields = h("div", { class: "template-fields" });
  const problem = h("p", { class: "error-text", role: "alert" });
  const body = h(
    "div",
    { class: ["form", "new-rule"] },
    h("div", { class: "row" }, h("span", { class: "label" }, "When"), when, pattern),
    h("div", { class: "row" }, h("span", { class: "label" }, "Then"), choice),
    fields,
    problem,
  );
  /** @type {Values} */
  const values = {};
  choice.value = "";

  function drawWhen() {
    pattern.hidden = ["empty", ALWAYS].includes(when.value);
  }

  const template = () => TEMPLATES.find(({ name }) => name === choice.value) ?? TEMPLATES[0];

  function drawFields() {
    fill(fields, template().fields.map((each) => drawField(view, each, values, indices)));
  }

  for (;;) {
    const answer = view.ask({
      title: "New rule",
      body,
      buttons: [
        { name: "", label: "Cancel" },
        { name: "create", label: "Create rule", main: true },
      ],
    });
    (pattern.hidden || pattern.value ? when : pattern).focus();
    if ((await answer) !== "create") return null;
    const made = makeRule({ when: when.value, pattern: pattern.value, template: template(), values });
    if (made.rule) return made.rule;
    fill(problem, made.problem ?? "");
  }
}

/** @param {Frame} view @param {TemplateField} spec @param {Values} values @param {() => string[]} indices */
function drawField(view, { name, label, hint, placeholder, kind, optional }, values, indices) {
  const known = h("datalist", { id: `svc-template-${name}` });
  const input = h("input", {
    class: "input",
    type: kind === "position" ? "number" : "text",
    min: kind === "position" ? 1 : null,
    value: values[name] ?? (kind === "position" ? "1" : ""),
    placeholder: placeholder ?? null,
    dir: "auto",
    list: kind === "record" || kind === "index" ? known.id : null,
    on: {
      input: () => {
        values[name] = input.value;
        if (kind === "record") find(input.value);
      },
    },
  });
  const find = debounce(async (/** @type {string} */ text) => {
    const hits = text.trim() ? ((await view.run("find", { query: text })) ?? []) : [];
    fill(known, hits.map((/** @type {any} */ hit) => h("option", { value: hit.id }, plainText(hit.title) || hit.id)));
  }, 200);
  if (kind === "index") fill(known, indices().map((index) => h("option", { value: index })));
  return h("div", {}, field(optional ? `${label} (optional)` : label, input, hint), known);
}
