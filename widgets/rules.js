// The rule editor: all rules of an index, the selected rule as a form, and the impact of the draft.

import { errorsOf } from "./curation/review.js";
import { shell } from "./curation/shell.js";
import { jsonLines } from "./kit/diff.js";
import { button, fill, h, setAttribute } from "./kit/dom.js";
import { editTable } from "./kit/table.js";
import { tabs } from "./kit/tabs.js";
import { ruleForm } from "./rules/form.js";
import { hitsPanel } from "./rules/hits.js";
import { ideas } from "./rules/ideas.js";
import { jsonPanel } from "./rules/json.js";
import { askRule } from "./rules/new_rule.js";
import { describeSpans, typicalQuery, withMember } from "./rules/shape.js";

/** @typedef {{objectID: string, enabled?: boolean, validity?: any[], [more: string]: any}} Rule */

/** @type {[string, string, (rule: Rule) => any][]} */
const KINDS = [
  ["on", "enabled", (rule) => rule.enabled ?? true],
  ["off", "disabled", (rule) => rule.enabled === false],
  ["timed", "scheduled", (rule) => rule.validity?.length],
];

/** @param {import("./types").Mount} mount */
function render(mount) {
  const { model } = mount;
  /** @type {Rule[]} */
  let rules = [];
  let selected = "";
  let waiting = 0;
  const { view, faultsOf, ...shared } = shell(mount, {
    name: "rules",
    one: "rule",
    find: "Find rules…",
    all: "all rules",
    kinds: KINDS,
    idOf: (/** @type {Rule} */ rule) => rule.objectID,
    textOf: (rule) => [rule.description ?? "", ...(rule.tags ?? []), ...wordsOf(rule)].join("\n"),
    lines: jsonLines,
    acts: [
      ["on", "Enable", (ids) => ["enable", { ids, enabled: true }]],
      ["off", "Disable", (ids) => ["enable", { ids, enabled: false }]],
    ],
    show,
  });
  const add = button("New rule…", create, { icon: "+" });
  const table = editTable({
    label: "Rules",
    keyOf: (/** @type {Rule} */ rule) => rule.objectID,
    height: 520,
    rowHeight: 46,
    columns: [
      { name: "rule", title: "Rule", text: (rule) => wordsOf(rule).join(" → "), draw: drawRule },
    ],
    problem: (rule) => errorsOf(faultsOf(rule.objectID)),
    mark: (rule) => shared.changeOf(rule.objectID),
    open: () => {
      parts.open("form");
      form.focus();
    },
    remove: (rule) => remove(rule.objectID),
    select: (rule) => choose(rule.objectID),
  });
  const known = ideas(view);
  const form = ruleForm(view, proposeForm, known);
  const hits = hitsPanel(view, model, () => selected);
  const json = jsonPanel(view, proposeJson);
  const head = h("div", { class: "rule-head" });
  const summary = h("p", { class: "rule-summary", dir: "auto" });
  const faults = h("div", { class: "faults", "aria-live": "polite" });
  const parts = tabs({
    label: "Rule",
    panels: [
      { name: "form", title: "Form", draw: () => form.el },
      { name: "hits", title: "Hits", draw: () => hits.el },
      { name: "json", title: "JSON", draw: () => json.el },
    ],
    opened: (name) => {
      if (name === "hits") hits.show();
    },
  });
  const detail = h("div", { class: "rule-detail" }, head, summary, faults, parts.el);
  const none = h("div", {});
  shared.build({
    list: table.el,
    add,
    body: [h("div", { class: "rule-columns" }, table.el, h("div", { class: "rule-side" }, none, detail))],
    title: "Rules",
    impact: "Try it",
    marked: () => selected,
    ideas: known,
  });

  /** @param {Rule} rule @returns {[string, string]} */
  function wordsOf(rule) {
    return model.get("words")?.[rule.objectID] ?? ["", ""];
  }

  /** @param {Rule} rule */
  function drawRule(rule) {
    const [when, then] = wordsOf(rule);
    const on = rule.enabled ?? true;
    return h(
      "div",
      { class: ["rule-line", !on && "off"] },
      h("span", { class: "rule-state", "aria-label": on ? "enabled" : "disabled" }, on ? "●" : "○"),
      h(
        "span",
        { class: "rule-words" },
        h("b", { dir: "auto" }, when),
        h("span", { class: "hint", dir: "auto" }, rule.description ? `${rule.description}: ` : "", then),
      ),
      rule.validity?.length ? h("span", { class: "hint", title: describeSpans(rule.validity) }, "◷") : null,
      faultsOf(rule.objectID).length ? h("span", { class: "warning-text", "aria-label": "has errors or warnings" }, "⚠") : null,
    );
  }

  /** @param {Rule} next @param {string} id */
  function proposeForm(next, id) {
    if (id === selected) json.show(next);
    propose(next, id);
  }

  // Only the answer tells whether the form can draw what was typed; an edit of the form meanwhile would
  // replace it.
  /** @param {Rule} next */
  async function proposeJson(next) {
    form.el.inert = true;
    await propose(next, selected);
    form.el.inert = false;
  }

  /** Propose a change of a rule; redraw when no proposal is waiting. @param {Rule} next @param {string} id */
  async function propose(next, id) {
    if (view.state()?.readOnly) return;
    waiting += 1;
    const name = await view.run("revise", { document: next, id });
    waiting -= 1;
    if (name && selected === id) selected = name;
    show();
  }

  async function create() {
    known.ask();
    const rule = await askRule(view, known.indices);
    if (!rule) return;
    await open(view.run("put", { document: rule }));
    parts.open("form");
    form.focus();
  }

  /** Select the rule whose objectID a call returns. @param {Promise<any>} answer */
  async function open(answer) {
    const id = await answer;
    if (id) selectRule(id);
  }

  /** @param {string} id */
  async function remove(id) {
    if (!view.state()?.readOnly) await view.run("remove", { ids: [id] });
  }

  /** @param {string} id */
  function choose(id) {
    if (id === selected) return;
    form.settle();
    selected = id;
    drawDetail();
    hits.show(typicalQuery(current()));
  }

  const current = () => rules.find((rule) => rule.objectID === selected);

  function show() {
    if (waiting) return;
    const shown = shared.filter(rules);
    table.show(shown);
    const at = shown.findIndex((rule) => rule.objectID === selected);
    if (at >= 0) table.move(at);
    else if (shown.length && !current()) choose(shown[0].objectID);
    shared.showCounts(rules.length);
    drawDetail();
  }

  function drawDetail() {
    const rule = current();
    none.hidden = Boolean(rule);
    detail.hidden = !rule;
    if (!rule) return fill(none, drawNone());
    const isReadOnly = Boolean(view.state()?.readOnly);
    const on = h("input", {
      type: "checkbox",
      disabled: isReadOnly,
      on: { change: () => form.propose((now) => withMember(now, "enabled", on.checked ? undefined : false)) },
    });
    on.checked = rule.enabled ?? true;
    const hadFocus = head.contains(document.activeElement) && document.activeElement?.matches("input");
    fill(
      head,
      h("code", { class: "id-cell", dir: "auto" }, rule.objectID),
      h("label", { class: "row" }, on, "Enabled"),
      button("Duplicate", () => open(view.run("duplicate", { id: rule.objectID })), { disabled: isReadOnly }),
      button("Delete", () => remove(rule.objectID), { disabled: isReadOnly }),
    );
    if (hadFocus) on.focus();
    drawSummary(rule, on.checked);
    fill(faults, shared.drawFaults(rule.objectID, selectRule));
    form.show(rule);
    json.show(rule);
  }

  /** What to do without a selected rule. */
  function drawNone() {
    return shared.drawNone(rules.length, {
      title: "No rules yet.",
      hint: "A rule changes the hits of certain queries: it pins or hides records, boosts, filters, redirects or shows a banner.",
      action: { label: "New rule…", act: create, disabled: Boolean(view.state()?.readOnly) },
    }, show);
  }

  /** Describe the rule in a sentence. @param {Rule} rule @param {boolean} on */
  function drawSummary(rule, on) {
    const [when, then] = wordsOf(rule);
    fill(
      summary,
      h("b", {}, rule.conditions?.length ? "When " : "For "),
      when,
      h("b", {}, ": "),
      `${then}.`,
      rule.validity?.length ? ` Scheduled: ${describeSpans(rule.validity)}.` : null,
      on ? null : h("b", {}, " Disabled: it does not apply."),
    );
  }

  /** @param {string} id */
  function selectRule(id) {
    shared.clear();
    choose(id);
    show();
  }

  view.link.on("drafted", ({ id }) => selectRule(id));
  view.link.watch("value", (value) => {
    rules = value ?? [];
    show();
    if (parts.current() === "hits" && !waiting) hits.show();
  });
  for (const name of ["faults", "changes", "words"]) view.link.watch(name, show);
  view.link.watch("state", (state) => {
    add.disabled = Boolean(state?.readOnly);
    const isReadOnly = Boolean(state?.readOnly);
    if (isReadOnly === json.el.classList.contains("svc-locked")) return;
    json.el.classList.toggle("svc-locked", isReadOnly);
    setAttribute(json.el.querySelector("textarea") ?? json.el, "readonly", isReadOnly);
    form.redraw();
  });
  return () => view.close();
}

export default { render };
