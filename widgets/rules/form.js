// A rule as a form. Only complete conditions and time ranges are proposed.

import { offer } from "../curation/offer.js";
import { button, fill, field, h } from "../kit/dom.js";
import { momentInput, zone } from "../kit/moment.js";
import { tagInput } from "../kit/tags.js";
import { consequenceParts } from "./consequence.js";
import { WHEN, fromCard, listed, rebase, findSpanProblem, toCard, withMember } from "./shape.js";

/** @typedef {import("../kit/frame.js").Frame} Frame */
/** @typedef {(rule: any) => void} Propose */
/** @typedef {import("./ideas.js").Ideas} Ideas */

const WEEK_SECONDS = 7 * 24 * 3600;

/** @param {Frame} view @param {Propose} send @param {Ideas} known */
export function ruleForm(view, send, known) {
  const el = h("div", {
    class: "rule-form",
    on: {
      input: (event) => {
        event.target.dataset.typed = "true";
      },
    },
  });
  /** @type {any} */
  let rule = null;
  /** @type {any} */
  let latest = null;
  let adding = false;
  let drawing = false;
  let shown = "";

  // A control can change before the answer to the change of another control arrives.
  /** @type {Propose} */
  function propose(next) {
    // Removing a focused control fires a change event with its text.
    if (drawing) return;
    latest = rebase(rule, next, latest);
    send(latest);
  }

  function draw() {
    if (!rule) return fill(el);
    const isReadOnly = Boolean(view.state()?.readOnly);
    drawing = true;
    keepFocus(el, () =>
      fill(
        el,
        section("When", "any condition matches", ...conditions(), validity(rule, propose)),
        section("Then", "", ...consequenceParts(view, rule, propose, known)),
        section("About", "", ...about(rule, propose, known)),
      ),
    );
    drawing = false;
    if (isReadOnly)
      for (const one of el.querySelectorAll("input, select, textarea, button")) /** @type {any} */ (one).disabled = true;
  }

  function conditions() {
    const own = rule.conditions ?? [];
    const cards = own.map((/** @type {any} */ condition, /** @type {number} */ place) =>
      conditionCard({
        card: toCard(condition),
        at: `condition-${place}`,
        known,
        change: (next) => propose({ ...rule, conditions: own.with(place, next) }),
        remove: () =>
          propose(withMember(rule, "conditions", listed(own.filter((/** @type {any} */ one) => one !== condition)))),
      }),
    );
    const blank = conditionCard({
      card: toCard({ pattern: " ", anchoring: "contains" }),
      at: `condition-${own.length}`,
      known,
      change: (next) => {
        adding = false;
        propose({ ...rule, conditions: [...own, next] });
      },
      remove: () => {
        adding = false;
        draw();
      },
    });
    return [
      own.length || adding ? null : h("p", { class: "hint" }, "Without conditions the rule applies to every search."),
      ...cards,
      adding
        ? blank
        : button("Add a condition", () => {
            adding = true;
            draw();
            /** @type {HTMLElement | null} */ (el.querySelector(`[data-at="condition-${own.length}"] .svc-pattern`))?.focus();
          }, { icon: "+" }),
    ];
  }

  return {
    el,
    /** @param {any} next */
    show(next) {
      const state = JSON.stringify(next ?? null);
      latest = next;
      if (state === shown) return;
      const other = next?.objectID !== rule?.objectID;
      if (other) {
        adding = false;
        drawing = true;
        fill(el);
        drawing = false;
      }
      [rule, shown] = [next, state];
      if (rule) known.ask();
      draw();
    },
    /** Finish input before another rule is selected. */
    settle() {
      if (el.contains(document.activeElement)) /** @type {HTMLElement} */ (document.activeElement).blur();
    },
    focus: () => /** @type {HTMLElement | null} */ (el.querySelector("input, select"))?.focus(),
    redraw: draw,
  };
}

/** @param {string} title @param {string} hint @param {...any} parts */
export function section(title, hint, ...parts) {
  return h(
    "fieldset",
    { class: "section" },
    h("legend", {}, title, hint ? h("span", { class: "hint" }, ` — ${hint}`) : null),
    ...parts,
  );
}

/**
 * @param {{card: import("./shape.js").Card, at: string, known: Ideas, change: (condition: any) => void, remove: () => void}} options
 */
function conditionCard({ card, at, known, change, remove }) {
  const now = { ...card, pattern: card.pattern.trim() };
  const when = h(
    "select",
    { class: "input", "aria-label": "How the query matches", on: { change: readControls } },
    WHEN.map(([value, text]) => h("option", { value, selected: value === card.when }, text)),
  );
  const pattern = h("input", {
    class: ["input", "pattern"],
    "aria-label": "Pattern",
    placeholder: "words, or {facet:brand}",
    dir: "auto",
    value: now.pattern,
    on: { change: readControls },
  });
  const alternatives = h("input", { type: "checkbox", on: { change: readControls } });
  alternatives.checked = card.alternatives;
  const alternativesLabel = h("label", { class: "row", title: "`alternatives` of the condition" }, alternatives, "Match typos, plurals and synonyms");
  const context = h("input", {
    class: "input",
    placeholder: "any",
    value: card.context,
    on: {
      input: () => {
        context.value = context.value.replace(/[^A-Za-z0-9_-]/g, "");
      },
      change: readControls,
    },
  });
  const filters = h("input", { class: "input", placeholder: "any, or brand:Acme AND …", value: card.filters, on: { change: readControls } });
  const problemText = h("p", { class: "wrong-text", role: "status" });

  function show() {
    const hasWords = !["any", "empty"].includes(when.value);
    pattern.hidden = alternativesLabel.hidden = !hasWords;
  }

  function readControls() {
    show();
    const condition = fromCard({
      when: when.value,
      pattern: pattern.value,
      alternatives: alternatives.checked,
      context: context.value,
      filters: filters.value,
    });
    fill(problemText, condition ? null : when.value === "any" ? "For any query, enter a context or filters." : "Enter the words of the pattern.");
    if (condition) change(condition);
  }

  show();
  return h(
    "div",
    { class: "card", data: { at } },
    h("div", { class: "row" }, when, pattern, alternativesLabel, button("Remove this condition", remove, { icon: "×", bare: true, class: ["button", "bare", "last"] })),
    h("div", { class: "pair" }, field("in the context", context), field("with the filters", filters)),
    problemText,
    offer(pattern, known.patterns),
    offer(context, known.contexts),
    offer(filters, known.values),
  );
}

/** @param {any} rule @param {Propose} propose */
function validity(rule, propose) {
  const spans = rule.validity ?? [];
  /** @param {any[]} next */
  const put = (next) => propose(withMember(rule, "validity", listed(next)));
  const rows = spans.map((/** @type {any} */ span, /** @type {number} */ place) => {
    const problemText = h("span", { class: "wrong-text", role: "status" });
    const now = { ...span }; // without a member, open at that end
    const change = (/** @type {"from" | "until"} */ name) => (/** @type {number | null} */ seconds) => {
      if (seconds === null) delete now[name];
      else now[name] = seconds;
      const problem = findSpanProblem(now);
      fill(problemText, problem || null);
      if (!problem) put(spans.with(place, now));
    };
    return h(
      "div",
      { class: ["row", "span"], data: { at: `span-${place}` } },
      "from",
      momentInput({ seconds: span.from, label: "Valid from", change: change("from") }).firstChild,
      "until",
      momentInput({ seconds: span.until, label: "Valid until", change: change("until") }).firstChild,
      button("Remove this time range", () => put(spans.filter((/** @type {any} */ other) => other !== span)), { icon: "×", bare: true }),
      problemText,
    );
  });
  const begin = () => Math.floor(Date.now() / 60000) * 60;
  return h(
    "div",
    { class: "times" },
    ...rows,
    spans.length ? h("span", { class: "hint" }, `time zone ${zone()}`) : null,
    button(spans.length ? "Add a time range" : "Schedule", () => put([...spans, { from: begin(), until: begin() + WEEK_SECONDS }]), { icon: "+" }),
  );
}

/** @param {any} rule @param {Propose} propose @param {Ideas} known */
function about(rule, propose, known) {
  const text = (/** @type {string} */ name, /** @type {string} */ label) => {
    const input = h("input", {
      class: "input",
      value: rule[name] ?? "",
      dir: "auto",
      on: { change: () => propose(withMember(rule, name, input.value.trim() || undefined)) },
    });
    return h("div", { data: { at: name } }, field(label, input));
  };
  const name = h("input", {
    class: "input",
    value: rule.objectID,
    on: { change: () => name.value.trim() && propose({ ...rule, objectID: name.value.trim() }) },
  });
  const tags = tagInput({
    words: rule.tags ?? [],
    label: "Tags",
    change: (words) => propose(withMember(rule, "tags", listed(words))),
  });
  return [
    text("description", "Description"),
    h("div", { class: "pair" }, h("div", { data: { at: "objectID" } }, field("objectID", name)), h("div", { data: { at: "tags" } }, h("span", { class: "label" }, "Tags"), tags, offer(tags, known.tags))),
  ];
}

/** Redraw, and keep the focus and the text that is being typed. @param {HTMLElement} el @param {() => void} redraw */
function keepFocus(el, redraw) {
  const focused = document.activeElement;
  const before = controls(el)
    .filter(([, one]) => one === focused || one.dataset.typed)
    .map(([name, one]) => ({ name, old: one, text: one.value }));
  redraw();
  const after = new Map(controls(el));
  for (const { name, old, text } of before) {
    const now = after.get(name);
    if (!now) continue;
    if (old === focused) now.focus();
    if (old.dataset.typed && now.type === old.type) type(now, text);
  }
}

/** The controls of a form, by part, label and number. @param {HTMLElement} el @returns {[string, HTMLInputElement][]} */
function controls(el) {
  /** @type {Map<string, number>} */
  const count = new Map();
  return /** @type {HTMLInputElement[]} */ ([...el.querySelectorAll("input, select, textarea, button")]).map((one) => {
    const part = /** @type {HTMLElement | null} */ (one.closest("[data-at]"))?.dataset.at ?? "";
    const name = `${part}/${one.getAttribute("aria-label") ?? one.labels?.[0]?.textContent ?? one.textContent}`;
    count.set(name, (count.get(name) ?? 0) + 1);
    return [`${name}/${count.get(name)}`, one];
  });
}

/** Move typed text to the control that replaces another, as if it was typed there. @param {HTMLInputElement} input @param {string} text */
function type(input, text) {
  if (input.value === text) return;
  input.value = text;
  input.dataset.typed = "true";
  const readControls = () => input.dispatchEvent(new Event("change"));
  input.addEventListener("blur", readControls, { once: true });
  input.addEventListener("keydown", (event) => event.key === "Enter" && readControls());
}
