// The changed properties that Apply sends, line by line.

import { diffLines, drawDiff, jsonLines } from "../kit/diff.js";
import { h } from "../kit/dom.js";

/** @param {{name: string, before?: any, after?: any}[]} differing */
export function drawChanged(differing) {
  return h(
    "div",
    { class: "review" },
    h("p", {}, "Only these properties are sent; all others stay unchanged."),
    differing.map(({ name, before, after }) =>
      h("div", { class: "changed" }, h("h4", {}, name), drawDiff(diffLines(lines(before), lines(after)))),
    ),
  );
}

/** Split the code of functions into lines. @param {any} value */
function lines(value) {
  return value === undefined ? [] : jsonLines(value).flatMap((line) => line.replaceAll("\\n", "\n").split("\n"));
}
