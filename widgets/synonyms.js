// The synonym editor: all synonyms of an index in one table, and the impact of the draft.

import { errorsOf } from "./curation/review.js";
import { shell } from "./curation/shell.js";
import { button, fill, h } from "./kit/dom.js";
import { choiceInput, editTable, textInput } from "./kit/table.js";
import { tagInput } from "./kit/tags.js";
import { askLines, askSynonym } from "./synonyms/new_synonym.js";
import { KINDS, fromRow, describeRow, toRow } from "./synonyms/rows.js";

/** @typedef {import("./synonyms/rows.js").Row} Row */

/** @param {import("./types").Mount} mount */
function render(mount) {
  /** @type {Row[]} */
  let rows = [];
  const { view, ...shared } = shell(mount, {
    name: "synonyms",
    one: "synonym",
    find: "Find words or objectIDs…",
    all: "all types",
    kinds: KINDS.map(({ name, title }) => [name, title, (/** @type {Row} */ row) => row.type === name]),
    idOf: (row) => row.id,
    textOf: (row) => [row.head ?? "", ...row.words].join("\n"),
    lines: (document) => [describeRow(toRow(document))],
    show,
  });
  const add = button("New synonym…", create, { icon: "+" });
  const paste = button("Paste a list…", pasteList, { title: "Add many synonyms, one per line" });
  const problems = h("div", { class: "faults", "aria-live": "polite" });
  const table = editTable({
    label: "Synonyms",
    keyOf: (/** @type {Row} */ row) => row.id,
    height: 442,
    columns: [
      {
        name: "type",
        title: "Type",
        width: "minmax(78px, 146px)",
        text: (row) => KINDS.find((each) => each.name === row.type)?.title ?? row.type,
        input: (row) => choiceInput(row.type, KINDS.map(({ name, title }) => [name, title]), "Type"),
      },
      {
        name: "head",
        title: "For",
        width: "minmax(72px, 1fr)",
        text: (row) => row.head ?? "",
        draw: (row) => (row.head === null ? h("span", { class: "hint" }, "each other") : h("bdi", {}, row.head)),
        input: headInput,
      },
      { name: "words", title: "Words", width: "minmax(112px, 3fr)", text: wordsText, draw: drawWords, input: wordsInput },
      {
        name: "id",
        title: "objectID",
        width: "minmax(58px, 0.8fr)",
        text: (row) => row.id,
        draw: (row) => h("code", { class: "id-cell" }, row.id),
        input: (row) => textInput(row.id, "objectID"),
      },
    ],
    problem: (row) => errorsOf(faultsOf(row)),
    mark: (row) => shared.changeOf(row.id) || (faultsOf(row).length ? "warning" : ""),
    change,
    remove: (row) => {
      if (!view.state()?.readOnly) view.run("remove", { ids: [row.id] });
    },
    select: drawProblems,
  });
  shared.build({
    list: table.el,
    add: h("span", { class: "row" }, add, paste),
    body: [table.el, problems, h("p", { class: "hint" }, "Arrow keys move, Enter edits, Tab edits the next cell, Delete removes.")],
    title: "Synonyms",
    impact: "Impact",
  });

  /** Change a row here as well, because cells can be edited before an answer arrives. @param {Row} row @param {string} name @param {any} value */
  async function change(row, name, value) {
    const place = rows.findIndex((other) => other.id === row.id);
    const now = rows[place] ?? row;
    const same = JSON.stringify(value) === JSON.stringify(now[/** @type {keyof Row} */ (name)]);
    if (view.state()?.readOnly || value === null || same) return;
    const next = toRow(fromRow({ ...now, [name]: value }));
    if (place >= 0 && next.id === row.id) {
      rows = rows.with(place, next);
      show();
    }
    if (!(await view.run("put", { document: fromRow(next), id: row.id }))) showValue(view.value());
  }

  /** @param {any} value */
  function showValue(value) {
    rows = (value ?? []).map(toRow);
    show();
  }

  /** @param {Row} row */
  const faultsOf = (row) => shared.faultsOf(row.id);

  /** @param {Row} row */
  function headInput(row) {
    if (row.head !== null) return textInput(row.head, "The word that is replaced");
    const el = h("input", { class: "input", type: "text", value: "each other", readonly: true, "aria-label": "Two-way" });
    return Object.assign(el, { read: () => null });
  }

  /** @param {Row} row */
  function wordsInput(row) {
    const single = row.type.startsWith("altcorrection");
    return tagInput({
      words: row.words,
      label: "Words",
      problem: (word) => (single && /\s/.test(word.trim()) ? "corrections are single words" : ""),
    });
  }

  async function create() {
    const synonym = await askSynonym(view);
    if (!synonym) return;
    shared.clear();
    const id = await view.run("put", { document: synonym });
    if (id) selectRow(id);
  }

  async function pasteList() {
    const synonyms = await askLines(view);
    if (!synonyms) return;
    shared.clear();
    const ids = await view.run("put_all", { documents: synonyms });
    if (!ids) return;
    selectRow(ids[0]);
    view.say(`${ids.length.toLocaleString()} ${ids.length === 1 ? "synonym" : "synonyms"} added. Undo reverts it.`);
  }

  function show() {
    table.show(shared.filter(rows));
    shared.showCounts(rows.length);
    const now = table.current();
    if (now) drawProblems(now);
    else fill(problems, drawNone());
  }

  /** What to do without a synonym in sight. */
  function drawNone() {
    return shared.drawNone(rows.length, {
      title: "No synonyms yet.",
      hint: "A synonym lets a query find records that have another word: sofa finds couch. Import a file or paste a list to add many.",
      action: { label: "New synonym…", act: create, disabled: Boolean(view.state()?.readOnly) },
    }, show);
  }

  /** @param {Row} row */
  function drawProblems(row) {
    fill(problems, shared.drawFaults(row.id, selectRow));
  }

  /** @param {string} id */
  function selectRow(id) {
    shared.clear();
    show();
    table.move(rows.findIndex((row) => row.id === id));
    table.el.focus();
  }

  view.link.watch("value", showValue);
  view.link.watch("faults", show);
  view.link.watch("changes", show);
  view.link.watch("state", (state) => {
    add.disabled = paste.disabled = Boolean(state?.readOnly);
  });
  return () => view.close();
}

/** @param {Row} row */
const wordsText = (row) => row.words.join(", ");

/** @param {Row} row */
function drawWords(row) {
  if (!row.words.length) return h("span", { class: "hint" }, "no words yet");
  return h(
    "span",
    { class: "words", title: wordsText(row) },
    row.words.map((word) => h("bdi", { class: ["word", !word.trim() && "empty"] }, word.trim() || "empty")),
  );
}

export default { render };
