// The impact of a draft on queries, searched on the index and on a copy with the draft.

import { button, fill, h, setAttribute } from "../kit/dom.js";
import { emptyState } from "../kit/empty.js";
import { tagInput } from "../kit/tags.js";
import { momentInput } from "../kit/moment.js";
import { drawComparison } from "../query/compare.js";
import { describeSpans } from "../rules/shape.js";
import { offer } from "./offer.js";

/** @typedef {import("../kit/frame.js").Frame} Frame */
/** @typedef {import("../query/compare.js").Comparison & {sides: {applied: string[]}[]}} Comparison */
/** @typedef {{query: string, comparison: Comparison, skipped: Record<string, Skipped>}} Impact */
/** Why a rule did not apply. @typedef {{text: string, spans?: import("../rules/shape.js").Span[]}} Skipped */

/**
 * `marked()` returns the objectID of the selected rule, which is highlighted among the applied rules;
 * `ideas` are suggested contexts and filters.
 * @param {Frame} view @param {import("../types").Model} model @param {{marked?: () => string, ideas?: import("../rules/ideas.js").Ideas}} [options]
 */
export function impactPanel(view, model, { marked, ideas } = {}) {
  /** @type {Impact[] | null} */
  let found = null;
  let open = -1;
  const queries = tagInput({
    words: model.get("queries") ?? [],
    label: "Queries",
    placeholder: "a query, then Enter…",
    commas: false,
    change: (words) => {
      model.set("queries", words);
      model.save_changes();
    },
  });
  const hint = h("p", { class: "hint" });
  const outdated = h("p", { class: "stale", role: "status", hidden: true }, "The draft has changed: try it again.");
  const result = h("div", { class: "impact", "aria-live": "polite" });
  const baseline = h(
    "select",
    { class: "input", "aria-label": "Compare with", hidden: !marked },
    h("option", { value: "" }, "compare with the saved version"),
    h("option", { value: "without" }, "compare with the draft without this rule"),
  );
  const contexts = tagInput({ words: [], label: "In the contexts", placeholder: "in the contexts…" });
  const filters = h("input", { class: "input find", "aria-label": "With the filters", placeholder: "with the filters…" });
  /** @type {number | null} */
  let at = null;
  const moment = momentInput({ seconds: null, label: "As of", change: (seconds) => (at = seconds) });
  const conditions = h(
    "div",
    { class: ["row", "around"], hidden: !marked },
    contexts, ideas && offer(contexts, ideas.contexts), filters, ideas && offer(filters, ideas.filters),
    h("label", { class: "row" }, "as of", moment),
  );
  /** The objectID of the rule that the compared draft does not have; empty for the saved version. */
  let without = "";
  const none = emptyState({
    title: "No queries tried yet.",
    hint: `Enter queries, then press Try the draft. For each query, the result shows new hits, hits that dropped out or moved${marked ? ", and the rules that apply" : ""}.`,
    action: { label: "Try the default queries", act: () => void run() },
  });
  const go = button("Try the draft", run, { class: ["button", "main"] });

  async function run() {
    queries.read();
    go.disabled = true;
    fill(result, h("p", { class: "hint" }, "Searching…"));
    const chosen = (baseline.value && marked?.()) || "";
    const ruleContexts = contexts.read();
    const params = { ...(ruleContexts.length && { ruleContexts }), ...(filters.value.trim() && { filters: filters.value.trim() }) };
    const args = { queries: model.get("queries"), without: chosen, params, at };
    const answer = await view.run("preview", args, { long: true, again: run });
    if (answer) without = chosen;
    go.disabled = false;
    found = answer ?? null;
    outdated.hidden = true;
    open = found?.length === 1 ? 0 : -1;
    draw();
  }

  function draw() {
    if (!found) return fill(result, none);
    const rules = Boolean(marked);
    const names = ["query", "hits", "new", "dropped out", "moved", ...(rules ? ["applied rules"] : [])];
    fill(
      result,
      h(
        "table",
        { class: "impact-table" },
        h("caption", { class: "offscreen" }, "Impact of the draft on each query"),
        h("thead", {}, h("tr", {}, names.map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, found.flatMap(drawRow)),
      ),
    );
  }

  /** @param {Impact} impact @param {number} place */
  function drawRow({ query, comparison, skipped }, place) {
    const [before, after] = comparison.sides;
    const head = h(
      "tr",
      { class: ["impact-row", place === open && "open"] },
      h("th", { scope: "row" }, opener(query || "(everything)", place)),
      h("td", {}, steps(before.nbHits, after.nbHits)),
      h("td", { class: comparison.gained && "gained-text" }, sign("+", comparison.gained)),
      h("td", { class: comparison.lost && "lost-text" }, sign("−", comparison.lost)),
      h("td", {}, sign("", comparison.moved)),
      marked && h("td", {}, drawApplied(without ? after.applied : before.applied, after.applied, marked()), drawSkipped(skipped, marked())),
    );
    const body = h("td", { colspan: marked ? 6 : 5 }, place === open ? [...drawReturned(after.applied), drawComparison(named(comparison, without))] : null);
    return place === open ? [head, h("tr", {}, body)] : [head];
  }

  /** The redirects and custom data that rules return. @param {string[]} applied */
  function drawReturned(applied) {
    const rules = (model.get("value") ?? []).filter((/** @type {any} */ rule) => applied.includes(rule.objectID));
    return rules.flatMap((/** @type {any} */ { objectID, consequence }) => [
      consequence?.redirect && h("p", {}, h("bdi", {}, objectID), " redirects to ", h("code", {}, consequence.redirect.indexName)),
      consequence?.userData !== undefined && h("p", {}, h("bdi", {}, objectID), " returns ", h("code", { class: "custom-data" }, JSON.stringify(consequence.userData))),
    ]);
  }

  /** @param {string} label @param {number} place */
  function opener(label, place) {
    const el = button(label, () => {
      open = open === place ? -1 : place;
      draw();
      /** @type {HTMLElement | null} */ (result.querySelectorAll(".svc-opener")[place] ?? null)?.focus();
    }, { class: ["button", "opener"], dir: "auto", icon: place === open ? "▾" : "▸" });
    setAttribute(el, "aria-expanded", place === open ? "true" : "false");
    return el;
  }

  draw();
  view.link.watch("state", (state) => {
    const typical = state?.typical ?? [];
    fill(
      hint,
      "Queries run on the index and on a copy with the draft. The copy is deleted afterwards.",
      typical.length ? ` Default queries: ${typical.map((/** @type {string} */ query) => query || "(everything)").join(", ")}.` : null,
    );
  });
  view.link.watch("value", () => {
    outdated.hidden = !found;
  });
  view.link.watch("queries", (now) => {
    if (JSON.stringify(now ?? []) !== JSON.stringify(queries.words())) queries.show(now ?? []);
  });
  return { el: h("div", { class: "form" }, hint, queries, conditions, h("div", { class: "row" }, go, baseline), outdated, result), run };
}

/** Two counts, or one if they are equal. @param {number} before @param {number} after */
function steps(before, after) {
  return before === after ? before.toLocaleString() : `${before.toLocaleString()} → ${after.toLocaleString()}`;
}

/** @param {string} mark @param {number} number */
const sign = (mark, number) => (number ? `${mark}${number}` : "·");

/** @param {Comparison} comparison @param {string} without */
const named = (comparison, without) => {
  const names = without ? [`without ${without}`, "draft"] : ["saved", "draft"];
  return { ...comparison, sides: comparison.sides.map((side, place) => ({ ...side, index: names[place] })) };
};

/** Why the selected rule did not apply. @param {Record<string, Skipped>} skipped @param {string} marked */
function drawSkipped(skipped, marked) {
  const why = skipped[marked];
  if (!why) return null;
  return h("p", { class: "hint" }, h("bdi", {}, marked), ` did not apply: ${why.text}${why.spans ? `, ${describeSpans(why.spans)}` : ""}`);
}

/** @param {string[]} before @param {string[]} after @param {string} marked */
function drawApplied(before, after, marked) {
  const names = [...new Set([...after, ...before])];
  if (!names.length) return h("span", { class: "hint" }, "none");
  return h(
    "span",
    { class: "applied" },
    names.map((name) => {
      const how = !after.includes(name) ? "no longer" : before.includes(name) ? "" : "new";
      return h(
        "span",
        { class: ["applied-rule", how === "no longer" && "lost", how === "new" && "gained"], "aria-current": name === marked },
        h("bdi", {}, name),
        how && h("span", { class: "hint" }, ` ${how}`),
      );
    }),
  );
}
