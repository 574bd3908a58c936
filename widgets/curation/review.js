// What applying changes, object by object.

import { diffLines, drawDiff } from "../kit/diff.js";
import { h } from "../kit/dom.js";

/** @typedef {import("../kit/frame.js").Frame} Frame */
/** @typedef {{id: string, how: "added" | "changed" | "removed", before: any, after: any}} Change */

const SHOWN = 60; // changes drawn

/** How many were added, changed and removed, in words. @param {{how: string}[]} changes */
export function count(changes) {
  return ["added", "changed", "removed"]
    .map((how) => [changes.filter((change) => change.how === how).length, how])
    .filter(([number]) => number)
    .map(([number, how]) => `${number.toLocaleString()} ${how}`)
    .join(", ");
}

/** What keeps an object from being applied. @param {{level: string, text: string}[]} faults */
export const wrongOnes = (faults) =>
  faults
    .filter(({ level }) => level === "wrong")
    .map(({ text }) => text)
    .join("; ");

/**
 * Draw all changes; `lines(document)` writes an object as lines.
 * @param {Change[]} changes @param {(document: any) => string[]} lines
 */
export function drawChanges(changes, lines) {
  const rest = changes.length - SHOWN;
  return h(
    "div",
    { class: "changes" },
    h("p", {}, count(changes) || "Nothing differs."),
    changes
      .slice(0, SHOWN)
      .map(({ id, before, after }) =>
        h(
          "div",
          { class: "change" },
          h("h4", { dir: "auto" }, id),
          drawDiff(diffLines(before ? lines(before) : [], after ? lines(after) : [])),
        ),
      ),
    rest > 0 ? h("p", { class: "hint" }, `and ${rest.toLocaleString()} more`) : null,
  );
}

/** The body of the question before applying. @param {Frame} view @param {import("../types").Model} model @param {(document: any) => string[]} lines */
export async function review(view, model, lines) {
  const changes = (await view.run("differences")) ?? [];
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
    { class: "form" },
    drawChanges(changes, lines),
    h("label", { class: "row" }, forward, "replace those of the index's replicas, too"),
  );
}
