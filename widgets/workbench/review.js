// The changes of all drafts, by part, before they are applied.

import { drawChanges as drawObjects } from "../curation/review.js";
import { jsonLines } from "../kit/diff.js";
import { h } from "../kit/dom.js";
import { drawChanges as drawSettings } from "../settings/changes.js";

/** @typedef {import("../kit/frame.js").Frame} Frame */
/** @typedef {import("../curation/review.js").Change} Change */
/** @typedef {{order: string[], settings: import("../settings/state.js").Change[], problems: {name: string, text: string}[], synonyms: Change[], rules: Change[], replicas: string[]}} Review */

/** Count the changes of all parts. @param {Review} review */
export const countChanges = ({ settings, synonyms, rules }) => settings.length + synonyms.length + rules.length;

/** @param {Frame} view @param {import("../types").Model} model */
export async function drawReview(view, model) {
  const review = /** @type {Review | undefined} */ (await view.run("review"));
  if (!review) return h("div", {});
  const number = countChanges(review);
  const title = `Apply ${number.toLocaleString()} ${number === 1 ? "change" : "changes"} to ${view.state().index}?`;
  const forward = h("input", { type: "checkbox", on: { change: () => view.run("reach", { forward: forward.checked }) } });
  forward.checked = Boolean(model.get("forward"));
  return h(
    "div",
    { class: "form", data: { title } },
    h("p", {}, "One change of the journal: Undo in the history reverts all of it."),
    review.order.map((part) => h("section", { class: ["bench-part", part] }, h("h4", {}, TITLES[part]), drawPart(part, review))),
    review.replicas.length
      ? h("label", { class: "row" }, forward, `Forward to replicas: ${review.replicas.join(", ")}`)
      : null,
  );
}

/** @type {Record<string, string>} */
const TITLES = { settings: "Settings", synonyms: "Synonyms", rules: "Rules" };

/** @param {string} part @param {Review} review */
function drawPart(part, review) {
  if (part === "settings") return drawSettings(review.settings, review.problems);
  return drawObjects(part === "rules" ? review.rules : review.synonyms, jsonLines);
}
