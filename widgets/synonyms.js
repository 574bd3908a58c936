// The synonym editor: every synonym of an index in one table, and what the draft does to searches.

import { exchange } from "./curation/exchange.js";
import { impactPanel } from "./curation/impact.js";
import { count, review, wrongOnes } from "./curation/review.js";
import { button, fill, h } from "./kit/dom.js";
import { frame } from "./kit/frame.js";
import { choiceInput, editTable, textInput } from "./kit/table.js";
import { tabs } from "./kit/tabs.js";
import { tagInput } from "./kit/tags.js";
import { KINDS, fromRow, matches, say, toRow } from "./synonyms/rows.js";

/** @typedef {import("./synonyms/rows.js").Row} Row */

/** @param {import("./types").Mount} mount */
function render(mount) {
  const { model } = mount;
  /** @type {Row[]} */
  let rows = [];
  const view = frame(mount, {
    named: "synonyms",
    retry: "refresh",
    diff: () => review(view, model, (document) => [say(toRow(document))]),
    tools: [button("Reload", () => view.run("refresh"), { title: "Read what is saved; the draft's changes stay" })],
  });
  const find = h("input", {
    class: "input find",
    type: "search",
    placeholder: "Find words or objectIDs…",
    "aria-label": "Find synonyms",
    on: {
      input: show,
      keydown: (event) => {
        if (event.key === "ArrowDown") (event.preventDefault(), table.el.focus());
      },
    },
  });
  const kind = h(
    "select",
    { class: "input", "aria-label": "Which synonyms", on: { change: show } },
    h("option", { value: "" }, "all types"),
    KINDS.map(({ name, title }) => h("option", { value: name }, title)),
    h("option", { value: "+changed" }, "changed"),
    h("option", { value: "+faults" }, "with problems"),
  );
  const add = h(
    "select",
    {
      class: ["input", "add"],
      "aria-label": "Add a synonym",
      on: {
        change: () => {
          const type = add.value;
          add.value = "";
          append(type);
        },
      },
    },
    h("option", { value: "" }, "+ Add…"),
    KINDS.map(({ name, title, meaning }) => h("option", { value: name, title: meaning }, title)),
  );
  const told = h("div", { class: "row told", role: "status" });
  const problems = h("div", { class: "faults", "aria-live": "polite" });
  const table = editTable({
    label: "Synonyms",
    keyOf: (/** @type {Row} */ row) => row.id,
    height: 442,
    columns: [
      {
        name: "type",
        title: "Type",
        width: "minmax(96px, 146px)",
        text: (row) => KINDS.find((each) => each.name === row.type)?.title ?? row.type,
        input: (row) => choiceInput(row.type, KINDS.map(({ name, title }) => [name, title]), "Type"),
      },
      {
        name: "head",
        title: "For",
        text: (row) => row.head ?? "",
        draw: (row) => (row.head === null ? h("span", { class: "hint" }, "each other") : h("bdi", {}, row.head)),
        input: headInput,
      },
      { name: "words", title: "Words", width: "minmax(120px, 3fr)", text: wordsText, draw: drawWords, input: wordsInput },
      {
        name: "id",
        title: "objectID",
        width: "minmax(70px, 0.8fr)",
        text: (row) => row.id,
        draw: (row) => h("code", { class: "id-cell" }, row.id),
        input: (row) => textInput(row.id, "objectID"),
      },
    ],
    problem: (row) => wrongOnes(faultsOf(row)),
    mark: (row) => model.get("changes")?.[row.id] ?? (faultsOf(row).length ? "odd" : ""),
    change,
    remove: (row) => {
      if (!view.state()?.readOnly) view.run("remove", { ids: [row.id] });
    },
    select: drawProblems,
  });
  const impact = impactPanel(view, model);
  const list = h(
    "div",
    { class: "form" },
    h("div", { class: "row" }, find, kind, add, exchange(view, "synonyms")),
    told,
    table.el,
    problems,
    h("p", { class: "hint" }, "Arrow keys move, Enter edits, Tab goes on to the next cell, Delete removes."),
  );
  const panels = tabs({
    label: "Synonym editor",
    panels: [
      { name: "synonyms", title: "Synonyms", draw: () => list },
      { name: "impact", title: "Impact", draw: () => impact.el },
    ],
  });
  fill(view.body, panels.el);

  /** Cells are edited faster than answers come: a row is changed here, too. @param {Row} row @param {string} name @param {any} value */
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
    if (!(await view.run("put", { document: fromRow(next), id: row.id }))) take(view.value());
  }

  /** @param {any} value */
  function take(value) {
    rows = (value ?? []).map(toRow);
    show();
  }

  /** @param {Row} row */
  function faultsOf(row) {
    return /** @type {{level: string, text: string}[]} */ (model.get("faults")?.[row.id] ?? []);
  }

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

  /** @param {string} type */
  async function append(type) {
    if (!type || view.state()?.readOnly) return;
    find.value = "";
    kind.value = "";
    const { members } = /** @type {typeof KINDS[number]} */ (KINDS.find(({ name }) => name === type));
    const id = await view.run("put", { document: { type, [members[1]]: [], ...(members[0] ? { [members[0]]: "" } : {}) } });
    if (!id) return;
    show();
    const place = shown().findIndex((row) => row.id === id);
    table.edit(place, members[0] ? 1 : 2);
  }

  function shown() {
    const want = kind.value;
    return rows.filter(
      (row) =>
        matches(row, find.value) &&
        (!want ||
          row.type === want ||
          (want === "+changed" && model.get("changes")?.[row.id]) ||
          (want === "+faults" && faultsOf(row).length)),
    );
  }

  function show() {
    const some = shown();
    table.show(some);
    const changes = Object.values(model.get("changes") ?? {}).map((how) => ({ how }));
    const faults = Object.values(model.get("faults") ?? {});
    const wrong = faults.filter((list) => list.some((/** @type {any} */ fault) => fault.level === "wrong")).length;
    fill(
      told,
      h("span", {}, h("b", {}, some.length.toLocaleString()), some.length === rows.length ? ` ${noun(some.length)}` : ` of ${rows.length.toLocaleString()} ${noun(rows.length)}`),
      changes.length ? h("span", { class: "changed-text" }, count(changes)) : null,
      wrong ? h("span", { class: "wrong-text" }, `${wrong} to be mended before applying`) : null,
      faults.length - wrong ? h("span", { class: "hint" }, `${faults.length - wrong} odd`) : null,
    );
    const now = table.current();
    if (now) drawProblems(now);
    else fill(problems, rows.length ? "Nothing is like that." : "No synonyms yet: add one, or import a file.");
  }

  /** @param {Row} row */
  function drawProblems(row) {
    fill(
      problems,
      faultsOf(row).map(({ level, text }) =>
        h("p", { class: level === "wrong" ? "wrong-text" : "odd-text" }, level === "wrong" ? "✗ " : "⚠ ", text),
      ),
    );
  }

  view.link.watch("value", take);
  view.link.watch("faults", show);
  view.link.watch("changes", show);
  view.link.watch("state", (state) => {
    add.disabled = Boolean(state?.readOnly);
  });
  view.root.addEventListener("keydown", (event) => {
    if (event.key !== "/" || /** @type {HTMLElement} */ (event.target).matches("input, textarea, select")) return;
    event.preventDefault();
    panels.open("synonyms");
    find.focus();
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
    { class: "words" },
    row.words.map((word) => h("bdi", { class: ["word", !word.trim() && "empty"] }, word.trim() || "empty")),
  );
}

/** @param {number} number */
const noun = (number) => (number === 1 ? "synonym" : "synonyms");

export default { render };
