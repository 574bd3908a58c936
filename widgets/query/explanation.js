// Why a hit has its rank: what decides against the hits above and below, then every criterion.

import { drawCode } from "../kit/code_text.js";
import { h } from "../kit/dom.js";

/** @typedef {{id: string, title: string, place: number, decisive: string, reason: string}} Neighbour */
/** @typedef {{criterion: string, name: string, order: string, values: [string, string, string]}} CriterionRow */
/** @typedef {{above: Neighbour | null, below: Neighbour | null, rows: CriterionRow[]}} Explanation */
/** @typedef {{id: string, place: number}} Hit */

/**
 * State of a criterion in the comparison of two hits: before the decisive one both are equal, after it
 * values are not compared.
 * @param {CriterionRow[]} rows @param {string} criterion @param {string} decisive
 * @returns {"equal" | "decides" | "unused"}
 */
export function stateOf(rows, criterion, decisive) {
  const at = rows.findIndex((row) => row.criterion === criterion);
  const end = rows.findIndex((row) => row.criterion === decisive);
  if (end < 0 || at < end) return "equal";
  return at === end ? "decides" : "unused";
}

/** @param {string} title the title of the hit @param {Hit} hit @param {Explanation} ranking */
export function drawExplanation(title, hit, { above, below, rows }) {
  return h(
    "section",
    { class: "explanation", "aria-label": "Why this rank" },
    h("h4", {}, "Why this rank"),
    above && drawReason("Below", above),
    below && drawReason("Above", below),
    above || below ? null : h("p", { class: "hint" }, "This page has no other hit to compare with."),
    h(
      "div",
      { class: "criteria-scroller", tabindex: 0, role: "group", "aria-label": "Ranking criteria" },
      drawTable(title, hit, { above, below, rows }),
    ),
  );
}

/** @param {string} side @param {Neighbour} other */
function drawReason(side, other) {
  return h(
    "p",
    { class: "rank-reason" },
    h("b", {}, `${side} ${other.place} `),
    other.title ? h("bdi", {}, other.title, " ") : null,
    h("code", { class: "inline-code" }, other.id),
    h("span", { class: "decides" }, drawCode(other.reason)),
  );
}

/** @param {string} title @param {Hit} hit @param {Explanation} ranking */
function drawTable(title, hit, { above, below, rows }) {
  const sides = [
    ...(above ? [{ place: 0, head: drawHead("Above", above.place, above.title, above.id), decisive: above.decisive }] : []),
    { place: 1, head: drawHead("This hit", hit.place, title, hit.id), decisive: "" },
    ...(below ? [{ place: 2, head: drawHead("Below", below.place, below.title, below.id), decisive: below.decisive }] : []),
  ];
  return h(
    "table",
    { class: "criteria" },
    h("caption", {}, "Ranking criteria in order; the first difference decides"),
    h(
      "thead",
      {},
      h("tr", {}, h("th", { scope: "col" }, "Criterion"), sides.map(({ head }) => h("th", { scope: "col" }, head))),
    ),
    h(
      "tbody",
      {},
      rows.map((row) =>
        h(
          "tr",
          {},
          h("th", { scope: "row", title: row.order }, drawCode(row.name)),
          sides.map(({ place, decisive }) => drawValue(rows, row, place, decisive)),
        ),
      ),
    ),
  );
}

/** @param {string} side @param {number} place @param {string} title @param {string} id */
function drawHead(side, place, title, id) {
  return h(
    "div",
    { class: "criteria-head" },
    h("span", {}, `${side} (${place})`),
    h("bdi", { class: "criteria-title", title: title || id }, title || id),
    title ? h("code", { class: "inline-code" }, id) : null,
  );
}

/** @param {CriterionRow[]} rows @param {CriterionRow} row @param {number} place @param {string} decisive */
function drawValue(rows, row, place, decisive) {
  const state = decisive ? stateOf(rows, row.criterion, decisive) : "";
  return h(
    "td",
    { class: state, title: state ? STATES[state] : null },
    drawCode(row.values[place]),
    state === "decides" ? h("span", { class: "decides-mark" }, "decides") : null,
  );
}

/** @type {Record<string, string>} */
const STATES = {
  equal: "Equal to this hit",
  decides: "The first difference: it decides",
  unused: "Not compared: an earlier criterion decides",
};

