// The actions of a crawler, one at a time: which pages they take, and the function that reads them.

import { fill, field, h } from "../kit/dom.js";
import { tagInput } from "../kit/tags.js";
import { debounce } from "../kit/timing.js";

/** @typedef {import("../kit/frame.js").Frame} Frame */

const TYPING = 400; // milliseconds

/** `test` is wanted by Ctrl+Enter. @param {Frame} view @param {() => void} test */
export function extractorPanel(view, test) {
  let at = 0;
  const choice = h("select", { class: "input", on: { change: choose } });
  const lists = h("div", { class: "action-lists" });
  const source = h("textarea", {
    class: "source",
    rows: 18,
    spellcheck: "false",
    autocapitalize: "off",
    wrap: "off",
    on: { input: () => keep(), blur: () => keep.flush(), keydown: steer },
  });
  const none = h("p", { class: "hint", hidden: true }, "There are no actions yet: add one under JSON.");
  const keep = debounce(() => change({ recordExtractor: { __type: "function", source: source.value } }), TYPING);
  const whole = h(
    "div",
    { class: "extractor" },
    field("Action", choice),
    lists,
    field("Record extractor", source, "JavaScript; Ctrl+Enter tries it on the page"),
  );

  /** @returns {any[]} */
  const actions = () => (Array.isArray(view.value()?.actions) ? view.value().actions : []);

  /** @param {Record<string, any>} changed */
  function change(changed) {
    const own = actions();
    if (!own[at]) return undefined;
    const next = own.map((action, place) => (place === at ? { ...action, ...changed } : action));
    return view.propose({ ...view.value(), actions: next }, true);
  }

  function choose() {
    keep.flush();
    at = Number(choice.value);
    show();
  }

  /** @param {string} name @param {string} label @param {string} hint */
  function listOf(name, label, hint) {
    const words = (actions()[at]?.[name] ?? []).map(String);
    const tags = tagInput({ words, label, commas: false, change: (list) => change({ [name]: list }) });
    return h("div", { class: "field" }, h("b", {}, label), tags, h("span", { class: "hint" }, hint));
  }

  /** @param {KeyboardEvent} event */
  function steer(event) {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    test();
  }

  function show() {
    const own = actions();
    at = Math.min(at, Math.max(0, own.length - 1));
    const action = own[at];
    whole.hidden = !action;
    none.hidden = Boolean(action);
    if (!action) return;
    fill(
      choice,
      own.map((one, place) => h("option", { value: String(place) }, nameOf(one, place))),
    );
    choice.value = String(at);
    const typed = action.recordExtractor?.source ?? "";
    if (document.activeElement !== source && source.value !== typed) source.value = typed;
    if (lists.contains(document.activeElement)) return;
    fill(
      lists,
      listOf("pathsToMatch", "Pages", "patterns of addresses; ! leaves out"),
      listOf("selectorsToMatch", "Only with", "CSS selectors; ! leaves out"),
    );
  }

  return {
    el: h("div", {}, whole, none),
    show,
    /** Take what is being typed into the draft. */
    take: () => keep.flush(),
  };
}

/** @param {any} action @param {number} place */
const nameOf = (action, place) => `${place + 1}. ${action?.name ? `${action.name}: ` : ""}${action?.indexName ?? ""}`;
