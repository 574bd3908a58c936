// The parts that the synonym editor and the rule editor share: search, filters, counts, bulk edits.

import { drawCode } from "../kit/code_text.js";
import { button, fill, h } from "../kit/dom.js";
import { emptyState } from "../kit/empty.js";
import { frame } from "../kit/frame.js";
import { tabs } from "../kit/tabs.js";
import { exchange } from "./exchange.js";
import { impactPanel } from "./impact.js";
import { count, review, errorsOf } from "./review.js";

/** @typedef {{level: string, text: string, other?: string}} Fault */
/** A bulk edit: its name, its label, and its call for the shown objectIDs. */
/** @typedef {[string, string, (ids: string[]) => [string, Record<string, any>]]} Act */

/** @type {Act} */
const REMOVE = ["remove", "Delete", (ids) => ["remove", { ids }]];

/**
 * `name` is the plural noun of the objects, `one` the singular. A kind is a value, a label, and a test
 * of objects; `acts` are bulk edits of the shown objects.
 * @template T
 * @param {import("../types").Mount} mount
 * @param {{name: string, one: string, find: string, all: string, kinds: [string, string, (object: T) => any][],
 *   idOf: (object: T) => string, textOf: (object: T) => string, lines: (document: any) => string[],
 *   acts?: Act[], show: () => void}} options
 */
export function shell(mount, { name, one, find, all, kinds, idOf, textOf, lines, acts = [], show }) {
  const { model } = mount;
  const view = frame(mount, {
    named: name,
    keys: [
      ["/", `find ${name}`],
      ["↑ ↓", `among ${name}`],
      ["Enter", "edit"],
      ["Delete", "delete"],
    ],
    retry: "refresh",
    diff: () => review(view, model, lines, [one, name]),
    tools: [button("Reload", () => view.run("refresh"), { icon: "⟳", bare: true, title: "Reload the saved list; your changes stay" })],
  });
  /** @type {T[]} */
  let shown = [];
  /** @type {{focus: () => void}} */
  let table = { focus() {} };
  const box = h("input", {
    class: "input find",
    type: "search",
    placeholder: find,
    "aria-label": `Find ${name}`,
    on: {
      input: show,
      keydown: (event) => {
        if (event.key === "ArrowDown") (event.preventDefault(), table.focus());
      },
    },
  });
  const kind = h(
    "select",
    { class: "input", "aria-label": `Which ${name}`, on: { change: show } },
    [["", all], ...kinds, ["+changed", "changed"], ["+errors", "errors"], ["+faults", "errors and warnings"]].map(
      ([value, text]) => h("option", { value: String(value) }, String(text)),
    ),
  );
  const bulkEdits = [...acts, REMOVE];
  const bulk = button("Bulk edit…", editShown, { title: `Edit all ${name} that are shown` });
  const counts = h("div", { class: "row told", role: "status" });

  /** @param {string} id @returns {Fault[]} */
  const faultsOf = (id) => model.get("faults")?.[id] ?? [];

  /** @param {string} id @returns {string} */
  const changeOf = (id) => model.get("changes")?.[id] ?? "";

  /** @type {Record<string, (object: T) => any>} */
  const tests = {
    ...Object.fromEntries(kinds.map(([value, , test]) => [value, test])),
    "+changed": (object) => changeOf(idOf(object)),
    "+errors": (object) => errorsOf(faultsOf(idOf(object))),
    "+faults": (object) => faultsOf(idOf(object)).length,
  };

  async function editShown() {
    const ids = shown.map(idOf);
    if (!ids.length) return view.say(`No ${name} are shown.`);
    const many = `${ids.length.toLocaleString()} ${noun(ids.length)}`;
    const answer = await view.ask({
      title: `Edit ${many}`,
      body: "This is one undo step. Only the draft changes.",
      buttons: [["", "Cancel"], ...bulkEdits].map(([value, label]) => ({ name: String(value), label: String(label) })),
    });
    const [, text, call] = bulkEdits.find(([value]) => value === answer) ?? [];
    if (!call || (await view.run(...call(ids))) === undefined) return;
    view.say(`${text}: ${many}. Undo reverts it.`);
  }

  /** @param {string} value */
  function filterBy(value) {
    box.value = "";
    kind.value = value;
    show();
  }

  /** @param {number} number */
  const noun = (number) => (number === 1 ? one : name);

  /** A count that filters the list when it is pressed. @param {string} text @param {string} value @param {string} colour */
  const counted = (text, value, colour) =>
    button(text, () => filterBy(value), { class: ["button", "small", "bare", "count", colour], title: "Show these" });

  view.link.watch("state", (state) => {
    bulk.disabled = Boolean(state?.readOnly);
  });
  view.root.addEventListener("keydown", (event) => {
    if (event.key !== "/" || /** @type {HTMLElement} */ (event.target).matches("input, textarea, select")) return;
    event.preventDefault();
    panels?.open(name);
    box.focus();
  });
  /** @type {ReturnType<typeof tabs> | null} */
  let panels = null;

  return {
    view,
    faultsOf,
    changeOf,
    /** Return the objects that match the search. @param {T[]} objects */
    filter(objects) {
      const words = box.value.toLowerCase().split(/\s+/);
      const test = tests[kind.value] ?? (() => true);
      shown = objects.filter((object) => {
        const text = `${idOf(object)}\n${textOf(object)}`.toLowerCase();
        return words.every((word) => text.includes(word)) && test(object);
      });
      return shown;
    },
    /** Show the counts. @param {number} total */
    showCounts(total) {
      const changes = Object.values(model.get("changes") ?? {}).map((how) => ({ how }));
      const faults = /** @type {Fault[][]} */ (Object.values(model.get("faults") ?? {}));
      const errors = faults.filter((list) => errorsOf(list)).length;
      const warnings = faults.length - errors;
      fill(
        counts,
        h(
          "span",
          {},
          h("b", {}, shown.length.toLocaleString()),
          shown.length === total ? ` ${noun(total)}` : ` of ${total.toLocaleString()} ${noun(total)}`,
        ),
        shown.length === total ? null : counted("show all", "", ""),
        changes.length ? counted(count(changes), "+changed", "changed-text") : null,
        errors ? counted(`${errors} ${errors === 1 ? "error" : "errors"}`, "+errors", "error-text") : null,
        warnings ? counted(`${warnings} ${warnings === 1 ? "warning" : "warnings"}`, "+faults", "warning-text") : null,
      );
    },
    /** Draw the errors and warnings of an object; `see` selects the other object of a conflict. @param {string} id @param {(id: string) => void} see */
    drawFaults: (id, see) =>
      faultsOf(id).map(({ level, text, other }) =>
        h(
          "p",
          { class: level === "error" ? "error-text" : "warning-text" },
          level === "error" ? "✗ " : "⚠ ",
          drawCode(text),
          " ",
          other ? button(`See ${other}`, () => see(other), { class: ["button", "small", "bare"], title: null }) : null,
        ),
      ),
    /** Clear the search. */
    clear() {
      box.value = kind.value = "";
    },
    /**
     * What to do if no object is listed: clear the search, or begin as `first` says.
     * @param {number} total @param {import("../kit/empty.js").EmptyState} first @param {() => void} show
     */
    drawNone(total, first, show) {
      if (!total) return emptyState(first);
      return emptyState({
        title: `No ${one} matches the search.`,
        hint: `The index has ${total.toLocaleString()} ${noun(total)}.`,
        action: {
          label: "Clear the search",
          act: () => {
            this.clear();
            show();
          },
        },
      });
    },
    /**
     * Build the editor. @param {{list: {focus: () => void}, add: Node, body: Node[], title: string,
     *   impact: string, marked?: () => string, ideas?: import("../rules/ideas.js").Ideas}} parts
     */
    build({ list, add, body, title, impact, ...more }) {
      table = list;
      const impactTab = impactPanel(view, model, more);
      const form = h(
        "div",
        { class: "form" },
        h("div", { class: "row" }, box, kind, add, bulk, exchange(view, name)),
        counts,
        ...body,
      );
      panels = tabs({
        label: `${one[0].toUpperCase()}${one.slice(1)} editor`,
        panels: [
          { name, title, draw: () => form },
          { name: "impact", title: impact, draw: () => impactTab.el },
        ],
      });
      fill(view.body, panels.el);
    },
  };
}
