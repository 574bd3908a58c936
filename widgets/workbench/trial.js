// How the drafts are tried: by parameters or on a copy, the moved hits, and the score.

import { button, fill, h } from "../kit/dom.js";

/** @typedef {import("../kit/frame.js").Frame} Frame */
/** @typedef {import("../types").Model} Model */
/**
 * @typedef {{metric: string, before: number | null, after: number | null, delta: number | null,
 *   low: number | null, high: number | null, queries: number, judged: number | null}} Score
 */
/**
 * @typedef {{by: "" | "parameters" | "copy", busy: boolean, copy: string, needs: string[], records: number,
 *   error: import("../types").Explanation | null, score: Score | null}} Trial
 */

const DIGITS = 3;

/** Write a difference with its sign. @param {number} value */
export const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(DIGITS)}`;

/** Describe how many hits a draft moved. @param {{gained: number, moved: number, left: number} | undefined} moves */
export function describeMoves(moves) {
  if (!moves) return "";
  const { gained, moved, left } = moves;
  const parts = [moved && `${moved} moved`, gained && `${gained} new`, left && `${left} left the page`].filter(Boolean);
  return parts.join(", ") || "no hit of this page moved";
}

/** Describe a score before and after; the interval is that of the difference. @param {Score} score */
export function describeScore({ metric, before, after, delta, low, high, queries }) {
  if (before === null || after === null || delta === null) return `${metric}: no score yet`;
  const interval = low === null || high === null ? "" : ` (95 % interval ${signed(low)} to ${signed(high)})`;
  const count = `${queries.toLocaleString()} judged ${queries === 1 ? "query" : "queries"}`;
  return `${metric} ${before.toFixed(DIGITS)} → ${after.toFixed(DIGITS)}, ${signed(delta)}${interval}, ${count}`;
}

/** The colour of a score: none unless its interval leaves out 0. @param {Score} score */
export const judge = ({ low, high }) => ((low ?? 0) > 0 ? "good-text" : (high ?? 0) < 0 ? "error-text" : "");

/** A bar that is shown while there are drafts. @param {Frame} view @param {Model} model */
export function trialBar(view, model) {
  /** @type {Model | null} */
  let query = null;
  const el = h("div", { class: "draft-trial", role: "status", hidden: true });

  function draw() {
    const trial = /** @type {Trial} */ (model.get("trial") ?? {});
    const dirty = Boolean(view.state()?.dirty);
    el.hidden = !dirty;
    if (!dirty) return fill(el);
    const score = trial.score;
    fill(
      el,
      h("span", { class: "trial-text" }, ...describe(trial)),
      score
        ? h(
            "span",
            { class: ["trial-score", judge(score)] },
            describeScore(score),
          )
        : null,
    );
  }

  /** @param {Trial} trial @returns {(Node | string | null)[]} */
  function describe({ by, busy, needs = [], records, error }) {
    if (busy) return ["Searching with the draft…"];
    if (error) return [h("b", {}, "The hits are those without the draft: "), [error.message, error.advice].filter(Boolean).join(" ")];
    if (needs.length)
      return [
        `To show the draft (${needs.join(", ")}), the index is copied with its ${records.toLocaleString()} records. The index itself does not change. `,
        button("Copy and show", () => view.run("copy_index", {}, { long: true }), { class: ["button", "small"] }),
      ];
    const moves = describeMoves(query?.get("answer")?.moves);
    const how = by === "copy" ? "on a temporary copy" : "by search parameters";
    return by ? [h("b", {}, "Hits with the draft"), h("span", { class: "hint" }, ` ${how}`), moves ? `: ${moves}` : ""] : [];
  }

  view.link.watch("trial", draw);
  view.link.watch("value", draw);
  return {
    el,
    draw,
    /** Follow the hits of the query editor. @param {Model} followed */
    follow(followed) {
      query = followed;
      followed.on("change:answer", draw);
      draw();
    },
    close: () => query?.off("change:answer", draw),
  };
}
