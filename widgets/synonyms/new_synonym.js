// The dialogs of new synonyms: one with its words, or a list of lines.

import { field, fill, h } from "../kit/dom.js";
import { splitWords, tagInput } from "../kit/tags.js";
import { KINDS, fromRow } from "./rows.js";

/** @typedef {import("../kit/frame.js").Frame} Frame */
/** @typedef {{line: number, text: string}} LineProblem */

const MAX_SHOWN_PROBLEMS = 5;

/**
 * Read a pasted list: `sofa, couch` is two-way, `tv => television, telly` is one-way. Empty lines and
 * lines that begin with # are skipped.
 * @param {string} text @returns {{synonyms: any[], problems: LineProblem[]}}
 */
export function readLines(text) {
  /** @type {any[]} */
  const synonyms = [];
  /** @type {LineProblem[]} */
  const problems = [];
  text.split(/\r?\n/).forEach((content, place) => {
    if (!content.trim() || content.trim().startsWith("#")) return;
    const [left, right, ...more] = content.split(/=>|→/);
    const inputs = [...new Set(splitWords(left))];
    const words = [...new Set(splitWords(right ?? ""))];
    const problem =
      more.length ? "more than one arrow"
      : right === undefined && inputs.length < 2 ? "fewer than two words"
      : right !== undefined && !(inputs.length && words.length) ? "no word on one side of the arrow"
      : "";
    if (problem) problems.push({ line: place + 1, text: problem });
    else if (right === undefined) synonyms.push({ type: "synonym", synonyms: inputs });
    else for (const input of inputs) synonyms.push({ type: "onewaysynonym", input, synonyms: words });
  });
  return { synonyms, problems };
}

/** Describe what a pasted list has. @param {ReturnType<typeof readLines>} read */
export function describeLines({ synonyms, problems }) {
  const oneWay = synonyms.filter(({ type }) => type === "onewaysynonym").length;
  const counts = [
    [synonyms.length - oneWay, "two-way"],
    [oneWay, "one-way"],
  ].flatMap(([number, name]) => (number ? [`${number.toLocaleString()} ${name}`] : []));
  const errors = problems.slice(0, MAX_SHOWN_PROBLEMS).map(({ line, text }) => `line ${line} has ${text}`);
  const more = problems.length - errors.length;
  return { found: counts.join(", ") || "No synonyms yet.", errors: [...errors, ...(more > 0 ? [`${more} more lines have errors`] : [])].join("; ") };
}

/** Ask for one synonym until it is complete; null if the dialog is cancelled. @param {Frame} view @returns {Promise<any>} */
export async function askSynonym(view) {
  const type = h(
    "select",
    { class: "input", "aria-label": "Type", on: { change: draw } },
    KINDS.map(({ name, title }) => h("option", { value: name }, title)),
  );
  const meaning = h("p", { class: "hint" });
  const head = h("input", { class: "input", dir: "auto" });
  const headField = field("For the word", head);
  const words = tagInput({ words: [], label: "Words", placeholder: "words, separated by commas…" });
  // Enter adds the typed words; only Enter in an empty field is the dialog's main button.
  words.addEventListener("keydown", (event) => {
    if (event.defaultPrevented) event.stopPropagation();
  });
  const problem = h("p", { class: "error-text", role: "alert" });
  const body = h(
    "div",
    { class: ["form", "new-synonym"] },
    h("div", { class: "row" }, h("span", { class: "label" }, "Type"), type),
    meaning,
    headField,
    h("div", {}, h("span", { class: "label" }, "Words"), words),
    problem,
  );
  const kind = () => KINDS.find(({ name }) => name === type.value) ?? KINDS[0];

  function draw() {
    fill(meaning, `${kind().meaning[0].toUpperCase()}${kind().meaning.slice(1)}.`);
    headField.hidden = !kind().members[0];
    if (!headField.hidden || !head.value.trim()) return;
    // A two-way synonym has no word of its own: it is one of the words.
    words.show([head.value.trim(), ...words.read()]);
    head.value = "";
  }

  draw();
  for (;;) {
    const answer = view.ask({
      title: "New synonym",
      body,
      buttons: [
        { name: "", label: "Cancel" },
        { name: "create", label: "Add synonym", main: true },
      ],
    });
    const [first] = kind().members;
    /** @type {HTMLElement | null} */ (first && !head.value ? head : words.querySelector("input"))?.focus();
    if ((await answer) !== "create") return null;
    const row = { id: "", type: type.value, head: kind().members[0] ? head.value.trim() : null, words: words.read() };
    const missing = findMissing(row);
    if (!missing) {
      const { objectID: _, ...synonym } = fromRow(row);
      return synonym;
    }
    fill(problem, missing);
  }
}

/** Describe what a typed synonym lacks; empty if it is complete. @param {import("./rows.js").Row} row */
export function findMissing({ head, words }) {
  if (head === "") return "Enter the word that the synonym is for.";
  if (head === null && words.length < 2) return "Enter at least two words, separated by commas.";
  return words.length ? "" : "Enter at least one word.";
}

/** Ask for a list of synonyms; null if the dialog is cancelled. @param {Frame} view @returns {Promise<any[] | null>} */
export async function askLines(view) {
  const text = h("textarea", {
    rows: 10,
    spellcheck: "false",
    "aria-label": "Synonyms, one per line",
    placeholder: "sofa, couch, settee\ntv => television, telly",
    dir: "auto",
    on: { input: draw },
  });
  const summary = h("p", { class: "hint", role: "status" });
  const problem = h("p", { class: "error-text", role: "alert" });

  function draw() {
    const { found, errors } = describeLines(readLines(text.value));
    fill(summary, found);
    fill(problem, errors ? `${errors[0].toUpperCase()}${errors.slice(1)}.` : null);
  }

  draw();
  for (;;) {
    const answer = await view.ask({
      title: "Paste a list of synonyms",
      body: h(
        "div",
        { class: "form" },
        h("p", { class: "hint" }, "One synonym per line, words separated by commas. ", h("code", {}, "a, b"), " is two-way, ", h("code", {}, "a => b, c"), " is one-way. Only the draft changes."),
        text,
        summary,
        problem,
      ),
      buttons: [
        { name: "", label: "Cancel" },
        { name: "add", label: "Add to the draft", main: true },
      ],
    });
    if (answer !== "add") return null;
    const { synonyms, problems } = readLines(text.value);
    if (synonyms.length && !problems.length) return synonyms;
    if (!synonyms.length && !problems.length) fill(problem, "Enter at least one line.");
  }
}
