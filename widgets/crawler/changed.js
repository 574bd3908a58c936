// The changed properties that Apply sends, line by line.

import { drawValueChange, jsonLines } from "../kit/diff.js";
import { h } from "../kit/dom.js";

/** The changes, with the title of the dialog that shows them. @param {{name: string, before?: any, after?: any}[]} differing @param {string} crawler */
export function drawChanged(differing, crawler) {
  const many = `${differing.length.toLocaleString()} ${differing.length === 1 ? "property" : "properties"}`;
  return h(
    "div",
    { class: "review", data: { title: `Apply ${many} to the crawler ${crawler}?` } },
    h("p", {}, "Only these properties are sent; all others stay unchanged."),
    differing.map(({ name, before, after }) =>
      h("div", { class: "changed" }, h("h4", {}, name), drawValueChange(before, after, { lines })),
    ),
  );
}

/** What a new crawler will do, with the title of the dialog that creates it. @param {string[]} sentences @param {string} crawler */
export function drawNew(sentences, crawler) {
  return h(
    "div",
    { class: "review", data: { title: `Create the crawler ${crawler}?`, action: "Create", done: "Created. Nothing was crawled yet." } },
    h("p", {}, "Creating it crawls nothing. This is what Start crawl does then:"),
    listSentences(sentences),
  );
}

/** @param {string[]} sentences */
export const listSentences = (sentences) => h("ul", { class: "crawl-sentences" }, sentences.map((sentence) => h("li", {}, sentence)));

/** Split the code of functions into lines. @param {any} value */
function lines(value) {
  return jsonLines(value).flatMap((line) => line.replaceAll("\\n", "\n").split("\n"));
}
