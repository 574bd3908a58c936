// One setting: name, meaning, default, state and control.

import { button, fill, freshId, h } from "../kit/dom.js";
import { drawCode } from "../kit/code_text.js";
import { drawMeaning } from "../kit/parameter_groups.js";
import { tagInput } from "../kit/tags.js";
import { orderedList } from "./ordered.js";
import { defaultOf, isDefaultCode, stateOf } from "./state.js";

/** @typedef {import("../kit/frame.js").Frame} Frame */
/** @typedef {import("./state.js").Row} Row */
/** @typedef {import("./state.js").Change} Change */
/** @typedef {{name: string, entry: string, text: string}} Problem */
/** @typedef {{el: HTMLElement, show: (value: any, force?: boolean) => void, read?: () => any}} Control */

/** @param {Frame} view @param {Row} row @param {{known: string, suggest: (row: Row) => string[]}} about */
export function settingBox(view, row, { known, suggest }) {
  const id = freshId("setting");
  const disabled = Boolean(view.state()?.readOnly);
  /** @type {Problem[]} */
  let problems = [];
  const badge = h("span", { class: "badge" });
  const undo = button("Restore saved", () => put(undefined), { class: ["button", "small"] });
  const reset = button("Reset", () => put(null), {
    class: ["button", "small"],
    title: `Back to the default: ${defaultOf(row)}`,
    "aria-label": `Reset ${row.name}`,
  });
  const problemText = h("p", { class: "error-text" });
  const control = CONTROLS[row.around.length ? "ordered" : row.kind] ?? CONTROLS.text;
  const own = control({ view, row, id, disabled, known, suggest: suggest(row), put, type, problem });
  const el = h(
    "section",
    { class: "setting", role: "group", "aria-labelledby": `${id}-name` },
    h(
      "div",
      { class: "row setting-head" },
      h("label", { id: `${id}-name`, for: id, class: "setting-name" }, h("code", { class: "inline-code" }, row.name)),
      badge,
      h("span", { class: "row setting-tools" }, undo, reset),
    ),
    h("p", { class: "hint" }, drawMeaning(row, defaultOf(row), isDefaultCode(row))),
    own.el,
    problemText,
  );

  /** @param {string} entry */
  function problem(entry) {
    return problems.find((found) => found.entry === entry)?.text ?? "";
  }

  let proposed = 0; // proposals without an answer

  /** Propose a value: null resets, undefined restores the saved value. @param {any} value */
  function put(value) {
    const { [row.name]: _, ...rest } = view.value() ?? {};
    return showResult(view.propose(value === undefined ? rest : { ...rest, [row.name]: value }));
  }

  /** Propose the typed text. @param {string} text */
  function type(text) {
    return showResult(view.run("put", { name: row.name, text }));
  }

  /** Show the value after a proposal; a refused proposal leaves invalid text in the control. @param {Promise<any>} proposal */
  async function showResult(proposal) {
    proposed += 1;
    await proposal;
    proposed -= 1;
    if (!proposed) own.show(view.value()?.[row.name]);
  }

  return {
    el,
    /** @param {Record<string, any>} value @param {Change | undefined} change @param {Problem[]} found */
    show(value, change, found) {
      const { kind, text } = stateOf(row, value, change);
      const problemsChanged = JSON.stringify(found) !== JSON.stringify(problems);
      problems = found;
      el.className = `svc-setting svc-is-${kind}`;
      fill(badge, text);
      undo.hidden = disabled || !change;
      reset.hidden = disabled || !(kind === "set" || kind === "changed" || kind === "same");
      fill(problemText, drawCode(problem("")));
      const current = own.read?.();
      const same = JSON.stringify(current) === JSON.stringify(value[row.name] ?? undefined);
      if (problemsChanged || !(same || proposed))
        own.show(value[row.name], problemsChanged);
    },
  };
}

/** @typedef {{view: Frame, row: Row, id: string, disabled: boolean, known: string, suggest: string[],
 *   put: (value: any) => Promise<void>, type: (text: string) => Promise<void>, problem: (entry: string) => string}} ControlOptions */

/** @type {Record<string, (given: ControlOptions) => Control>} */
const CONTROLS = {
  ordered({ row, disabled, known, suggest, put, problem }) {
    // The default criteria can be reordered as well.
    const fallback = row.name === "ranking" ? row.default : [];
    const list = orderedList({ row, entries: fallback, known, suggest, disabled, problem, change: put });
    return { ...list, show: (value, force) => list.show(value ?? fallback, force) };
  },
  switch: (given) => choice(given, ["true", "false"]),
  choice: (given) => choice(given, given.row.choices),
  words({ row, disabled, suggest, put }) {
    const input = tagInput({
      words: [],
      label: row.name,
      suggestions: row.choices.length ? row.choices : suggest,
      disabled,
      change: put,
    });
    return { el: input, show: (value) => input.show(value === undefined || value === null ? [] : [value].flat().map(String)) };
  },
  languages,
  number: (given) => typed(given, "number"),
  text: (given) => typed(given, "text"),
  json({ row, id, disabled, type }) {
    const area = h("textarea", {
      id,
      rows: 3,
      spellcheck: "false",
      disabled,
      placeholder: JSON.stringify(row.default),
      on: { change: () => type(area.value) },
    });
    return {
      el: area,
      show: (value) => {
        area.value = value === undefined || value === null ? "" : JSON.stringify(value);
      },
    };
  },
};

/** A setting that is true, false or a list of languages. @param {ControlOptions} given @returns {Control} */
function languages({ row, id, disabled, put }) {
  const input = tagInput({ words: [], label: `${row.name}, languages`, placeholder: "en, de…", disabled, change: put });
  const select = h(
    "select",
    { class: "input", id, disabled, on: { change: () => put(VALUES[select.value]) } },
    [
      ["default", `default: ${defaultOf(row)}`],
      ["yes", "yes, in the query's languages"],
      ["no", "no"],
      ["some", "in these languages:"],
    ].map(([value, text]) => h("option", { value }, text)),
  );
  return {
    el: h("div", { class: "row languages" }, select, input),
    show: (value) => {
      const some = Array.isArray(value);
      select.value = some ? "some" : value === undefined || value === null ? "default" : value ? "yes" : "no";
      input.hidden = !some;
      input.show(some ? value : []);
    },
  };
}

/** @type {Record<string, any>} */
const VALUES = { default: null, yes: true, no: false, some: [] };

/** @param {ControlOptions} given @param {string[]} words @returns {Control} */
function choice({ row, id, disabled, put, type }, words) {
  const select = h(
    "select",
    {
      class: "input",
      id,
      disabled,
      on: { change: () => (select.value ? type(select.value) : put(null)) },
    },
    h("option", { value: "" }, `default: ${defaultOf(row)}`),
    words.map((word) => h("option", { value: word }, word)),
  );
  return {
    el: select,
    show: (value) => {
      select.value = value === undefined || value === null ? "" : [value].flat().join(",");
    },
  };
}

/** @param {ControlOptions} given @param {string} kind @returns {Control} */
function typed({ row, id, disabled, type }, kind) {
  const input = h("input", {
    class: "input",
    id,
    type: kind,
    disabled,
    dir: "auto",
    placeholder: defaultOf(row),
    on: { change: () => type(input.value) },
  });
  return {
    el: input,
    show: (value) => {
      input.value = value === undefined || value === null ? "" : typeof value === "string" ? value : JSON.stringify(value);
    },
  };
}
