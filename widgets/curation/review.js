// The changes that applying makes, by object.

import { diffLines, drawDiff, jsonLines } from "../kit/diff.js";
import { drawCode } from "../kit/code_text.js";
import { h } from "../kit/dom.js";
import { describeSpans } from "../rules/shape.js";

/** @typedef {import("../kit/frame.js").Frame} Frame */
/** @typedef {{id: string, how: "added" | "changed" | "removed", before: any, after: any,
 *   warnings?: string[], lines?: [string[], string[]]}} Change `lines`: sentences before and after */

const MAX_SHOWN_CHANGES = 60;

/** Describe the numbers of added, changed and removed objects. @param {{how: string}[]} changes */
export function count(changes) {
  return ["added", "changed", "removed"]
    .map((how) => [changes.filter((change) => change.how === how).length, how])
    .filter(([number]) => number)
    .map(([number, how]) => `${number.toLocaleString()} ${how}`)
    .join(", ");
}

/** The errors of an object, which prevent applying. @param {{level: string, text: string}[]} faults */
export const errorsOf = (faults) =>
  faults
    .filter(({ level }) => level === "error")
    .map(({ text }) => text)
    .join("; ");

/**
 * Draw all changes; `lines(document)` writes an object as lines.
 * @param {Change[]} changes @param {(document: any) => string[]} lines
 */
export function drawChanges(changes, lines) {
  const rest = changes.length - MAX_SHOWN_CHANGES;
  return h(
    "div",
    { class: "changes" },
    h("p", {}, count(changes) || "No differences."),
    changes
      .slice(0, MAX_SHOWN_CHANGES)
      .map((change) =>
        h("div", { class: "change" }, h("h4", { dir: "auto" }, change.id), drawWarnings(change.warnings), drawLines(change, lines)),
      ),
    rest > 0 ? h("p", { class: "hint" }, `and ${rest.toLocaleString()} more`) : null,
  );
}

/** The warnings about what a change writes. @param {string[]} [warnings] */
export const drawWarnings = (warnings = []) => warnings.map((text) => h("p", { class: "warning-text" }, "⚠ ", drawCode(text)));

/** The lines that change; as JSON if the sentences do not. @param {Change} change @param {(document: any) => string[]} lines */
function drawLines({ before, after, lines: sentences }, lines) {
  const sides = sentences
    ? [before, after].map((object, side) => [...sentences[side], ...(object?.validity?.length ? [`Scheduled: ${describeSpans(object.validity)}`] : [])])
    : [before, after].map((object) => (object ? lines(object) : []));
  if (JSON.stringify(sides[0]) === JSON.stringify(sides[1])) return drawDiff(diffLines(jsonLines(before), jsonLines(after)));
  return drawDiff(diffLines(sides[0], sides[1]));
}

/** The question of the dialog before applying. @param {{how: string}[]} changes @param {[string, string]} noun singular and plural @param {string} index */
export const titleOf = (changes, noun, index) => `Apply ${count(changes)} ${noun[changes.length === 1 ? 0 : 1]} to ${index}?`;

/**
 * The body of the dialog before applying, with the dialog's title.
 * @param {Frame} view @param {import("../types").Model} model @param {(document: any) => string[]} lines
 * @param {[string, string]} noun of the objects, singular and plural
 */
export async function review(view, model, lines, noun) {
  const changes = (await view.run("review")) ?? [];
  const forward = h("input", {
    type: "checkbox",
    on: {
      change: () => {
        model.set("forward", forward.checked);
        model.save_changes();
      },
    },
  });
  forward.checked = Boolean(model.get("forward"));
  return h(
    "div",
    { class: "form", data: { title: titleOf(changes, noun, view.state().index) } },
    drawChanges(changes, lines),
    h("label", { class: "row" }, forward, "Forward to replicas"),
  );
}
