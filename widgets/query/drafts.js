// Drafts of rules: the hits that were pinned or hidden here, reviewed in a dialog before they are applied.

import { diffLines, drawDiff, jsonLines } from "../kit/diff.js";
import { button, fill, h } from "../kit/dom.js";

/** @typedef {import("../kit/frame.js").Frame} Frame */
/** @typedef {{index: string, query: string, objectID: string, title: string, where: "pin" | "hide", position: number}} Placement */
/** @typedef {{id: string, index: string, query: string, when: string, then: string, before: any, after: any}} DraftedRule */

/** Drafts that the bar names; others are counted. */
const MAX_NAMED_DRAFTS = 2;

/** The name of a draft's record. @param {Placement} draft */
const nameOf = (draft) => draft.title || draft.objectID;

/** Describe a draft. @param {Placement} draft */
export const describeDraft = (draft) =>
  draft.where === "pin" ? `pin ${nameOf(draft)} at position ${draft.position + 1}` : `hide ${nameOf(draft)}`;

/** Describe drafts in one line. @param {Placement[]} drafts */
export function describeDrafts(drafts) {
  const more = drafts.length - MAX_NAMED_DRAFTS;
  const named = drafts.slice(-MAX_NAMED_DRAFTS).map(describeDraft).join("; ");
  return more > 0 ? `${named}; and ${more} more` : named;
}

/** @param {number} number @param {string} noun */
const many = (number, noun) => `${number.toLocaleString()} ${noun}${number === 1 ? "" : "s"}`;

/** A bar that is shown while there are drafts. @param {Frame} view */
export function draftBar(view) {
  /** @type {Placement[]} */
  let drafts = [];
  const text = h("span", { class: "draft-text", role: "status", dir: "auto" });
  const el = h(
    "div",
    { class: "draft-bar", hidden: true },
    text,
    button("Discard", () => view.run("discard_drafts")),
    button("Review…", review, { class: ["button", "main"], title: "See the rules that pin and hide these hits, and apply them" }),
  );

  async function review() {
    const rules = h("div", { class: "form" });
    const titles = /** @type {DraftedRule[] | undefined} */ (await draw(rules));
    if (!titles) return;
    const indices = [...new Set(titles.map(({ index }) => index))].join(", ");
    const answer = await view.ask({
      title: `Apply ${many(titles.length, "rule")} to ${indices}?`,
      body: rules,
      buttons: [
        { name: "", label: "Cancel" },
        { name: "apply", label: `Apply ${many(titles.length, "rule")}`, main: true },
      ],
    });
    if (answer !== "apply" || !drafts.length) return;
    const written = /** @type {{index: string, change: string | null}[] | undefined} */ (
      await view.run("apply_drafts", {}, { long: true })
    );
    if (!written) return;
    const [last] = written.filter(({ change }) => change).slice(-1);
    view.say(`${many(written.length, "rule")} applied.${last ? ` svc.tuning.undo("${last.index}") reverts the last change.` : ""}`, 12);
  }

  /** Draw the rules with their drafts; undefined after an error. @param {HTMLElement} body */
  async function draw(body) {
    const rules = /** @type {DraftedRule[] | undefined} */ (await view.run("review_drafts"));
    if (rules) fill(body, rules.length ? rules.map((rule) => drawRule(rule, body)) : h("p", {}, "No drafts are left."));
    return rules;
  }

  /** @param {DraftedRule} rule @param {HTMLElement} body */
  function drawRule(rule, body) {
    const own = drafts.map((draft, place) => ({ draft, place })).filter(({ draft }) => isOf(draft, rule));
    return h(
      "section",
      { class: "drafted-rule" },
      h("h4", { dir: "auto" }, rule.before ? "Change the rule " : "New rule ", h("code", {}, rule.id)),
      h("p", { dir: "auto" }, h("b", {}, "When "), rule.when, h("b", {}, ": "), rule.then, "."),
      h("ul", { class: "draft-list" }, own.map(({ draft, place }) => drawDraft(draft, place, body))),
      h(
        "details",
        {},
        h("summary", {}, "JSON"),
        drawDiff(diffLines(rule.before ? jsonLines(rule.before) : [], jsonLines(rule.after))),
      ),
    );
  }

  /** @param {Placement} draft @param {number} place @param {HTMLElement} body */
  function drawDraft(draft, place, body) {
    /** @param {number} [position] */
    const revise = async (position) => {
      await view.run("revise_draft", { draft: place, ...(position === undefined ? {} : { position }) });
      await draw(body);
    };
    const position = h("input", {
      class: ["input", "position"],
      type: "number",
      min: 1,
      value: String(draft.position + 1),
      "aria-label": `Position of ${nameOf(draft)}`,
      on: {
        change: () => {
          if (Number.isInteger(position.valueAsNumber) && position.valueAsNumber > 0) revise(position.valueAsNumber - 1);
        },
      },
    });
    return h(
      "li",
      { class: "row" },
      h("span", { class: "draft-name", dir: "auto" }, draft.where === "pin" ? "Pin " : "Hide ", h("bdi", {}, nameOf(draft)), " ", h("code", {}, draft.objectID)),
      draft.where === "pin" ? h("label", { class: ["row", "hint"] }, "at", position) : null,
      button(`Remove the draft for ${nameOf(draft)}`, () => revise(), { icon: "×", bare: true }),
    );
  }

  view.link.watch("drafts", (next) => {
    drafts = next ?? [];
    el.hidden = !drafts.length;
    fill(text, h("b", {}, drafts.length === 1 ? "Draft: " : `${drafts.length} drafts: `), describeDrafts(drafts));
  });
  return { el };
}

/** @param {string} query */
const normalize = (query) => query.trim().split(/\s+/).join(" ").toLowerCase();

/** @param {Placement} draft @param {DraftedRule} rule */
const isOf = (draft, rule) => draft.index === rule.index && normalize(draft.query) === normalize(rule.query);
