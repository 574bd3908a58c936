// The actions of a crawler, one at a time: the pages they match, and their record extractor.

import { codeField } from "../kit/code_field.js";
import { fill, field, h } from "../kit/dom.js";
import { emptyState } from "../kit/empty.js";
import { tagInput } from "../kit/tags.js";
import { debounce } from "../kit/timing.js";

/** @typedef {import("../kit/frame.js").Frame} Frame */

const TYPING_DELAY_MS = 400;
const NEW_ACTION = {
  pathsToMatch: ["**"],
  recordExtractor: { __type: "function", source: '({ url, $ }) => [{ objectID: url.href, title: $("title").text() }]' },
};

/** Ctrl+Enter calls `test`. @param {Frame} view @param {() => void} test */
export function extractorPanel(view, test) {
  let selected = 0;
  const choice = h("select", { class: "input", on: { change: choose } });
  const lists = h("div", { class: "action-lists" });
  const source = h("textarea", {
    class: "source",
    rows: 18,
    spellcheck: "false",
    autocapitalize: "off",
    wrap: "off",
    on: { input: () => keep(), blur: () => keep.flush(), keydown: handleKey },
  });
  const none = h(
    "div",
    { hidden: true },
    emptyState({
      title: "No actions yet.",
      hint: "An action extracts records from the pages that match its URL patterns and stores them in its index. The new action extracts the title of each page.",
      action: { label: "Add an action", act: add },
    }),
  );
  const keep = debounce(() => change({ recordExtractor: { __type: "function", source: source.value } }), TYPING_DELAY_MS);
  const form = h(
    "div",
    { class: "extractor" },
    field("Action", choice),
    lists,
    codeOf(field("Record extractor", source, "JavaScript; Ctrl+Enter tries it on the page")),
  );

  /** Put the colours behind the text area of a field. @param {HTMLElement} labelled */
  function codeOf(labelled) {
    const next = source.nextSibling;
    labelled.insertBefore(codeField(view, source, "javascript"), next);
    return labelled;
  }

  /** @returns {any[]} */
  const actions = () => (Array.isArray(view.value()?.actions) ? view.value().actions : []);

  /** @param {Record<string, any>} changed */
  function change(changed) {
    const all = actions();
    if (!all[selected]) return undefined;
    const next = all.map((action, place) => (place === selected ? { ...action, ...changed } : action));
    return view.propose({ ...view.value(), actions: next }, true);
  }

  function add() {
    if (view.state()?.readOnly) return;
    view.propose({ ...view.value(), actions: [{ indexName: view.state()?.index, ...NEW_ACTION }] });
  }

  function choose() {
    keep.flush();
    selected = Number(choice.value);
    show();
  }

  /** @param {string} name @param {string} label @param {string} hint */
  function listOf(name, label, hint) {
    const words = (actions()[selected]?.[name] ?? []).map(String);
    const tags = tagInput({ words, label, commas: false, change: (list) => change({ [name]: list }) });
    return h("div", { class: "field" }, h("b", {}, label), tags, h("span", { class: "hint" }, hint));
  }

  /** @param {KeyboardEvent} event */
  function handleKey(event) {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    test();
  }

  function show() {
    const all = actions();
    selected = Math.min(selected, Math.max(0, all.length - 1));
    const action = all[selected];
    form.hidden = !action;
    none.hidden = Boolean(action);
    if (!action) return;
    fill(
      choice,
      all.map((one, place) => h("option", { value: String(place) }, nameOf(one, place))),
    );
    choice.value = String(selected);
    const typed = action.recordExtractor?.source ?? "";
    if (document.activeElement !== source && source.value !== typed) source.value = typed;
    if (lists.contains(document.activeElement)) return;
    fill(
      lists,
      listOf("pathsToMatch", "Pages", "URL patterns; ! excludes"),
      listOf("selectorsToMatch", "Selectors", "CSS selectors that a page must match; ! excludes"),
    );
  }

  /** Select a line of the extractor of an action. @param {number} action its place @param {number} line from 1 */
  function goTo(action, line) {
    keep.flush();
    selected = action;
    show();
    const lines = source.value.split("\n");
    const begin = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    source.focus();
    source.setSelectionRange(begin, begin + (lines[line - 1] ?? "").length);
    source.scrollTop = (source.scrollHeight / lines.length) * Math.max(0, line - 4);
  }

  return {
    el: h("div", {}, form, none),
    show,
    goTo,
    /** Add the text that is being typed to the draft. */
    take: () => keep.flush(),
  };
}

/** @param {any} action @param {number} place */
const nameOf = (action, place) => `${place + 1}. ${action?.name ? `${action.name}: ` : ""}${action?.indexName ?? ""}`;
