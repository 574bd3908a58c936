// What the synonym editor and the rule editor have around their lists: search, kinds, counts, all at once.

import { button, fill, h } from "../kit/dom.js";
import { frame } from "../kit/frame.js";
import { tabs } from "../kit/tabs.js";
import { exchange } from "./exchange.js";
import { impactPanel } from "./impact.js";
import { count, review, wrongOnes } from "./review.js";

/** @typedef {{level: string, text: string, other?: string}} Fault */
/** What is done to all that are shown: its name, its words, and the call it is. */
/** @typedef {[string, string, (ids: string[]) => [string, Record<string, any>]]} Act */

/** @type {Act} */
const REMOVE = ["remove", "Delete", (ids) => ["remove", { ids }]];

/**
 * `name` is what the list holds, and `one` of it. A kind is a value, its words, and which objects are of it;
 * `act` does something to all that are shown.
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
    retry: "refresh",
    diff: () => review(view, model, lines),
    tools: [button("Reload", () => view.run("refresh"), { title: "Read what is saved; the draft's changes stay" })],
  });
  /** @type {T[]} */
  let some = [];
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
    [["", all], ...kinds, ["+changed", "changed"], ["+wrong", "to be mended"], ["+faults", "with problems"]].map(
      ([value, text]) => h("option", { value: String(value) }, String(text)),
    ),
  );
  const doing = [...acts, REMOVE];
  const bulk = button("All shown…", perform, { title: `Do something with all ${name} that are shown` });
  const told = h("div", { class: "row told", role: "status" });

  /** @param {string} id @returns {Fault[]} */
  const faultsOf = (id) => model.get("faults")?.[id] ?? [];

  /** @param {string} id @returns {string} */
  const changeOf = (id) => model.get("changes")?.[id] ?? "";

  /** @type {Record<string, (object: T) => any>} */
  const tests = {
    ...Object.fromEntries(kinds.map(([value, , test]) => [value, test])),
    "+changed": (object) => changeOf(idOf(object)),
    "+wrong": (object) => wrongOnes(faultsOf(idOf(object))),
    "+faults": (object) => faultsOf(idOf(object)).length,
  };

  async function perform() {
    const ids = some.map(idOf);
    if (!ids.length) return view.say(`No ${name} are shown.`);
    const many = `${ids.length.toLocaleString()} ${noun(ids.length)}`;
    const answer = await view.ask({
      title: `With the ${many} shown`,
      body: "All in one step, which Undo takes back. Nothing is applied yet.",
      buttons: [["", "Cancel"], ...doing].map(([value, label]) => ({ name: String(value), label: String(label) })),
    });
    const [, text, call] = doing.find(([value]) => value === answer) ?? [];
    if (!call || (await view.run(...call(ids))) === undefined) return;
    view.say(`${text}: ${many}. Undo takes it back.`);
  }

  /** @param {string} value */
  function pick(value) {
    box.value = "";
    kind.value = value;
    show();
  }

  /** @param {number} number */
  const noun = (number) => (number === 1 ? one : name);

  /** A count that shows what it counts. @param {string} text @param {string} value @param {string} colour */
  const counted = (text, value, colour) =>
    button(text, () => pick(value), { class: ["button", "small", "bare", "count", colour], title: "Show these" });

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
    /** Those of a list that are looked for. @param {T[]} objects */
    filter(objects) {
      const words = box.value.toLowerCase().split(/\s+/);
      const test = tests[kind.value] ?? (() => true);
      some = objects.filter((object) => {
        const text = `${idOf(object)}\n${textOf(object)}`.toLowerCase();
        return words.every((word) => text.includes(word)) && test(object);
      });
      return some;
    },
    /** Tell how many there are. @param {number} total */
    tell(total) {
      const changes = Object.values(model.get("changes") ?? {}).map((how) => ({ how }));
      const faults = /** @type {Fault[][]} */ (Object.values(model.get("faults") ?? {}));
      const wrong = faults.filter((list) => wrongOnes(list)).length;
      fill(
        told,
        h(
          "span",
          {},
          h("b", {}, some.length.toLocaleString()),
          some.length === total ? ` ${noun(total)}` : ` of ${total.toLocaleString()} ${noun(total)}`,
        ),
        some.length === total ? null : counted("show all", "", ""),
        changes.length ? counted(count(changes), "+changed", "changed-text") : null,
        wrong ? counted(`${wrong} to be mended before applying`, "+wrong", "wrong-text") : null,
        faults.length - wrong ? counted(`${faults.length - wrong} odd`, "+faults", "odd-text") : null,
      );
    },
    /** What is said of an object; `see` goes to the other one that a fault names. @param {string} id @param {(id: string) => void} see */
    drawFaults: (id, see) =>
      faultsOf(id).map(({ level, text, other }) =>
        h(
          "p",
          { class: level === "wrong" ? "wrong-text" : "odd-text" },
          level === "wrong" ? "✗ " : "⚠ ",
          text,
          " ",
          other ? button(`See ${other}`, () => see(other), { class: ["button", "small", "bare"], title: null }) : null,
        ),
      ),
    /** Look for nothing any more. */
    clear() {
      box.value = kind.value = "";
    },
    /**
     * Put everything in place. @param {{list: {focus: () => void}, add: Node, body: Node[], title: string,
     *   impact: string, marked?: () => string, ideas?: import("../rules/ideas.js").Ideas}} parts
     */
    build({ list, add, body, title, impact, ...more }) {
      table = list;
      const tried = impactPanel(view, model, more);
      const whole = h(
        "div",
        { class: "form" },
        h("div", { class: "row" }, box, kind, add, bulk, exchange(view, name)),
        told,
        ...body,
      );
      panels = tabs({
        label: `${one[0].toUpperCase()}${one.slice(1)} editor`,
        panels: [
          { name, title, draw: () => whole },
          { name: "impact", title: impact, draw: () => tried.el },
        ],
      });
      fill(view.body, panels.el);
    },
  };
}
