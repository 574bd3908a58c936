// A rule as a form. Only complete conditions and time ranges are proposed.

import { offer } from "../curation/offer.js";
import { button, fill, field, h } from "../kit/dom.js";
import { momentInput, zone } from "../kit/moment.js";
import { tagInput } from "../kit/tags.js";
import { consequenceParts } from "./consequence.js";
import { WHEN, findSpanProblem, fromCard, listItem, listed, toCard, withMember } from "./shape.js";

/** @typedef {import("../kit/frame.js").Frame} Frame */
/** @typedef {(edit: (rule: any) => any) => void} Propose */
/** @typedef {import("./ideas.js").Ideas} Ideas */

const WEEK_SECONDS = 7 * 24 * 3600;

/**
 * `send(rule, id)` is called with the whole rule and the objectID that it had, after each change.
 * @param {Frame} view @param {(rule: any, id: string) => void} send @param {Ideas} known
 */
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
  // The rule in sight with all edits. Calls of controls can end when another rule is in sight.
  /** @type {{latest: any, propose: Propose}} */
  let draft = startDraft("");
  let adding = false;
  let drawing = false;
  let shown = "";

  // Controls show the rule of the last answer; each edit applies to the rule with all earlier edits.
  /** @param {string} id */
  function startDraft(id) {
    const own = {
      /** @type {any} */
      latest: null,
      /** @type {Propose} */
      propose(edit) {
        // Removing a focused control fires a change event with its text.
        if (drawing) return;
        own.latest = edit(own.latest);
        send(own.latest, id);
      },
    };
    return own;
  }

  function draw() {
    if (!rule) return fill(el);
    const isReadOnly = Boolean(view.state()?.readOnly);
    const { propose } = draft;
    drawing = true;
    keepFocus(el, () =>
      fill(
        el,
        section("When", "any condition matches", ...conditions(propose), validity(rule, propose)),
        section("Then", "", ...consequenceParts(view, rule, propose, known)),
        section("About", "", ...about(rule, propose, known)),
      ),
    );
    drawing = false;
    if (isReadOnly)
      for (const one of el.querySelectorAll("input, select, textarea, button")) /** @type {any} */ (one).disabled = true;
  }

  /** @param {Propose} propose */
  function conditions(propose) {
    const own = rule.conditions ?? [];
    /** @param {any} [condition] @param {number} [place] */
    const changeOf = (condition, place) => {
      const put = listItem(condition, place);
      return (/** @type {any} */ next) => propose((now) => withMember(now, "conditions", put(now.conditions, next)));
    };
    const cards = own.map((/** @type {any} */ condition, /** @type {number} */ place) => {
      const change = changeOf(condition, place);
      return conditionCard({
        card: toCard(condition),
        at: `condition-${place}`,
        known,
        change,
        remove: () => change(undefined),
      });
    });
    const append = changeOf();
    const blank = conditionCard({
      card: toCard({ pattern: " ", anchoring: "contains" }),
      at: `condition-${own.length}`,
      known,
      change: (next) => {
        adding = false;
        append(next);
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
      const other = next?.objectID !== rule?.objectID;
      if (other) draft = startDraft(next?.objectID ?? "");
      draft.latest = next;
      if (state === shown) return;
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
    propose: (/** @type {(rule: any) => any} */ edit) => draft.propose(edit),
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
  const problemText = h("p", { class: "error-text", role: "status" });

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
  const rows = spans.map((/** @type {any} */ span, /** @type {number} */ place) => {
    const problemText = h("span", { class: "error-text", role: "status" });
    let now = span; // without a member, open at that end
    const item = listItem(span, place);
    const put = (/** @type {any} */ next) => propose((whole) => withMember(whole, "validity", item(whole.validity, next)));
    const change = (/** @type {"from" | "until"} */ name) => (/** @type {number | null} */ seconds) => {
      now = withMember(now, name, seconds ?? undefined);
      const problem = findSpanProblem(now);
      fill(problemText, problem || null);
      if (!problem) put(now);
    };
    return h(
      "div",
      { class: ["row", "span"], data: { at: `span-${place}` } },
      "from",
      momentInput({ seconds: span.from, label: "Valid from", change: change("from") }).firstChild,
      "until",
      momentInput({ seconds: span.until, label: "Valid until", change: change("until") }).firstChild,
      button("Remove this time range", () => put(undefined), { icon: "×", bare: true }),
      problemText,
    );
  });
  function schedule() {
    const from = Math.floor(Date.now() / 60000) * 60;
    propose((now) => ({ ...now, validity: [...(now.validity ?? []), { from, until: from + WEEK_SECONDS }] }));
  }

  return h(
    "div",
    { class: "times" },
    ...rows,
    spans.length ? h("span", { class: "hint" }, `time zone ${zone()}`) : null,
    button(spans.length ? "Add a time range" : "Schedule", schedule, { icon: "+" }),
  );
}

/** @param {any} rule @param {Propose} propose @param {Ideas} known */
function about(rule, propose, known) {
  const text = (/** @type {string} */ name, /** @type {string} */ label) => {
    const input = h("input", {
      class: "input",
      value: rule[name] ?? "",
      dir: "auto",
      on: { change: () => propose((now) => withMember(now, name, input.value.trim() || undefined)) },
    });
    return h("div", { data: { at: name } }, field(label, input));
  };
  const name = h("input", {
    class: "input",
    value: rule.objectID,
    on: { change: () => name.value.trim() && propose((now) => ({ ...now, objectID: name.value.trim() })) },
  });
  const tags = tagInput({
    words: rule.tags ?? [],
    label: "Tags",
    change: (words) => propose((now) => withMember(now, "tags", listed(words))),
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
