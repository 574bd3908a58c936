// The rule editor: every rule of an index, one of them as a form, and what it does to searches.

import { exchange } from "./curation/exchange.js";
import { impactPanel } from "./curation/impact.js";
import { count, review, wrongOnes } from "./curation/review.js";
import { jsonLines } from "./kit/diff.js";
import { button, fill, h, setAttribute } from "./kit/dom.js";
import { frame } from "./kit/frame.js";
import { editTable } from "./kit/table.js";
import { tabs } from "./kit/tabs.js";
import { ruleForm } from "./rules/form.js";
import { hitsPanel } from "./rules/hits.js";
import { jsonPanel } from "./rules/json.js";
import { WHEN, fromCard, toCard, typicalQuery } from "./rules/shape.js";

/** @typedef {{objectID: string, enabled?: boolean, validity?: any[], [more: string]: any}} Rule */

const KINDS = /** @type {[string, string][]} */ ([
  ["", "all rules"],
  ["on", "switched on"],
  ["off", "switched off"],
  ["timed", "only for a time"],
  ["changed", "changed"],
  ["faults", "with problems"],
]);

/** @param {import("./types").Mount} mount */
function render(mount) {
  const { model } = mount;
  /** @type {Rule[]} */
  let rules = [];
  let selected = "";
  let waiting = 0;
  const view = frame(mount, {
    named: "rules",
    retry: "refresh",
    diff: () => review(view, model, jsonLines),
    tools: [button("Reload", () => view.run("refresh"), { title: "Read what is saved; the draft's changes stay" })],
  });
  const find = h("input", {
    class: "input find",
    type: "search",
    placeholder: "Find rules…",
    "aria-label": "Find rules",
    on: {
      input: show,
      keydown: (event) => {
        if (event.key === "ArrowDown") (event.preventDefault(), table.el.focus());
      },
    },
  });
  const kind = h(
    "select",
    { class: "input", "aria-label": "Which rules", on: { change: show } },
    KINDS.map(([value, text]) => h("option", { value }, text)),
  );
  const add = button("New rule…", create, { icon: "+" });
  const told = h("div", { class: "row told", role: "status" });
  const table = editTable({
    label: "Rules",
    keyOf: (/** @type {Rule} */ rule) => rule.objectID,
    height: 520,
    rowHeight: 46,
    columns: [
      { name: "rule", title: "Rule", text: (rule) => wordsOf(rule).join(" → "), draw: drawRule },
    ],
    problem: (rule) => wrongOnes(faultsOf(rule.objectID)),
    mark: (rule) => model.get("changes")?.[rule.objectID] ?? "",
    open: () => {
      parts.open("form");
      form.focus();
    },
    remove: (rule) => remove(rule.objectID),
    select: (rule) => choose(rule.objectID),
  });
  const form = ruleForm(view, propose);
  const hits = hitsPanel(view, () => selected);
  const json = jsonPanel(propose);
  const head = h("div", { class: "rule-head" });
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
  const detail = h("div", { class: "rule-detail" }, head, faults, parts.el);
  const none = h("p", { class: "none" }, "No rule is chosen. Choose one, or make a new one.");
  const impact = impactPanel(view, model, { marked: () => selected });
  const list = h(
    "div",
    { class: "form" },
    h("div", { class: "row" }, find, kind, add, exchange(view, "rules")),
    told,
    h("div", { class: "rule-columns" }, table.el, h("div", { class: "rule-side" }, none, detail)),
  );
  const panels = tabs({
    label: "Rule editor",
    panels: [
      { name: "rules", title: "Rules", draw: () => list },
      { name: "impact", title: "Try it", draw: () => impact.el },
    ],
  });
  fill(view.body, panels.el);

  /** @param {string} id @returns {{level: string, text: string, other?: string}[]} */
  function faultsOf(id) {
    return model.get("faults")?.[id] ?? [];
  }

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
      h("span", { class: "rule-state", "aria-label": on ? "on" : "off" }, on ? "●" : "○"),
      h(
        "span",
        { class: "rule-words" },
        h("b", { dir: "auto" }, when),
        h("span", { class: "hint", dir: "auto" }, rule.description ? `${rule.description}: ` : "", then),
      ),
      rule.validity?.length ? h("span", { class: "hint", title: "only for a time" }, "◷") : null,
      faultsOf(rule.objectID).length ? h("span", { class: "odd-text", "aria-label": "has problems" }, "⚠") : null,
    );
  }

  /** Put the rule in sight in another form; what comes back is drawn once nothing is under way. @param {Rule} next */
  async function propose(next) {
    if (view.state()?.readOnly) return;
    const id = selected;
    waiting += 1;
    const name = await view.run("revise", { document: next, id });
    waiting -= 1;
    if (name && selected === id) selected = name;
    show();
  }

  async function create() {
    const when = h(
      "select",
      { class: "input", "aria-label": "How the query is met" },
      WHEN.map(([value, text]) => h("option", { value, selected: value === "is" }, text)),
    );
    const pattern = h("input", {
      class: ["input", "find"],
      "aria-label": "Pattern",
      placeholder: "words",
    });
    const answer = await view.ask({
      title: "New rule",
      body: h("div", { class: "form" }, h("p", { class: "hint" }, "When does it apply? All else follows."), h("div", { class: "row" }, when, pattern)),
      buttons: [
        { name: "", label: "Cancel" },
        { name: "create", label: "Create", main: true },
      ],
    });
    if (answer !== "create") return;
    const made = fromCard({ ...toCard({}), when: when.value, pattern: pattern.value });
    await open(view.run("put", { document: { ...(made && { conditions: [made] }), consequence: {} } }));
    form.focus();
  }

  /** Choose the rule that a call answers with. @param {Promise<any>} asked */
  async function open(asked) {
    const id = await asked;
    if (!id) return;
    find.value = "";
    kind.value = "";
    choose(id);
    show();
  }

  /** @param {string} id */
  async function remove(id) {
    if (!view.state()?.readOnly) await view.run("remove", { ids: [id] });
  }

  /** @param {string} id */
  function choose(id) {
    if (id === selected) return;
    selected = id;
    drawDetail();
    hits.show(typicalQuery(current()));
  }

  const current = () => rules.find((rule) => rule.objectID === selected);

  function shown() {
    const words = find.value.toLowerCase().split(/\s+/);
    const changes = model.get("changes") ?? {};
    /** @type {Record<string, (rule: Rule) => boolean>} */
    const kinds = {
      on: (rule) => rule.enabled ?? true,
      off: (rule) => rule.enabled === false,
      timed: (rule) => Boolean(rule.validity?.length),
      changed: (rule) => rule.objectID in changes,
      faults: (rule) => faultsOf(rule.objectID).length > 0,
    };
    return rules.filter((rule) => {
      const where = [rule.objectID, rule.description ?? "", ...(rule.tags ?? []), ...wordsOf(rule)].join("\n").toLowerCase();
      return words.every((word) => where.includes(word)) && (kinds[kind.value]?.(rule) ?? true);
    });
  }

  function show() {
    if (waiting) return;
    const some = shown();
    table.show(some);
    const at = some.findIndex((rule) => rule.objectID === selected);
    if (at >= 0) table.move(at);
    else if (some.length && !current()) choose(some[0].objectID);
    const changes = Object.values(model.get("changes") ?? {}).map((how) => ({ how }));
    const odd = Object.keys(model.get("faults") ?? {}).length;
    fill(
      told,
      h("span", {}, h("b", {}, some.length.toLocaleString()), some.length === rules.length ? ` ${noun(some.length)}` : ` of ${rules.length.toLocaleString()} ${noun(rules.length)}`),
      changes.length ? h("span", { class: "changed-text" }, count(changes)) : null,
      odd ? h("span", { class: "odd-text" }, `${odd} with problems`) : null,
    );
    drawDetail();
  }

  function drawDetail() {
    const rule = current();
    none.hidden = Boolean(rule);
    detail.hidden = !rule;
    if (!rule) return;
    const locked = Boolean(view.state()?.readOnly);
    const on = h("input", {
      type: "checkbox",
      disabled: locked,
      on: { change: () => view.run("enable", { id: rule.objectID, enabled: on.checked }) },
    });
    on.checked = rule.enabled ?? true;
    const had = head.contains(document.activeElement) && document.activeElement?.matches("input");
    fill(
      head,
      h("code", { class: "id-cell", dir: "auto" }, rule.objectID),
      h("label", { class: "row" }, on, "on"),
      button("Duplicate", () => open(view.run("duplicate", { id: rule.objectID })), { disabled: locked }),
      button("Delete", () => remove(rule.objectID), { disabled: locked }),
    );
    if (had) on.focus();
    fill(faults, faultsOf(rule.objectID).map(drawFault));
    form.show(rule);
    json.show(rule);
  }

  /** @param {{level: string, text: string, other?: string}} fault */
  function drawFault({ level, text, other }) {
    const el = h("p", { class: level === "wrong" ? "wrong-text" : "odd-text" }, level === "wrong" ? "✗ " : "⚠ ", text, " ");
    if (other) el.append(button(`See ${other}`, () => (choose(other), show()), { class: ["button", "small", "bare"], title: null }));
    return el;
  }

  view.link.on("drafted", ({ id }) => {
    choose(id);
    show();
  });
  view.link.watch("value", (value) => {
    rules = value ?? [];
    show();
    if (parts.current() === "hits" && !waiting) hits.show();
  });
  for (const name of ["faults", "changes", "words"]) view.link.watch(name, show);
  view.link.watch("state", (state) => {
    add.disabled = Boolean(state?.readOnly);
    const locked = Boolean(state?.readOnly);
    if (locked === json.el.classList.contains("svc-locked")) return;
    json.el.classList.toggle("svc-locked", locked);
    setAttribute(json.el.querySelector("textarea") ?? json.el, "readonly", locked);
    form.redraw();
  });
  view.root.addEventListener("keydown", (event) => {
    if (event.key !== "/" || /** @type {HTMLElement} */ (event.target).matches("input, textarea, select")) return;
    event.preventDefault();
    panels.open("rules");
    find.focus();
  });
  return () => view.close();
}

/** @param {number} number */
const noun = (number) => (number === 1 ? "rule" : "rules");

export default { render };
